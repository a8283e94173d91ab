//! Runs against SPDK's own targets on loopback, through the command line: what Rigel says is held against what the
//! target was told and what it has counted itself.

#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;

use std::time::Duration;

use array::{Array, Counts, KINDS, Kind};
use cli::{Running, rigel};
use nix::sys::signal::Signal;
use rigel::result::{Judgement, Latency, OpFigures, PointResult, RunResult};
use serde_json::{Value, json};

const NQN: &str = "nqn.2026-11.io.rigel:loopback";
const SHORT: &str = "--ramp 200ms --time 500ms";

/// Runs on an array and also gives what its `bdev` counted meanwhile.
#[track_caller]
fn run(array: &Array, bdev: &str, line: &str) -> (RunResult, Counts) {
    let before = array.counts(bdev);
    let outcome = rigel(&format!("run {line} --quiet")).ends_with(0);
    (outcome.result(), array.counts(bdev).since(before))
}

/// Completions of ramp, window and drain over all points.
fn completions(result: &RunResult) -> u64 {
    let all = |p: &PointResult| p.ramp.completions + p.total.completions + p.drain.completions;
    result.points.iter().map(all).sum()
}

fn point(result: &RunResult) -> &PointResult {
    let [point] = &result.points[..] else { panic!("{} points", result.points.len()) };
    point
}

/// Checks that the figures of a point agree with each other.
#[track_caller]
fn assert_sound(point: &PointResult) {
    assert!(point.total.completions > 0, "{point:?}");
    let counted = |figures: &OpFigures| {
        let service = figures.service.as_ref();
        assert_eq!(service.map_or(0, |latency| latency.histogram().unwrap().len()), figures.completions);
        figures.completions
    };
    assert_eq!(counted(&point.total.read) + counted(&point.total.write), point.total.completions);
    assert!(point.checks.conservation.ok, "{:?}", point.checks.conservation);
    assert_eq!(point.checks.conservation.interval_completions, point.total.completions);
    // On a machine that does other things, an I/O may last so long that the edges of a short window forbid a judgement.
    assert_ne!(point.checks.littles_law.judgement, Judgement::Off, "{:?}", point.checks.littles_law);
    assert_eq!((point.total.errors, &point.errors[..], &point.ended_early), (0, &[][..], &None));
}

/// Points of a closed loop on every path that were held against Little's law, and passed. Where other programs take the
/// cores, an I/O may last so long that the window's edges forbid a judgement; such a point is tried again.
#[test]
fn littles_law_holds_within_one_per_cent_on_every_path() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=null"]) else { continue };
        for depth in [1, 8, 32] {
            let mut seen = Vec::new();
            let judged = (0..6).any(|_| {
                let line = format!("-t {} -q {depth} --ramp 100ms --time 700ms", array.uri());
                let law = point(&run(&array, "Null0", &line).0).checks.littles_law.clone();
                seen.push(format!("{:+.3} % {:?} {:?}", law.deviation * 100.0, law.judgement, law.reason));
                assert_ne!(law.judgement, Judgement::Off, "{kind:?} at {depth}: {seen:?}");
                law.judgement == Judgement::Ok && law.deviation.abs() <= 0.01
            });
            println!("{kind:?} at {depth}: {seen:?}");
            if !judged {
                array::skip(&format!("the machine is too busy to judge {kind:?} at depth {depth}: {seen:?}"));
            }
        }
    }
}

#[test]
fn an_open_loop_sends_what_is_due_and_accounts_for_it() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=null"]) else { continue };
        let line = format!("-t {} --rate 2000,4000 --overload continue --ramp 100ms --time 500ms", array.uri());
        let (result, target) = run(&array, "Null0", &line);
        assert_eq!(completions(&result), target.reads, "{kind:?}");
        for (point, rate) in result.points.iter().zip([2_000.0, 4_000.0]) {
            let check = &point.checks.arrivals[0];
            assert!(check.conserved && point.checks.conservation.ok, "{kind:?}: {check:?}");
            assert_eq!((check.errors, check.unanswered), (0, 0), "{kind:?}");
            // Ramp and window, whatever else the machine does; five standard deviations.
            let expected: f64 = rate * 0.6;
            assert!((check.offered as f64 - expected).abs() <= 5.0 * expected.sqrt(), "{kind:?}: {check:?}");
            let (read, law) = (&point.total.read, &point.checks.littles_law);
            assert_eq!(law.judgement, Judgement::NotJudged);
            let [service, response] = [&read.service, &read.response].map(|latency| latency.as_ref().unwrap());
            assert!(response.mean_ns >= service.mean_ns && response.max_ns >= service.max_ns, "{kind:?}: {read:?}");
        }
    }
}

