//! How far a figure of a single run can be off, from the intervals of its window.
//!
//! Owns each interval's influence on a figure (the delta method; for percentiles by Bahadur's representation, Annals of
//! Mathematical Statistics 37, 1966). The intervals depend on each other, which `stats` takes into account. What differs
//! from run to run is in none of this.

use crate::result::series::{Interval, OpInterval, Series, SeriesPhase, Spread, coarse_edge_ns};
use crate::result::{Latency, PointResult};
use crate::spec::{Figure, LatencyKind, Measure};
use crate::stats::{MeanError, mean_error};

/// What a figure is made of in one interval.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Length, in seconds.
    length_s: f64,
    /// Completions.
    count: f64,
    /// What is averaged over them, or summed over the length.
    sum: f64,
}

/// The relative error of `figure` at point `index` of a run; none where its intervals are too few or do not tell.
pub(super) fn error(series: &Series, index: usize, point: &PointResult, figure: &Figure) -> Option<MeanError> {
    let figure = &Figure { kind: kind(point, figure), ..figure.clone() };
    let window: Vec<&Interval> =
        series.intervals().filter(|i| i.point == index && i.phase == SeriesPhase::Window).collect();
    let parts = |of: &dyn Fn(&OpInterval) -> f64| -> Vec<Part> {
        window.iter().map(|interval| part(interval, figure, of)).collect()
    };
    let spread = |op: &OpInterval| chosen(op, figure).cloned();
    let influence = match figure.measure {
        Measure::Iops => of_rate(&parts(&|op| op.completions as f64)),
        Measure::BytesPerS => of_rate(&parts(&|op| op.bytes as f64)),
        Measure::Mean => {
            let parts = parts(&|op| spread(op).map_or(0.0, |s| s.mean_ns * op.completions as f64));
            of_mean(&parts, 1.0)
        }
        Measure::Percentile(per_cent) => {
            let value_ns = point.value(figure).ok()?;
            let quantile = per_cent / 100.0;
            let own = |op: &OpInterval| spread(op).and_then(|s| own_percentile(&s, op.completions, quantile));
            let mut each = window.iter().flat_map(|interval| ops(interval, figure));
            if each.all(|op| op.completions == 0 || own(op).is_some()) {
                of_mean(&parts(&|op| own(op).map_or(0.0, |ns| ns * op.completions as f64)), 1.0)
            } else {
                let slowness = sparsity(point.latency(figure).ok()?, quantile)?;
                let parts = parts(&|op| spread(op).map_or(0.0, |s| above(&s, value_ns)));
                let [count, sum] = [parts.iter().map(|p| p.count).sum::<f64>(), parts.iter().map(|p| p.sum).sum()];
                // The share above the percentile moves the percentile by the sparsity there.
                if sum > 0.0 { of_mean(&parts, slowness * sum / count) } else { None }
            }
        }
        Measure::Max | Measure::Errors | Measure::Cpu => None,
    };
    mean_error(&influence?)
}

fn part(interval: &Interval, figure: &Figure, of: &dyn Fn(&OpInterval) -> f64) -> Part {
    let mut part = Part { length_s: interval.end_s - interval.start_s, ..Part::default() };
    for op in ops(interval, figure) {
        part.count += op.completions as f64;
        part.sum += of(op);
    }
    part
}

/// The operations of an interval that a figure is about: of a latency those that have one of its kind.
fn ops<'a>(interval: &'a Interval, figure: &'a Figure) -> impl Iterator<Item = &'a OpInterval> {
    let named = |name: &str| figure.workload.as_deref().is_none_or(|asked| asked == name);
    let workloads = interval.workloads.iter().filter(move |workload| named(&workload.name));
    let ops = workloads.flat_map(|workload| workload.ops());
    let asked = ops.filter(|(op, _)| figure.op.is_none_or(|asked| asked == *op)).map(|(_, figures)| figures);
    asked.filter(|op| !figure.measure.is_latency() || chosen(op, figure).is_some())
}

/// Where a latency begins, decided once for the point: its total is the open loops' where there is one.
fn kind(point: &PointResult, figure: &Figure) -> Option<LatencyKind> {
    let of = point.latency(&Figure { kind: Some(LatencyKind::Response), ..figure.clone() });
    let usual = if of.is_ok() { LatencyKind::Response } else { LatencyKind::Service };
    figure.measure.is_latency().then_some(figure.kind.unwrap_or(usual))
}

/// Completions beyond a percentile from which on an interval's own is as good as the whole window's.
const TAIL_MIN: f64 = 10.0;

/// A percentile of the interval alone; none where it is not told, or has too few completions beyond it.
fn own_percentile(spread: &Spread, completions: u64, quantile: f64) -> Option<f64> {
    let told = [(0.5, spread.p50_ns), (0.99, spread.p99_ns), (0.999, spread.p999_ns)];
    let (_, ns) = told.into_iter().find(|(known, _)| (known - quantile).abs() < 1e-12)?;
    (completions as f64 * (1.0 - quantile) >= TAIL_MIN).then_some(ns as f64)
}

fn chosen<'a>(op: &'a OpInterval, figure: &Figure) -> Option<&'a Spread> {
    match figure.kind {
        Some(LatencyKind::Service) => op.service.as_ref(),
        Some(LatencyKind::Response) => op.response.as_ref(),
        None => op.response.as_ref().or(op.service.as_ref()),
    }
}

/// For a sum a second: each interval's own rate, relative to the whole.
fn of_rate(parts: &[Part]) -> Option<Vec<f64>> {
    let [length, sum] = [parts.iter().map(|p| p.length_s).sum::<f64>(), parts.iter().map(|p| p.sum).sum()];
    let (rate, mean_length) = (sum / length, length / parts.len() as f64);
    let of = |part: &Part| 1.0 + (part.sum - rate * part.length_s) / (rate * mean_length);
    (sum > 0.0 && length > 0.0).then(|| parts.iter().map(of).collect())
}

/// For a mean over completions: how much each interval moves it, relative to the whole, times `factor`.
fn of_mean(parts: &[Part], factor: f64) -> Option<Vec<f64>> {
    let [count, sum] = [parts.iter().map(|p| p.count).sum::<f64>(), parts.iter().map(|p| p.sum).sum()];
    let (mean, mean_count) = (sum / count, count / parts.len() as f64);
    let of = |part: &Part| 1.0 + factor * (part.sum - mean * part.count) / (mean * mean_count);
    (sum > 0.0 && count > 0.0).then(|| parts.iter().map(of).collect())
}

/// Completions above a latency; within a bucket they are taken to be evenly spread over its logarithm.
fn above(spread: &Spread, value_ns: f64) -> f64 {
    let of = |&(bucket, count): &(u16, u64)| {
        let (low, high) = (coarse_edge_ns(bucket).ln(), coarse_edge_ns(bucket + 1).ln());
        count as f64 * ((high - value_ns.ln()) / (high - low)).clamp(0.0, 1.0)
    };
    spread.coarse.iter().map(of).sum()
}

/// How much the logarithm of a quantile moves for a share of completions: from the two quantiles at half the tail to
/// either side (Siddiqui, Journal of Research of the National Bureau of Standards 64B, 1960).
fn sparsity(latency: &Latency, quantile: f64) -> Option<f64> {
    let histogram = latency.histogram().ok()?;
    let half = quantile.min(1.0 - quantile) / 2.0;
    let at = |quantile: f64| (histogram.value_at_quantile(quantile).max(1) as f64).ln();
    Some((at(quantile + half) - at(quantile - half)) / (2.0 * half))
}
