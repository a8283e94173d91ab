//! The schedule of an open loop: the gaps between Poisson arrivals are exponential, evenly spaced arrivals are even over
//! all cores, and what is offered depends on the schedule only.

#[path = "common/runs.rs"]
mod runs;

use rigel::driver::{Backend, NullBackend, SimBackend};
use rigel::plan::{Arrivals, Plan, resolve};
use rigel::spec;
use rigel::workload::{ArrivalTimes, stream_seed};

/// Of a usual time stamp counter.
const TICKS_PER_S: f64 = 2.3e9;

/// The schedules of all cores as the engine makes them, started at `start`.
fn schedules(plan: &Plan, ticks_per_s: f64, start: u64) -> Vec<ArrivalTimes> {
    let mut schedules = Vec::new();
    for (core, core_plan) in plan.cores.iter().enumerate() {
        for (number, lane) in core_plan.lanes.iter().enumerate() {
            let arrivals = lane.arrivals.as_ref().expect("an open loop");
            let mut times = ArrivalTimes::new(arrivals.spread, stream_seed(!plan.seed, core, number));
            times.start(ticks_per_s / arrivals.rates_per_s[0], arrivals.offset, start);
            schedules.push(times);
        }
    }
    schedules
}

/// The greatest distance between the distribution of these gaps and the exponential one of this mean.
fn kolmogorov_smirnov(mut gaps: Vec<f64>, mean: f64) -> f64 {
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distance = |(rank, gap): (usize, &f64)| {
        let exact = 1.0 - (-gap / mean).exp();
        (exact - rank as f64 / n).max((rank + 1) as f64 / n - exact)
    };
    gaps.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn gaps_of_poisson_arrivals_are_exponential() {
    const N: usize = 100_000;
    for rate in [10_000.0, 300_000.0] {
        for seed in 1..=3 {
            let gap = TICKS_PER_S / rate;
            let mut times = ArrivalTimes::new(Arrivals::Poisson, stream_seed(!seed, 0, 0));
            times.start(gap, 0.0, 1_000);
            let mut last = 1_000;
            let mut next = || {
                let before = std::mem::replace(&mut last, times.take());
                (last - before) as f64
            };
            let gaps: Vec<f64> = (0..N).map(|_| next()).collect();
            let mean = gaps.iter().sum::<f64>() / N as f64;
            // Five standard deviations of the mean of exponentials.
            assert!((mean / gap - 1.0).abs() <= 5.0 / (N as f64).sqrt(), "{rate}/s: mean gap {mean} ticks");
            let distance = kolmogorov_smirnov(gaps, gap);
            // Exceeded by one sample of a thousand.
            assert!(distance <= 1.95 / (N as f64).sqrt(), "{rate}/s, seed {seed}: distance {distance}");
        }
    }
}

#[test]
fn the_test_would_find_another_distribution() {
    const N: usize = 100_000;
    // Exponential but for a hundredth of the gaps, which are the mean.
    let mut times = ArrivalTimes::new(Arrivals::Poisson, 1);
    times.start(1e6, 0.0, 0);
    let mut last = 0;
    let mut gap = |n: usize| {
        let before = std::mem::replace(&mut last, times.take());
        if n % 100 < 2 { 1e6 } else { (last - before) as f64 }
    };
    let distance = kolmogorov_smirnov((0..N).map(&mut gap).collect(), 1e6);
    assert!(distance > 1.95 / (N as f64).sqrt(), "{distance}");
}

#[test]
fn evenly_spaced_arrivals_are_even_over_all_cores() {
    let job = |cores: &str| {
        format!(
            "[[target]]\nuri = \"sim://constant-100us\"\n[[workload]]\nrate = 70000\narrivals = \"constant\"\n[run]\ncores = \"{cores}\"\n"
        )
    };
    let backend = SimBackend::new(&["sim://constant-100us".parse().expect("a URI")]);
    for cores in ["0", "0-1", "0-2", "1-6"] {
        let job = spec::parse(&job(cores), "test.toml").expect("a job");
        let plan = resolve(&job, &backend.facts(), &(0..8).collect::<Vec<_>>()).expect("a plan");
        let mut all: Vec<u64> = Vec::new();
        for mut times in schedules(&plan, TICKS_PER_S, 5_000) {
            all.extend(std::iter::repeat_with(|| times.take()).take(20_000));
        }
        all.sort_unstable();
        // The first of a core after all others have ended is no longer part of the pattern.
        for (n, at) in all.iter().take(20_000).enumerate() {
            let exact = 5_000.0 + n as f64 * TICKS_PER_S / 70_000.0;
            // A tick for rounding, and what 16 bits of a fraction lose over so many arrivals.
            assert!((*at as f64 - exact).abs() <= 2.0, "cores {cores}: arrival {n} at {at}, not {exact}");
        }
    }
}

#[test]
fn what_is_offered_is_what_the_schedule_says_however_late_the_core_is() {
    let job = "[[target]]\nuri = \"null://1g\"\n[[workload]]\nrate = 10000\n\
               [run]\nramp = \"50ms\"\ntime = \"250ms\"\ninterval = \"20ms\"\noverload = \"continue\"\n";
    let backend = NullBackend::new(&["null://1g".parse().expect("a URI")]);
    let plan = runs::plan(&backend, job);
    // Another calibration than that of the run below would tell other ticks.
    let clock = backend.clock().expect("a clock");
    let point = rigel::engine::run(&backend, &plan, &clock, &Default::default(), &mut |_| {}).expect("runs").remove(0);
    let mut times = schedules(&plan, clock.ticks_per_s(), 0).remove(0);
    let [ramp, window] = [plan.ramp, plan.ramp + plan.time].map(|until| {
        let end = clock.ticks(until).0;
        std::iter::repeat_with(|| times.next() < end && times.take() < end).take_while(|&due| due).count() as u64
    });
    let [in_ramp, in_window] = [&point.ramp_arrivals, &point.arrivals].map(|phase| phase[0].as_ref().expect("open"));
    assert_eq!((in_ramp.offered, in_window.offered), (ramp, window));
    let leftover = point.leftovers[0].expect("open");
    assert_eq!(in_ramp.sent + in_window.sent + leftover.waiting, ramp + window);
    let ended: u64 = [&point.ramp, &point.cells, &point.drain].iter().map(|cells| cells[0].service.count()).sum();
    assert_eq!((ended, leftover.unanswered), (in_ramp.sent + in_window.sent, 0));
}