#[test]
fn every_read_that_is_counted_is_one_the_target_counted() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=null"]) else { continue };
        // Three points, so that what is left over between them would be seen.
        let (result, target) = run(&array, "Null0", &format!("-t {} -q 1,8,32 --ramp 100ms --time 300ms", array.uri()));
        assert_eq!(result.points.len(), 3);
        result.points.iter().for_each(assert_sound);
        let drained: Vec<u64> = result.points.iter().map(|point| point.drain.completions).collect();
        assert_eq!(drained, [1, 8, 32], "{kind:?}");
        assert_eq!((completions(&result), 0), (target.reads, target.writes), "{kind:?}");
        assert_eq!(completions(&result) * 4096, target.bytes_read, "{kind:?}");
    }
}

#[test]
fn a_fill_writes_as_many_bytes_as_the_target_counts() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=malloc", "size_mib=64"]) else { continue };
        let identity = if kind == Kind::Iscsi { "iqn.2026-11.io.rigel:loopback/0" } else { "RIGEL-LOOPBACK-1" };
        rigel(&format!("fill -t {}", array.uri())).refuses(2, &["--destroy", identity]);
        let before = array.counts("Malloc0");
        let line = format!("fill -t {} --order random --destroy {identity} --json", array.uri());
        let outcome = rigel(&line).ends_with(0);
        let counts = array.counts("Malloc0").since(before);
        assert!(outcome.stdout.contains("\"outcome\": \"done\""), "{}", outcome.stdout);
        assert_eq!((counts.reads, counts.bytes_written), (0, 64 << 20), "{kind:?}");
    }
}

#[test]
fn a_target_that_was_never_written_is_told_until_it_is_filled_and_is_sent_nothing_for_it() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=malloc", "size_mib=64"]) else { continue };
        let identity = if kind == Kind::Iscsi { "iqn.2026-11.io.rigel:loopback/0" } else { "RIGEL-LOOPBACK-1" };
        let told = || {
            let (result, counts) = run(&array, "Malloc0", &format!("-t {} -q 8 {SHORT}", array.uri()));
            assert_eq!((counts.reads, counts.writes), (completions(&result), 0), "{kind:?}");
            let samples = point(&result).workloads[0].blank_reads.map(|found| found.samples);
            assert_eq!(samples, Some(8), "{kind:?}");
            result.verdicts.iter().any(|verdict| verdict.contains("8 of 8 sampled reads (100 %)"))
        };
        assert!(told(), "{kind:?}");
        rigel(&format!("fill -t {} --destroy {identity} --quiet", array.uri())).ends_with(0);
        assert!(!told(), "{kind:?}");
    }
}

#[test]
fn of_a_mix_the_target_counts_the_same_reads_and_writes() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=malloc", "size_mib=64"]) else { continue };
        let identity = if kind == Kind::Iscsi { "iqn.2026-11.io.rigel:loopback/0" } else { "RIGEL-LOOPBACK-1" };
        let line =
            format!("-t {} -q 8 -b 8k --read-percent 70 --destroy {identity} --ramp 0s --time 500ms", array.uri());
        let (result, target) = run(&array, "Malloc0", &line);
        let point = point(&result);
        assert_sound(point);
        assert_eq!(completions(&result), target.reads + target.writes, "{kind:?}");
        assert_eq!((target.bytes_read, target.bytes_written), (target.reads * 8192, target.writes * 8192), "{kind:?}");
        // Without a ramp, what is not in the window is in the drain, whose I/Os are reads or writes: at most 8 of each.
        let (reads, writes) = (point.total.read.completions, point.total.write.completions);
        assert!(target.reads >= reads && target.reads - reads <= 8, "{kind:?}: {reads} of {target:?}");
        assert!(target.writes >= writes && target.writes - writes <= 8, "{kind:?}: {writes} of {target:?}");
        let (n, share) = ((reads + writes) as f64, reads as f64 / (reads + writes) as f64);
        assert!((share - 0.7).abs() <= 5.0 * (0.21 / n).sqrt(), "{kind:?}: {share} of {n}");
    }
}

