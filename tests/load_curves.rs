//! Load curves of whole runs on the array model, whose knee and stability are known beforehand.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/figures.rs"]
mod figures;

use cli::rigel;
use rigel::result::{CurveFigure, CurveResult, PointLoad, Provenance, RunResult, StabilityFigure, curves};

/// A run on simulated targets, on one core, since each core has a model of its own.
#[track_caller]
fn run(target: &str, load: &str) -> RunResult {
    let line =
        format!("run -t {target} {load} --cores 0 --ramp 10ms --time 200ms --interval 20ms --quiet --no-archive");
    rigel(&line).ends_with(0).result()
}

#[track_caller]
fn only(result: &RunResult) -> &CurveResult {
    let [curve] = &result.curves[..] else { panic!("{:?}", result.curves) };
    curve
}

fn iops(curve: &CurveResult) -> &StabilityFigure {
    let iops = curve.stability.iter().find(|found| found.figure == CurveFigure::Iops).expect("IOPS");
    assert_eq!(iops.op, None);
    iops
}

#[test]
fn a_closed_loop_bends_where_all_servers_are_busy() {
    let result = run("sim://constant-100us?servers=16", "-q 64,1,2,4,8,16,32,128");
    let curve = only(&result);
    let knee = curve.knee.unwrap_or_else(|| panic!("{curve:?}"));
    assert_eq!([knee.from, knee.load, knee.to].map(|load| load.queue_depth), [Some(16); 3]);
    assert!((knee.iops - 160_000.0).abs() < 1_600.0 && (knee.mean_ns - 1e5).abs() < 1e3, "{knee:?}");
    assert_eq!((curve.loads, curve.points, &curve.no_knee), (8, 8, &None));
    // Neither rate nor latency ever turns back; without repeats there is no variation.
    assert!(curve.stability.len() == 3, "IOPS, mean and p99 of reads: {:?}", curve.stability);
    for found in &curve.stability {
        assert!(found.roughness.is_some_and(|share| share < 0.001) && found.variation.is_none(), "{found:?}");
    }
}

#[test]
fn a_curve_without_a_knee_says_why() {
    for (loads, why) in [
        ("-q 1,2,4,8", "higher loads would show it"),
        ("-q 32,64,128,256", "lower loads would show it"),
        ("-q 4,16,64", "fewer than four loads"),
        ("--rate 1k,2k,3k,4k,5k", "higher loads would show it"),
    ] {
        let result = run("sim://constant-100us?servers=16", loads);
        let curve = only(&result);
        assert!(curve.knee.is_none(), "{loads}: {curve:?}");
        assert!(curve.no_knee.as_ref().is_some_and(|told| told.contains(why)), "{loads}: {:?}", curve.no_knee);
    }
}

#[test]
fn a_rate_that_was_too_much_is_on_the_curve_beyond_its_knee() {
    let result = run("sim://?service=exp:100us&servers=4", "--rate 5k,10k,20k,26k,32k,39k,60k --overload stop");
    let curve = only(&result);
    let knee = curve.knee.unwrap_or_else(|| panic!("{curve:?}"));
    // M/M/4 bends at 66 % of 40,000 a second.
    assert_eq!(knee.load.rate_per_s, Some(26_000), "{curve:?}");
    assert_eq!(curve.loads, 7);
}

#[test]
fn equal_loads_are_repeats_wherever_they_stand_in_the_sweep() {
    // Each point has service times of its own, a tenth up or down.
    let result = run("sim://constant-100us?spread=10", "-q 4,1,4,1,8");
    let curve = only(&result);
    assert_eq!((curve.loads, curve.points), (3, 5));
    let points: Vec<f64> = result.points.iter().map(|point| point.total.iops).collect();
    // Two values deviate by their difference over the root of two.
    let of = |a: f64, b: f64| (a - b).abs() / 2f64.sqrt() / f64::midpoint(a, b);
    let exact = [of(points[0], points[2]), of(points[1], points[3])];
    assert!(exact.iter().all(|share| *share > 0.01), "they differ: {points:?}");
    let found = iops(curve);
    let near = |found: Option<f64>, exact: f64| found.is_some_and(|found| (found - exact).abs() < 1e-9);
    assert!(near(found.variation_worst, exact[0].max(exact[1])), "{found:?} for {exact:?}");
    assert!(near(found.variation, f64::midpoint(exact[0], exact[1])), "{found:?} for {exact:?}");
    assert_eq!(found.roughness, Some(0.0), "the medians rise");
    let p99 = curve.stability.iter().find(|found| found.figure == CurveFigure::P99Ns).expect("latencies");
    assert!(p99.variation_worst > Some(0.01) && p99.roughness > Some(0.001), "latency goes up and down: {p99:?}");
}

#[test]
fn what_cannot_be_one_curve_is_none() {
    assert_eq!(run("sim://constant-100us", "-q 4").curves, []);
    assert_eq!(run("sim://constant-100us", "-q 4,4").curves, [], "one load, however often");
    let text = String::from_utf8(rigel::report::json::render(&run("sim://constant-100us", "-q 4"))).unwrap();
    assert!(!text.contains("\"curves\""), "absent where there is none");
}

#[test]
fn loads_without_an_order_are_no_curve() {
    // As when a rate is swept beside a workload of constant depth: different loads, and one number for all.
    let mut result = figures::read_sweep();
    for point in &mut result.points {
        point.load = PointLoad { queue_depth: None, outstanding: None, rate_per_s: None, total_outstanding: 64 };
    }
    let RunResult { tool, started_at, command, job, plan, facts, clock, headroom, payload, points, .. } = result;
    let (resumed_at, campaign) = (Vec::new(), None);
    let provenance =
        Provenance { tool, started_at, command, job, plan, facts, clock, headroom, payload, resumed_at, campaign };
    assert_eq!(curves(&points, |_| String::new())[0].loads.len(), 3, "they are no repeats of each other");
    assert_eq!(RunResult::new(provenance, points).curves, []);
}

#[test]
fn a_label_makes_curves_of_its_own() {
    let result = figures::read_sweep();
    let points: Vec<_> = result.points.iter().chain(&result.points).collect();
    let all = curves(points.iter().copied(), |_| String::new());
    assert_eq!(all.len(), 1);
    assert!(all[0].loads.len() == 3 && all[0].loads.iter().all(|at| at.points.len() == 2));
    let apart = curves(points, |point| if point.load.queue_depth == Some(8) { "b" } else { "a" }.to_owned());
    let told: Vec<_> = apart.iter().map(|curve| (curve.series.as_str(), curve.loads.len())).collect();
    assert_eq!(told, [("a", 2), ("b", 1)]);
    assert_eq!(apart[0].loads[1].values(|point| Some(point.load.number())), [32.0, 32.0]);
}
