//! Runs against the array model, through the command line: its virtual clock makes every figure known beforehand.
//!
//! In the formulas a service time is S, a queue depth D; slot by slot, I/O number k of a slot completes at k x S.

#[path = "common/cli.rs"]
mod cli;

use std::time::Duration;

use cli::{Outcome, Running, rigel};
use nix::sys::signal::Signal;
use rigel::result::{Judgement, Latency, PointResult, RunResult};

/// Ramp 50 ms and window 200 ms, of virtual time.
const SHORT: &str = "--ramp 50ms --time 200ms";

#[track_caller]
fn run(line: &str) -> RunResult {
    rigel(&format!("run {line} --quiet")).ends_with(0).result()
}

#[track_caller]
fn point(line: &str) -> PointResult {
    let mut points = run(line).points;
    assert_eq!(points.len(), 1);
    points.remove(0)
}

fn reads(point: &PointResult) -> &Latency {
    point.total.read.service.as_ref().expect("reads")
}

/// All percentiles of a distribution with its least and greatest, in nanoseconds.
fn spread(l: &Latency) -> [u64; 9] {
    [l.min_ns, l.p50_ns, l.p90_ns, l.p95_ns, l.p99_ns, l.p999_ns, l.p9999_ns, l.p99999_ns, l.max_ns]
}

/// How many latencies of the archived distribution lie in `low..=high` nanoseconds.
fn between(latency: &Latency, low: u64, high: u64) -> u64 {
    latency.histogram().unwrap().count_between(low, high)
}

/// Checks that `found` of `n` fits a share, within five standard deviations of sampling.
#[track_caller]
fn assert_share(found: u64, n: u64, share: f64) {
    let (expected, deviation) = (n as f64 * share, (n as f64 * share * (1.0 - share)).sqrt());
    assert!((found as f64 - expected).abs() <= 5.0 * deviation, "{found} of {n} for a share of {share}");
}

#[test]
fn a_constant_service_time_gives_exact_counts_and_percentiles() {
    // k x 100 µs in [50 ms, 250 ms): 500 to 2,499; before it 1 to 499; after it one for each slot.
    let result = run(&format!("-t sim://constant-100us -q 1,8,64 {SHORT}"));
    assert_eq!(result.points.len(), 3);
    for (point, depth) in result.points.iter().zip([1, 8, 64]) {
        assert_eq!(point.window_s, 0.2);
        assert_eq!((point.ramp.completions, point.drain.completions), (499 * depth, depth));
        assert_eq!((point.total.completions, point.total.errors), (2_000 * depth, 0));
        assert_eq!(point.total.iops, 10_000.0 * depth as f64);
        assert_eq!(point.total.bytes_per_s, 10_000.0 * depth as f64 * 4096.0);
        assert_eq!((spread(reads(point)), reads(point).mean_ns), ([100_000; 9], 100_000.0));
        assert_eq!((point.total.read.completions, point.total.write.completions), (2_000 * depth, 0));
        assert_eq!(point.total.write.service, None);
        assert_eq!(point.checks.littles_law.judgement, Judgement::Ok);
        assert_eq!(point.checks.littles_law.rate_times_mean, depth as f64);
    }
    assert_eq!(result.verdicts, Vec::<String>::new());
}

#[test]
fn the_window_holds_its_first_instant_and_not_its_last() {
    // No ramp: k x 50 ms in [0, 200 ms) is k = 1, 2, 3; the fourth falls on the end.
    let point = point("-t sim://?service=50ms -q 1 --ramp 0s --time 200ms");
    assert_eq!((point.ramp.completions, point.total.completions, point.drain.completions), (0, 3, 1));
    // Ramp of one service time: the first falls on the opening.
    let point = self::point("-t sim://?service=50ms -q 1 --ramp 50ms --time 100ms");
    assert_eq!((point.ramp.completions, point.total.completions, point.drain.completions), (0, 2, 1));
}

