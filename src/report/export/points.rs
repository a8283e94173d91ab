//! `points.csv`: a row for each point, workload, target and operation, after RFC 4180.
//!
//! Owns the columns and their order. A figure that does not exist at a row is an empty cell, never a zero.

use super::cell;
use crate::plan::Load;
use crate::result::{ArrivalsResult, Figures, Judgement, Latency, OpFigures, PointResult, RunResult, WorkloadResult};

/// What a row is about.
struct Row<'a> {
    number: usize,
    point: &'a PointResult,
    /// `point`, `workload` or `target`: what the figures are summed over, so that a reader picks one and adds nothing
    /// twice.
    scope: &'static str,
    workload: Option<(&'a WorkloadResult, &'a crate::plan::WorkloadPlan)>,
    target: &'a str,
    op: &'static str,
    figures: &'a Figures,
    /// None for all operations together.
    of_op: Option<&'a OpFigures>,
}

type Cell = Box<dyn Fn(&Row) -> String>;

/// The table, with a header and CRLF at the end of each line.
#[must_use]
pub fn render(result: &RunResult) -> Vec<u8> {
    let columns = columns();
    let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let written = "rows of one length, written to memory";
    csv.write_record(columns.iter().map(|(name, _)| name)).expect(written);
    for (index, point) in result.points.iter().enumerate() {
        for row in rows(result, index + 1, point) {
            csv.write_record(columns.iter().map(|(_, cell)| cell(&row))).expect(written);
        }
    }
    csv.into_inner().expect(written)
}

fn rows<'a>(result: &'a RunResult, number: usize, point: &'a PointResult) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut add = |scope, workload, target, figures: &'a Figures| {
        let all = std::iter::once(("all", None));
        let each = super::ops(figures).map(|(op, of_op)| (op, Some(of_op)));
        let row = |(op, of_op)| Row { number, point, scope, workload, target, op, figures, of_op };
        rows.extend(all.chain(each).map(row));
    };
    add("point", None, "all", &point.total);
    for (workload, plan) in point.workloads.iter().zip(&result.plan_of(number - 1).0.workloads) {
        add("workload", Some((workload, plan)), "all", &workload.figures);
        for target in &workload.targets {
            add("target", Some((workload, plan)), &target.uri, &target.figures);
        }
    }
    rows
}

fn columns() -> Vec<(String, Cell)> {
    let mut columns: Vec<(String, Cell)> = Vec::new();
    let mut add = |name: &str, cell: fn(&Row) -> String| columns.push((name.to_owned(), Box::new(cell)));
    add("point", |row| row.number.to_string());
    add("scope", |row| row.scope.to_owned());
    add("workload", |row| row.workload.map_or("all", |(workload, _)| &workload.name).to_owned());
    add("target", |row| row.target.to_owned());
    add("op", |row| row.op.to_owned());
    add("load", |row| row.point.load.to_string());
    add("settings", |row| row.settings());
    add("repeat", |row| cell(row.point.step.as_ref().map(|step| step.repeat)));
    add("queue_depth", |row| cell(row.load().0));
    add("outstanding", |row| cell(row.load().1));
    add("rate_per_s", |row| cell(row.load().2));
    add("block_size_bytes", |row| {
        cell(row.workload.filter(|(_, plan)| plan.sizes.is_none()).map(|(_, plan)| plan.block_size.0))
    });
    add("block_sizes", |row| row.workload.map(|(_, plan)| plan.sizes_text()).unwrap_or_default());
    add("read_percent", |row| cell(row.workload.map(|(_, plan)| plan.read_percent)));
    add("window_s", |row| row.point.window_s.to_string());
    add("completions", |row| row.of_op.map_or(row.figures.completions, |op| op.completions).to_string());
    add("errors", |row| row.of_op.map_or(row.figures.errors, |op| op.errors).to_string());
    add("iops", |row| row.of_op.map_or(row.figures.iops, |op| op.iops).to_string());
    add("bytes_per_s", |row| row.of_op.map_or(row.figures.bytes_per_s, |op| op.bytes_per_s).to_string());
    add("offered", |row| cell(row.arrivals().map(|a| a.offered)));
    add("offered_per_s", |row| cell(row.arrivals().map(|a| a.offered_per_s)));
    add("sent", |row| cell(row.arrivals().map(|a| a.sent)));
    add("backlog", |row| cell(row.arrivals().map(|a| a.backlog)));
    add("backlog_max", |row| cell(row.arrivals().map(|a| a.backlog_max)));
    add("conservation_ok", |row| row.point.checks.conservation.ok.to_string());
    add("littles_law_deviation_ratio", |row| {
        let law = &row.point.checks.littles_law;
        cell((law.judgement != Judgement::NotJudged).then_some(law.deviation))
    });
    add("overloaded", |row| row.point.overloaded.to_string());
    add("ended_early", |row| row.point.ended_early.clone().unwrap_or_default());
    columns.extend(latency_columns("service", |row| row.of_op?.service.as_ref()));
    columns.extend(latency_columns("response", |row| row.of_op?.response.as_ref()));
    columns.extend(latency_columns("slip", |row| row.arrivals()?.slip.as_ref()));
    columns
}

impl<'a> Row<'a> {
    /// What the point has of its own in a campaign: `block_size=8k; targets=2`.
    fn settings(&self) -> String {
        let settings = self.point.step.iter().flat_map(|step| &step.settings);
        settings.map(|setting| format!("{}={}", setting.field, setting.value)).collect::<Vec<_>>().join("; ")
    }

    /// Queue depth, outstanding and rate, of which the load has one.
    fn load(&self) -> (Option<u32>, Option<u32>, Option<u64>) {
        let Some((workload, _)) = self.workload else {
            let load = &self.point.load;
            return (load.queue_depth, load.outstanding, load.rate_per_s);
        };
        match workload.load {
            Load::QueueDepth(depth) => (Some(depth), None, None),
            Load::Outstanding(total) => (None, Some(total), None),
            Load::Rate(open) => (None, None, Some(open.rate_per_s)),
        }
    }

    /// Arrivals belong to a whole workload: nothing is known of them by target or operation.
    fn arrivals(&self) -> Option<&'a ArrivalsResult> {
        let whole = self.scope == "workload" && self.of_op.is_none();
        self.workload.filter(|_| whole).and_then(|(workload, _)| workload.arrivals.as_ref())
    }
}

fn latency_columns(kind: &str, find: for<'a> fn(&Row<'a>) -> Option<&'a Latency>) -> Vec<(String, Cell)> {
    type Figure = (&'static str, fn(&Latency) -> String);
    const FIGURES: [Figure; 11] = [
        ("mean_ns", |l| l.mean_ns.to_string()),
        ("min_ns", |l| l.min_ns.to_string()),
        ("p50_ns", |l| l.p50_ns.to_string()),
        ("p90_ns", |l| l.p90_ns.to_string()),
        ("p95_ns", |l| l.p95_ns.to_string()),
        ("p99_ns", |l| l.p99_ns.to_string()),
        ("p999_ns", |l| l.p999_ns.to_string()),
        ("p9999_ns", |l| l.p9999_ns.to_string()),
        ("p99999_ns", |l| l.p99999_ns.to_string()),
        ("max_ns", |l| l.max_ns.to_string()),
        ("overflow", |l| l.overflow.to_string()),
    ];
    let column = |(name, figure): Figure| {
        let cell: Cell = Box::new(move |row| find(row).map(figure).unwrap_or_default());
        (format!("{kind}_{name}"), cell)
    };
    FIGURES.into_iter().map(column).collect()
}
