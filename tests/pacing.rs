//! Bursts and think times held against closed forms, on the array model and its virtual clock, and what a job may say of
//! them.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/runs.rs"]
mod runs;

use cli::rigel;
use rigel::driver::{Backend, SimBackend};
use rigel::engine::{RunControl, run};
use rigel::plan::Arrivals;
use rigel::result::{self, Bound, Judgement, PointResult};
use rigel::spec;
use rigel::workload::ArrivalTimes;

/// Runs a job of one point on one simulated target.
#[track_caller]
fn point(target: &str, rest: &str) -> PointResult {
    let backend = SimBackend::new(&[target.parse().expect("a URI")]);
    let plan = runs::plan(&backend, &format!("[[target]]\nuri = \"{target}\"\n{rest}"));
    let clock = backend.clock().expect("a clock");
    let points = run(&backend, &plan, &clock, &RunControl::default(), &mut |_| {}).expect("runs");
    let [figures] = &points[..] else { panic!("{} points", points.len()) };
    result::point(&plan, &clock, figures)
}

#[track_caller]
fn thinking(target: &str, load: &str, think_time: &str) -> PointResult {
    point(target, &format!("[[workload]]\n{load}\nthink_time = {think_time}\n[run]\nramp = \"1s\"\ntime = \"10s\"\n"))
}

#[track_caller]
fn assert_near(found: f64, exact: f64, share: f64, what: &str) {
    assert!((found / exact - 1.0).abs() <= share, "{what}: {found} for {exact}");
}

#[test]
fn a_loop_that_thinks_makes_its_depth_by_service_and_think_time() {
    for (depth, service_us, think_us) in [(1, 100, 400), (8, 100, 100), (32, 50, 950)] {
        let target = format!("sim://?service={service_us}us&servers=64");
        let point = thinking(&target, &format!("queue_depth = {depth}"), &format!("\"{think_us}us\""));
        let exact = f64::from(depth) * 1e6 / f64::from(service_us + think_us);
        // What is outstanding at the window's edges is all that may differ.
        assert!(
            (point.total.iops - exact).abs() <= f64::from(depth) / 10.0,
            "{}: {} for {exact}",
            depth,
            point.total.iops
        );
        let read = &point.total.read;
        assert_eq!(
            read.service.as_ref().unwrap().max_ns,
            u64::from(service_us as u32) * 1_000,
            "no pause is a latency"
        );
        assert!(read.response.is_none(), "nothing is scheduled");
        assert!(point.checks.conservation.ok);
    }
}

#[test]
fn exponential_think_times_make_the_same_rate() {
    let point = thinking(
        "sim://?service=100us&servers=64",
        "queue_depth = 32",
        "{ mean = \"900us\", spread = \"exponential\" }",
    );
    // Five standard deviations of the mean of 320,000 think times.
    assert_near(point.total.iops, 32_000.0, 5.0 / 320_000f64.sqrt(), "IOPS");
}

/// Rate and mean latency, in seconds, of so many users who think for `think_s`, at one exponential server of `service_s`:
/// mean value analysis.
fn one_server(users: u32, service_s: f64, think_s: f64) -> (f64, f64) {
    let step = |(queue, _): (f64, (f64, f64)), users: u32| {
        let latency = service_s * (1.0 + queue);
        let rate = f64::from(users) / (think_s + latency);
        (rate * latency, (rate, latency))
    };
    (1..=users).fold((0.0, (0.0, 0.0)), step).1
}

#[test]
fn users_who_wait_for_one_server_are_as_many_as_mean_value_analysis_says() {
    for (users, think_us) in [(2, 300), (8, 1_000), (20, 1_000)] {
        let target = "sim://?service=exp:100us&servers=1";
        let think_time = format!("{{ mean = \"{think_us}us\", spread = \"exponential\" }}");
        let point = thinking(target, &format!("outstanding = {users}"), &think_time);
        let (rate, latency_s) = one_server(users, 100e-6, f64::from(think_us) / 1e6);
        assert_near(point.total.iops, rate, 0.02, "rate");
        assert_near(point.total.read.service.as_ref().unwrap().mean_ns / 1e9, latency_s, 0.03, "latency");
    }
}

#[test]
fn a_thinking_loop_is_not_held_against_littles_law_and_one_beside_it_is() {
    let alone = thinking("sim://?service=100us&servers=64", "queue_depth = 4", "\"1ms\"");
    let law = &alone.checks.littles_law;
    assert_eq!((law.outstanding, law.judgement), (0, Judgement::NotJudged));
    assert!(law.reason.as_ref().unwrap().starts_with("think time: "), "{law:?}");
    let both = "[[workload]]\nqueue_depth = 4\n[[workload]]\nqueue_depth = 16\nthink_time = \"1ms\"\n";
    let beside = point("sim://?service=100us&servers=64", &format!("{both}[run]\nramp = \"10ms\"\ntime = \"1s\"\n"));
    let law = &beside.checks.littles_law;
    assert_eq!((law.outstanding, law.judgement), (4, Judgement::Ok), "{law:?}");
    assert_near(beside.workloads[1].figures.iops, 16.0 / 1.1e-3, 0.01, "IOPS beside");
}

