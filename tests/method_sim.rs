//! The method held against ground truth: the array model runs on a virtual clock, so that queueing theory says beforehand
//! what each figure must be, and the seed makes each run the same.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/runs.rs"]
mod runs;

use cli::{Running, rigel};
use rigel::driver::{Backend, SimBackend};
use rigel::engine::{RunControl, run};
use rigel::result::{self, Judgement, PointResult, Steadiness, Trending, WorkloadResult};

/// Runs a job on simulated targets; its points.
#[track_caller]
fn points(targets: &[&str], rest: &str) -> Vec<PointResult> {
    let uris: Vec<_> = targets.iter().map(|target| target.parse().expect("a URI")).collect();
    let backend = SimBackend::new(&uris);
    let job: String = targets.iter().map(|target| format!("[[target]]\nuri = \"{target}\"\n")).collect();
    let plan = runs::plan(&backend, &format!("{job}{rest}"));
    let clock = backend.clock().expect("a clock");
    let points = run(&backend, &plan, &clock, &RunControl::default(), &mut |_| {}).expect("runs");
    points.iter().map(|figures| result::point(&plan, &clock, figures)).collect()
}

#[track_caller]
fn point(target: &str, rest: &str) -> PointResult {
    let mut points = points(&[target], rest);
    assert_eq!(points.len(), 1);
    points.remove(0)
}

/// What must hold of every open loop.
#[track_caller]
fn assert_accounted_for(point: &PointResult) {
    assert!(!point.checks.arrivals.is_empty());
    for check in &point.checks.arrivals {
        assert!(check.conserved, "{check:?}");
    }
    assert!(point.checks.conservation.ok);
}

#[track_caller]
fn assert_near(found: f64, exact: f64, share: f64, what: &str) {
    assert!(
        (found / exact - 1.0).abs() <= share,
        "{what}: {found} for {exact}, off by {:+.3} %",
        (found / exact - 1.0) * 100.0
    );
}

fn response(workload: &WorkloadResult) -> &rigel::result::Latency {
    workload.figures.read.response.as_ref().expect("an open loop with reads")
}

#[test]
fn littles_law_holds_within_one_per_cent_in_every_closed_loop() {
    for service in ["100us", "exp:100us", "lognormal:100us:0.8", "uniform:50us:150us"] {
        for (servers, time) in [(1, "1s"), (4, "400ms"), (64, "150ms")] {
            let target = format!("sim://?service={service}&servers={servers}&write_service=exp:40us");
            let job = format!(
                "[[workload]]\nread_percent = 80\n[run]\nramp = \"20ms\"\ntime = \"{time}\"\n\
                 [sweep]\nqueue_depth = [1, 4, 16, 33]\n"
            );
            for point in points(&[&target], &job) {
                let law = &point.checks.littles_law;
                assert!(law.deviation.abs() <= 0.01, "{target} at {}: {law:?}", point.load);
                assert_eq!(law.judgement, Judgement::Ok, "{target} at {}: {law:?}", point.load);
                assert_eq!(point.checks.arrivals, []);
            }
        }
    }
}

/// Mean response time of M/M/c, in units of the mean service time, after Erlang's C formula.
fn mmc(servers: u32, utilisation: f64) -> f64 {
    let c = f64::from(servers);
    let load = c * utilisation;
    // Erlang B by recursion, C from B.
    let blocked = (1..=servers).fold(1.0, |b, n| load * b / (f64::from(n) + load * b));
    let waits = blocked / (1.0 - utilisation * (1.0 - blocked));
    1.0 + waits / (c * (1.0 - utilisation))
}

/// So many Poisson arrivals, of which `most` may be outstanding.
fn poisson(count: u32, rate: u32, most: u32) -> String {
    let time_ms = u64::from(count) * 1_000 / u64::from(rate);
    format!(
        "[[workload]]\nrate = {rate}\nmax_outstanding = {most}\n[run]\nramp = \"1s\"\ntime = \"{time_ms}ms\"\ninterval = \"4s\"\n"
    )
}

