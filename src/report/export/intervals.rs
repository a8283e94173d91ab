//! `intervals.csv`: the series as a table, a row for each interval, workload and operation, after RFC 4180.
//!
//! Owns the columns and their order. A figure that does not exist at a row is an empty cell, never a zero.

use super::cell;
use crate::result::series::{ArrivalsInterval, Interval, OpInterval, Series, SeriesPhase, Spread, WorkloadInterval};
use crate::result::{PointLoad, PointResult, RunResult};

/// The columns that every row fills.
const COUNTS: [&str; 12] = [
    "point",
    "load",
    "phase",
    "start_s",
    "end_s",
    "workload",
    "op",
    "completions",
    "errors",
    "bytes",
    "iops",
    "bytes_per_s",
];
const SPREAD: [&str; 5] = ["mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns"];
/// Arrivals belong to a workload and stand in its row of all operations.
const ARRIVALS: [&str; 5] = ["offered", "sent", "backlog", "backlog_max", "slip_p99_ns"];

/// The table, with a header and CRLF at the end of each line; the result tells what the points of a campaign are called.
#[must_use]
pub fn render(series: &Series, result: Option<&RunResult>) -> Vec<u8> {
    let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let written = "rows of one length, written to memory";
    let spread = |kind: &str| SPREAD.map(|name| format!("{kind}_{name}"));
    let counts = COUNTS.map(str::to_owned).into_iter();
    let header = counts.chain(spread("service")).chain(spread("response")).chain(ARRIVALS.map(str::to_owned));
    csv.write_record(header).expect(written);
    let plan = &series.header.plan;
    for interval in series.intervals() {
        let known = result.and_then(|result| result.points.get(interval.point)).map(PointResult::label);
        // A point of a campaign that came to no result has its plan nowhere.
        let planned = || (interval.point < plan.points.len()).then(|| PointLoad::of(plan, interval.point).to_string());
        let load = known.or_else(planned).unwrap_or_default();
        for workload in &interval.workloads {
            csv.write_record(whole(interval, &load, workload)).expect(written);
            for (op, figures) in workload.ops() {
                csv.write_record(of_op(interval, &load, workload, op.name(), figures)).expect(written);
            }
        }
    }
    csv.into_inner().expect(written)
}

fn whole(interval: &Interval, load: &str, workload: &WorkloadInterval) -> Vec<String> {
    let sum = |figure: fn(&OpInterval) -> u64| workload.ops().map(|(_, op)| figure(op)).sum();
    let counts = [sum(|op| op.completions), sum(|op| op.errors), sum(|op| op.bytes)];
    let mut row = start(interval, load, workload, "all", counts);
    row.resize(COUNTS.len() + 2 * SPREAD.len(), String::new());
    row.extend(arrivals(workload.arrivals.as_ref()));
    row
}

fn of_op(interval: &Interval, load: &str, workload: &WorkloadInterval, op: &str, figures: &OpInterval) -> Vec<String> {
    let OpInterval { completions, bytes, errors, service, response } = figures;
    let mut row = start(interval, load, workload, op, [*completions, *errors, *bytes]);
    row.extend(spread(service.as_ref()));
    row.extend(spread(response.as_ref()));
    row.extend(arrivals(None));
    row
}

fn start(interval: &Interval, load: &str, workload: &WorkloadInterval, op: &str, counts: [u64; 3]) -> Vec<String> {
    let [completions, _, bytes] = counts;
    let length_s = interval.end_s - interval.start_s;
    let rate = |count: u64| cell((length_s > 0.0).then(|| count as f64 / length_s));
    let phase = match interval.phase {
        SeriesPhase::Ramp => "ramp",
        SeriesPhase::Window => "window",
    };
    let place = [(interval.point + 1).to_string(), load.to_owned(), phase.to_owned()];
    let time = [interval.start_s, interval.end_s].map(|seconds| seconds.to_string());
    let what = [workload.name.clone(), op.to_owned()];
    let counts = counts.map(|count| count.to_string());
    let rates = [rate(completions), rate(bytes)];
    place.into_iter().chain(time).chain(what).chain(counts).chain(rates).collect()
}

fn spread(spread: Option<&Spread>) -> [String; 5] {
    [
        cell(spread.map(|s| s.mean_ns)),
        cell(spread.map(|s| s.p50_ns)),
        cell(spread.map(|s| s.p99_ns)),
        cell(spread.map(|s| s.p999_ns)),
        cell(spread.map(|s| s.max_ns)),
    ]
}

fn arrivals(arrivals: Option<&ArrivalsInterval>) -> [String; 5] {
    [
        cell(arrivals.map(|a| a.offered)),
        cell(arrivals.map(|a| a.sent)),
        cell(arrivals.map(|a| a.backlog)),
        cell(arrivals.map(|a| a.backlog_max)),
        cell(arrivals.and_then(|a| a.slip_p99_ns)),
    ]
}
