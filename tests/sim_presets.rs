//! The presets of the array model have the curves that their names stand for.

#[path = "common/cli.rs"]
mod cli;

use cli::rigel;
use rigel::report::html::{Source, charts};
use rigel::result::{CurveFigure, CurveResult, PointResult, RunResult};

/// A run on a preset, on one core, since each core has a model of its own.
#[track_caller]
fn run(target: &str, rest: &str) -> RunResult {
    let line = format!("run -t {target} {rest} --cores 0 --interval 100ms --quiet --no-archive");
    rigel(&line).ends_with(0).result()
}

/// The loads of `orion -run oltp -num_disks 50`, one core and a second each.
#[track_caller]
fn oltp(target: &str, seed: u32) -> RunResult {
    let loads: Vec<String> = (1..=20).map(|n| (n * 50).to_string()).collect();
    run(target, &format!("-q {} --ramp 200ms --time 1s --seed {seed}", loads.join(",")))
}

fn mean_ms(point: &PointResult) -> f64 {
    point.total.read.service.as_ref().expect("reads").mean_ns / 1e6
}

fn roughness(curve: &CurveResult, figure: CurveFigure) -> f64 {
    let found = curve.stability.iter().find(|found| found.figure == figure);
    found.and_then(|found| found.roughness).expect("a curve of three loads or more")
}

#[track_caller]
fn assert_within(found: f64, exact: f64, share: f64, what: &str) {
    assert!((found / exact - 1.0).abs() <= share, "{what}: {found} for {exact}");
}

#[test]
fn an_oltp_curve_without_surprises_goes_from_10_to_32_ms() {
    let result = oltp("sim://3par-oltp", 1);
    let latencies: Vec<f64> = result.points.iter().map(mean_ms).collect();
    assert_within(latencies[0], 10.0, 0.02, "latency at 50 outstanding");
    assert_within(latencies[19], 32.0, 0.03, "latency at 1,000 outstanding");
    assert!(latencies.iter().all(|ms| (9.8..33.0).contains(ms)), "{latencies:?}");
    assert_within(result.points[19].total.iops, 31_300.0, 0.03, "IOPS in the end");
    let [curve] = &result.curves[..] else { panic!("{:?}", result.curves) };
    let knee = curve.knee.unwrap_or_else(|| panic!("{curve:?}"));
    // Of 313 servers all are busy.
    assert!((250..=350).contains(&knee.load.queue_depth.unwrap()), "{knee:?}");
    assert!(roughness(curve, CurveFigure::MeanNs) < 0.01 && roughness(curve, CurveFigure::Iops) < 0.01, "{curve:?}");
    let source = Source { label: String::new(), result: &result, series: None };
    assert!(charts(&[source]).iter().all(|named| !named.id.starts_with("latency-read") || !named.chart.has_outliers()));
}

#[test]
fn an_erratic_oltp_curve_has_outliers_that_ruin_a_chart() {
    let result = oltp("sim://eva-oltp", 1);
    let latencies: Vec<f64> = result.points.iter().map(mean_ms).collect();
    let slow = latencies.iter().filter(|ms| **ms > 60.0).count();
    assert!((1..=4).contains(&slow), "a few points are slow: {latencies:?}");
    let usual = latencies.iter().filter(|ms| (7.0..50.0).contains(*ms)).count();
    assert_eq!(usual + slow, 20, "the others are where a limit of 50 ms shows them: {latencies:?}");
    let [curve] = &result.curves[..] else { panic!("{:?}", result.curves) };
    assert!(roughness(curve, CurveFigure::MeanNs) > 0.05 && roughness(curve, CurveFigure::Iops) > 0.05, "{curve:?}");
    let all = charts(&[Source { label: String::new(), result: &result, series: None }]);
    assert!(all.iter().any(|named| named.id == "latency-read" && named.chart.has_outliers()));
    // Another seed has its slow points elsewhere.
    let other: Vec<f64> = oltp("sim://eva-oltp?slow=50:8", 2).points.iter().map(mean_ms).collect();
    assert!((4..=16).contains(&other.iter().filter(|ms| **ms > 60.0).count()), "{other:?}");
}

#[test]
fn a_mix_of_70_and_30_saturates_at_the_published_iops_by_used_capacity() {
    for (target, most) in [("sim://ps6110-70-30", 17_000.0), ("sim://ps6110-70-30-2tb", 10_230.0)] {
        let result = run(
            target,
            "-q 4,8,16,32,64,128,256,512 --block-size 8k --read-percent 70 --ramp 500ms --time 4s --seed 1",
        );
        let iops: Vec<f64> = result.points.iter().map(|point| point.total.iops).collect();
        for (n, share) in [(0, 1.0 / 16.0), (3, 0.5), (5, 1.0), (6, 1.0), (7, 1.0)] {
            assert_within(iops[n], most * share, 0.03, &format!("{target} at {}", result.points[n].load));
        }
        let [curve] = &result.curves[..] else { panic!("{:?}", result.curves) };
        assert_eq!(curve.knee.and_then(|knee| knee.load.queue_depth), Some(64), "{target}: {curve:?}");
        // A limit of 20 ms on reads ends the range: Little's law says at how many outstanding.
        let reads = |n: usize| mean_ms(&result.points[n]);
        let (within, beyond) = if most > 15_000.0 { (6, 7) } else { (5, 6) };
        assert!(reads(within) < 20.0 && reads(beyond) > 20.0, "{target}: {} and {} ms", reads(within), reads(beyond));
    }
}
