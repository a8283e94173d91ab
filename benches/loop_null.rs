//! The whole loop over Rigel's null driver: what one core of this machine can generate and record at most.
//!
//! Prints nanoseconds an I/O, and what share of them the parts measured alone (next address, recording) account for.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use rigel::driver::{Backend, NullBackend};
use rigel::engine::{RunControl, run};
use rigel::plan::{Plan, resolve};
use rigel::spec;
use rigel::stats::TickHistogram;
use rigel::workload::{Generator, stream_seed};

fn plan(backend: &NullBackend, time: &str) -> Plan {
    let job =
        format!("[[target]]\nuri = \"null://1t\"\n[run]\nramp = \"20ms\"\ninterval = \"20ms\"\ntime = \"{time}\"\n");
    let job = spec::parse(&job, "bench").expect("a job");
    let cores: Vec<_> = core_affinity::get_core_ids().expect("cores").iter().map(|core| core.id).collect();
    resolve(&job, &backend.facts(), &cores).expect("a plan")
}

/// Nanoseconds an I/O over a window of `time`.
fn loop_ns(backend: &NullBackend, time: &str) -> f64 {
    let clock = backend.clock().expect("a clock");
    let points = run(backend, &plan(backend, time), &clock, &RunControl::default(), &mut |_| {}).expect("runs");
    clock.ns(points[0].window.0 as f64) / points[0].interval_completions.max(1) as f64
}

/// Nanoseconds of making one address and recording one latency, outside the loop.
fn parts_ns(backend: &NullBackend) -> f64 {
    let plan = plan(backend, "20ms");
    let mut generator = Generator::new(&plan, &plan.cores[0].lanes[0], stream_seed(1, 0, 0));
    let mut histogram = TickHistogram::new();
    let count = 10_000_000u64;
    let start = Instant::now();
    for n in 0..count {
        black_box(generator.next_io());
        histogram.record(black_box(1_000 + n % 64));
    }
    start.elapsed().as_nanos() as f64 / count as f64
}

fn main() {
    let backend = NullBackend::new(&["null://1t".parse().expect("a URI")]);
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("loop_null");
    group.throughput(Throughput::Elements(1)).sample_size(10);
    group.bench_function("io", |b| {
        b.iter_custom(|n| Duration::from_nanos((loop_ns(&backend, "40ms") * n as f64) as u64))
    });
    group.finish();
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        let (whole, parts) = (loop_ns(&backend, "1s"), parts_ns(&backend));
        println!(
            "loop over null: {whole:.1} ns an I/O, of which address and record {parts:.1} ns ({:.0} %)",
            parts / whole * 100.0
        );
    }
}
