//! The figures of an ORION test from the points of its result.
//!
//! Owns what of a point is which of ORION's figures: the workload `small`, and all others as large ones. Shows nothing.

use hdrhistogram::Histogram;

use super::{OrionCell, OrionLatency};
use crate::result::{Latency, OpFigures, PointResult, ResultError, WorkloadResult};

/// Units of 2^20 bytes, as ORION's MBPS are.
const MEGABYTE: f64 = 1_048_576.0;

/// The points that came to their end, in the order they ran.
///
/// # Errors
/// An archived histogram that is damaged.
pub fn cells(points: &[PointResult]) -> Result<Vec<OrionCell>, ResultError> {
    points.iter().filter(|point| point.ended_early.is_none()).filter_map(cell).collect()
}

/// None for a point that is none of an ORION test.
fn cell(point: &PointResult) -> Option<Result<OrionCell, ResultError>> {
    let settings = &point.step.as_ref()?.settings;
    let load = |field: &str| settings.iter().find(|setting| setting.field == field)?.value.parse().ok();
    Some(figures(point, load("small")?, load("large")?))
}

fn figures(point: &PointResult, small: u32, large: u32) -> Result<OrionCell, ResultError> {
    let (smalls, larges): (Vec<_>, Vec<_>) = point.workloads.iter().partition(|workload| workload.name == "small");
    let sum = |of: &[&WorkloadResult], figure: fn(&WorkloadResult) -> f64| {
        (!of.is_empty()).then(|| of.iter().map(|workload| figure(workload)).sum::<f64>())
    };
    let read = |workload: &&WorkloadResult| workload.figures.read.clone();
    let write = |workload: &&WorkloadResult| workload.figures.write.clone();
    let all: Vec<OpFigures> = smalls.iter().flat_map(|workload| [read(workload), write(workload)]).collect();
    Ok(OrionCell {
        small,
        large,
        iops: sum(&smalls, |workload| workload.figures.iops),
        mbps: sum(&larges, |workload| workload.figures.bytes_per_s / MEGABYTE),
        latency_us: mean_us(&all),
        small_read: latency(smalls.iter().map(read))?,
        small_write: latency(smalls.iter().map(write))?,
        large_read: latency(larges.iter().map(read))?,
        large_write: latency(larges.iter().map(write))?,
    })
}

/// Mean over all I/Os; none without any.
fn mean_us(ops: &[OpFigures]) -> Option<f64> {
    let latencies = ops.iter().filter_map(|op| op.service.as_ref().map(|service| (service, op.completions as f64)));
    let (sum, count) =
        latencies.fold((0.0, 0.0), |(sum, all), (service, count)| (sum + service.mean_ns * count, all + count));
    (count > 0.0).then(|| sum / count / 1000.0)
}

/// The latencies of several workloads together; none without any I/O.
fn latency(ops: impl Iterator<Item = OpFigures>) -> Result<Option<OrionLatency>, ResultError> {
    let ops: Vec<OpFigures> = ops.collect();
    let Some(mean_us) = mean_us(&ops) else { return Ok(None) };
    let services: Vec<&Latency> = ops.iter().filter_map(|op| op.service.as_ref()).collect();
    let mut merged: Option<Histogram<u64>> = None;
    for service in &services {
        let histogram = service.histogram()?;
        match &mut merged {
            None => merged = Some(histogram),
            Some(merged) => merged.add(&histogram).map_err(|error| ResultError::Histogram(error.to_string()))?,
        }
    }
    let Some(histogram) = merged else { return Ok(None) };
    // The last value of a bucket; that of a power of two's own bucket lies beyond it, so that ranges begin with theirs.
    let upper_us = |value: u64| histogram.highest_equivalent(value).div_ceil(1000);
    let counts = histogram.iter_recorded();
    Ok(Some(OrionLatency {
        mean_us,
        min_us: services.iter().map(|service| service.min_ns).min().unwrap_or(0) as f64 / 1000.0,
        max_us: services.iter().map(|service| service.max_ns).max().unwrap_or(0) as f64 / 1000.0,
        std_dev_us: histogram.stdev() / 1000.0,
        histogram: counts.map(|at| (upper_us(at.value_iterated_to()), at.count_since_last_iteration())).collect(),
    }))
}
