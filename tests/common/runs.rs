//! Runs through the library, without a command line: a job in TOML, any backend, figures back.

#![allow(dead_code, reason = "each test uses its own part")]

use rigel::driver::Backend;
use rigel::engine::record::PointFigures;
use rigel::engine::{Event, RunControl, run};
use rigel::plan::{Plan, resolve};
use rigel::spec;

/// Resolves a job against the backend's own facts, on the first core there is.
pub fn plan<B: Backend>(backend: &B, job: &str) -> Plan {
    let job = spec::parse(job, "test.toml").expect("a job");
    let cores = core_affinity::get_core_ids().expect("cores").iter().map(|core| core.id).collect::<Vec<_>>();
    resolve(&job, &backend.facts(), &cores).expect("a plan")
}

/// Runs a job to its end.
pub fn figures<B: Backend>(backend: &B, job: &str) -> Vec<PointFigures> {
    figures_and(backend, job, &mut |_| {})
}

/// Runs a job to its end, telling what happens.
pub fn figures_and<B: Backend>(backend: &B, job: &str, tell: &mut dyn FnMut(Event<'_>)) -> Vec<PointFigures> {
    let plan = plan(backend, job);
    let clock = backend.clock().expect("a clock");
    run(backend, &plan, &clock, &RunControl::default(), tell).expect("runs")
}