#[test]
fn a_service_time_that_does_not_divide_the_window_counts_within_one_io_a_slot() {
    let point = point(&format!("-t sim://?service=7us -q 2 {SHORT}"));
    // 7 µs x k in [50 ms, 250 ms): k = 7,143 to 35,714.
    assert_eq!(point.total.completions, 2 * (35_714 - 7_143 + 1));
    assert!((point.total.iops - 2.0 / 7e-6).abs() <= 2.0 / point.window_s);
}

#[test]
fn fewer_servers_than_outstanding_ios_make_them_wait_in_turn() {
    // Four servers finish four I/Os each 100 µs; with 32 outstanding each I/O waits for eight rounds.
    let point = point(&format!("-t sim://?service=100us&servers=4 -q 32 {SHORT}"));
    assert_eq!((point.total.completions, point.drain.completions), (4 * 2_000, 32));
    assert_eq!(spread(reads(&point)), [800_000; 9]);
    assert_eq!(point.checks.littles_law.rate_times_mean, 32.0);
}

#[test]
fn the_share_of_cache_hits_is_that_of_the_model() {
    let target = "sim://?service=200us&hit=35&hit_service=20us";
    let point = point(&format!("-t {target} -q 4 --ramp 10ms --time 2s"));
    let (read, n) = (reads(&point), point.total.completions);
    let hits = between(read, 19_900, 20_100);
    assert_eq!(hits + between(read, 199_000, 201_000), n, "neither a hit nor a miss");
    assert_share(hits, n, 0.35);
    assert_eq!((read.min_ns, read.max_ns), (20_000, 200_000));
}

#[test]
fn percentiles_of_an_exponential_service_are_those_of_the_formula() {
    let point = point("-t sim://?service=exp:100us -q 16 --ramp 10ms --time 1s");
    let (read, n) = (reads(&point), point.total.completions as f64);
    let mean = 100_000.0;
    assert!((read.mean_ns - mean).abs() <= 5.0 * mean / n.sqrt(), "{}", read.mean_ns);
    for (q, found) in
        [(0.5, read.p50_ns), (0.9, read.p90_ns), (0.95, read.p95_ns), (0.99, read.p99_ns), (0.999, read.p999_ns)]
    {
        let exact = -(1.0f64 - q).ln() * mean;
        // Deviation of a sampled quantile: sqrt(q (1 - q) / n) over the density there, (1 - q) / mean.
        let sampling = mean * (q / ((1.0 - q) * n)).sqrt();
        let allowed = 5.0 * sampling + exact / 1024.0 + 1.0;
        assert!((found as f64 - exact).abs() <= allowed, "quantile {q}: {found} for {exact} ± {allowed}");
    }
}

#[test]
fn a_stall_is_in_the_greatest_latency_and_in_the_count() {
    let point = point("-t sim://?service=100us&stall=100ms:100ms -q 2 --ramp 0s --time 400ms");
    // What was due at 100.0 ms completes at 200 ms, submitted at 99.9 ms.
    assert_eq!(reads(&point).max_ns, 100_100_000);
    assert_eq!(between(reads(&point), 1_000_000, u64::MAX), 2, "one I/O a slot is caught by the stall");
    // k = 1 to 999, the one that stalled, and 200.1 ms to 399.9 ms.
    assert_eq!(point.total.completions, 2 * (999 + 1 + 1_999));
    // Two in thousands are not in the 99th percentile, which is within the histogram's error.
    assert!(reads(&point).p99_ns.abs_diff(100_000) <= 100, "{}", reads(&point).p99_ns);
}

#[test]
fn reads_and_writes_are_kept_apart() {
    let target = "sim://?service=100us&write_service=300us";
    let point = point(&format!("-t {target} -q 8 --read-percent 70 --ramp 10ms --time 1s"));
    let (read, write) = (&point.total.read, &point.total.write);
    assert_eq!(spread(reads(&point)), [100_000; 9]);
    assert_eq!(spread(write.service.as_ref().unwrap()), [300_000; 9]);
    assert_eq!(read.completions + write.completions, point.total.completions);
    assert_share(read.completions, point.total.completions, 0.7);
    assert_eq!(point.total.bytes_per_s, read.bytes_per_s + write.bytes_per_s);
}

