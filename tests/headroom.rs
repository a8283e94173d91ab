//! What limited a point: the rule on made-up figures, and whole runs whose limit is known beforehand.

#[cfg(feature = "spdk")]
#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;
#[path = "common/figures.rs"]
mod figures;

use std::time::Duration;

use cli::rigel;
use rigel::clock::Clock;
use rigel::engine::record::{ArrivalFigures, Leftover, PointFigures};
use rigel::plan::{Arrivals, Load, OpenLoad, Plan};
use rigel::report::json;
use rigel::result::{Bound, PointResult, RunResult, from_json, point};

const VFIO: &str = "nvme-vfio-user:///tmp/array/nqn.2026-11.io.rigel:demo?ns=1";

fn plan(uri: &str, depth: u32) -> Plan {
    Plan { targets: vec![uri.to_owned()], ..figures::plan(1, 100.0, &[depth], Duration::from_millis(200)) }
}

/// The only point of `plan`, after `change`.
fn judged(plan: Plan, change: impl Fn(&mut PointFigures)) -> PointResult {
    let mut figures = figures::drive(&plan, 0);
    change(&mut figures);
    let point = point(&plan, &Clock::virtual_ns(), &figures);
    figures::result(plan, vec![point]).points.remove(0)
}

/// The verdict where the busier of two cores is `busy`.
fn at_busy(uri: &str, depth: u32, busy: f64) -> (Bound, String) {
    let point = judged(plan(uri, depth), |figures| {
        figures.cores[0].busy = busy / 2.0;
        figures.cores[1].busy = busy;
    });
    let verdict = point.verdict.unwrap();
    (verdict.bound, verdict.reason)
}

#[test]
fn the_busiest_core_decides() {
    for (busy, bound) in [(0.0, Bound::Array), (0.7, Bound::Array), (0.8, Bound::Unknown), (0.9, Bound::Host)] {
        for uri in ["nvme-pcie://0000:04:00.0?ns=1", "nvme-tcp://10.0.0.7:4420/nqn.2026-11.io.x:y?ns=1", "malloc://1g"]
        {
            let (found, reason) = at_busy(uri, 32, busy);
            assert_eq!(found, bound, "{uri} at {busy}: {reason}");
            let figure = format!("{:.1} % busy", busy * 100.0);
            assert!(reason.starts_with("core 2 ") && reason.contains(&figure), "{reason}");
            assert!(reason.contains("of the ceiling of 12,345,678 IOPS, longest poll gap 36.50 µs"), "{reason}");
        }
    }
}

#[test]
fn between_the_two_the_ceiling_decides() {
    let plan = plan("nvme-pcie://0000:04:00.0?ns=1", 32);
    let mut result = figures::result(plan.clone(), vec![judged(plan, |figures| figures.cores[1].busy = 0.8)]);
    assert_eq!(result.points[0].verdict.as_ref().unwrap().bound, Bound::Unknown);
    // The same figures where the null driver brings no more than half as much again.
    let null_iops = result.points[0].total.iops * 1.5;
    result.headroom.as_mut().unwrap().null_iops = null_iops;
    let again = RunResult::new(provenance(&result), result.points);
    assert_eq!(again.points[0].verdict.as_ref().unwrap().bound, Bound::Host);
    assert!(again.points[0].share_of_ceiling.is_some_and(|share| (share - 2.0 / 3.0).abs() < 1e-9));
}

fn provenance(result: &RunResult) -> rigel::result::Provenance {
    let RunResult { tool, started_at, command, job, plan, facts, clock, headroom, payload, .. } = result.clone();
    let (resumed_at, campaign) = (Vec::new(), None);
    rigel::result::Provenance {
        tool,
        started_at,
        command,
        job,
        plan,
        facts,
        clock,
        headroom,
        payload,
        resumed_at,
        campaign,
    }
}

#[test]
fn a_program_of_this_host_is_the_host_unless_it_adds_time_of_its_own() {
    // The fastest I/O of the made-up figures takes 90 µs.
    let tcp = "nvme-tcp://127.0.0.1:4420/nqn.2026-11.io.x:y?ns=1";
    for (uri, depth, bound) in [
        (VFIO, 32, Bound::Array),
        (VFIO, 128, Bound::Host),
        (tcp, 32, Bound::Array),
        (tcp, 128, Bound::Unknown),
        ("nvme-tcp://10.0.0.7:4420/nqn.2026-11.io.x:y?ns=1", 256, Bound::Array),
    ] {
        let (found, reason) = at_busy(uri, depth, 0.2);
        assert_eq!(found, bound, "{uri} at {depth}: {reason}");
        assert_eq!(reason.contains("a program of this host"), bound != Bound::Array, "{reason}");
    }
}