#[test]
fn mean_response_of_m_m_c_is_that_of_erlangs_formula() {
    for (servers, utilisation, count) in [(1, 0.5, 60_000), (1, 0.7, 200_000), (4, 0.8, 200_000)] {
        let rate = f64::from(servers) * utilisation * 10_000.0;
        let target = format!("sim://?service=exp:100us&servers={servers}");
        let exact = 100_000.0 * mmc(servers, utilisation);
        let what = format!("M/M/{servers} at {utilisation}");
        // Waiting within the array: service and response are one.
        let inside = point(&target, &poisson(count, rate as u32, 1_000));
        assert_accounted_for(&inside);
        assert_near(response(&inside.workloads[0]).mean_ns, exact, 0.03, &what);
        assert_eq!(inside.total.read.response, inside.total.read.service);
        // Waiting within Rigel, since no more may be outstanding than are served: the same response, and service apart.
        let outside = point(&target, &poisson(count, rate as u32, servers));
        assert_accounted_for(&outside);
        assert_near(response(&outside.workloads[0]).mean_ns, exact, 0.03, &what);
        assert_near(outside.total.read.service.as_ref().unwrap().mean_ns, 100_000.0, 0.01, &what);
        // Slip is exactly what lies between the two.
        let slip = outside.workloads[0].arrivals.as_ref().unwrap().slip.as_ref().unwrap();
        assert_near(slip.mean_ns, exact - 100_000.0, 0.06, &what);
        for point in [&inside, &outside] {
            assert_eq!(point.checks.arrivals[0].judgement, Judgement::Ok, "{:?}", point.checks.arrivals);
            assert_eq!(point.checks.littles_law.judgement, Judgement::NotJudged);
            assert!(point.checks.littles_law.reason.as_ref().unwrap().starts_with("open loop: "));
        }
    }
}

#[test]
fn mean_response_of_m_d_1_is_that_of_pollaczek_and_khinchine() {
    for (utilisation, count) in [(0.3, 30_000), (0.7, 150_000)] {
        let point = point("sim://?service=100us&servers=1", &poisson(count, (utilisation * 10_000.0) as u32, 500));
        let exact = 100_000.0 * (1.0 + utilisation / (2.0 * (1.0 - utilisation)));
        assert_near(response(&point.workloads[0]).mean_ns, exact, 0.03, &format!("M/D/1 at {utilisation}"));
        assert_eq!(response(&point.workloads[0]).min_ns, 100_000);
    }
}

#[test]
fn achieved_is_offered_within_a_thousandth_and_sampling() {
    for (rate, spread) in [(300, "poisson"), (20_000, "poisson"), (20_000, "constant")] {
        let job =
            format!("[[workload]]\nrate = {rate}\narrivals = \"{spread}\"\n[run]\nramp = \"0s\"\ntime = \"10s\"\n");
        let point = point("sim://powermax-read-miss", &job);
        assert_accounted_for(&point);
        let (arrivals, asked) = (point.workloads[0].arrivals.as_ref().unwrap(), f64::from(rate) * 10.0);
        // What is outstanding at the end is all that may be missing.
        let achieved = point.checks.arrivals[0].achieved_share.unwrap();
        assert!((achieved - 1.0).abs() <= 0.001 + 10.0 / asked, "{spread} at {rate}/s: {achieved}");
        let sampling = if spread == "poisson" { 3.0 * asked.sqrt() } else { 1.0 };
        assert!(
            (arrivals.offered as f64 - asked).abs() <= 0.001 * asked + sampling,
            "{spread} at {rate}/s: {arrivals:?}"
        );
        assert_eq!((arrivals.backlog, arrivals.slip.as_ref().unwrap().max_ns), (0, 0), "a virtual clock is never late");
    }
}

#[test]
fn a_stall_is_in_the_response_of_all_that_arrived_meanwhile_and_in_the_service_of_few() {
    // 2 % of 5 s; eight at most are outstanding when it begins.
    let job = "[[workload]]\nrate = 2000\nmax_outstanding = 8\n[run]\nramp = \"0s\"\ntime = \"5s\"\n";
    let point = point("sim://?service=100us&stall=2s:100ms", job);
    assert_accounted_for(&point);
    let (service, response) = (point.total.read.service.as_ref().unwrap(), response(&point.workloads[0]));
    assert!(service.p999_ns.abs_diff(100_000) <= 100, "eight of 10,000 are not in it: {}", service.p999_ns);
    assert!(service.max_ns > 99_000_000 && response.max_ns > 99_000_000);
    // Arrivals of the stall wait for 100 ms to nothing, so that 1 % of all wait for more than the half.
    assert_near(response.p99_ns as f64, 50e6, 0.2, "p99 of the response");
    assert_near(response.p999_ns as f64, 95e6, 0.05, "p99.9 of the response");
    let slip = point.workloads[0].arrivals.as_ref().unwrap().slip.as_ref().unwrap();
    assert!(slip.p999_ns > 90_000_000, "{slip:?}");
}

