//! The charts over time: every interval of a run, one point after the other.
//!
//! Owns how intervals become lines and a heat map. A run of many intervals is drawn in as many columns as can be told
//! apart: counts are added, of latencies the worst is kept.

use super::curves::{Named, named};
use crate::report::chart::{Axis, Chart, Heat, Layer, Line, Mark, Unit};
use crate::result::series::{Interval, OpInterval, Series, Spread, WorkloadInterval, coarse_edge_ns};
use crate::result::{EventResult, PointResult};

/// Most columns of a chart.
const COLUMNS: usize = 720;

/// One column: some intervals of one point in a row, over all workloads.
#[derive(Default)]
struct Column {
    point: usize,
    /// From the start of the run, pauses between points left out.
    start_s: f64,
    end_s: f64,
    ops: [Op; 2],
    errors: u64,
    backlog: Option<u64>,
}

/// Reads or writes of a column.
#[derive(Default)]
struct Op {
    completions: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
    coarse: Vec<(u16, u64)>,
}

/// A latency of an operation in a column, if there is one.
type Figure = (&'static str, fn(&Op) -> Option<u64>);

/// All charts over time of one series.
#[must_use]
pub fn over_time(series: &Series, points: &[PointResult]) -> Vec<Named> {
    let columns = columns(series);
    let mut marks = marks(&columns);
    marks.extend(event_marks(&columns, points));
    let mut charts = vec![named("time-iops", iops(&columns, &marks))];
    for (index, op) in ["read", "write"].into_iter().enumerate() {
        charts.push(named(&format!("time-latency-{op}"), latency(&columns, &marks, index, op)));
        charts.push(named(&format!("heat-{op}"), heat(&columns, &marks, index, op)));
    }
    charts.push(named("time-backlog", backlog(&columns, &marks)));
    charts.retain(|named| !named.chart.is_empty());
    charts
}

fn columns(series: &Series) -> Vec<Column> {
    let intervals: Vec<&Interval> = series.intervals().collect();
    let together = intervals.len().div_ceil(COLUMNS).max(1);
    let mut columns: Vec<Column> = Vec::new();
    let mut before_s = 0.0;
    let alike = |a: &&Interval, b: &&Interval| (a.point, a.phase) == (b.point, b.phase);
    for stretch in intervals.chunk_by(alike) {
        if columns.last().is_some_and(|last| last.point != stretch[0].point) {
            before_s = columns.last().map_or(0.0, |last| last.end_s);
        }
        columns.extend(stretch.chunks(together).map(|some| Column::of(some, before_s)));
    }
    columns
}

impl Column {
    /// Intervals in a row; their point began `before_s` after the first one.
    fn of(intervals: &[&Interval], before_s: f64) -> Self {
        let mut column = Self {
            point: intervals[0].point,
            start_s: before_s + intervals[0].start_s,
            end_s: before_s + intervals[intervals.len() - 1].end_s,
            ..Self::default()
        };
        for workload in intervals.iter().flat_map(|interval| &interval.workloads) {
            let WorkloadInterval { read, write, arrivals, .. } = workload;
            column.ops[0].add(read);
            column.ops[1].add(write);
            column.errors += workload.ops().map(|(_, op)| op.errors).sum::<u64>();
            if let Some(arrivals) = arrivals {
                column.backlog = column.backlog.max(Some(arrivals.backlog_max));
            }
        }
        column
    }
}

impl Op {
    fn add(&mut self, interval: &OpInterval) {
        self.completions += interval.completions;
        let Some(spread) = interval.response.as_ref().or(interval.service.as_ref()) else { return };
        let Spread { p50_ns, p99_ns, p999_ns, max_ns, coarse, .. } = spread;
        for (mine, theirs) in [
            (&mut self.p50_ns, p50_ns),
            (&mut self.p99_ns, p99_ns),
            (&mut self.p999_ns, p999_ns),
            (&mut self.max_ns, max_ns),
        ] {
            *mine = (*mine).max(Some(*theirs));
        }
        for &(bucket, count) in coarse {
            match self.coarse.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
                Ok(at) => self.coarse[at].1 += count,
                Err(at) => self.coarse.insert(at, (bucket, count)),
            }
        }
    }
}

/// Where each point after the first begins.
fn marks(columns: &[Column]) -> Vec<Mark> {
    let begins = columns.windows(2).filter(|pair| pair[0].point != pair[1].point);
    let points = columns.last().map_or(0, |column| column.point + 1);
    let label = |point: usize| if points <= 12 { format!("point {}", point + 1) } else { String::new() };
    begins.map(|pair| Mark::vertical(pair[1].start_s, label(pair[1].point))).collect()
}

