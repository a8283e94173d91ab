//! The search for the highest rate under a limit, on an array whose answer is known: an M/M/c queue.
//!
//! The tail of its response time is a closed form (e.g. Gross and Harris, Fundamentals of Queueing Theory, section 2.3);
//! solved for the rate it tells at which rate the limit is reached.

use rigel::campaign::Campaign;
use rigel::driver::{Backend, SimBackend};
use rigel::engine::{RunControl, run};
use rigel::result::{self, PointResult, SearchOutcome, SearchResult};
use rigel::spec;

const SERVERS: u32 = 4;
/// Mean service time.
const SERVICE_S: f64 = 100e-6;
const LIMIT_S: f64 = 600e-6;

/// Share of the I/Os that take longer than `t_s` at a rate.
fn tail(rate: f64, t_s: f64) -> f64 {
    let (c, mu) = (f64::from(SERVERS), 1.0 / SERVICE_S);
    let a = rate / mu;
    // Erlang's C: that an arrival has to wait.
    let term = |n: u32| (1..=n).fold(1.0, |product, i| product * a / f64::from(i));
    let full = term(SERVERS) * c / (c - a);
    let waits = full / ((0..SERVERS).map(term).sum::<f64>() + full);
    let d = c - 1.0 - a;
    (-mu * t_s).exp() * (1.0 + waits * (1.0 - (-mu * t_s * d).exp()) / d)
}

/// The rate at which one in a hundred takes longer than the limit.
fn true_rate() -> f64 {
    let (mut low, mut high) = (0.0, f64::from(SERVERS) / SERVICE_S);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if tail(middle, LIMIT_S) < 0.01 { low = middle } else { high = middle }
    }
    low
}

fn search(seed: u64) -> SearchResult {
    let job = format!(
        "[[target]]\nuri = \"sim://?service=exp:100us&servers={SERVERS}&seed={seed}\"\n[run]\nramp = \"200ms\"\ntime = \"6s\"\n\
         seed = {seed}\n[search]\nlimit = [\"p99 read <= 600us\"]\n"
    );
    let job = spec::parse(&job, "job.toml").unwrap();
    let backend = SimBackend::new(&[job.target[0].uri.clone()]);
    let campaign = Campaign::of(&job, &backend.facts(), &[0]).unwrap();
    let clock = backend.clock().unwrap();
    let mut points: Vec<PointResult> = Vec::new();
    while let Some(stage) = campaign.next(&points).unwrap() {
        let figures = run(&backend, &stage.plan, &clock, &RunControl::default(), &mut |_| {}).unwrap();
        let step = stage.step.map(Box::new);
        points.push(PointResult { step, ..result::point(&stage.plan, &clock, &figures[0]) });
    }
    campaign.searches(&points).remove(0)
}

#[test]
fn the_closed_form_is_that_of_one_server_where_there_is_one() {
    // With a = 0 nobody waits, and the service is exponential.
    assert!((tail(1e-9, LIMIT_S) - (-LIMIT_S / SERVICE_S).exp()).abs() < 1e-9);
    assert!((25_000.0..40_000.0).contains(&true_rate()), "{}", true_rate());
}

#[test]
fn the_highest_rate_under_a_limit_is_found_within_three_per_cent_in_twelve_points_for_twenty_seeds() {
    let truth = true_rate();
    let (half, other): (Vec<u64>, Vec<u64>) = (1..=20).partition(|seed| seed % 2 == 0);
    let found: Vec<(u64, SearchResult)> = std::thread::scope(|scope| {
        let threads =
            [half, other].map(|seeds| scope.spawn(|| seeds.into_iter().map(|s| (s, search(s))).collect::<Vec<_>>()));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (seed, found) in &found {
        let answer = found.answer.unwrap_or_else(|| panic!("seed {seed}: {}", found.says)) as f64;
        println!(
            "seed {seed}: {answer} ({:+.2} %), {} tries, {}",
            (answer / truth - 1.0) * 100.0,
            found.tried.len(),
            found.says
        );
        assert!((answer / truth - 1.0).abs() <= 0.03, "seed {seed}: {answer} of {truth}: {}", found.says);
        assert!(found.tried.len() < 12, "seed {seed}: with the highest rate {} points", found.tried.len() + 1);
        assert!(found.kept.0 >= 2, "seed {seed}: {:?}", found.kept);
    }
    let narrow = found.iter().filter(|(_, found)| found.outcome == SearchOutcome::Found).count();
    assert!(narrow >= 15, "{narrow} of 20 brackets became as narrow as was asked for");
}
