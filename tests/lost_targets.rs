//! A target that dies in mid-run: the run ends within 10 s with exit code 4, names the target, and keeps what it has.

#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;

use std::time::{Duration, Instant};

use array::{Array, KINDS, Kind};
use cli::Running;
use nix::sys::signal::Signal;

#[test]
fn a_tcp_target_that_dies_ends_the_run() {
    dies_in_mid_run(Kind::Tcp);
}

#[test]
fn an_iscsi_target_that_dies_ends_the_run() {
    dies_in_mid_run(Kind::Iscsi);
}

#[test]
fn a_vfio_user_target_that_dies_ends_the_run() {
    dies_in_mid_run(Kind::VfioUser);
}

#[test]
fn a_target_that_falls_silent_does_not_hold_an_interrupted_run() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=null"]) else { continue };
        let line = format!("run -t {} -q 4,8 --ramp 0s --time 60s --interval 100ms", array.uri());
        let mut running = Running::start(&line);
        running.wait_for(" window: ");
        array.freeze();
        // Long enough for the target to be asked whether it is there; silence alone is no reason to end.
        std::thread::sleep(Duration::from_millis(2_500));
        let interrupted = Instant::now();
        running.signal(Signal::SIGINT);
        let outcome = running.wait().ends_with(5);
        assert!(interrupted.elapsed() < Duration::from_secs(10), "{kind:?}: {:?}", interrupted.elapsed());
        let result = outcome.result();
        assert_eq!(result.points.len(), 1, "{kind:?}");
        let why = result.points[0].ended_early.as_deref().unwrap_or_default();
        assert!(why.contains("interrupted") && why.contains("4 I/Os were never answered"), "{kind:?}: {why}");
        assert!(result.points[0].total.completions > 0 && result.points[0].checks.conservation.ok, "{kind:?}");
    }
}

#[track_caller]
fn dies_in_mid_run(kind: Kind) {
    let Some(array) = Array::start(kind, &["backing=null"]) else { return };
    let line = format!("run -t {} -q 4,8 --ramp 100ms --time 60s --interval 100ms", array.uri());
    let mut running = Running::start(&line);
    running.wait_for(" window: ");
    array.crash();
    let crashed = Instant::now();
    let outcome = running.wait().ends_with(4);
    assert!(crashed.elapsed() < Duration::from_secs(10), "{:?}", crashed.elapsed());
    let result = outcome.result();
    assert_eq!(result.points.len(), 1, "the second point was begun without a target");
    let point = &result.points[0];
    let why = point.ended_early.as_deref().unwrap_or_default();
    assert!(why.contains("target lost") && why.contains("://"), "{why}");
    assert!(point.total.completions > 0 && point.window_s > 0.0 && point.window_s < 60.0, "{}", point.window_s);
    let read = point.total.read.service.as_ref().unwrap();
    assert_eq!(read.histogram().unwrap().len(), point.total.completions);
    assert!(point.checks.conservation.ok, "{:?}", point.checks);
    assert!(result.verdicts.iter().any(|verdict| verdict.contains("target lost")), "{:?}", result.verdicts);
    let failed: u64 = point.errors.iter().map(|error| error.count).sum();
    // Those that were outstanding, and at most one more in each slot that found the queue gone.
    assert!(failed <= 8, "more I/Os failed than can have been sent: {:?}", point.errors);
    let uri = array.uri().split('?').next().unwrap();
    assert!(point.errors.iter().all(|error| error.target.starts_with(uri)), "{:?}", point.errors);
    assert!(outcome.stdout.contains("Result: "), "{}", outcome.stdout);
}
