//! Making the payload of writes: bytes a second of one core, and what it costs the loop over the null driver.
//!
//! Prints the median over alternated turns of the loop's IOPS with a payload by those without any.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use rigel::driver::{Backend, NullBackend};
use rigel::engine::{RunControl, run};
use rigel::plan::{PayloadPlan, Plan, ReductionPlan, Scope, resolve};
use rigel::spec;
use rigel::units::Bytes;
use rigel::workload::payload::{Filler, ROTATION_BYTES, Recipe};

/// Turns of the comparison.
const TURNS: usize = 9;
/// Compression and dedupe of what is measured.
const RATIOS: [(f64, f64); 4] = [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (2.35, 2.0)];

/// Fills as many buffers in turn as the drivers do.
fn fill(c: &mut Criterion) {
    let mut group = c.benchmark_group("payload");
    for block in [4096u64, 65_536] {
        for (compression, dedupe) in RATIOS {
            let made = ReductionPlan { compression, dedupe, unit: Bytes(4096), scope: Scope::Global };
            let mut filler = Filler::new(&Recipe::new(PayloadPlan::Made(made), 1, 1 << 40, 1, &[512]), 1);
            let mut buffers = vec![vec![0; block as usize]; (u64::from(ROTATION_BYTES) / block) as usize];
            (0..).zip(&mut buffers).for_each(|(number, buffer)| filler.prime(number, buffer));
            let mut number = 0u64;
            group.throughput(Throughput::Bytes(block));
            group.bench_function(format!("{block}/compression {compression}, dedupe {dedupe}"), |b| {
                b.iter(|| {
                    number += 1;
                    let at = number as usize % buffers.len();
                    let _ = filler.begin(0);
                    filler.fill(0, number * block / 512, &mut buffers[at]);
                    black_box(&buffers[at]);
                });
            });
        }
    }
    group.finish();
}

/// Writes of 4 KiB at a depth of 32.
fn plan(backend: &NullBackend, payload: Option<PayloadPlan>) -> Plan {
    let job = "[[target]]\nuri = \"null://1t\"\n[[workload]]\nread_percent = 0\n\
               [run]\nramp = \"20ms\"\ninterval = \"100ms\"\ntime = \"300ms\"\n";
    let job = spec::parse(job, "bench").expect("a job");
    let cores: Vec<_> = core_affinity::get_core_ids().expect("cores").iter().map(|core| core.id).collect();
    let mut plan = resolve(&job, &backend.facts(), &cores).expect("a plan");
    plan.workloads[0].payload = payload;
    plan
}

/// I/Os a second of the loop; time that other programs had is taken out.
fn iops(backend: &NullBackend, payload: Option<PayloadPlan>) -> f64 {
    let clock = backend.clock().expect("a clock");
    let points = run(backend, &plan(backend, payload), &clock, &RunControl::default(), &mut |_| {}).expect("runs");
    let seconds = clock.ns(points[0].window.0 as f64) / 1e9 * (1.0 - points[0].cores[0].off_core);
    points[0].interval_completions as f64 / seconds
}

fn compare() {
    let backend = NullBackend::new(&["null://1t".parse().expect("a URI")]);
    let start = Instant::now();
    for (compression, dedupe) in RATIOS {
        let made = ReductionPlan { compression, dedupe, unit: Bytes(4096), scope: Scope::Global };
        let mut turns: Vec<(f64, f64)> = (0..TURNS)
            .map(|_| {
                let plain = iops(&backend, None);
                let with = iops(&backend, Some(PayloadPlan::Made(made)));
                (with / plain, with)
            })
            .collect();
        turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, with) = turns[TURNS / 2];
        println!(
            "null, 4 KiB writes at depth 32, compression {compression}, dedupe {dedupe}: {:.1} M IOPS, {:.1} GB/s, {ratio:.3} \
             of writes without a payload ({:.0} s)",
            with / 1e6,
            with * 4096.0 / 1e9,
            start.elapsed().as_secs_f64()
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    fill(&mut criterion);
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        compare();
    }
}
