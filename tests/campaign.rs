//! Campaigns through the command line, on the array model: which points are run, in which order, with which settings, and
//! what ends a curve.

#[path = "common/cli.rs"]
mod cli;

use cli::{Outcome, Running};
use rigel::result::{Judgement, PointResult, Role, RunResult};

/// An array of eight servers, each of which takes 100 µs for an I/O, on the mean: 80,000 IOPS at most.
const EIGHT: &str = "sim://?service=exp:100us&servers=8";

#[track_caller]
fn job(text: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
    Running::start_in(folder, "run job.toml --quiet").wait()
}

#[track_caller]
fn run(text: &str) -> RunResult {
    let result = job(text).ends_with(0).result();
    for point in &result.points {
        assert!(
            point.checks.conservation.ok && point.checks.littles_law.judgement != Judgement::Off,
            "{}",
            point.label()
        );
    }
    result
}

/// A job on one target.
fn on(target: &str, rest: &str) -> String {
    format!("[[target]]\nuri = \"{target}\"\n[run]\nramp = \"100ms\"\ntime = \"500ms\"\ninterval = \"100ms\"\n{rest}")
}

fn labels(result: &RunResult) -> Vec<String> {
    result.points.iter().map(PointResult::label).collect()
}

#[test]
fn the_first_list_is_the_outer_one_and_each_point_has_a_plan_of_its_own() {
    let two = format!(
        "[[target]]\nuri = \"{EIGHT}\"\n[[target]]\nuri = \"{EIGHT}&seed=2\"\n[run]\nramp = \"100ms\"\ntime = \"500ms\"\n"
    );
    let result =
        run(&format!("{two}[sweep]\ntargets = [2, 1]\nblock_size = [\"4k\", \"16k\"]\nqueue_depth = [1, 64]\n"));
    let expected = [
        "targets 2, block_size 4k, QD 1",
        "targets 2, block_size 4k, QD 64",
        "targets 2, block_size 16k, QD 1",
        "targets 2, block_size 16k, QD 64",
        "targets 1, block_size 4k, QD 1",
        "targets 1, block_size 4k, QD 64",
        "targets 1, block_size 16k, QD 1",
        "targets 1, block_size 16k, QD 64",
    ];
    assert_eq!(labels(&result), expected);
    assert!(result.campaign.as_ref().is_some_and(|campaign| campaign.finished && campaign.planned == Some(8)));
    for (index, point) in result.points.iter().enumerate() {
        let (targets, size) = (if index < 4 { 2.0 } else { 1.0 }, if index / 2 % 2 == 0 { 4096.0 } else { 16384.0 });
        let plan = result.plan_of(index).0;
        assert_eq!(plan.workloads[0].block_size.0 as f64, size);
        assert_eq!(plan.workloads[0].targets.len() as f64, targets);
        assert!((point.total.bytes_per_s / point.total.iops / size - 1.0).abs() < 1e-9);
        let most = if index % 2 == 0 { 10_000.0 } else { 80_000.0 } * targets;
        assert!((point.total.iops / most - 1.0).abs() < 0.05, "{}: {}", point.label(), point.total.iops);
    }
}

#[test]
fn fields_of_the_run_of_one_workload_and_shorthands_can_be_stepped_through() {
    let workloads = "[[workload]]\nname = \"oltp\"\nregion = \"1g\"\n[[workload]]\nname = \"scan\"\n";
    let result = run(&on(
        EIGHT,
        &format!("{workloads}[sweep]\ntime = [\"500ms\", \"1s\"]\n\"workload.oltp.read_percent\" = [100, 0]\n"),
    ));
    let shares: Vec<f64> = (0..4).map(|index| result.plan_of(index).0.workloads[0].read_percent).collect();
    assert_eq!(shares, [100.0, 0.0, 100.0, 0.0]);
    assert_eq!((0..4).map(|index| result.plan_of(index).0.workloads[1].read_percent).sum::<f64>(), 400.0);
    assert_eq!(result.points.iter().map(|point| point.window_s).collect::<Vec<_>>(), [0.5, 0.5, 1.0, 1.0]);
    let skewed = run(&on(EIGHT, "[sweep]\nzipf = [0.8, 1.2]\nregion = [\"10%\", \"50%\"]\n"));
    assert_eq!(labels(&skewed)[3], "zipf 1.2, region 50%, QD 32");
    let regions: Vec<u64> = (0..4).map(|index| skewed.plan_of(index).0.workloads[0].regions[0].blocks).collect();
    assert!(regions[1].abs_diff(regions[0] * 5) < 50 && regions[3] == regions[1], "{regions:?}");
}

