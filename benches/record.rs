//! Recording one latency: the tick histogram of the engine against the hdrhistogram crate, on the same values.
//!
//! Prints the ratio of the two besides criterion's own figures; above 1 the tick histogram is faster.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use hdrhistogram::Histogram;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rigel::stats::TickHistogram;

/// Rounds of the comparison, each of both in turn.
const ROUNDS: usize = 9;

/// Latencies as an array gives them, in ticks: a narrow body and a long tail.
fn values(count: usize) -> Vec<u64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let value = |rng: &mut Xoshiro256PlusPlus| {
        let tail = if rng.random_range(0..1000) == 0 { 40 } else { 1 };
        rng.random_range(250_000..400_000) * tail
    };
    (0..count).map(|_| value(&mut rng)).collect()
}

fn peer() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 86_400_000_000_000, 3).expect("bounds that hdrhistogram takes")
}

fn record(c: &mut Criterion) {
    let values = values(10_000);
    let mut group = c.benchmark_group("record");
    group.throughput(Throughput::Elements(values.len() as u64));
    let mut ours = TickHistogram::new();
    group.bench_function("tick_histogram", |b| b.iter(|| values.iter().for_each(|v| ours.record(black_box(*v)))));
    let mut theirs = peer();
    group.bench_function("hdrhistogram", |b| {
        b.iter(|| values.iter().for_each(|v| theirs.record(black_box(*v)).expect("within its range")));
    });
    group.finish();
}

/// The median over interleaved rounds of hdrhistogram's time divided by ours.
fn ratio() -> f64 {
    let values = values(1_000_000);
    let (mut ours, mut theirs) = (TickHistogram::new(), peer());
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            values.iter().for_each(|v| ours.record(black_box(*v)));
            let our_time = start.elapsed();
            let start = Instant::now();
            values.iter().for_each(|v| theirs.record(black_box(*v)).expect("within its range"));
            start.elapsed().as_secs_f64() / our_time.as_secs_f64()
        })
        .collect();
    black_box((ours.count(), theirs.len()));
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    record(&mut criterion);
    criterion.final_summary();
    // Under `cargo test` each benchmark runs once, for its correctness only.
    if std::env::args().any(|arg| arg == "--bench") {
        println!("record: hdrhistogram / tick_histogram = {:.2} (median of {ROUNDS} rounds)", ratio());
    }
}
