//! The series of a run: its intervals one by one, each kept as it comes, so that a run that dies leaves all but the last.
//!
//! Owns the lines of `series.jsonl` (`docs/formats.md`) and the conversion from the engine's ticks; [`read()`] takes them
//! back in. Percentiles are read straight from the tick histograms. Writes nothing; knows no file.

mod read;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use read::{Series, SeriesError, read};

use super::{Facts, Provenance, Tool};
use crate::clock::Clock;
use crate::engine::record::{ArrivalFigures, CellFigures, IntervalFigures, Phase, PointFigures};
use crate::plan::{Op, Plan};
use crate::stats::{Reading, TickHistogram};

/// Version of the shape of the lines, see [`super::SCHEMA`] for when it rises.
pub const SCHEMA: u32 = 1;

/// What the header says the file is.
pub const KIND: &str = "rigel-series";

/// The percentiles of a [`Spread`].
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// The first line: where the series comes from. All that is known before the first I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of this shape, see [`SCHEMA`].
    pub schema: u32,
    /// [`KIND`].
    pub kind: String,
    /// The program that measures.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// The job as written, without secrets.
    pub job: serde_json::Value,
    /// What is driven.
    pub plan: Plan,
    /// What was found.
    pub facts: Facts,
}

/// Any line but the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// A finished interval.
    Interval(Interval),
    /// A finished point.
    Point(PointEnd),
}

/// A finished interval of ramp or window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Index of the point in the plan, from 0.
    pub point: usize,
    /// Part of the point that it lies in.
    pub phase: SeriesPhase,
    /// Start, in seconds from the start of the point.
    pub start_s: f64,
    /// End, likewise; the start of the next.
    pub end_s: f64,
    /// In the order of the plan.
    pub workloads: Vec<WorkloadInterval>,
}

/// What an interval can be part of; the drain has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesPhase {
    /// Before the window.
    Ramp,
    /// The measuring window.
    Window,
}

/// One workload in an interval, over all its targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadInterval {
    /// Its name.
    pub name: String,
    /// Its reads.
    pub read: OpInterval,
    /// Its writes.
    pub write: OpInterval,
    /// Its trims; absent where it does none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<OpInterval>,
    /// Its write-zeroes; absent where it does none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<OpInterval>,
    /// Its flushes; absent where it does none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<OpInterval>,
    /// What became of its arrivals; none for a closed loop.
    pub arrivals: Option<ArrivalsInterval>,
}

impl WorkloadInterval {
    /// Reads, writes, and what else it does.
    pub fn ops(&self) -> impl Iterator<Item = (Op, &OpInterval)> {
        let Self { read, write, trim, write_zeroes, flush, .. } = self;
        let all = [Some(read), Some(write), trim.as_ref(), write_zeroes.as_ref(), flush.as_ref()];
        Op::ALL.into_iter().zip(all).filter_map(|(op, figures)| Some((op, figures?)))
    }
}

/// One operation in an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpInterval {
    /// Good completions.
    pub completions: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Completions with an error status.
    pub errors: u64,
    /// Submission to completion of the good completions; none without any.
    pub service: Option<Spread>,
    /// Scheduled arrival to completion; none without any, and in a closed loop.
    pub response: Option<Spread>,
}

/// The latencies of an interval, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Exact mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Exact greatest.
    pub max_ns: u64,
    /// The distribution, coarsely: number of a bucket and count, rising. Bucket `b` holds what is at least 2^(b/8) ns and
    /// below 2^((b+1)/8) ns.
    #[serde(default)]
    pub coarse: Vec<(u16, u64)>,
}

/// Buckets of [`Spread::coarse`] to each power of two.
const COARSE: f64 = 8.0;

/// The least latency of a bucket of [`Spread::coarse`], in nanoseconds.
#[must_use]
pub fn coarse_edge_ns(bucket: u16) -> f64 {
    (f64::from(bucket) / COARSE).exp2()
}

/// The arrivals of an open loop in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalsInterval {
    /// Arrivals that came due.
    pub offered: u64,
    /// Arrivals that were sent, whenever they had come due.
    pub sent: u64,
    /// Arrivals that were due and not sent when it ended.
    pub backlog: u64,
    /// The most that were, at any moment of it.
    pub backlog_max: u64,
    /// 99th percentile of the time from the scheduled arrival to the submission; none when nothing was sent.
    pub slip_p99_ns: Option<u64>,
}

/// The end of a point; no interval of it comes after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointEnd {
    /// Index of the point in the plan, from 0.
    pub point: usize,
    /// Always true: what tells this line from an interval.
    pub done: bool,
    /// Why it ended before its time, if it did.
    pub ended_early: Option<String>,
}

impl From<&Provenance> for Header {
    fn from(provenance: &Provenance) -> Self {
        let Provenance { tool, started_at, command, job, plan, facts, .. } = provenance.clone();
        Self { schema: SCHEMA, kind: KIND.to_owned(), tool, started_at, command, job, plan, facts }
    }
}

impl From<&PointFigures> for PointEnd {
    fn from(point: &PointFigures) -> Self {
        Self { point: point.point, done: true, ended_early: point.ended_early.clone() }
    }
}