#[test]
fn no_two_points_of_a_campaign_touch_the_same_blocks_in_the_same_order() {
    let result = run(&on(EIGHT, "[sweep]\nqueue_depth = [4]\nrepeats = 3\n"));
    let mut seeds: Vec<u64> = (0..3).map(|index| result.plan_of(index).0.seed).collect();
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
    let repeats: Vec<u32> = result.points.iter().map(|point| point.step.as_ref().unwrap().repeat).collect();
    assert_eq!(repeats, [1, 2, 3]);
}

#[test]
fn a_shuffled_sweep_has_every_point_once_and_the_same_order_for_the_same_seed() {
    let text = on(EIGHT, "[sweep]\nqueue_depth = [1, 2, 3, 4, 5, 6, 7, 8]\nshuffle = true\n");
    let (once, again) = (labels(&run(&text)), labels(&run(&text)));
    assert_eq!(once, again);
    let other = labels(&run(&text.replace("[run]", "[run]\nseed = 7")));
    assert_ne!(once, other);
    let written: Vec<String> = (1..=8).map(|depth| format!("QD {depth}")).collect();
    for order in [&once, &other] {
        assert_ne!(*order, written);
        let mut sorted = (*order).clone();
        sorted.sort();
        assert_eq!(sorted, written);
    }
}

#[test]
fn rates_can_be_shares_of_what_the_targets_reach() {
    let result = run(&on(EIGHT, "[sweep]\nblock_size = [\"4k\", \"8k\"]\nrate = { percent_of_max = [10, 50, 90] }\n"));
    assert_eq!(result.points.len(), 8, "{:?}", labels(&result));
    for curve in result.points.chunks(4) {
        let [max, shares @ ..] = curve else { unreachable!() };
        assert_eq!(max.step.as_ref().unwrap().role, Role::Max);
        assert!((max.total.iops / 80_000.0 - 1.0).abs() < 0.05, "{}", max.total.iops);
        for (point, share) in shares.iter().zip([0.1, 0.5, 0.9]) {
            assert_eq!(point.load.rate_per_s, Some((max.total.iops * share).round() as u64));
            assert!(point.step.as_ref().unwrap().settings.iter().any(|setting| setting.field == "percent_of_max"));
        }
    }
}

#[test]
fn a_stop_rule_ends_its_curve_and_no_other() {
    let rest =
        "[sweep]\nblock_size = [\"4k\", \"8k\"]\nqueue_depth = [1, 16, 64, 256, 1024]\nstop = \"mean read > 500us\"\n";
    let result = run(&on(EIGHT, rest));
    // 64 at once take 800 µs.
    assert_eq!(
        labels(&result),
        [
            "block_size 4k, QD 1",
            "block_size 4k, QD 16",
            "block_size 4k, QD 64",
            "block_size 8k, QD 1",
            "block_size 8k, QD 16",
            "block_size 8k, QD 64"
        ]
    );
    let campaign = result.campaign.as_ref().unwrap();
    assert!(campaign.finished && campaign.planned == Some(6) && campaign.left_out.len() == 2, "{campaign:?}");
    assert!(
        campaign.left_out[0].contains("behind block_size 4k, QD 64")
            && campaign.left_out[0].contains("mean read > 500us")
    );
    let long = on(EIGHT, "[sweep]\nrate = [\"20k\", \"300k\", \"400k\"]\nstop = \"overloaded\"\n")
        .replace("\"500ms\"", "\"3s\"");
    let rates = job(&long).ends_with(0).result();
    assert!(rates.points.len() == 2 && rates.points[1].overloaded, "{:?}", labels(&rates));
}

#[test]
fn rounds_go_on_until_five_are_steady() {
    let steady = run(&on(EIGHT, "[sweep]\nqueue_depth = [8]\nrepeats = \"steady\"\n"));
    assert_eq!(steady.points.len(), 5, "an array that never changes is steady after five rounds");
    let rounds: Vec<u32> = steady.points.iter().map(|point| point.step.as_ref().unwrap().repeat).collect();
    assert_eq!(rounds, [1, 2, 3, 4, 5]);
    assert!(steady.campaign.as_ref().is_some_and(|campaign| campaign.finished && campaign.left_out.is_empty()));
}

