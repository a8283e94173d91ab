//! Merging histograms: what an interval's hand-over costs for each core and cell, with hdrhistogram's `add` beside it.

use std::hint::black_box;

use criterion::Criterion;
use hdrhistogram::Histogram;
use rigel::stats::TickHistogram;

/// Number of recorded values; more only raises the counts.
const VALUES: u64 = 100_000;

fn merge(c: &mut Criterion) {
    let mut group = c.benchmark_group("merge");
    let (mut part, mut whole) = (TickHistogram::new(), TickHistogram::new());
    (0..VALUES).for_each(|n| part.record(250_000 + n));
    group.bench_function("tick_histogram", |b| b.iter(|| whole.merge(black_box(&part))));

    let peer = || Histogram::<u64>::new_with_bounds(1, 86_400_000_000_000, 3).expect("bounds that hdrhistogram takes");
    let (mut part, mut whole) = (peer(), peer());
    (0..VALUES).for_each(|n| part.record(250_000 + n).expect("within its range"));
    group.bench_function("hdrhistogram", |b| b.iter(|| whole.add(black_box(&part)).expect("same bounds")));

    let mut used = TickHistogram::new();
    group.bench_function("record_and_clear", |b| {
        b.iter(|| {
            used.record(black_box(250_000));
            used.clear();
        });
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    merge(&mut criterion);
    criterion.final_summary();
}
