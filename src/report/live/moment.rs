//! What a run did in a moment: a few intervals added up, and their figures in words.
//!
//! Owns which latency stands for a workload: service in a closed loop, response in an open one, marked `resp`. Knows no
//! point and no progress.

use crate::clock::Clock;
use crate::engine::record::{IntervalFigures, Phase};
use crate::plan::CellBytes;
use crate::report::columns::decimal;
use crate::stats::TickHistogram;
use crate::units::{format_count, format_latency};

/// Intervals of one phase, added up over all workloads.
#[derive(Debug)]
pub(super) struct Moment {
    /// Of all its intervals.
    pub(super) phase: Phase,
    span_s: f64,
    completions: u64,
    bytes: u64,
    errors: u64,
    /// Service latency of the closed loops.
    service: TickHistogram,
    /// Response latency of the open loops.
    response: TickHistogram,
    /// Of the open loops, where there are any.
    arrivals: Option<Arrivals>,
}

#[derive(Debug, Default)]
struct Arrivals {
    offered: u64,
    backlog: u64,
}

impl Moment {
    /// An empty one.
    pub(super) fn of(phase: Phase) -> Self {
        let (service, response) = (TickHistogram::new(), TickHistogram::new());
        Self { phase, span_s: 0.0, completions: 0, bytes: 0, errors: 0, service, response, arrivals: None }
    }

    /// Adds an interval of `span_s` seconds; returns its completions. `bytes` is by cell.
    pub(super) fn add(&mut self, interval: &IntervalFigures, bytes: &[CellBytes], span_s: f64) -> u64 {
        let before = self.completions;
        for (cell, bytes) in interval.cells.iter().zip(bytes) {
            let completions = cell.service.count();
            self.completions += completions;
            self.bytes += bytes.of(completions, cell.blocks);
            self.errors += cell.errors;
            match &cell.response {
                Some(response) => self.response.merge(response),
                None => self.service.merge(&cell.service),
            }
        }
        let offered = interval.arrivals.iter().flatten().map(|arrivals| arrivals.offered);
        if interval.arrivals.iter().any(Option::is_some) {
            let arrivals = self.arrivals.get_or_insert_default();
            arrivals.offered += offered.sum::<u64>();
            arrivals.backlog = interval.backlog.iter().sum();
        }
        self.span_s += span_s;
        self.completions - before
    }

    /// `50,012 IOPS, 204.8 MB/s`, and for open loops `50,000 offered/s, backlog 12`.
    pub(super) fn rates(&self) -> String {
        let per_second = |count: u64| if self.span_s > 0.0 { count as f64 / self.span_s } else { 0.0 };
        let (iops, mb) = (per_second(self.completions), per_second(self.bytes) / 1e6);
        let mut text = format!("{} IOPS, {} MB/s", decimal(iops, 0), decimal(mb, 1));
        if let Some(Arrivals { offered, backlog }) = self.arrivals {
            let offered = decimal(per_second(offered), 0);
            text.push_str(&format!(", {offered} offered/s, backlog {}", format_count(backlog)));
        }
        text
    }

    /// `3 errors`.
    pub(super) fn errors(&self) -> String {
        match self.errors {
            1 => "1 error".to_owned(),
            errors => format!("{} errors", format_count(errors)),
        }
    }

    /// Mean, percentiles and maximum of each kind that there is.
    pub(super) fn latencies(&self, clock: &Clock) -> Vec<String> {
        [("", &self.service), ("resp ", &self.response)]
            .into_iter()
            .filter_map(|(mark, latencies)| {
                let show = |ticks: f64| format_latency(clock.ns(ticks));
                let reading = latencies.reading([0.5, 0.99, 0.999])?;
                let (mean, max) = (show(reading.mean_ticks), show(reading.max_ticks as f64));
                let [p50, p99, p999] = reading.quantiles_ticks.map(|ticks| show(ticks as f64));
                Some(format!("{mark}mean {mean}, p50 {p50}, p99 {p99}, p99.9 {p999}, max {max}"))
            })
            .collect()
    }
}