#[test]
fn the_same_seed_repeats_every_figure_and_another_does_not() {
    let run = |seed: &str| {
        let target = "sim://powermax-read-miss?hit=20";
        let result = self::run(&format!("-t {target} -q 1,16 --read-percent 80 --seed {seed} {SHORT}"));
        assert_eq!(result.plan.seed.to_string(), seed);
        serde_json::to_value(result.points).unwrap()
    };
    let first = run("7");
    assert_eq!(first, run("7"));
    let other = run("8");
    for point in 0..2 {
        let service = format!("/{point}/total/read/service/hdr");
        assert_ne!(first.pointer(&service).unwrap(), other.pointer(&service).unwrap());
    }
}

#[test]
fn a_sweep_gives_a_point_an_entry_in_the_order_written() {
    let result = run(&format!("-t sim://constant-100us -q 4,1,16,1 {SHORT}"));
    let depths: Vec<_> = result.points.iter().map(|point| point.load.queue_depth).collect();
    assert_eq!(depths, [4, 1, 16, 1].map(Some));
    let counts: Vec<_> = result.points.iter().map(|point| point.total.completions).collect();
    assert_eq!(counts, [8_000, 2_000, 32_000, 2_000]);
    let result = run(&format!("-t sim://constant-100us -t sim://constant-100us --outstanding 6,2 {SHORT}"));
    let totals: Vec<_> = result.points.iter().map(|p| (p.load.outstanding, p.total.completions)).collect();
    assert_eq!(totals, [(Some(6), 12_000), (Some(2), 4_000)]);
}

#[test]
fn intervals_add_up_to_the_window() {
    // 200 ms in pieces of 7 ms: 28 whole ones and a rest.
    let point = point(&format!("-t sim://?service=exp:100us -q 16 --interval 7ms {SHORT}"));
    let conservation = &point.checks.conservation;
    assert_eq!((conservation.intervals, conservation.ok), (29, true));
    assert_eq!(conservation.interval_completions, point.total.completions);
    assert_eq!(conservation.completions, reads(&point).histogram().unwrap().len());
}

#[test]
fn several_targets_are_told_apart_and_added_up() {
    let targets = ["sim://?service=100us", "sim://?service=200us", "sim://?service=400us"];
    let flags: String = targets.iter().map(|target| format!("-t {target} ")).collect();
    let point = point(&format!("{flags} -q 4 {SHORT}"));
    let workload = &point.workloads[0];
    for (target, (uri, (count, ns))) in
        workload.targets.iter().zip(targets.iter().zip([(8_000, 100_000), (4_000, 200_000), (2_000, 400_000)]))
    {
        assert_eq!((target.uri.as_str(), target.figures.completions), (*uri, count));
        assert_eq!(spread(target.figures.read.service.as_ref().unwrap()), [ns; 9]);
    }
    assert_eq!((workload.figures.completions, point.total.completions), (14_000, 14_000));
    assert_eq!((reads(&point).min_ns, reads(&point).max_ns), (100_000, 400_000));
    assert_eq!(point.load.total_outstanding, 12);
}

#[test]
fn cores_share_the_load_and_their_figures_add_up() {
    let cores = std::thread::available_parallelism().unwrap().get().min(4);
    let list: Vec<String> = (0..cores).map(|core| core.to_string()).collect();
    let depth = 2 * cores as u64 + 1;
    let point = point(&format!("-t sim://constant-100us -q {depth} --cores {} {SHORT}", list.join(",")));
    assert_eq!(point.cores.iter().map(|core| core.core).collect::<Vec<_>>(), (0..cores).collect::<Vec<_>>());
    assert!(point.cores.iter().all(|core| core.polls >= 2_000), "{:?}", point.cores);
    assert_eq!((point.total.completions, point.drain.completions), (2_000 * depth, depth));
    assert_eq!(spread(reads(&point)), [100_000; 9]);
    assert_eq!(point.checks.conservation.interval_completions, point.total.completions);
}

