//! Latencies as fio's JSON has them: moments, percentiles, bins, and the shares of a few fixed ranges.
//!
//! Owns those layouts. Everything but the exact mean, least and greatest is read from the archived histogram.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

use crate::result::{Figures, Latency, ResultError};

/// The percentiles that fio lists, and one more.
const PERCENTILES: [f64; 18] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999];
/// Ends of the ranges of nano-, micro- and milliseconds; each begins where the one before ends.
const SMALL: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The same for milliseconds, which go on.
const LARGE: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// No latency.
pub(super) fn none() -> Value {
    json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0})
}

/// One distribution, in nanoseconds.
pub(super) fn of(latency: Option<&Latency>) -> Result<Value, ResultError> {
    let Some(latency) = latency else { return Ok(none()) };
    let histogram = latency.histogram()?;
    let within = |ns: u64| ns.clamp(latency.min_ns, latency.max_ns);
    let percentile =
        |percent: &f64| (format!("{percent:.6}"), within(histogram.value_at_quantile(percent / 100.0)).into());
    let percentiles: Map<String, Value> = PERCENTILES.iter().map(percentile).collect();
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for bin in histogram.iter_recorded() {
        *counts.entry(within(bin.value_iterated_to())).or_default() += bin.count_at_value();
    }
    let bins: Map<String, Value> = counts.into_iter().map(|(ns, count)| (ns.to_string(), count.into())).collect();
    Ok(json!({
        "min": latency.min_ns,
        "max": latency.max_ns,
        "mean": latency.mean_ns,
        "stddev": histogram.stdev(),
        "N": histogram.len(),
        "percentile": percentiles,
        "bins": bins,
    }))
}

/// The service latencies of both operations.
pub(super) fn histograms(figures: &Figures) -> Result<Vec<Histogram<u64>>, ResultError> {
    let services = super::ops(figures).map(|(_, op)| op.service.as_ref());
    services.into_iter().flatten().map(Latency::histogram).collect()
}

/// Shares of all I/Os by range, in per cent: `latency_ns`, `latency_us`, `latency_ms`.
pub(super) fn distribution(histograms: &[Histogram<u64>]) -> [(&'static str, Value); 3] {
    let total: u64 = histograms.iter().map(Histogram::len).sum();
    let mut start_ns = 0;
    let mut range = |label: String, end_ns: u64| {
        // Each bucket counts where its least value lies.
        let within = |histogram: &Histogram<u64>| -> u64 {
            let low = |ns| histogram.lowest_equivalent(ns);
            let bins = histogram.iter_recorded();
            let here = bins.filter(|bin| (start_ns..end_ns).contains(&low(bin.value_iterated_to())));
            here.map(|bin| bin.count_at_value()).sum()
        };
        let count: u64 = histograms.iter().map(within).sum();
        start_ns = end_ns;
        (label, json!(if total > 0 { count as f64 * 100.0 / total as f64 } else { 0.0 }))
    };
    let mut ranges = |ends: &[u64], unit_ns: u64| -> Map<String, Value> {
        ends.iter().map(|end| range(end.to_string(), end * unit_ns)).collect()
    };
    let (ns, us) = (ranges(&SMALL, 1), ranges(&SMALL, 1_000));
    let mut ms = ranges(&LARGE, 1_000_000);
    ms.extend([range(">=2000".to_owned(), u64::MAX)]);
    [("latency_ns", ns.into()), ("latency_us", us.into()), ("latency_ms", ms.into())]
}