#[test]
fn each_of_several_workloads_keeps_its_own_rate_and_mix() {
    let job = "[[workload]]\nname = \"oltp\"\nrate = 20000\nread_percent = 70\n\
               [[workload]]\nname = \"log\"\ntargets = [1]\nrate = 3000\nread_percent = 0\n\
               [[workload]]\nname = \"scan\"\nqueue_depth = 4\n\
               [run]\nramp = \"100ms\"\ntime = \"4s\"\n";
    let mut points = points(&["sim://constant-100us", "sim://powermax-read-hit"], job);
    let point = points.remove(0);
    assert_accounted_for(&point);
    let within = |found: u64, expected: f64, variance: f64, what: &str| {
        assert!((found as f64 - expected).abs() <= 3.0 * variance.sqrt(), "{what}: {found} for {expected}");
    };
    for (workload, (rate, reads)) in point.workloads.iter().zip([(80_000.0, 0.7), (12_000.0, 0.0)]) {
        let arrivals = workload.arrivals.as_ref().unwrap();
        within(arrivals.offered, rate, rate, &workload.name);
        let n = workload.figures.completions as f64;
        within(workload.figures.read.completions, n * reads, n * reads * (1.0 - reads), &workload.name);
        assert_eq!(workload.figures.read.response.is_some(), reads > 0.0);
    }
    // The closed loop beside them is held against Little's law all the same.
    let (scan, law) = (&point.workloads[2], &point.checks.littles_law);
    assert!(scan.arrivals.is_none() && scan.figures.read.response.is_none());
    assert_eq!((law.outstanding, law.judgement), (8, Judgement::Ok), "{law:?}");
    assert_eq!(point.checks.arrivals.iter().map(|check| check.workload.as_str()).collect::<Vec<_>>(), ["oltp", "log"]);
}

#[test]
fn an_overload_ends_its_point_and_no_other() {
    // A server makes 10,000 a second; the second point asks for three times that.
    let line = "run -t sim://?service=100us&servers=1 --rate 5k,30k,8k --ramp 0s --time 4s --interval 100ms --quiet";
    let outcome = rigel(line).ends_with(0);
    let result = outcome.result();
    let [first, second, third] = &result.points[..] else { panic!("{} points", result.points.len()) };
    for point in [first, third] {
        assert_eq!((&point.ended_early, point.overloaded, point.window_s), (&None, false, 4.0));
    }
    assert!(second.overloaded);
    let reason = second.ended_early.as_ref().unwrap();
    assert!(reason.contains("30,000 arrivals/s") && reason.contains("more than a second's"), "{reason}");
    // 20,000 a second wait, less the 1,024 that may be outstanding: a second's 30,000 after 1.55 s, so at the edges of
    // 1.6 and 1.7 s.
    assert!((1.69..1.72).contains(&second.window_s), "{}", second.window_s);
    assert_accounted_for(second);
    assert_eq!(second.checks.arrivals[0].judgement, Judgement::Off);
    let told: Vec<&String> =
        result.verdicts.iter().filter(|text| text.starts_with("point 2 of 3 (30,000/s): ")).collect();
    assert_eq!(told.len(), result.verdicts.len(), "{:?}", result.verdicts);
    let follows = told.iter().find(|text| text.contains("the targets did not follow: ")).expect("a sentence");
    assert!(
        follows.contains("/s of 29,")
            && (follows.contains("; 32,") || follows.contains("; 33,"))
            && follows.contains("arrivals were still waiting"),
        "{follows}"
    );
    assert!(
        outcome.stdout.contains(" 30,000/s !  ") && outcome.stdout.contains(follows.as_str()),
        "{}",
        outcome.stdout
    );
}