#[test]
fn workloads_run_at_once_each_with_its_own_result() {
    let folder = tempfile::tempdir().unwrap();
    let job = "[[target]]\nuri = \"sim://constant-100us\"\nname = \"a\"\n[[target]]\nuri = \"sim://?service=200us\"\n\
               [[workload]]\nname = \"readers\"\nqueue_depth = 4\n\
               [[workload]]\nname = \"writer\"\ntargets = [1]\nread_percent = 0\nblock_size = \"64k\"\noutstanding = 2\n\
               [run]\nramp = \"50ms\"\ntime = \"200ms\"\n";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let outcome = Running::start_in(folder, "run job.toml --quiet").wait().ends_with(0);
    let result = outcome.result();
    let point = &result.points[0];
    let [readers, writer] = &point.workloads[..] else { panic!("{:?}", point.workloads) };
    assert_eq!((readers.name.as_str(), writer.name.as_str()), ("readers", "writer"));
    assert_eq!((readers.figures.read.completions, readers.figures.write.completions), (8_000 + 4_000, 0));
    assert_eq!((writer.figures.read.completions, writer.figures.write.completions), (0, 2_000));
    assert_eq!(writer.figures.bytes_per_s, 10_000.0 * 65_536.0);
    assert_eq!((point.total.completions, point.load.total_outstanding), (14_000, 10));
    assert_eq!(point.total.bytes_per_s, readers.figures.bytes_per_s + writer.figures.bytes_per_s);
}

#[test]
fn json_is_alone_on_stdout_and_equals_the_file() {
    let outcome = rigel(&format!("run -t sim://constant-100us -q 1,2 --json {SHORT}")).ends_with(0);
    assert_eq!(outcome.stdout, outcome.result_text());
    assert!(serde_json::from_str::<serde_json::Value>(&outcome.stdout).is_ok_and(|json| json.is_object()));
    assert!(outcome.stderr.contains("sim://constant-100us"), "the map goes to stderr: {}", outcome.stderr);
}

#[test]
fn the_map_comes_before_the_run_and_the_table_after_it() {
    let outcome = rigel(&format!("run -t sim://constant-100us -q 8 {SHORT}")).ends_with(0);
    let at = |text: &str| outcome.stdout.find(text).unwrap_or_else(|| panic!("no `{text}` in {}", outcome.stdout));
    assert!(at("core") < at("80,000") && at("80,000") < at("Result: "), "{}", outcome.stdout);
    assert!(outcome.stderr.contains(" IOPS") && outcome.stderr.contains("p99.9"), "progress: {}", outcome.stderr);
}

#[test]
fn quiet_leaves_only_the_table_or_only_the_json() {
    let table = rigel(&format!("run -t sim://constant-100us -q 8 --quiet {SHORT}")).ends_with(0);
    assert_eq!(table.stderr, "");
    assert!(table.stdout.contains("80,000") && !table.stdout.contains("queue pair"), "{}", table.stdout);
    let json = rigel(&format!("run -t sim://constant-100us -q 8 --quiet --json {SHORT}")).ends_with(0);
    assert_eq!((json.stderr.as_str(), &json.stdout), ("", &json.result_text()));
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // An hour of virtual time takes minutes.
        let mut running = Running::start("run -t sim://constant-100us -q 4,8 --ramp 50ms --time 1h --interval 10ms");
        running.wait_for(" window: ");
        running.signal(signal);
        let outcome = running.wait().ends_with(5);
        assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
        check_partial(&outcome);
    }
}

fn check_partial(outcome: &Outcome) {
    let result = outcome.result();
    assert_eq!(result.points.len(), 1, "the second point was begun after the interruption");
    let point = &result.points[0];
    assert_eq!(point.ended_early.as_deref(), Some("interrupted"));
    assert!(point.window_s > 0.0 && point.window_s < 3600.0, "{}", point.window_s);
    // Within one I/O a slot, and another one for the poll in which the core learns of it.
    let expected = 40_000.0 * point.window_s;
    assert!((point.total.completions as f64 - expected).abs() <= 8.001, "{expected}: {}", point.total.completions);
    assert_eq!((point.drain.completions, point.checks.conservation.ok), (4, true));
    let verdicts = result.verdicts.join("\n");
    assert!(verdicts.contains("ended early") && verdicts.contains("1 of 2 points"), "{verdicts}");
    assert!(outcome.stdout.contains("Result: "), "{}", outcome.stdout);
}