#[test]
fn a_point_without_completions_is_not_judged() {
    let point = judged(plan(VFIO, 4), |figures| figures.cells.iter_mut().for_each(|cell| cell.clear()));
    let verdict = point.verdict.unwrap();
    assert_eq!((verdict.bound, verdict.reason.as_str()), (Bound::Unknown, "nothing completed in the window"));
}

#[test]
fn an_offered_rate_that_was_served_is_no_limit() {
    let open = |backlog: u64, overloaded| {
        let mut plan = plan("malloc://1g", 32);
        let rate = OpenLoad { rate_per_s: 10_000, arrivals: Arrivals::Poisson, max_outstanding: Some(32) };
        plan.points[0].loads = vec![Load::Rate(rate)];
        let point = judged(plan, |figures| {
            let arrivals = ArrivalFigures { offered: 2_000, sent: 2_000 - backlog, ..ArrivalFigures::default() };
            figures.arrivals = vec![Some(arrivals)];
            figures.leftovers = vec![Some(Leftover { waiting: backlog, unanswered: 0 })];
            figures.overloaded = overloaded;
        });
        point.verdict.unwrap().bound
    };
    assert_eq!([open(0, false), open(1_000, false), open(1_001, false)], [Bound::None, Bound::None, Bound::Array]);
    assert_eq!(open(0, true), Bound::Array);
}

#[test]
fn what_disturbed_a_point_is_said() {
    let plan = plan("malloc://1g", 32);
    let mut point = judged(plan.clone(), |figures| {
        figures.cores[0].off_core = 0.049;
        figures.cores[1].off_core = 0.25;
    });
    assert!(point.verdict.as_ref().unwrap().reason.ends_with("taken off for 25.0 % of the window"));
    point.host = figures::read_sweep().points[0].host.clone();
    point.host.as_mut().unwrap().cores[0].siblings[0].busy = 0.75;
    let mut result = figures::result(plan, vec![point]);
    let verdicts = result.verdicts.join("\n");
    assert_eq!(result.verdicts.len(), 2, "{verdicts}");
    assert!(verdicts.contains("had core 2 for 25.0 % of the window"), "{verdicts}");
    assert!(verdicts.contains("core 1 shared its physical core with core 3, which was in use for 75 %"), "{verdicts}");
    let clock = result.clock.as_mut().unwrap();
    (clock.drift_ppm, clock.doubt) = (Some(-250.4), Some("it stops".to_owned()));
    let verdicts = RunResult::new(provenance(&result), Vec::new()).verdicts.join("\n");
    assert!(verdicts.contains("in doubt: it stops") && verdicts.contains("ran -250 parts per million"), "{verdicts}");
    result.clock.as_mut().unwrap().checked_s = 0.5;
    assert!(!RunResult::new(provenance(&result), Vec::new()).verdicts.join("\n").contains("parts per million"));
}

#[test]
fn a_result_from_before_these_fields_is_read() {
    let mut value: serde_json::Value = serde_json::from_slice(&json::render(&figures::mixed())).unwrap();
    for field in ["clock", "headroom"] {
        value.as_object_mut().unwrap().remove(field).unwrap();
    }
    for point in value["points"].as_array_mut().unwrap() {
        for field in ["host", "share_of_ceiling", "verdict"] {
            point.as_object_mut().unwrap().remove(field).unwrap();
        }
        point["cores"].as_array_mut().unwrap().iter_mut().for_each(|core| {
            core.as_object_mut().unwrap().remove("off_core").unwrap();
        });
    }
    let old = from_json(&value.to_string()).unwrap();
    assert_eq!((old.clock, old.headroom, old.points[0].verdict.as_ref()), (None, None, None));
}

/// Runs until `times` runs have had the verdict at every point. A point for whose window others had most of a core proves
/// nothing, and its run is repeated, a few times at most.
#[track_caller]
fn assert_bound(times: usize, line: &str, bound: Bound) -> RunResult {
    let mut crowded = 0;
    let mut good = Vec::new();
    while good.len() < times {
        let outcome = rigel(&format!("run {line} --ramp 50ms --time 300ms --quiet")).ends_with(0);
        let result = outcome.result();
        let other = result.points.iter().find(|point| point.verdict.as_ref().unwrap().bound != bound);
        let Some(point) = other else {
            assert!(outcome.stdout.contains(&bound.to_string()), "{}", outcome.stdout);
            good.push(result);
            continue;
        };
        crowded += 1;
        let lost = point.cores.iter().any(|core| core.off_core > 0.5);
        assert!(lost && crowded < 8, "{line}, {}: {:?}", point.load, point.verdict);
    }
    good.remove(0)
}