#[test]
fn think_time_is_no_limit_of_the_array_unless_it_is_the_lesser_part() {
    let bound = |think: &str| {
        let line = "run -t sim://?service=100us&servers=64 --queue-depth 4 --ramp 0s --time 1s --quiet --set workload.0.think_time=";
        let result = rigel(&format!("{line}{think}")).ends_with(0).result();
        let verdict = result.points[0].verdict.clone().unwrap();
        (verdict.bound, verdict.reason)
    };
    let (limit, reason) = bound("900us");
    assert_eq!(limit, Bound::None);
    assert_eq!(reason, "the slots thought for 90.0 % of the time");
    assert_eq!(bound("50us").0, Bound::Array);
}

#[test]
fn bursts_come_at_once_and_their_counts_have_the_dispersion_of_their_size() {
    const WINDOWS: usize = 20_000;
    for size in [1, 8, 32] {
        let mut times = ArrivalTimes::new(Arrivals::Bursts { size }, 7);
        times.start(1_000.0, 0.0, 0);
        // Windows of 100 arrivals on average.
        let mut counts = vec![0f64; WINDOWS];
        let mut alike = 0u64;
        let mut last = u64::MAX;
        loop {
            let at = times.take();
            alike += u64::from(at == last);
            last = at;
            let Some(count) = counts.get_mut((at / 100_000) as usize) else { break };
            *count += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / WINDOWS as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (WINDOWS - 1) as f64;
        assert_near(mean, 100.0, 5.0 * (f64::from(size) / 100.0 / WINDOWS as f64).sqrt(), "mean");
        // Five standard deviations of a variance; bursts of many have heavier tails than a normal distribution.
        assert_near(variance / mean, f64::from(size), 5.0 * (3.0 / WINDOWS as f64).sqrt(), "index of dispersion");
        let share = alike as f64 / counts.iter().sum::<f64>();
        assert!((share - (1.0 - 1.0 / f64::from(size))).abs() < 0.01, "bursts of {size}: {share} at one tick");
    }
}

#[test]
fn bursts_are_served_at_their_rate_and_every_arrival_is_accounted_for() {
    let job = "[[workload]]\nrate = 20000\narrivals = { pattern = \"bursts\", size = 32 }\nmax_outstanding = 8\n\
               [run]\nramp = \"100ms\"\ntime = \"10s\"\ncores = \"0-0\"\n";
    let point = point("sim://?service=100us&servers=64", job);
    let check = &point.checks.arrivals[0];
    assert!(check.conserved && check.judgement == Judgement::Ok, "{check:?}");
    let arrivals = point.workloads[0].arrivals.as_ref().unwrap();
    assert!((arrivals.offered as f64 - 200_000.0).abs() <= 5.0 * (200_000f64 * 32.0).sqrt(), "{arrivals:?}");
    assert!(arrivals.backlog_max >= 32);
    // Eight at a time: the last eight of a burst wait for three services at least.
    let (service, response) = (point.total.read.service.as_ref().unwrap(), point.total.read.response.as_ref().unwrap());
    assert_eq!((service.min_ns, service.max_ns), (100_000, 100_000));
    assert!(response.p99_ns >= 390_000 && response.min_ns == 100_000, "{response:?}");
}

#[test]
fn what_a_job_says_of_pace_is_read_in_each_form_and_printed_as_it_is_read() {
    let workload = |fields: &str| {
        let text = format!("[[target]]\nuri = \"null://1g\"\n[[workload]]\n{fields}\n");
        spec::parse(&text, "test").map(|job| job.workload[0].clone())
    };
    let table = workload("rate = 10\narrivals = { pattern = \"bursts\", size = 32 }").unwrap();
    assert_eq!(table.arrivals, Some(Arrivals::Bursts { size: 32 }));
    assert_eq!(workload("rate = 10\narrivals = \"bursts:32\"").unwrap(), table);
    assert_eq!(table.load().to_string(), "10 arrivals/s (bursts of 32)");
    for (fields, says) in [
        ("think_time = \"1ms\"\nrate = 5", "`think_time` belongs to a closed loop"),
        ("think_time = \"0s\"", "the think time is 0; leave `think_time` out"),
        ("think_time = { spread = \"exponential\" }", "lacks `mean`"),
        ("think_time = \"2d\"", "longer than a day"),
        ("rate = 5\narrivals = \"bursts\"", "bursts need their `size`"),
        ("rate = 5\narrivals = \"bursts:0\"", "`size` is 0"),
        ("rate = 5\narrivals = { pattern = \"poisson\", size = 3 }", "`size` belongs to bursts"),
        ("rate = 5\narrivals = \"burst:3\"", "unknown arrivals `burst` (did you mean `bursts`?)"),
        ("arrivals = \"bursts:3\"", "belongs to an open loop"),
    ] {
        let error = workload(fields).unwrap_err().to_string();
        assert!(error.contains(says), "{fields}: {error}");
    }
}
