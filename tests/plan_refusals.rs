//! What the plan refuses, and what the refusal tells the user to do.

use std::time::Duration;

use rigel::facts::DeviceFacts;
use rigel::plan::{PlanError, resolve, write_allowed};
use rigel::spec::{Job, Overrides, parse};

/// A 1 GiB NVMe namespace with 4 KiB blocks that holds data.
fn namespace(serial: &str) -> DeviceFacts {
    DeviceFacts {
        uri: format!("nvme-tcp://127.0.0.1:4420/nqn.{serial}?ns=1"),
        driver: "spdk_nvme".into(),
        model: "SPDK bdev Controller".into(),
        serial: serial.into(),
        firmware: "26.01".into(),
        identities: vec![serial.into(), format!("nguid-{serial}")],
        block_size: 4096,
        blocks: 262_144,
        max_io_bytes: 128 << 10,
        max_queue_depth: 128,
        queue_pair_depth: 0,
        volatile: false,
        supports: rigel::facts::Supports::ALL,
    }
}

fn memory() -> DeviceFacts {
    DeviceFacts { identities: Vec::new(), volatile: true, ..namespace("M") }
}

fn job(body: &str, count: usize) -> Job {
    let target = "{ uri = \"nvme-tcp://127.0.0.1/nqn.x\" }, ".repeat(count);
    parse(&format!("target = [{target}]\n{body}"), "job.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(body: &str, targets: &[DeviceFacts]) -> String {
    resolve(&job(body, targets.len()), targets, &[0, 1, 2, 3]).unwrap_err().to_string()
}

#[track_caller]
fn assert_names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn a_job_without_a_target_says_how_to_name_one() {
    assert_eq!(resolve(&Job::default(), &[], &[0]), Err(PlanError::NoTarget));
    assert_names(&PlanError::NoTarget.to_string(), &["--target URI", "[[target]]", "`uri`"]);
}

#[test]
fn facts_of_other_targets_than_the_jobs_are_refused() {
    let error = resolve(&job("", 2), &[namespace("A")], &[0]).unwrap_err();
    assert_eq!(error, PlanError::Facts { targets: 2, facts: 1 });
}

#[test]
fn targets_of_two_drivers_are_refused() {
    let other = DeviceFacts { driver: "sim".into(), uri: "sim://constant-100us".into(), ..namespace("B") };
    let text = refusal("", &[namespace("A"), other]);
    assert_names(&text, &["spdk_nvme", "sim://constant-100us by sim", "separate jobs", "--target"]);
}

#[test]
fn cores_that_do_not_exist_are_named_with_those_that_do() {
    let text = refusal("run.cores = \"2-5\"", &[namespace("A")]);
    assert_names(&text, &["`run.cores` (--cores)", "cores 4-5", "4 core(s)", "0-3"]);
    let text = refusal("run.cores = \"7\"", &[namespace("A")]);
    assert_names(&text, &["core 7"]);
    assert_eq!(resolve(&job("", 1), &[namespace("A")], &[]), Err(PlanError::NoCores));
}

#[test]
fn a_block_size_that_the_target_cannot_take_is_refused_with_one_it_can() {
    let text = refusal("workload = [{ name = \"oltp\", block_size = \"5k\" }]", &[namespace("A")]);
    assert_names(&text, &["`oltp`", "`block_size` (--block-size) 5k", "4096 bytes", "--block-size 8k"]);
    let text = refusal("workload = [{ block_size = \"256k\" }]", &[namespace("A")]);
    assert_names(&text, &["256k is more than", "--block-size 128k or less"]);
    let unlimited = DeviceFacts { max_io_bytes: 0, ..namespace("A") };
    assert!(resolve(&job("workload = [{ block_size = \"256k\" }]", 1), &[unlimited], &[0]).is_ok());
}

#[test]
fn a_region_beyond_the_end_or_without_an_io_is_refused_with_the_size() {
    let text = refusal("workload = [{ region = \"0-2g\" }]", &[namespace("A")]);
    assert_names(&text, &["`region` (--region) 0-2g", "which has 1g (1073741824 bytes)", "--region whole"]);
    let text = refusal("workload = [{ region = \"4k-12k\", block_size = \"8k\" }]", &[namespace("A")]);
    assert_names(&text, &["no whole I/O of 8k", "--block-size"]);
    assert!(resolve(&job("workload = [{ region = \"0-1g\" }]", 1), &[namespace("A")], &[0]).is_ok());
}

#[test]
fn a_target_without_blocks_is_refused() {
    for (blocks, block_size) in [(0, 4096), (8, 0)] {
        let text = refusal("", &[DeviceFacts { blocks, block_size, ..namespace("A") }]);
        assert_names(&text, &["no capacity", "--target"]);
    }
}

#[test]
fn a_region_too_small_for_the_sequential_streams_is_refused() {
    let body = "run.cores = \"0-3\"\nworkload = [{ access = \"sequential\", region = \"12k\" }]";
    let text = refusal(body, &[namespace("A")]);
    assert_names(&text, &["holds 3 I/O(s)", "4 sequential streams", "--cores"]);
    let random = body.replace("sequential", "random");
    assert!(resolve(&job(&random, 1), &[namespace("A")], &[0, 1, 2, 3]).is_ok());
}

#[test]
fn a_depth_beyond_the_target_is_refused_over_all_lanes_of_a_core() {
    let text = refusal("[sweep]\nqueue_depth = [1, 129, 2]", &[namespace("A")]);
    assert_names(&text, &["core 3", "129 I/Os", "takes 128", "--queue-depth", "--cores"]);
    let two = "workload = [{ queue_depth = 100 }, { queue_depth = 29 }]";
    assert_names(&refusal(two, &[namespace("A")]), &["129 I/Os", "takes 128"]);
    let total = "workload = [{ outstanding = 129 }]\nrun.cores = \"1\"";
    assert_names(&refusal(total, &[namespace("A"), namespace("B")]), &["129 I/Os", "`outstanding`"]);
    for fits in ["workload = [{ queue_depth = 128 }]", "run.cores = \"0-1\"\nworkload = [{ queue_depth = 256 }]"] {
        assert!(resolve(&job(fits, 1), &[namespace("A")], &[0, 1]).is_ok(), "{fits}");
    }
}

#[test]
fn durations_that_measure_nothing_are_refused_in_any_job() {
    let mut job = job("", 1);
    job.run.time = Some(Duration::ZERO);
    assert_eq!(resolve(&job, &[namespace("A")], &[0]), Err(PlanError::NoTime));
    assert_names(&PlanError::NoTime.to_string(), &["`run.time` (--time)"]);
    job.run.time = Some(Duration::from_secs(2));
    for interval in [Duration::ZERO, Duration::from_secs(3)] {
        job.run.interval = Some(interval);
        let text = resolve(&job, &[namespace("A")], &[0]).unwrap_err().to_string();
        assert_names(&text, &["`run.interval` (--interval)", "which is 2s"]);
    }
}

#[test]
fn a_workload_on_a_target_that_flags_took_away_is_refused() {
    let mut job = parse("[[workload]]\nname = \"w\"\ntargets = [1]", "job.toml").unwrap();
    let error = job.apply(Overrides { target: vec!["null://1g".into()], ..Overrides::default() }).unwrap_err();
    assert_names(&error.to_string(), &["--target: ", "no target 1"]);
    job.target = self::job("", 1).target;
    let text = resolve(&job, &[namespace("A")], &[0]).unwrap_err().to_string();
    assert_names(&text, &["workload `w`", "no target 1", "--target"]);
}

#[test]
fn reading_needs_no_identity() {
    assert!(resolve(&job("", 1), &[namespace("A")], &[0]).is_ok());
}

#[test]
fn writing_without_an_identity_is_refused_and_tells_what_to_type() {
    let text = refusal("workload = [{ name = \"oltp\", read_percent = 70 }]", &[namespace("S1")]);
    let parts = ["nvme-tcp://127.0.0.1:4420/nqn.S1?ns=1", "SPDK bdev Controller", "identities found: S1, nguid-S1"];
    assert_names(&text, &parts);
    assert_names(&text, &["`oltp` (read_percent = 70)", "--destroy S1", "--read-percent 100"]);
    assert!(!text.contains("typed"), "{text}");
}

#[test]
fn the_smallest_share_of_writes_counts() {
    assert_names(&refusal("workload = [{ read_percent = 99.9 }]", &[namespace("S1")]), &["--destroy S1"]);
    let second = "workload = [{}, { name = \"w\", targets = [1], read_percent = 0 }]";
    let text = refusal(second, &[namespace("S1"), namespace("S2")]);
    assert_names(&text, &["`w`", "--destroy S2"]);
    assert!(!text.contains("nqn.S1"), "a target that is only read was named: {text}");
}

#[test]
fn a_wrong_identity_is_shown_next_to_the_right_one() {
    let mut job = job("workload = [{ read_percent = 0 }]", 1);
    job.destroy = vec!["S9".into()];
    let text = resolve(&job, &[namespace("S1")], &[0]).unwrap_err().to_string();
    assert_names(&text, &["typed: S9; found: S1, nguid-S1", "--destroy S1"]);
}

#[test]
fn any_of_the_identities_allows_writing_and_only_in_full() {
    for (typed, allowed) in [("S1", true), ("nguid-S1", true), ("S", false), ("s1", false), ("S1 ", false), ("", false)]
    {
        let mut job = job("workload = [{ read_percent = 0 }]", 1);
        job.destroy = vec![typed.to_owned()];
        assert_eq!(resolve(&job, &[namespace("S1")], &[0]).is_ok(), allowed, "`{typed}`");
        assert_eq!(write_allowed(&namespace("S1"), &job.destroy), allowed, "`{typed}`");
    }
}

#[test]
fn the_flags_to_type_cover_all_targets_and_keep_those_typed_already() {
    let mut job = job("workload = [{ read_percent = 0 }]", 3);
    job.destroy = vec!["S1".into()];
    let targets = [namespace("S1"), namespace("S2"), namespace("S 3")];
    let text = resolve(&job, &targets, &[0]).unwrap_err().to_string();
    assert_names(&text, &["--destroy S1 --destroy S2 --destroy 'S 3'"]);
    job.destroy = vec!["S1".into(), "S2".into(), "S 3".into()];
    assert!(resolve(&job, &targets, &[0]).is_ok());
}

#[test]
fn a_target_without_an_identity_is_never_written_to() {
    let nameless = DeviceFacts { identities: vec![String::new()], model: String::new(), ..namespace("S1") };
    let mut job = job("workload = [{ read_percent = 0 }]", 1);
    job.destroy = vec![String::new()];
    let text = resolve(&job, &[nameless], &[0]).unwrap_err().to_string();
    assert_names(&text, &["identities found: none", "cannot write to it", "--read-percent 100"]);
    assert!(!text.contains("--destroy"), "{text}");
}

#[test]
fn memory_is_written_to_without_asking() {
    assert!(resolve(&job("workload = [{ read_percent = 0 }]", 1), &[memory()], &[0]).is_ok());
    let text = refusal("workload = [{ read_percent = 0 }]", &[memory(), namespace("S1")]);
    assert_names(&text, &["nqn.S1"]);
    assert!(!text.contains("nqn.M"), "{text}");
}