#[test]
fn what_cannot_be_swept_is_named_before_any_io() {
    for (rest, says) in [
        (
            "[sweep]\nblok_size = [\"4k\"]\n",
            &["job.toml:8:1: ", "cannot step through `blok_size`", "did you mean `block_size`?"][..],
        ),
        ("[sweep]\nblock_size = []\n", &["job.toml:8:14: ", "the sweep is empty"]),
        ("[sweep]\nblock_size = [\"4k\", \"5x\"]\n", &["job.toml:8:21: ", "5x"]),
        ("[sweep]\nblock_size = \"4k\"\n", &["job.toml:8:14: ", "a list of values"]),
        ("[sweep]\ntargets = [1, 2]\n", &["job.toml:8:15: ", "the job has 1, write 1 to 1"]),
        ("[sweep]\ntarget = [\"a\"]\n", &["job.toml:8:1: ", "holds still for a whole run"]),
        ("[sweep]\nrate = { percent_of_max = [] }\n", &["job.toml:8:8: ", "`percent_of_max` is empty"]),
        ("[sweep]\nrate = { percent_of_max = [0] }\n", &["0 is no share"]),
        ("[sweep]\nrepeats = 0\nqueue_depth = [1]\n", &["job.toml:8:11: ", "1 to 1000"]),
        ("[sweep]\nrepeats = \"often\"\nqueue_depth = [1]\n", &["job.toml:8:11: ", "`often` is no number of repeats"]),
        ("[sweep]\nrepeats = 3\n", &["job.toml:7:1: ", "steps through nothing"]),
        ("[sweep]\nqueue_depth = [1]\nstop = \"p99 read\"\n", &["job.toml:9:8: ", "is no condition"]),
        ("[sweep]\nqueue_depth = [1]\nstop = \"steady\"\n", &["ends no curve"]),
        ("[sweep]\nqueue_depth = [1]\npause = \"5\"\n", &["job.toml:9:9: ", "pause"]),
        ("[sweep]\nblock_size = [\"4k\"]\nread_block_size = [\"8k\"]\n", &["exclude each other"]),
        ("[search]\n", &["job.toml:7:1: ", "missing field `limit`"]),
        ("[search]\nlimit = []\n", &["job.toml:8:9: ", "`limit` is empty"]),
        ("[search]\nlimit = \"p99 write <= 1ms\"\n", &["no workload writes", "lower `read_percent`"]),
        ("[search]\nlimit = \"p99 read >= 1ms\"\n", &["limited by a latency that rises with it"]),
        ("[search]\nlimit = \"p99 read <= 1ms\"\nfrom = 10\nto = 5\n", &["job.toml:10:6: ", "is not above `from`"]),
        ("[search]\nlimit = \"p99 read <= 1ms\"\ntries = 1\n", &["job.toml:9:9: ", "write 3 to 100"]),
        (
            "[search]\nlimit = \"p99 read <= 1ms\"\n[sweep]\nqueue_depth = [1]\n",
            &["the search looks for the `rate`", "`queue_depth` cannot be swept"],
        ),
        ("[[workload]]\nqueue_depth = 4\n[search]\nlimit = \"p99 read <= 1ms\"\n", &["replaces the load of workload"]),
    ] {
        let outcome = job(&on(EIGHT, rest));
        let said = outcome.stderr.clone();
        assert_eq!(outcome.code, Some(2), "{rest}: {said}");
        assert!(says.iter().all(|part| said.contains(part)), "{rest}: {said}");
    }
}

#[test]
fn every_export_takes_a_campaign() {
    let outcome = job(&on(EIGHT, "[sweep]\nramp = [\"100ms\", \"300ms\"]\nqueue_depth = [1, 4]\n")).ends_with(0);
    let folder = std::fs::read_dir(outcome.folder().join("rigel-results")).unwrap().next().unwrap().unwrap().path();
    let export = std::process::Command::new(env!("CARGO_BIN_EXE_rigel"))
        .args(["export", folder.to_str().unwrap(), "--format", "all", "--out", folder.join("x").to_str().unwrap()])
        .output()
        .unwrap();
    assert!(export.status.success(), "{}", String::from_utf8_lossy(&export.stderr));
    let text = |name: &str| std::fs::read_to_string(folder.join("x").join(name)).unwrap();
    let intervals = text("intervals.csv");
    assert!(intervals.contains("\"ramp 300ms, QD 4\"") && intervals.contains("\"ramp 100ms, QD 1\""), "{intervals}");
    // The windows begin after the ramps of their own steps.
    let log = text("latency.hlog");
    let starts: Vec<&str> =
        log.lines().filter_map(|l| l.strip_prefix("Tag=workload-1.read,")?.split(',').next()).collect();
    assert_eq!(starts, ["0.100", "0.700", "1.500", "2.300"]);
}

