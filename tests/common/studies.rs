//! Whole results of runs on the array model, made in this process: what studies of many runs are tested with.

#![allow(dead_code, reason = "each test uses its own part")]

use rigel::compare::{Cell, Comparison, Run, Side};
use rigel::driver::{Backend, SimBackend};
use rigel::engine::{Event, RunControl, run};
use rigel::facts::HostFacts;
use rigel::plan::resolve;
use rigel::result::series::{Header, Interval, Record, Series};
use rigel::result::{Facts, Provenance, RunResult, Tool, point};
use rigel::spec;

/// Runs a job on the model; its series comes with it.
#[track_caller]
pub fn result(job: &str) -> (RunResult, Series) {
    let job = spec::parse(job, "test.toml").expect("a job");
    let uris: Vec<_> = job.target.iter().map(|target| target.uri.clone()).collect();
    let backend = SimBackend::new(&uris);
    let core = core_affinity::get_core_ids().expect("cores")[0].id;
    let plan = resolve(&job, &backend.facts(), &[core]).expect("a plan");
    let clock = backend.clock().expect("a clock");
    let host = HostFacts {
        hostname: "model".to_owned(),
        kernel: "none".to_owned(),
        cpu: "none".to_owned(),
        cores: vec![core],
        memory_bytes: 0,
        ticks_per_s: 1_000_000_000,
        clock: "virtual".to_owned(),
    };
    let tool = Tool { name: "rigel".into(), version: "0".into(), spdk: String::new(), git: String::new() };
    let provenance = Provenance {
        tool,
        started_at: "2026-11-30T12:00:00Z".to_owned(),
        command: vec!["rigel".to_owned()],
        job: serde_json::to_value(&job).expect("a job is data"),
        plan: plan.clone(),
        facts: Facts { targets: backend.facts(), host },
        clock: None,
        headroom: None,
        payload: Vec::new(),
        resumed_at: Vec::new(),
        campaign: None,
    };
    let mut records = Vec::new();
    let figures = run(&backend, &plan, &clock, &RunControl::default(), &mut |event| match event {
        Event::Interval(point, figures) => records.push(Record::Interval(Interval::of(&plan, &clock, point, figures))),
        Event::PointStarted(_) => {}
        Event::PointDone(figures) => records.push(Record::Point(figures.into())),
    });
    let points = figures.expect("runs").iter().map(|figures| point(&plan, &clock, figures)).collect();
    let series = Series { header: Header::from(&provenance), records, torn: false };
    (RunResult::new(provenance, points), series)
}

/// Runs of one condition, without their series.
pub fn side<'a>(label: &str, runs: impl IntoIterator<Item = &'a RunResult>) -> Side<'a> {
    let run = |result| Run { result, series: None };
    Side { label: label.to_owned(), runs: runs.into_iter().map(run).collect() }
}

/// The cell of a figure at the first point.
#[track_caller]
pub fn cell<'c>(comparison: &'c Comparison, figure: &str) -> &'c Cell {
    let figure = figure.parse().expect("a figure");
    comparison.cell(0, 0, &figure).unwrap_or_else(|| panic!("no {figure} in {:#?}", comparison.cells))
}
