//! Which lines a table of figures has: for each load, workload and target each operation, and all of them; for open
//! loops the response latency beneath the service latency.
//!
//! Owns the choice of lines. Knows nothing of how they are drawn.

use crate::result::{Figures, Latency, Mark, OpFigures, PointResult, RunResult};

/// One line of a table.
pub(super) struct Row<'a> {
    /// The load, in words, with [`FAILED`] or [`UNSTEADY`] behind it where something stands against the point.
    pub(super) load: String,
    /// The workload, target, or `all`.
    pub(super) of: String,
    /// The operation, or `all` for all together; `resp` on a line of response latencies.
    pub(super) op: &'static str,
    /// Rates and errors; none on a line of response latencies, which belongs to the one above.
    pub(super) rates: Option<Rates>,
    /// Service or response latency; none for all operations together, whose latencies are told apart.
    pub(super) latency: Option<&'a Latency>,
}

/// What a line tells besides latency.
pub(super) struct Rates {
    /// Good completions a second.
    pub(super) iops: f64,
    /// Bytes a second.
    pub(super) bytes_per_s: f64,
    /// Failed I/Os in the window.
    pub(super) errors: u64,
}

/// Behind the load of a point that failed a check, or is incomplete.
pub(super) const FAILED: &str = "!";
/// Behind the load of a point that was unsteady.
pub(super) const UNSTEADY: &str = "~";

impl Row<'_> {
    /// Whether it tells response latencies.
    pub(super) fn is_response(&self) -> bool {
        self.rates.is_none()
    }
}

/// The lines of the main table: each point, and its workloads when there are several.
pub(super) fn by_point(result: &RunResult) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for point in &result.points {
        push(&mut rows, load(point), "all", &point.total);
        if point.workloads.len() > 1 {
            for workload in &point.workloads {
                push(&mut rows, load(point), &workload.name, &workload.figures);
            }
        }
    }
    rows
}

/// The lines of the table by target: each point, workload and target.
pub(super) fn by_target(result: &RunResult) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for point in &result.points {
        for workload in &point.workloads {
            for (position, target) in workload.targets.iter().enumerate() {
                let index = result.plan.targets.iter().position(|uri| *uri == target.uri).unwrap_or(position);
                let of = format!("{} [{index}]", workload.name);
                push(&mut rows, load(point), &of, &target.figures);
            }
        }
    }
    rows
}

fn load(point: &PointResult) -> String {
    match point.mark() {
        Some(Mark::Failed) => format!("{} {FAILED}", point.label()),
        Some(Mark::Unsteady) => format!("{} {UNSTEADY}", point.label()),
        None => point.label(),
    }
}

fn push<'a>(rows: &mut Vec<Row<'a>>, load: String, of: &str, figures: &'a Figures) {
    let used: Vec<_> = figures.ops().filter(|(_, op)| op.completions + op.errors > 0).collect();
    let mut line = |op, rates, latency| rows.push(Row { load: load.clone(), of: of.to_owned(), op, rates, latency });
    if used.len() != 1 {
        let &Figures { iops, bytes_per_s, errors, .. } = figures;
        line("all", Some(Rates { iops, bytes_per_s, errors }), None);
    }
    for (op, figures) in used {
        let &OpFigures { iops, bytes_per_s, errors, .. } = figures;
        line(op.name(), Some(Rates { iops, bytes_per_s, errors }), figures.service.as_ref());
        if figures.response.is_some() {
            line("resp", None, figures.response.as_ref());
        }
    }
}