#[test]
fn fields_that_make_sense_only_together_are_swept_together() {
    let both = run(&on(EIGHT, "[sweep]\narrivals = [\"poisson\", \"constant\"]\nrate = [\"1k\", \"2k\"]\n"));
    assert_eq!(both.points.len(), 4);
    let mixed = run(&on(EIGHT, "[sweep]\nread_percent = [100, 0]\nqueue_depth = [4]\nstop = \"p99 write > 1s\"\n"));
    assert_eq!(mixed.points.len(), 2);
    let audited = usize::from(cfg!(feature = "audit"));
    assert_eq!(mixed.payload.len(), audited, "the step that writes is audited");
}

#[test]
fn an_acceptance_holds_at_the_steps_that_do_such_io() {
    let text = format!("accept = [\"p99 write <= 1s\"]\n{}", on(EIGHT, "[sweep]\nread_percent = [100, 0]\n"));
    let result = run(&text);
    assert!(result.is_accepted(), "{:?}", result.acceptances);
    assert_eq!(result.acceptances[0].points.len(), 1);
}

#[test]
fn a_seed_that_is_swept_is_the_seed() {
    let result = run(&on(EIGHT, "[sweep]\nseed = [3, 2, 1]\n"));
    assert_eq!((0..3).map(|index| result.plan_of(index).0.seed).collect::<Vec<_>>(), [3, 2, 1]);
}

#[test]
fn two_lists_that_write_one_field_are_refused() {
    let named = "[[workload]]\nname = \"a\"\n";
    for (rest, says) in [
        ("[sweep]\n\"workload.a.queue_depth\" = [4, 8]\nqueue_depth = [1, 2]\n", "write the same field"),
        ("[sweep]\ntime = [\"1s\"]\n\"run.time\" = [\"2s\"]\n", "write the same field"),
        ("[sweep]\nzipf = [0.9]\naccess = [\"random\"]\n", "write the same field"),
        ("[sweep]\n\"workload.a.rate\" = [\"1k\"]\n[search]\nlimit = \"p99 read <= 1ms\"\n", "cannot be swept"),
        ("[sweep]\n\"workload.a.rate\" = [\"1k\"]\nrate = { percent_of_max = [50] }\n", "write the same field"),
        ("[search]\nlimit = \"iops >= 50k\"\n", "limited by a latency"),
        ("[sweep]\nqueue_depth = [1]\nstop = \"p99 write > 1ms\"\n", "no workload writes"),
    ] {
        let outcome = job(&on(EIGHT, &format!("{named}{rest}")));
        assert_eq!(outcome.code, Some(2), "{rest}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(says), "{rest}: {}", outcome.stderr);
    }
}

#[test]
fn shares_of_the_highest_rate_tell_points_apart_that_have_no_load_in_common() {
    let two = "[[workload]]\nname = \"a\"\n[[workload]]\nname = \"b\"\nblock_size = \"64k\"\nmax_outstanding = 8\n";
    let result = run(&on(EIGHT, &format!("{two}[sweep]\nrate = {{ percent_of_max = [20, 40] }}\n")));
    assert_eq!(labels(&result)[1..], ["20 % of the highest rate", "40 % of the highest rate"]);
}

#[test]
fn pairs_of_a_campaign_are_compared_point_by_point() {
    let folder = tempfile::tempdir().unwrap();
    let text = on(&format!("{EIGHT}&spread=1%"), "[sweep]\nblock_size = [\"4k\", \"8k\"]\n");
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
    let outcome =
        Running::start_in(folder, "ab job.toml --a run.interval=100ms --b run.interval=50ms --pairs 2 --json").wait();
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("block_size 8k, QD 32"), "{}", outcome.stdout);
}
