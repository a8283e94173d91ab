//! The line that shows progress while a run is on.
//!
//! Owns its wording. Shows one interval, from the engine's figures, since the result does not exist yet; reads and
//! writes of all workloads are taken together here, and apart in every report of the finished run.

use super::columns::decimal;
use crate::clock::Clock;
use crate::engine::record::{IntervalFigures, Phase};
use crate::plan::Plan;
use crate::result::PointLoad;
use crate::stats::TickHistogram;
use crate::units::{format_count, format_latency};

/// One line, without a line feed, on an interval of the plan's point `point` (from 0).
#[must_use]
pub fn line(plan: &Plan, clock: &Clock, point: usize, interval: &IntervalFigures) -> String {
    let seconds = |ticks: u64| clock.ns(ticks as f64) / 1e9;
    let span_s = seconds(interval.end.since(interval.start).0);
    let per_second = |count: u64| if span_s > 0.0 { count as f64 / span_s } else { 0.0 };
    let mut service = TickHistogram::new();
    let (mut errors, mut bytes) = (0, 0);
    let block_sizes = plan.workloads.iter().flat_map(|w| std::iter::repeat_n(w.block_size.0, w.targets.len() * 2));
    for (cell, block_size) in interval.cells.iter().zip(block_sizes) {
        service.merge(&cell.service);
        errors += cell.errors;
        bytes += cell.service.count() * block_size;
    }
    let phase = match interval.phase {
        Phase::Ramp => "ramp",
        Phase::Window => "window",
        Phase::Drain => "drain",
    };
    let mut line = format!(
        "[{}/{} {}] {:.1} s {phase}: {} IOPS, {} MB/s",
        point + 1,
        plan.points.len(),
        PointLoad::of(plan, point),
        seconds(interval.end.0),
        decimal(per_second(service.count()), 0),
        decimal(per_second(bytes) / 1e6, 1),
    );
    if let Some(latencies) = latencies(&service, clock) {
        line.push_str(&latencies);
    }
    if errors > 0 {
        line.push_str(&format!(", {} errors", format_count(errors)));
    }
    line
}

/// Mean, percentiles and maximum; none when nothing completed.
fn latencies(service: &TickHistogram, clock: &Clock) -> Option<String> {
    let show = |ticks: f64| format_latency(clock.ns(ticks));
    let at = |quantile| service.quantile_ticks(quantile).map(|ticks| show(ticks as f64));
    Some(format!(
        ", mean {}, p50 {}, p99 {}, p99.9 {}, max {}",
        show(service.mean_ticks()?),
        at(0.5)?,
        at(0.99)?,
        at(0.999)?,
        show(service.max_ticks()? as f64),
    ))
}
