//! The loop allocates nothing in steady state: a run of three times the I/Os makes no more allocations.

#[path = "common/runs.rs"]
mod runs;

use std::alloc::System;

use rigel::driver::{Backend, NullBackend, SimBackend};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations of one run, and the I/Os it did.
fn allocations<B: Backend>(backend: &B, job: &str) -> (usize, u64) {
    let region = Region::new(GLOBAL);
    let points = runs::figures(backend, job);
    let change = region.change();
    (change.allocations + change.reallocations, points[0].interval_completions)
}

fn job(uri: &str, load: &str, time: &str) -> String {
    format!(
        "[[target]]\nuri = \"{uri}\"\n[[workload]]\nread_percent = 70\n{load}\n\
         [run]\noverload = \"continue\"\nramp = \"0s\"\ntime = \"{time}\"\ninterval = \"{time}\"\n"
    )
}

fn costs_no_allocation<B: Backend>(backend: &B, (uri, load): (&str, &str), short: &str, long: &str) {
    let _warm_up = allocations(backend, &job(uri, load, short));
    let (few, few_ios) = allocations(backend, &job(uri, load, short));
    let (many, many_ios) = allocations(backend, &job(uri, load, long));
    assert!(many_ios > few_ios + 100_000, "{many_ios} against {few_ios} I/Os");
    // Threads that start and wait may allocate one time more or less; hundreds of thousands of I/Os may not.
    assert!(many.abs_diff(few) < 8, "{few} allocations of {few_ios} I/Os, {many} of {many_ios}");
}

#[test]
fn io_costs_no_allocation() {
    let uri = |text: &str| text.parse().expect("a URI");
    let closed = "queue_depth = 32";
    costs_no_allocation(&NullBackend::new(&[uri("null://1g")]), ("null://1g", closed), "200ms", "600ms");
    costs_no_allocation(&SimBackend::new(&[uri("sim://constant-100us")]), ("sim://constant-100us", closed), "1s", "3s");
    // What waits takes no memory either: twice as much arrives as a server does.
    let (target, open) = ("sim://?service=100us&servers=8", "rate = 160000\nmax_outstanding = 16");
    costs_no_allocation(&SimBackend::new(&[uri(target)]), (target, open), "1s", "3s");
}
