//! Operations beside reads and writes: their shares, their figures everywhere they are told, what a plan refuses, what the
//! write guard covers.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/lanes.rs"]
mod lanes;

use std::fs;

use cli::{Running, rigel};
use rigel::facts::{DeviceFacts, Supports};
use rigel::plan::{Op, PlanError};
use rigel::result::{Judgement, series};
use rigel::spec;

const MIX: &str = "mix = { read = 70, write = 20, trim = 5, write_zeroes = 3, flush = 2 }";

fn job(workload: &str) -> String {
    format!(
        "[[target]]\nuri = \"sim://?service=100us&write_service=50us&servers=64\"\n[[workload]]\nqueue_depth = 8\n{workload}\n\
         [run]\nramp = \"10ms\"\ntime = \"1s\"\ninterval = \"100ms\"\n"
    )
}

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), text).unwrap();
    folder
}

#[test]
fn each_operation_has_its_share_and_is_told_everywhere() {
    let outcome = Running::start_in(folder_with(&job(MIX)), "run job.toml --quiet --out out").wait().ends_with(0);
    let at = |name: &str| {
        let folder = outcome.folder().join("out");
        // Either the folder itself, or the one of the run in it.
        let inner = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
        if folder.join(name).exists() { folder.join(name) } else { inner.unwrap().join(name) }
    };
    let result = rigel::result::from_json(&fs::read_to_string(at("result.json")).unwrap()).unwrap();
    let point = &result.points[0];
    let n = point.total.completions as f64;
    assert!(n > 80_000.0, "{n}");
    let shares = [(Op::Read, 0.7), (Op::Write, 0.2), (Op::Trim, 0.05), (Op::WriteZeroes, 0.03), (Op::Flush, 0.02)];
    for (op, share) in shares {
        let figures = point.total.of(op).expect("it is done");
        let off = (figures.completions as f64 - n * share).abs();
        assert!(off <= 5.0 * (n * share * (1.0 - share)).sqrt(), "{op}: {} of {n}", figures.completions);
        let each = if op == Op::Flush { 0.0 } else { 4096.0 };
        assert!((figures.bytes_per_s - figures.iops * each).abs() < 1e-6, "{op}: {figures:?}");
        let service = figures.service.as_ref().unwrap();
        assert_eq!(service.max_ns, if op == Op::Read { 100_000 } else { 50_000 }, "{op}: all but reads as writes");
    }
    let sum: u64 = point.total.ops().map(|(_, op)| op.completions).sum();
    assert_eq!(sum, point.total.completions);
    assert!(point.checks.conservation.ok);
    assert_eq!(point.checks.littles_law.judgement, Judgement::Ok, "{:?}", point.checks.littles_law);
    // Everywhere.
    let summary = fs::read_to_string(at("summary.txt")).unwrap();
    assert!(summary.contains("70 % read, 20 % write, 5 % trim, 3 % write_zeroes, 2 % flush"), "{summary}");
    for op in ["trim", "write_zeroes", "flush"] {
        assert!(outcome.stdout.lines().any(|line| line.contains(&format!(" {op} "))), "{op}: {}", outcome.stdout);
    }
    let told = series::read(&fs::read(at("series.jsonl")).unwrap()).unwrap();
    let mut trims = 0;
    for interval in told.intervals().filter(|interval| interval.phase == series::SeriesPhase::Window) {
        let workload = &interval.workloads[0];
        assert_eq!(workload.flush.as_ref().unwrap().bytes, 0);
        trims += workload.trim.as_ref().unwrap().completions;
    }
    assert_eq!(trims, point.total.trim.as_ref().unwrap().completions);
    let of_run = at("result.json").parent().unwrap().to_path_buf();
    rigel(&format!("export {} --out {}/x", of_run.display(), of_run.display())).ends_with(0);
    rigel(&format!("report {0} --out {0}/x/page.html", of_run.display())).ends_with(0);
    for (file, text) in [
        ("x/page.html", ">write_zeroes<"),
        ("x/points.csv", ",write_zeroes,"),
        ("x/intervals.csv", ",flush,"),
        ("x/rigel.prom", "op=\"trim\""),
    ] {
        assert!(fs::read_to_string(of_run.join(file)).unwrap().contains(text), "{file}");
    }
}