#[test]
fn an_overload_that_may_go_on_goes_on() {
    let line = "run -t sim://?service=100us&servers=1 --rate 30k,5k --overload continue --ramp 100ms --time 3s --interval 500ms --quiet";
    let result = rigel(line).ends_with(0).result();
    let [over, after] = &result.points[..] else { panic!("{} points", result.points.len()) };
    assert_eq!((&over.ended_early, over.overloaded, over.window_s), (&None, false, 3.0));
    assert_accounted_for(over);
    assert_eq!(over.checks.arrivals[0].judgement, Judgement::Off);
    // Rate and service are constant, and response rises all the time: only that is unsteady.
    let unsteady = over.checks.steady_state.by.iter().filter(|by| by.judgement == Steadiness::Unsteady);
    assert_eq!(unsteady.map(|by| by.figure).collect::<Vec<_>>(), [Trending::ResponseMeanNs]);
    assert_eq!(after.workloads[0].arrivals.as_ref().unwrap().backlog, 0, "the next point begins without it");
    assert_eq!(after.checks.arrivals[0].judgement, Judgement::Ok);
    assert!(result.verdicts.iter().all(|text| text.starts_with("point 1 of 2 (30,000/s): ")), "{:?}", result.verdicts);
}

#[test]
fn a_rate_that_never_changes_is_steady_and_one_that_breaks_off_is_not() {
    let run = |target: &str, rest: &str| {
        let line = format!("run -t {target} {rest} --ramp 100ms --time 1s --interval 100ms --quiet");
        let outcome = rigel(&line).ends_with(0);
        (outcome.result(), outcome.stdout)
    };
    for (target, load) in [
        ("sim://constant-100us", "-q 4"),
        ("sim://?service=exp:100us", "-q 16 --read-percent 70"),
        ("sim://constant-100us", "--rate 20k"),
    ] {
        let (result, table) = run(target, load);
        let steady = &result.points[0].checks.steady_state;
        assert_eq!((steady.judgement, &steady.reason), (Steadiness::Steady, &None), "{target} {load}: {steady:?}");
        let ops = if load.contains("70") { 2 } else { 1 };
        let figures = if load.contains("rate") { 3 } else { 2 };
        assert_eq!(steady.by.len(), ops * figures, "{steady:?}");
        assert_eq!((result.verdicts, table.contains('~')), (Vec::<String>::new(), false));
    }
    // It stands still for 80 ms of the fourth round.
    let (result, table) = run("sim://constant-100us?stall=750ms:80ms", "-q 4");
    let steady = &result.points[0].checks.steady_state;
    assert_eq!(steady.judgement, Steadiness::Unsteady, "{steady:?}");
    let iops = &steady.by[0];
    assert_eq!(iops.figure, Trending::Iops);
    for (round, (found, exact)) in iops.rounds.iter().zip([40e3, 40e3, 40e3, 24e3, 40e3]).enumerate() {
        assert!((found - exact).abs() <= 100.0, "round {round}: {found}");
    }
    assert!((iops.range_share - 16e3 / 36.8e3).abs() < 0.01, "{iops:?}");
    let [verdict] = &result.verdicts[..] else { panic!("{:?}", result.verdicts) };
    assert!(verdict.contains("unsteady over five rounds: read IOPS (range 43.5 %"), "{verdict}");
    assert!(table.contains(" QD 4 ~  ") && table.contains(verdict.as_str()), "{table}");
}

#[test]
fn too_few_intervals_are_not_judged() {
    let result =
        rigel("run -t sim://constant-100us -q 4 --ramp 0s --time 2s --interval 500ms --quiet").ends_with(0).result();
    let steady = &result.points[0].checks.steady_state;
    assert_eq!(steady.judgement, Steadiness::NotJudged);
    assert!(steady.reason.as_ref().is_some_and(|reason| reason.contains("fewer than five intervals")), "{steady:?}");
    assert_eq!(result.verdicts, Vec::<String>::new());
}

#[test]
fn notes_reach_whoever_reads_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run -t sim://constant-100us?stall=450ms:80ms -q 4 --ramp 0s --time 1s --interval 100ms --json";
    let outcome = Running::start_in(folder, line).wait().ends_with(0);
    let [verdict] = &outcome.result().verdicts[..] else { panic!("{}", outcome.stdout) };
    assert!(outcome.stderr.contains(&format!("note: {verdict}")), "{}", outcome.stderr);
}
