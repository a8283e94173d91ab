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

fn job(uri: &str, time: &str) -> String {
    format!(
        "[[target]]\nuri = \"{uri}\"\n[[workload]]\nread_percent = 70\nqueue_depth = 32\n\
         [run]\nramp = \"0s\"\ntime = \"{time}\"\ninterval = \"{time}\"\n"
    )
}

fn costs_no_allocation<B: Backend>(backend: &B, uri: &str, short: &str, long: &str) {
    let _warm_up = allocations(backend, &job(uri, short));
    let (few, few_ios) = allocations(backend, &job(uri, short));
    let (many, many_ios) = allocations(backend, &job(uri, long));
    assert!(many_ios > few_ios + 100_000, "{many_ios} against {few_ios} I/Os");
    // Threads that start and wait may allocate one time more or less; hundreds of thousands of I/Os may not.
    assert!(many.abs_diff(few) < 8, "{few} allocations of {few_ios} I/Os, {many} of {many_ios}");
}

#[test]
fn io_costs_no_allocation() {
    let uri = |text: &str| text.parse().expect("a URI");
    costs_no_allocation(&NullBackend::new(&[uri("null://1g")]), "null://1g", "200ms", "600ms");
    costs_no_allocation(&SimBackend::new(&[uri("sim://constant-100us")]), "sim://constant-100us", "1s", "3s");
}
