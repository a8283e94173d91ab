//! Jobs and flags that cannot be run, through the command line: each is refused with exit code 2 or 3 and a message that
//! names the fault and the remedy, before any I/O and without a result.

#[path = "common/cli.rs"]
mod cli;

use std::fs;

use cli::{Running, rigel};

const SIM: &str = "sim://constant-100us";

/// Runs a job file.
#[track_caller]
fn job(text: &str) -> cli::Outcome {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), text).unwrap();
    Running::start_in(folder, "run job.toml").wait()
}

#[test]
fn an_unknown_scheme_is_told_with_the_nearest_and_the_known_ones() {
    let outcome = rigel("run -t nvme-tpc://127.0.0.1/nqn.x");
    outcome.refuses(2, &["--target: ", "unknown scheme `nvme-tpc`", "did you mean `nvme-tcp`?", "iscsi", "sim"]);
    let outcome = job("[[target]]\nuri = \"http://127.0.0.1/\"\n");
    outcome.refuses(2, &["job.toml:2:7: ", "unknown scheme `http`", "nvme-vfio-user"]);
}

#[test]
fn a_run_without_a_target_tells_how_to_name_one() {
    rigel("run").refuses(2, &["no target", "--target URI"]);
    job("[run]\ntime = \"1s\"\n").refuses(2, &["no target", "--target URI"]);
}

#[test]
fn files_and_kernel_devices_are_refused_with_what_is_served() {
    for uri in ["file:///tmp/x", "/dev/null"] {
        rigel(&format!("run -t {uri}")).refuses(3, &["file:///", "not served by this version", "nvme-*", "null"]);
    }
}

#[test]
fn targets_of_two_drivers_are_refused_together() {
    rigel(&format!("run -t {SIM} -t null://1g")).refuses(2, &[SIM, "null://1g", "one after the other"]);
}

#[test]
fn a_depth_of_nothing_or_of_nonsense_is_refused() {
    for depth in ["0", "-1", "1,0", "many", "65536"] {
        rigel(&format!("run -t {SIM} -q {depth}")).refuses(2, &["--queue-depth: ", "1 to 65535"]);
    }
    rigel(&format!("run -t {SIM} --outstanding 0")).refuses(2, &["--outstanding: ", "1 to 1048576"]);
    job("[[workload]]\nqueue_depth = 0\n").refuses(2, &["job.toml:2:15: `queue_depth`: ", "1 to 65535", "found"]);
}

#[test]
fn a_block_size_that_is_no_multiple_of_the_lba_size_is_refused_with_one_that_is() {
    let target = "sim://constant-100us?block_size=4096";
    let outcome = rigel(&format!("run -t {target} -b 6k"));
    outcome.refuses(2, &["`block_size` (--block-size) 6k", "LBA size", "4096 bytes", "--block-size 8k"]);
    rigel(&format!("run -t {target} -b 512")).refuses(2, &["--block-size 4k"]);
}

#[test]
fn a_region_beyond_the_end_is_refused_with_the_size() {
    let target = "sim://constant-100us?size=1g";
    let outcome = rigel(&format!("run -t {target} --region 1g-2g"));
    outcome.refuses(2, &["`region` (--region) 1g-2g", "ends beyond", "1g (1073741824 bytes)", "--region whole"]);
    rigel(&format!("run -t {target} --region 2g")).refuses(2, &["ends beyond"]);
    rigel(&format!("run -t {target} --region 1k")).refuses(2, &["holds no whole I/O"]);
}

#[test]
fn more_cores_than_the_machine_has_are_refused_with_those_it_has() {
    let count = std::thread::available_parallelism().unwrap().get();
    let outcome = rigel(&format!("run -t {SIM} --cores 0-4000"));
    outcome.refuses(2, &["`run.cores` (--cores)", "4000", &format!("{count} core(s) may be used here")]);
    rigel(&format!("run -t {SIM} --cores 1000000")).refuses(2, &["--cores: ", "1000000"]);
}

#[test]
fn a_misspelt_field_is_told_with_its_place_and_the_nearest() {
    let outcome = job("# a job\n[[target]]\nuri = \"null://1g\"\n[[workload]]\n  quue_depth = 4\n");
    outcome.refuses(2, &["job.toml:5:3: ", "unknown field `quue_depth`", "did you mean `queue_depth`?"]);
    job("[rnu]\ntime = \"5s\"\n").refuses(2, &["job.toml:1:2: ", "did you mean `run`?"]);
    rigel(&format!("run -t {SIM} --set run.tiem=5s")).refuses(2, &["--set run.tiem: ", "did you mean `time`?"]);
    rigel(&format!("run -t {SIM} --blok-size 4k")).refuses_usage(&["--blok-size", "--block-size"]);
}

#[test]
fn a_wrong_unit_is_told_with_its_place_and_a_right_one() {
    job("[run]\ntime = \"5 weeks\"\n").refuses(2, &["job.toml:2:8: `time`: ", "5 weeks", "such as"]);
    job("[run]\n\nramp = 5\n").refuses(2, &["job.toml:3:8: `ramp`: ", "with its unit, such as \"30s\""]);
    job("[[workload]]\nblock_size = \"4q\"\n").refuses(2, &["job.toml:2:14: `block_size`: ", "4q"]);
    rigel(&format!("run -t {SIM} --time 5")).refuses(2, &["--time: ", "not a duration"]);
    rigel(&format!("run -t {SIM} -b 4kg")).refuses(2, &["--block-size: ", "4kg", "not a size"]);
}

#[test]
fn a_wrong_type_is_told_with_its_place_and_the_right_one() {
    let outcome = job("[[workload]]\nread_percent = \"half\"\n");
    outcome.refuses(2, &["job.toml:2:16: `read_percent`: ", "0 to 100", "found string \"half\""]);
    job("[[workload]]\nqueue_depth = [1]\n").refuses(2, &["job.toml:2:15: `queue_depth`: ", "1 to 65535", "found"]);
    job("run = 5\n").refuses(2, &["job.toml:1:7: "]);
    job("[sweep]\nqueue_depth = 4\n").refuses(2, &["job.toml:2:15: `queue_depth`: ", "a list"]);
    job("name = \"x\n").refuses(2, &["job.toml:1:", "not valid TOML"]);
}

#[test]
fn a_job_file_that_cannot_be_read_is_named() {
    rigel("run nowhere.toml").refuses(2, &["cannot read nowhere.toml", "No such file"]);
    rigel("run .").refuses(2, &["cannot read ."]);
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_run() {
    // Root may write anywhere but below a file, or in /proc.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let run = format!("run -t {SIM} --time 30d --out file/below");
    Running::start_in(folder, &run).wait().refuses(3, &["cannot write the result to file/below", "--out"]);
    let outcome = rigel(&format!("run -t {SIM} --time 30d --out /proc/rigel"));
    outcome.refuses(3, &["cannot write the result to /proc/rigel", "--out"]);
}

#[test]
fn a_folder_that_holds_a_result_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("kept")).unwrap();
    fs::write(folder.path().join("kept/result.json"), "precious").unwrap();
    let outcome = Running::start_in(folder, &format!("run -t {SIM} --time 30d --out kept")).wait();
    outcome.refuses(3, &["cannot write the result to kept", "holds a result already", "--out"]);
    assert_eq!(fs::read_to_string(outcome.folder().join("kept/result.json")).unwrap(), "precious");
}