#[test]
fn the_null_driver_leaves_no_limit_but_the_host() {
    let result = assert_bound(3, "-t null://1g -q 1,32", Bound::Host);
    assert_eq!(result.headroom, None, "the run is its own ceiling");
    let clock = result.clock.unwrap();
    assert_eq!((clock.source.as_str(), &clock.doubt), ("tsc", &None));
    assert!(clock.calibration_error_ppm <= 200.0 && clock.drift_ppm.is_some() && clock.checked_s >= 0.5, "{clock:?}");
}

#[test]
fn the_host_is_watched_while_the_window_is_open() {
    for ramp in ["0s", "100ms"] {
        let line = format!("run -t null://1g -q 1,8 --ramp {ramp} --time 300ms --quiet");
        let result = rigel(&line).ends_with(0).result();
        let core = result.plan.cores[0].core;
        for point in &result.points {
            let host = point.host.as_ref().unwrap();
            assert!(host.sampled_s > 0.1 && host.busy > 0.0 && host.busy <= 1.0, "{host:?}");
            assert_eq!((host.cores[0].core, host.workers[0].core), (core, core), "{host:?}");
            assert!(host.workers[0].migrations.is_none_or(|count| count == 0), "a pinned thread moved: {host:?}");
        }
    }
}

#[test]
fn a_simulated_array_is_the_limit_or_serves_what_is_offered() {
    let result = assert_bound(1, "-t sim://?service=100us -q 4", Bound::Array);
    assert_eq!((result.headroom, result.points[0].host.as_ref()), (None, None), "virtual time has no host");
    assert_eq!(result.clock.unwrap().drift_ppm, None);
    assert_bound(1, "-t sim://?service=100us --rate 1k", Bound::None);
}

#[test]
fn a_clock_may_be_trusted_by_flag_or_job() {
    let line = "run -t null://1g --ramp 0s --time 50ms --quiet";
    let flag = rigel(&format!("{line} --trust-clock")).ends_with(0).result();
    assert_eq!(flag.job["run"]["trust_clock"], true);
    let set = rigel(&format!("{line} --set run.trust_clock=true")).ends_with(0).result();
    assert_eq!(set.job["run"]["trust_clock"], true);
    rigel(&format!("{line} --set run.trust_clock=\"yes\"")).refuses(2, &["trust_clock", "true or false"]);
}

#[cfg(feature = "spdk")]
mod with_spdk {
    use super::array::{Array, Exclusive, Kind};
    use super::{Bound, assert_bound};

    #[test]
    fn a_null_bdev_leaves_no_limit_but_the_host() {
        let _alone = Exclusive::take();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("null.json");
        let null =
            r#"{"method": "bdev_null_create", "params": {"name": "Null0", "num_blocks": 2097152, "block_size": 512}}"#;
        std::fs::write(&config, format!(r#"{{"subsystems": [{{"subsystem": "bdev", "config": [{null}]}}]}}"#)).unwrap();
        let line = format!("-t bdev://Null0?config={} -q 1,32,128", config.display());
        let result = assert_bound(3, &line, Bound::Host);
        assert!(result.headroom.is_some_and(|headroom| headroom.null_iops > 0.0));
        assert!(result.points.iter().all(|point| point.share_of_ceiling.is_some_and(|share| share > 0.0)));
    }

    #[test]
    fn a_delay_in_memory_is_the_arrays() {
        let _alone = Exclusive::take();
        let result = assert_bound(3, "-t malloc://64m?read_latency=350us -q 1,8,32", Bound::Array);
        assert!(result.headroom.is_some_and(|headroom| headroom.null_iops > 0.0));
    }

    #[test]
    fn a_target_on_this_host_is_told_from_a_delay_behind_it() {
        if let Some(null) = Array::start(Kind::VfioUser, &["backing=null"]) {
            assert_bound(3, &format!("-t {} -q 32,128", null.uri()), Bound::Host);
        }
        for kind in [Kind::VfioUser, Kind::Tcp] {
            let Some(delay) = Array::start(kind, &["backing=delay", "size_mib=64"]) else { continue };
            assert_bound(3, &format!("-t {} -q 1,32", delay.uri()), Bound::Array);
        }
    }
}
