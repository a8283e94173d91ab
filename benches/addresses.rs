//! Making the next I/O: random and sequential addresses, with and without a mix of reads and writes.
//!
//! Prints the cost of uniform random addresses against the usual remainder of a division, on the same generator; above 1
//! ours is faster (and unbiased, which the remainder is not).

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rigel::driver::{Backend, NullBackend};
use rigel::plan::{Plan, resolve};
use rigel::spec;
use rigel::workload::{Generator, stream_seed};

const ROUNDS: usize = 9;
const COUNT: u64 = 10_000;

fn plan(fields: &str) -> Plan {
    let job = format!("[[target]]\nuri = \"null://1t\"\n[[workload]]\n{fields}\n");
    let job = spec::parse(&job, "bench").expect("a job");
    let backend = NullBackend::new(&["null://1t".parse().expect("a URI")]);
    resolve(&job, &backend.facts(), &[0]).expect("a plan")
}

fn generator(plan: &Plan) -> Generator {
    Generator::new(plan, &plan.cores[0].lanes[0], stream_seed(plan.seed, 0, 0))
}

fn addresses(c: &mut Criterion) {
    let mut group = c.benchmark_group("addresses");
    group.throughput(Throughput::Elements(COUNT));
    for (name, fields) in [
        ("random", "access = \"random\""),
        ("random 70/30", "access = \"random\"\nread_percent = 70"),
        ("sequential", "access = \"sequential\""),
    ] {
        let mut generator = generator(&plan(fields));
        group.bench_function(name, |b| {
            b.iter(|| {
                (0..COUNT).for_each(|_| {
                    black_box(generator.next_io());
                })
            })
        });
    }
    group.finish();
}

/// The median over interleaved rounds of the time of `number % blocks` divided by ours.
fn ratio() -> f64 {
    let plan = plan("access = \"random\"");
    let ios = black_box(plan.workloads[0].regions[0].blocks / 8);
    let mut ours = generator(&plan);
    let mut theirs = Xoroshiro128PlusPlus::seed_from_u64(1);
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..COUNT * 100).for_each(|_| {
                black_box(ours.next_io());
            });
            let our_time = start.elapsed();
            let start = Instant::now();
            (0..COUNT * 100).for_each(|_| {
                black_box(theirs.next_u64() % ios * 8);
            });
            start.elapsed().as_secs_f64() / our_time.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    addresses(&mut criterion);
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        println!("addresses: remainder / ours = {:.2} (median of {ROUNDS} rounds)", ratio());
    }
}