#[test]
fn a_flush_takes_no_place_from_a_stream() {
    let workload = "access = \"sequential\"\nmix = { write = 40, write_zeroes = 30, flush = 30 }";
    let mut generator = lanes::on_blocks(workload, 1 << 20);
    let ios = lanes::take(&mut generator, 10_000);
    let placed: Vec<u64> = ios.iter().filter(|io| io.op != Op::Flush).map(|io| io.lba.0).collect();
    assert!(placed.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let flushes = ios.iter().filter(|io| io.op == Op::Flush);
    assert!(flushes.clone().all(|io| io.lba.0 == 0));
    assert!((2_700..3_300).contains(&flushes.count()));
    assert!(ios.iter().all(|io| io.op != Op::Read && io.op != Op::Trim));
}

#[test]
fn a_mix_of_reads_and_writes_is_the_short_form() {
    let short = lanes::plan("read_percent = 70", lanes::target(1 << 20, 4096), 1);
    let long = lanes::plan("mix = { read = 70, write = 30 }", lanes::target(1 << 20, 4096), 1);
    assert_eq!(short, long);
    assert_eq!(
        lanes::take(&mut lanes::generator(&short, 0, 1), 100),
        lanes::take(&mut lanes::generator(&long, 0, 1), 100)
    );
}

#[test]
fn what_a_target_does_not_support_is_refused_by_name() {
    let none = DeviceFacts { supports: Supports::default(), ..lanes::target(1 << 20, 4096) };
    for (op, fields) in [("trim", "trim = 5"), ("write_zeroes", "write_zeroes = 5"), ("flush", "flush = 5")] {
        let error = lanes::try_plan(&format!("mix = {{ read = 95, {fields} }}"), none.clone(), 1).unwrap_err();
        assert!(matches!(error, PlanError::Unsupported { .. }));
        assert!(error.to_string().contains(&format!("null://1t does not support `{op}`; leave `{op}` out")), "{error}");
    }
    assert!(lanes::try_plan("mix = { read = 95, write = 5 }", none, 1).is_ok());
}

#[test]
fn trims_and_zeroes_are_guarded_as_writes_are_and_flushes_are_not() {
    let device = DeviceFacts { volatile: false, identities: vec!["S1".to_owned()], ..lanes::target(1 << 20, 4096) };
    for mix in ["trim = 1", "write_zeroes = 1", "write = 1"] {
        let error =
            lanes::try_plan(&format!("mix = {{ read = 98, flush = 1, {mix} }}"), device.clone(), 1).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("--destroy S1") && text.contains("98 % read, "), "{text}");
    }
    let plan = lanes::try_plan("mix = { read = 99, flush = 1 }", device, 1).expect("a flush destroys nothing");
    assert!(!plan.destroys());
    assert!(plan.workloads[0].payload.is_none());
}

#[test]
fn what_a_job_says_of_operations_is_checked() {
    let parse = |fields: &str| spec::parse(&format!("[[workload]]\n{fields}\n"), "test");
    for (fields, says) in [
        ("mix = { read = 70, write = 20 }", "add up to 90 %, not 100 %"),
        ("mix = { read = 100, verify = 0 }", "unknown field `verify`"),
        ("mix = { read = 100 }\nread_percent = 100", "`mix` (of all operations) and `read_percent`"),
        ("mix = { read = 90, trim = 10 }\npayload = \"zeroes\"", "this job writes nothing"),
    ] {
        let error = parse(fields).unwrap_err().to_string();
        assert!(error.contains(says), "{fields}: {error}");
    }
    let mut job = parse("mix = { trim = 100 }").unwrap();
    assert_eq!((job.workload[0].share(Op::Trim), job.workload[0].read_percent()), (100.0, 0.0));
    let overrides = spec::Overrides { read_percent: Some("60".to_owned()), ..spec::Overrides::default() };
    job.apply(overrides).unwrap();
    assert_eq!((job.workload[0].mix, job.workload[0].share(Op::Write)), (None, 40.0));
    let accepting = |op: &str| spec::parse(&format!("accept = [\"p99 {op} <= 1ms\"]\n[[workload]]\n{MIX}\n"), "test");
    assert!(accepting("flush").is_ok() && accepting("trim").is_ok());
}