#[test]
fn several_targets_are_driven_at_once_and_told_apart() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=null", "namespaces=2"]) else { continue };
        let before = ["Null0", "Null1"].map(|bdev| array.counts(bdev));
        let outcome =
            rigel(&format!("run -t {} -t {} -q 4 --quiet {SHORT}", array.uris[0], array.uris[1])).ends_with(0);
        let after = ["Null0", "Null1"].map(|bdev| array.counts(bdev));
        let result = outcome.result();
        let point = point(&result);
        assert_sound(point);
        let reads = [0, 1].map(|n: usize| after[n].since(before[n]).reads);
        assert_eq!(completions(&result), reads[0] + reads[1], "{kind:?}");
        let targets = &point.workloads[0].targets;
        let inside: Vec<u64> = targets.iter().map(|target| target.figures.completions).collect();
        assert!(inside[0] > 0 && inside[0] < reads[0] && inside[1] > 0 && inside[1] < reads[1], "{inside:?} {reads:?}");
        assert_eq!(inside[0] + inside[1], point.total.completions);
        assert_eq!((targets.len(), point.load.total_outstanding, point.drain.completions), (2, 8, 8));
    }
}

#[test]
fn outstanding_is_held_over_all_targets_together() {
    let array = Array::tcp(&["backing=null", "namespaces=2"]);
    let outcome = rigel(&format!("run -t {} -t {} --outstanding 6 --quiet {SHORT}", array.uris[0], array.uris[1]));
    let result = outcome.ends_with(0).result();
    assert_sound(point(&result));
    assert_eq!((point(&result).load.outstanding, point(&result).drain.completions), (Some(6), 6));
}

#[test]
fn a_write_stays_in_its_region() {
    let array = Array::tcp(&["backing=malloc", "size_mib=16"]);
    let line = format!("-t {} -q 4 -b 16k --region 1m-3m --access sequential --read-percent 0", array.uri());
    let (result, target) = run(&array, "Malloc0", &format!("{line} --destroy RIGEL-LOOPBACK-1 {SHORT}"));
    assert_sound(point(&result));
    assert_eq!(completions(&result) * 16_384, target.bytes_written);
    assert!(target.writes > 2 * 128, "the region was not gone through twice: {target:?}");
    let held = array.contents();
    let (region, mib) = (1 << 20..3 << 20, 1 << 20);
    assert_eq!(held.len(), 16 * mib);
    assert!(held[..region.start].iter().chain(&held[region.end..]).all(|&byte| byte == 0), "written outside");
    let empty = held[region].chunks(4096).filter(|block| block.iter().all(|&byte| byte == 0)).count();
    assert_eq!(empty, 0, "blocks of zeros in the region");
}

/// Measures a target and one with 350 µs more delay in turns, until the two differ by that within 2 %. Where other
/// programs take the cores, latencies are too long; such a pair proves nothing. A pair in quiet that disagrees does.
#[track_caller]
fn assert_350us_more(floor: &str, delayed: &str) {
    let mut seen = Vec::new();
    let mut quiet = false;
    for _ in 0..8 {
        let (floor, delayed) = (at_depth_one(floor), at_depth_one(delayed));
        let added = delayed.p50_ns as f64 - floor.p50_ns as f64;
        if (added - 350_000.0).abs() <= 0.02 * 350_000.0 {
            return;
        }
        quiet |= delayed.p99_ns * 5 <= delayed.p50_ns * 6;
        seen.push((floor.p50_ns, delayed.p50_ns, delayed.p99_ns));
    }
    let seen = format!("p50, p50 and p99 with 350 µs more, in ns: {seen:?}");
    assert!(!quiet, "{seen}");
    array::skip(&format!("the machine is too busy to measure microseconds: {seen}"));
}

