//! Reads of blocks that hold nothing: counted from what the last reads brought, and said in the verdicts. What arrays
//! count of them is in `run_loopback.rs`.
#![cfg(feature = "spdk")]

#[path = "common/cli.rs"]
mod cli;

use std::fs;

use cli::rigel;
use rigel::result::{BlankReads, RunResult};
use serde_json::json;
use tempfile::TempDir;

const FILE_BYTES: usize = 16 << 20;
const SHORT: &str = "--ramp 0s --time 300ms --no-archive --quiet --trust-clock";

/// Files behind bdevs of SPDK's, `File0` and so on, and a null bdev, `Null0`.
struct Files(TempDir);

impl Files {
    fn holding(contents: &[Vec<u8>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bdev = |(number, content): (usize, &Vec<u8>)| {
            let path = folder.path().join(format!("file{number}"));
            fs::write(&path, content).unwrap();
            let params = json!({"name": format!("File{number}"), "filename": path, "block_size": 512});
            format!("{{\"method\": \"bdev_aio_create\", \"params\": {params}}}, ")
        };
        let files: String = contents.iter().enumerate().map(bdev).collect();
        let null = json!({"name": "Null0", "num_blocks": 65_536, "block_size": 512});
        let bdevs = format!("{files}{{\"method\": \"bdev_null_create\", \"params\": {null}}}");
        // SPDK wants the fields in this order.
        let config = format!("{{\"subsystems\": [{{\"subsystem\": \"bdev\", \"config\": [{bdevs}]}}]}}");
        fs::write(folder.path().join("config.json"), config).unwrap();
        Self(folder)
    }

    fn target(&self, name: &str) -> String {
        format!("-t bdev://{name}?config={}", self.0.path().join("config.json").display())
    }
}

#[track_caller]
fn run(line: &str) -> RunResult {
    rigel(&format!("run {line} {SHORT}")).ends_with(0).result()
}

/// The sentences on blank reads.
fn told(result: &RunResult) -> Vec<&str> {
    result.verdicts.iter().map(String::as_str).filter(|verdict| verdict.contains("sampled reads")).collect()
}

/// What the first workload read over all points.
fn found(result: &RunResult) -> BlankReads {
    let of_points = result.points.iter().filter_map(|point| point.workloads[0].blank_reads);
    of_points.fold(BlankReads::default(), |sum, found| BlankReads {
        samples: sum.samples + found.samples,
        blank: sum.blank + found.blank,
    })
}

#[track_caller]
fn assert_silent(result: &RunResult, samples: u64) {
    assert_eq!((found(result), told(result)), (BlankReads { samples, blank: 0 }, Vec::new()));
}

#[test]
fn a_target_that_was_never_written_is_told_until_it_is_filled() {
    for blank in [0, 0xff] {
        let files = Files::holding(&[vec![blank; FILE_BYTES]]);
        let target = files.target("File0");
        let result = run(&format!("{target} -q 16"));
        let [sentence] = told(&result)[..] else { panic!("{:?}", result.verdicts) };
        assert!(sentence.contains("16 of 16 sampled reads (100 %) brought nothing but bytes 00h or FFh"), "{sentence}");
        assert!(sentence.contains("`rigel fill`") && !sentence.contains("a hint only"), "{sentence}");
        assert_eq!(result.points[0].workloads[0].targets[0].blank_reads, result.points[0].workloads[0].blank_reads);

        rigel(&format!("fill {target} --order random --destroy File0 --quiet --trust-clock")).ends_with(0);
        assert_silent(&run(&format!("{target} -q 16")), 16);
        // Slots that have only written so far hold no read.
        let result = run(&format!("{target} -q 16 --read-percent 70 --destroy File0"));
        assert!(found(&result).samples >= 8 && found(&result).blank == 0 && told(&result).is_empty(), "{result:?}");
    }
}

#[test]
fn of_a_half_written_target_half_of_the_reads_are_blank() {
    let half = |byte| vec![byte; FILE_BYTES / 2];
    let files = Files::holding(&[[half(0xa5), half(0)].concat()]);
    let result = run(&format!("{} -q 64,128", files.target("File0")));
    let BlankReads { samples, blank } = found(&result);
    // Six standard deviations of 192 draws.
    assert!(samples == 192 && blank.abs_diff(96) <= 42, "{blank} of {samples}");
    let told = told(&result);
    assert!(told.len() == 1 && told[0].contains(&format!("{blank} of 192 sampled reads (")), "{told:?}");
}

#[test]
fn one_read_a_point_is_few_and_adds_up_over_points() {
    let files = Files::holding(&[vec![0; FILE_BYTES]]);
    let result = run(&format!("{} -q 1", files.target("File0")));
    assert!(told(&result)[0].contains("1 of 1 sampled reads (100 %)"), "{:?}", result.verdicts);
    assert!(told(&result)[0].ends_with("of so few reads that is a hint only"), "{:?}", result.verdicts);
    let result = run(&format!("{} -q 1,4,8", files.target("File0")));
    assert!(told(&result)[0].contains("13 of 13 sampled reads"), "{:?}", result.verdicts);
    assert!(!told(&result)[0].contains("a hint only"), "{:?}", result.verdicts);
}

#[test]
fn each_target_is_judged_by_itself_where_its_slots_are_its_own() {
    let files = Files::holding(&[vec![0xa5; FILE_BYTES], vec![0; FILE_BYTES]]);
    let targets = [files.target("File0"), files.target("File1")].join(" ");
    let result = run(&format!("{targets} -q 16"));
    assert!(told(&result).len() == 1 && told(&result)[0].starts_with("bdev://File1"), "{:?}", result.verdicts);
    assert_eq!(found(&result), BlankReads { samples: 32, blank: 16 });
    // Outstanding over both: which of them a slot has read last is not known.
    let result = run(&format!("{targets} --outstanding 64"));
    assert!(told(&result).len() == 1 && told(&result)[0].starts_with("workload "), "{:?}", result.verdicts);
    assert!(result.points[0].workloads[0].targets.iter().all(|target| target.blank_reads.is_none()));
}

#[test]
fn of_mixed_sizes_no_more_is_looked_at_than_the_smallest_brings() {
    // Every other 4 KiB is blank, and all greater reads begin there. What is behind the smallest is of an earlier read.
    let pair = [vec![0; 4096], vec![0xa5; 4096]].concat();
    let files = Files::holding(&[pair.repeat(FILE_BYTES / 8192)]);
    let result = run(&format!("{} -q 64,128 --block-size 4k:50,64k:50", files.target("File0")));
    let BlankReads { samples, blank } = found(&result);
    // Six standard deviations of 192 draws around three quarters.
    assert!(samples == 192 && blank.abs_diff(144) <= 36, "{blank} of {samples}");
}

#[test]
fn nothing_is_said_where_nothing_was_read_or_moved() {
    let files = Files::holding(&[]);
    let lines = [
        "-t malloc://16MiB -q 8 --read-percent 0".to_owned(),
        format!("{} -q 8", files.target("Null0")),
        "-t null://1g -q 8".to_owned(),
        "-t sim://constant-100us?size=1g -q 8".to_owned(),
    ];
    for line in lines {
        let result = run(&line);
        assert!(result.points[0].total.completions > 0, "{line}");
        assert!(result.points[0].workloads[0].blank_reads.is_none() && told(&result).is_empty(), "{line}: {result:?}");
    }
}

#[test]
fn blank_blocks_of_the_jobs_own_making_are_counted_and_not_said() {
    for fields in ["mix = { read = 50, trim = 50 }", "read_percent = 50\npayload = \"zeroes\""] {
        let folder = tempfile::tempdir().unwrap();
        let job = format!("[[target]]\nuri = \"malloc://16MiB\"\n[[workload]]\nqueue_depth = 32\n{fields}\n");
        fs::write(folder.path().join("job.toml"), job).unwrap();
        let result = run(&folder.path().join("job.toml").display().to_string());
        let BlankReads { samples, blank } = found(&result);
        assert!(samples > 16 && blank == samples && told(&result).is_empty(), "{fields}: {blank} of {samples}");
    }
}

#[test]
fn memory_of_the_run_is_filled_by_its_own_precondition() {
    let result = run("-t malloc://16MiB -q 8");
    assert!(told(&result)[0].contains("([precondition] in the job)"), "{:?}", result.verdicts);
    assert!(!told(&result)[0].contains("rigel fill"), "{:?}", result.verdicts);
    let folder = tempfile::tempdir().unwrap();
    let job = "[[target]]\nuri = \"malloc://16MiB\"\n[[workload]]\nqueue_depth = 16\n[precondition]\n";
    fs::write(folder.path().join("job.toml"), job).unwrap();
    assert_silent(&run(&folder.path().join("job.toml").display().to_string()), 16);
}
