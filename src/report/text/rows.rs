//! Which lines a table of figures has: for each load, workload and target the reads, the writes, and both.
//!
//! Owns the choice of lines. Knows nothing of how they are drawn.

use crate::result::{Figures, Latency, OpFigures, RunResult};

/// One line of a table.
pub(super) struct Row<'a> {
    /// The load, in words.
    pub(super) load: String,
    /// The workload, target, or `all`.
    pub(super) of: String,
    /// `read`, `write`, or `all` for both together.
    pub(super) op: &'static str,
    /// Good completions a second.
    pub(super) iops: f64,
    /// Bytes a second.
    pub(super) bytes_per_s: f64,
    /// Service latency; none for both operations together, whose latencies are told apart.
    pub(super) service: Option<&'a Latency>,
    /// Failed I/Os in the window.
    pub(super) errors: u64,
}

/// The lines of the main table: each point, and its workloads when there are several.
pub(super) fn by_point(result: &RunResult) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for point in &result.points {
        push(&mut rows, point.load.to_string(), "all", &point.total);
        if point.workloads.len() > 1 {
            for workload in &point.workloads {
                push(&mut rows, point.load.to_string(), &workload.name, &workload.figures);
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
                push(&mut rows, point.load.to_string(), &of, &target.figures);
            }
        }
    }
    rows
}

fn push<'a>(rows: &mut Vec<Row<'a>>, load: String, of: &str, figures: &'a Figures) {
    let used = |op: &OpFigures| op.completions + op.errors > 0;
    let row = |op, figures: &'a OpFigures| Row {
        load: load.clone(),
        of: of.to_owned(),
        op,
        iops: figures.iops,
        bytes_per_s: figures.bytes_per_s,
        service: figures.service.as_ref(),
        errors: figures.errors,
    };
    match (used(&figures.read), used(&figures.write)) {
        (true, false) => rows.push(row("read", &figures.read)),
        (false, true) => rows.push(row("write", &figures.write)),
        (both, _) => {
            let &Figures { iops, bytes_per_s, errors, .. } = figures;
            let of = of.to_owned();
            rows.push(Row { load: load.clone(), of, op: "all", iops, bytes_per_s, service: None, errors });
            if both {
                rows.push(row("read", &figures.read));
                rows.push(row("write", &figures.write));
            }
        }
    }
}