#[track_caller]
fn at_depth_one(target: &str) -> Latency {
    let result = rigel(&format!("run -t {target} -q 1 --ramp 100ms --time 400ms --quiet")).ends_with(0).result();
    point(&result).total.read.service.clone().unwrap()
}

#[test]
fn a_delay_in_memory_is_measured_as_it_was_asked_for() {
    let _alone = array::Exclusive::take();
    assert_350us_more("malloc://64m", "malloc://64m?read_latency=350us");
}

#[test]
fn a_delay_behind_a_network_path_is_measured_as_it_was_asked_for() {
    // One target, so that both namespaces are served by the same loop; and a delay on both, since a network path that
    // rests between two I/Os is slower than one that is busy all the time.
    let array = Array::tcp(&["backing=delay", "size_mib=16", "delay_us=350"]);
    array.rpc("bdev_malloc_create", &json!({"name": "Base", "num_blocks": 32_768, "block_size": 512}));
    let latencies = ["avg_read_latency", "p99_read_latency", "avg_write_latency", "p99_write_latency"];
    let mut delay = json!({"name": "Slow", "base_bdev_name": "Base"});
    latencies.iter().for_each(|latency| delay[latency] = json!(700));
    array.rpc("bdev_delay_create", &delay);
    array.rpc("nvmf_subsystem_add_ns", &json!({"nqn": NQN, "namespace": {"bdev_name": "Slow"}}));
    assert!(at_depth_one(array.uri()).min_ns >= 350_000, "faster than the target can be");
    assert_350us_more(array.uri(), &array.uri().replace("ns=1", "ns=2"));
}

#[test]
fn a_delay_of_writes_is_not_found_in_reads() {
    let _alone = array::Exclusive::take();
    let target = "malloc://64m?write_latency=2ms";
    let result = rigel(&format!("run -t {target} -q 8 --read-percent 50 --quiet {SHORT}")).ends_with(0).result();
    let total = &point(&result).total;
    let (read, write) = (total.read.service.as_ref().unwrap(), total.write.service.as_ref().unwrap());
    assert!(write.min_ns >= 2_000_000, "{write:?}");
    assert!(read.p50_ns < 1_000_000, "{read:?}");
}

#[test]
fn failed_ios_are_told_by_status_and_are_no_completions() {
    let array = Array::tcp(&["backing=null"]);
    array.rpc("bdev_null_create", &json!({"name": "Base", "num_blocks": 131_072, "block_size": 512}));
    array.rpc("bdev_error_create", &json!({"base_name": "Base"}));
    array.rpc("nvmf_subsystem_add_ns", &json!({"nqn": NQN, "namespace": {"bdev_name": "EE_Base"}}));
    let fault = json!({"name": "EE_Base", "io_type": "read", "error_type": "failure", "num": 37});
    array.rpc("bdev_error_inject_error", &fault);
    let before = array.counts("EE_Base");
    let target = array.uri().replace("ns=1", "ns=2");
    let outcome = rigel(&format!("run -t {target} -q 4 --ramp 0s --time 500ms --quiet")).ends_with(4);
    let counted = array.counts("EE_Base").since(before);
    let result = outcome.result();
    let point = point(&result);
    let [error] = &point.errors[..] else { panic!("{:?}", point.errors) };
    assert_eq!((error.count, error.target.as_str()), (37, target.as_str()));
    assert!(error.status.contains("Internal Error"), "{}", error.status);
    assert_eq!((point.total.errors, point.total.read.errors, point.drain.errors), (37, 37, 0));
    assert_eq!(point.total.read.service.as_ref().unwrap().histogram().unwrap().len(), point.total.completions);
    assert_eq!(completions(&result), counted.reads, "the target counts what succeeded");
    assert!(result.verdicts.join("\n").contains("37 I/Os failed"), "{:?}", result.verdicts);
    assert!(outcome.stdout.contains("37"), "the table is silent about errors: {}", outcome.stdout);
}