impl Interval {
    /// The interval `figures` of the plan's point `point`, whose figures are in ticks of `clock`.
    ///
    /// # Panics
    /// When the figures are not of this plan (another number of cells).
    #[must_use]
    pub fn of(plan: &Plan, clock: &Clock, point: usize, figures: &IntervalFigures) -> Self {
        let seconds = |ticks: u64| clock.ns(ticks as f64) / 1e9;
        let workload = |(w, workload): (usize, &crate::plan::WorkloadPlan)| {
            let of = |op: Op| {
                let cell = |position| &figures.cells[plan.cell(w, position, op)];
                let positions = 0..workload.targets.len();
                // Blocks of different targets need not have one size.
                let of_blocks = |position| plan.cell_bytes(w, position, op).of(0, cell(position).blocks);
                let mixed = positions.clone().map(of_blocks).sum::<u64>();
                let each = if op == Op::Flush { Some(0) } else { workload.sizes_of(op).only().map(|size| size.0) };
                let bytes = |completions| each.map_or(mixed, |size| completions * size);
                OpInterval::of(clock, &sum(positions.map(cell)), bytes)
            };
            let [trim, write_zeroes, flush] =
                [Op::Trim, Op::WriteZeroes, Op::Flush].map(|op| workload.does(op).then(|| of(op)));
            let (read, write) = (of(Op::Read), of(Op::Write));
            let arrivals = figures.arrivals[w].as_ref();
            let arrivals = arrivals.map(|arrivals| ArrivalsInterval::of(clock, arrivals, figures.backlog[w]));
            WorkloadInterval { name: workload.name.clone(), read, write, trim, write_zeroes, flush, arrivals }
        };
        Self {
            point,
            phase: if figures.phase == Phase::Ramp { SeriesPhase::Ramp } else { SeriesPhase::Window },
            start_s: seconds(figures.start.0),
            end_s: seconds(figures.end.0),
            workloads: plan.workloads.iter().enumerate().map(workload).collect(),
        }
    }
}

/// The sum of cells; the cell itself when it is one, as with most workloads.
fn sum<'a>(mut cells: impl Iterator<Item = &'a CellFigures>) -> Cow<'a, CellFigures> {
    let mut sum = cells.next().map_or_else(Cow::default, Cow::Borrowed);
    cells.for_each(|cell| sum.to_mut().merge(cell));
    sum
}

impl OpInterval {
    fn of(clock: &Clock, cell: &CellFigures, bytes: impl FnOnce(u64) -> u64) -> Self {
        let service = cell.service.reading(QUANTILES);
        let completions = service.map_or(0, |service| service.count);
        Self {
            completions,
            bytes: bytes(completions),
            errors: cell.errors,
            service: service.map(|service| Spread::in_ns(clock, &cell.service, &service)),
            response: cell.response.as_ref().and_then(|response| Spread::of(clock, response)),
        }
    }
}

impl Spread {
    fn of(clock: &Clock, ticks: &TickHistogram) -> Option<Self> {
        ticks.reading(QUANTILES).map(|reading| Self::in_ns(clock, ticks, &reading))
    }

    fn in_ns(clock: &Clock, ticks: &TickHistogram, reading: &Reading<3>) -> Self {
        let ns = |ticks: u64| clock.ns(ticks as f64).round() as u64;
        let [p50_ns, p99_ns, p999_ns] = reading.quantiles_ticks.map(ns);
        let (mean_ns, max_ns) = (clock.ns(reading.mean_ticks), ns(reading.max_ticks));
        Self { mean_ns, p50_ns, p99_ns, p999_ns, max_ns, coarse: coarse(clock, ticks) }
    }
}

/// The distribution in the buckets of [`Spread::coarse`]; a tick bucket counts where its middle lies.
fn coarse(clock: &Clock, ticks: &TickHistogram) -> Vec<(u16, u64)> {
    let mut out: Vec<(u16, u64)> = Vec::new();
    // The next bucket begins here, so that a logarithm is taken once a bucket and not once a value.
    let mut end_ns = 0.0;
    for (low, high, count) in ticks.buckets() {
        let ns = clock.ns(low.midpoint(high) as f64).max(1.0);
        if ns >= end_ns {
            let bucket = (ns.log2() * COARSE) as u16;
            end_ns = coarse_edge_ns(bucket + 1);
            out.push((bucket, 0));
        }
        if let Some((_, sum)) = out.last_mut() {
            *sum += count;
        }
    }
    out
}

impl ArrivalsInterval {
    fn of(clock: &Clock, figures: &ArrivalFigures, backlog: u64) -> Self {
        let &ArrivalFigures { offered, sent, ref slip, backlog_max } = figures;
        let slip_p99_ns = slip.quantile_ticks(0.99).map(|ticks| clock.ns(ticks as f64).round() as u64);
        Self { offered, sent, backlog, backlog_max, slip_p99_ns }
    }
}

/// One line of the file, with its line feed.
#[must_use]
pub fn line(of: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(of).expect("numbers, texts and lists, in memory");
    bytes.push(b'\n');
    bytes
}
