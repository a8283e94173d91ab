//! Making the next I/O: every pattern of addresses, with and without mixes of directions and sizes, as the loop takes them.
//!
//! Prints what each takes beyond plain random addresses, and the cost of these against the usual remainder of a division,
//! on the same generator; above 1 ours is faster (and unbiased, which the remainder is not).

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rigel::driver::{Backend, NullBackend};
use rigel::plan::{Plan, resolve};
use rigel::spec;
use rigel::units::Ticks;
use rigel::workload::{Batch, Generator, NextIo, stream_seed};

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

/// Every pattern and mix, the plain one first.
const WORKLOADS: [(&str, &str); 15] = [
    ("random", "access = \"random\""),
    ("random 70/30", "read_percent = 70"),
    ("sequential", "access = \"sequential\""),
    ("permutation", "access = \"permutation\""),
    ("strided", "access = \"strided:64k\""),
    ("zipf 0.5", "access = \"zipf:0.5\""),
    ("zipf 0.99", "access = \"zipf:0.99\""),
    ("zipf 1.2", "access = \"zipf:1.2\""),
    ("pareto", "access = \"pareto:0.2\""),
    ("normal", "access = \"normal:10%\""),
    ("hot", "access = \"hot:80/20\""),
    (
        "bands",
        "access = { pattern = \"bands\", bands = [{ accesses = 50, region = \"0%-5%\" }, { accesses = 50, region = \"20%-90%\" }] }",
    ),
    ("sizes", "block_size = \"4k:60,64k:40\""),
    ("sizes zipf", "block_size = \"4k:60,64k:40\"\naccess = \"zipf:0.99\""),
    ("sizes 70/30", "read_percent = 70\nread_block_size = \"4k\"\nwrite_block_size = \"64k\""),
];

/// A lane's I/Os as the loop takes them.
fn batch(fields: &str) -> Batch {
    Batch::new(generator(&plan(fields)))
}

fn addresses(c: &mut Criterion) {
    let mut group = c.benchmark_group("addresses");
    group.throughput(Throughput::Elements(COUNT));
    for (name, fields) in WORKLOADS {
        let batch = batch(fields);
        match batch.sole() {
            Some(mut sole) => group.bench_function(name, |b| b.iter(|| spend(COUNT, || sole.next_io(Ticks(0))))),
            None => {
                let mut batch = batch;
                group.bench_function(name, |b| b.iter(|| spend(COUNT, || batch.next_io(Ticks(0)))))
            }
        };
    }
    group.finish();
}

fn spend(count: u64, mut next_io: impl FnMut() -> NextIo) {
    (0..count).for_each(|_| {
        black_box(next_io());
    });
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median over interleaved rounds of the time of `number % blocks` divided by ours.
fn ratio() -> f64 {
    let plan = plan(WORKLOADS[0].1);
    let ios = black_box(plan.workloads[0].regions[0].blocks / 8);
    let mut ours = generator(&plan).uniform().expect("the plain workload has a short way");
    let mut theirs = Xoroshiro128PlusPlus::seed_from_u64(1);
    let round = |_| {
        let our_time = timed(|| spend(COUNT * 100, || ours.next_io()));
        let their_time = timed(|| {
            (0..COUNT * 100).for_each(|_| {
                black_box(theirs.next_u64() % ios * 8);
            });
        });
        their_time / our_time
    };
    median((0..ROUNDS).map(round).collect())
}

/// What a pattern takes an I/O beyond the plain one, in nanoseconds: the median over interleaved rounds.
fn extra_ns(fields: &str) -> f64 {
    let mut plain = generator(&plan(WORKLOADS[0].1)).uniform().expect("the plain workload has a short way");
    let mut batch = batch(fields);
    let mut sole = batch.sole();
    let count = COUNT * 100;
    let round = |_| {
        let plain_time = timed(|| spend(count, || plain.next_io()));
        let time = match &mut sole {
            Some(sole) => timed(|| spend(count, || sole.next_io(Ticks(0)))),
            None => timed(|| spend(count, || batch.next_io(Ticks(0)))),
        };
        (time - plain_time) / count as f64 * 1e9
    };
    median((0..ROUNDS).map(round).collect())
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    addresses(&mut criterion);
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        println!("addresses: remainder / ours = {:.2} (median of {ROUNDS} rounds)", ratio());
        for (name, fields) in &WORKLOADS[1..] {
            println!("addresses: {name}: {:+.1} ns an I/O against plain random", extra_ns(fields));
        }
    }
}