#[test]
fn an_interrupted_run_counts_what_the_target_counts() {
    for (kind, signal) in
        [(Kind::Tcp, Signal::SIGINT), (Kind::Iscsi, Signal::SIGTERM), (Kind::VfioUser, Signal::SIGINT)]
    {
        let Some(array) = Array::start(kind, &["backing=null"]) else { continue };
        let before = array.counts("Null0");
        let mut running =
            Running::start(&format!("run -t {} -q 8 --ramp 100ms --time 60s --interval 100ms", array.uri()));
        running.wait_for(" window: ");
        running.signal(signal);
        let outcome = running.wait().ends_with(5);
        assert!(outcome.took < Duration::from_secs(20), "{kind:?}: {:?}", outcome.took);
        let result = outcome.result();
        let point = point(&result);
        assert_eq!(point.ended_early.as_deref(), Some("interrupted"), "{kind:?}");
        assert!(point.window_s > 0.0 && point.window_s < 20.0, "{kind:?}: {}", point.window_s);
        assert_eq!((point.drain.completions, point.checks.conservation.ok), (8, true), "{kind:?}");
        assert_eq!(completions(&result), array.counts("Null0").since(before).reads, "{kind:?}");
    }
}

#[test]
fn the_result_has_the_fields_that_other_tools_rely_on() {
    let array = Array::tcp(&["backing=malloc", "size_mib=64"]);
    let flags = "-q 2 --read-percent 50 --destroy RIGEL-LOOPBACK-1 --seed 9 --json";
    let outcome = rigel(&format!("run -t {} {flags} {SHORT}", array.uri())).ends_with(0);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let at = |pointer: &str| json.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {json}"));
    assert_eq!((at("/schema"), at("/plan/seed")), (&json!(1), &json!(9)));
    assert_eq!(at("/facts/targets/0/uri"), array.uri());
    assert_eq!(at("/facts/targets/0/model"), "Rigel loopback array");
    assert_eq!(at("/facts/targets/0/serial"), "RIGEL-LOOPBACK-1");
    assert_eq!((at("/facts/targets/0/block_size"), at("/facts/targets/0/blocks")), (&json!(512), &json!(131_072)));
    assert_eq!(at("/points/0/load/queue_depth"), 2);
    assert!(at("/points/0/window_s").as_f64().is_some_and(|s| (s - 0.5).abs() < 1e-6), "{}", at("/points/0/window_s"));
    assert_eq!(at("/points/0/drain/completions"), 2);
    for text in ["/tool/version", "/tool/spdk", "/facts/targets/0/firmware", "/facts/host/hostname", "/facts/host/cpu"]
    {
        assert!(at(text).as_str().is_some_and(|text| !text.is_empty()), "{text}: {}", at(text));
    }
    assert!(at("/tool/git").is_string() && at("/verdicts").is_array() && at("/plan/cores/0/core").is_u64());
    assert!(at("/job/target/0/uri").is_string() && at("/points/0/workloads/0/name").is_string());
    let figures = ["/points/0/total", "/points/0/workloads/0", "/points/0/workloads/0/targets/0"];
    for place in figures {
        for field in ["iops", "bytes_per_s", "completions", "read/iops", "read/bytes_per_s", "write/completions"] {
            assert!(at(&format!("{place}/{field}")).as_f64().is_some_and(|n| n > 0.0), "{place}/{field}");
        }
        assert_eq!(at(&format!("{place}/errors")), 0);
        for op in ["read", "write"] {
            assert!(at(&format!("{place}/{op}/response")).is_null());
            let service = at(&format!("{place}/{op}/service"));
            let names = ["min", "p50", "p90", "p95", "p99", "p999", "p9999", "p99999", "max"];
            let values =
                names.map(|name| service[format!("{name}_ns")].as_u64().unwrap_or_else(|| panic!("no {name}")));
            assert!(values[0] > 0 && values.is_sorted(), "{values:?}");
            assert!(
                service["mean_ns"].as_f64().is_some_and(|mean| mean >= values[0] as f64 && mean <= values[8] as f64)
            );
            assert!(service["hdr"].as_str().is_some_and(|hdr| hdr.starts_with("HISTF")));
        }
    }
    let busy = at("/points/0/cores/0/busy").as_f64().unwrap();
    assert!(busy > 0.0 && busy <= 1.0 && at("/points/0/cores/0/poll_gap_max_ns").as_u64().is_some_and(|gap| gap > 0));
    assert!(at("/points/0/cores/0/core").is_u64() && at("/points/0/ramp/completions").is_u64());
}