/// Where each event began.
fn event_marks(columns: &[Column], points: &[PointResult]) -> Vec<Mark> {
    let begin_s = |point: usize| columns.iter().find(|column| column.point == point).map(|column| column.start_s);
    let of_point = |(index, point): (usize, &PointResult)| {
        let begin_s = begin_s(index)?;
        let events = point.events.iter().filter_map(|event| Some((event, event.outcome.start_s?)));
        let mark = |(event, at_s): (&EventResult, f64)| Mark {
            at: begin_s + at_s,
            vertical: true,
            label: event.label.clone(),
        };
        Some(events.map(mark).collect::<Vec<_>>())
    };
    points.iter().enumerate().filter_map(of_point).flatten().collect()
}

/// A value for each column, as a line that breaks between points; two places a column, so that it is a step.
fn steps(columns: &[Column], value: impl Fn(&Column) -> Option<f64>) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(columns.len() * 2);
    let mut last = None;
    for column in columns {
        if last.is_some_and(|point| point != column.point) {
            points.push((column.start_s, f64::NAN));
        }
        last = Some(column.point);
        let value = value(column).unwrap_or(f64::NAN);
        points.push((column.start_s, value));
        points.push((column.end_s, value));
    }
    points
}

fn time_axis() -> Axis {
    Axis::linear("time, ramps included", Unit::Time)
}

fn iops(columns: &[Column], marks: &[Mark]) -> Chart {
    let rate = |column: &Column, count: u64| {
        let span_s = column.end_s - column.start_s;
        (span_s > 0.0).then(|| count as f64 / span_s)
    };
    let used = |op: usize| columns.iter().any(|column| column.ops[op].completions > 0);
    let lines = [("reads", 0), ("writes", 1)].into_iter().filter(|(_, op)| used(*op)).map(|(name, op)| {
        let points = steps(columns, |column| rate(column, column.ops[op].completions));
        Layer::Line(Line { name: name.to_owned(), colour: op, points, ..Line::default() })
    });
    let errors = steps(columns, |column| rate(column, column.errors));
    let failed = columns.iter().any(|column| column.errors > 0);
    let errors = Layer::Line(Line { name: "errors".to_owned(), colour: 3, points: errors, ..Line::default() });
    Chart {
        title: "IOPS over time".to_owned(),
        x: time_axis(),
        y: Axis::linear("a second", Unit::Count),
        layers: lines.chain(failed.then_some(errors)).collect(),
        marks: marks.to_vec(),
    }
}

fn latency(columns: &[Column], marks: &[Mark], op: usize, name: &str) -> Chart {
    let figures: [Figure; 4] =
        [("max", |op| op.max_ns), ("p99.9", |op| op.p999_ns), ("p99", |op| op.p99_ns), ("p50", |op| op.p50_ns)];
    let line = |(colour, (name, of)): (usize, Figure)| {
        let points = steps(columns, |column| of(&column.ops[op]).map(|ns| ns as f64));
        Layer::Line(Line { name: name.to_owned(), colour: 3 - colour, points, ..Line::default() })
    };
    Chart {
        title: format!("Latency of {name}s over time, the worst of each column"),
        x: time_axis(),
        y: Axis::log("latency", Unit::Latency),
        layers: figures.into_iter().enumerate().map(line).collect(),
        marks: marks.to_vec(),
    }
}

fn heat(columns: &[Column], marks: &[Mark], op: usize, name: &str) -> Chart {
    let cells = |column: &Column| {
        let cell = |&(bucket, count): &(u16, u64)| (coarse_edge_ns(bucket), coarse_edge_ns(bucket + 1), count);
        (column.start_s, column.end_s, column.ops[op].coarse.iter().map(cell).collect())
    };
    Chart {
        title: format!("Where the latencies of {name}s lay over time"),
        x: time_axis(),
        y: Axis::log("latency", Unit::Latency),
        layers: vec![Layer::Heat(Heat { columns: columns.iter().map(cells).collect() })],
        marks: marks.to_vec(),
    }
}

fn backlog(columns: &[Column], marks: &[Mark]) -> Chart {
    let points = steps(columns, |column| column.backlog.map(|backlog| backlog as f64));
    Chart {
        title: "Arrivals that were waiting".to_owned(),
        x: time_axis(),
        y: Axis::linear("arrivals, the most of each column", Unit::Count),
        layers: vec![Layer::Line(Line { points, ..Line::default() })],
        marks: marks.to_vec(),
    }
}
