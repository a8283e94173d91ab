//! One latency distribution in nanoseconds: the figures that are read most, and the whole histogram.
//!
//! Owns the conversion from ticks and the `hdr` text (HdrHistogram V2, compressed, base64). The percentiles are read
//! from the very histogram that is archived, so that whoever decodes `hdr` finds the same figures; mean, least and
//! greatest are exact. Knows no workload.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ResultError;
use crate::clock::Clock;
use crate::stats::TickHistogram;

/// Greatest value of an archived histogram: 24 hours. One range for all, so that other tools can add them up.
const HIGHEST_NS: u64 = 86_400_000_000_000;
/// Significant decimal digits of an archived histogram.
const DIGITS: u8 = 3;

/// A latency distribution, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Exact mean.
    pub mean_ns: f64,
    /// Exact least.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// 99.99th percentile.
    pub p9999_ns: u64,
    /// 99.999th percentile.
    pub p99999_ns: u64,
    /// Exact greatest.
    pub max_ns: u64,
    /// I/Os beyond the histogram's range (over an hour); `hdr` counts them at its greatest value.
    pub overflow: u64,
    /// The whole distribution: HdrHistogram V2, compressed, base64.
    pub hdr: String,
}

impl Latency {
    /// The distribution `ticks` in nanoseconds; none when it is empty.
    #[must_use]
    pub fn from_ticks(ticks: &TickHistogram, clock: &Clock) -> Option<Self> {
        let ns = |ticks: u64| clock.ns(ticks as f64).round() as u64;
        let (min_ns, max_ns) = (ns(ticks.min_ticks()?), ns(ticks.max_ticks()?));
        let histogram = in_ns(ticks, clock);
        // A bucket's greatest value may lie beyond the greatest latency in it.
        let at = |quantile| histogram.value_at_quantile(quantile).clamp(min_ns, max_ns);
        Some(Self {
            mean_ns: clock.ns(ticks.mean_ticks()?),
            min_ns,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            p99999_ns: at(0.99999),
            max_ns,
            overflow: ticks.overflow(),
            hdr: encode(&histogram),
        })
    }

    /// The percentiles that it tells by name: per cent, and nanoseconds.
    #[must_use]
    pub fn percentiles(&self) -> [(f64, u64); 7] {
        [
            (50.0, self.p50_ns),
            (90.0, self.p90_ns),
            (95.0, self.p95_ns),
            (99.0, self.p99_ns),
            (99.9, self.p999_ns),
            (99.99, self.p9999_ns),
            (99.999, self.p99999_ns),
        ]
    }

    /// The whole distribution, in nanoseconds; an error when `hdr` was damaged.
    pub fn histogram(&self) -> Result<Histogram<u64>, ResultError> {
        let bytes = STANDARD.decode(&self.hdr).map_err(|e| ResultError::Histogram(e.to_string()))?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|e| ResultError::Histogram(e.to_string()))
    }
}

/// The histogram that is archived. Each tick bucket counts at its least value: HdrHistogram tells a percentile as the
/// greatest value of a bucket, so that the widths of the two buckets err in opposite directions and do not add up.
fn in_ns(ticks: &TickHistogram, clock: &Clock) -> Histogram<u64> {
    let mut histogram = empty();
    for (low, _, count) in ticks.buckets() {
        histogram.saturating_record_n(clock.ns(low as f64).round() as u64, count);
    }
    if ticks.overflow() > 0 {
        histogram.saturating_record_n(HIGHEST_NS, ticks.overflow());
    }
    histogram
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("the bounds are constants that HdrHistogram takes")
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("counts below 2^63, written to memory");
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Latency {
        let mut ticks = TickHistogram::new();
        values.into_iter().for_each(|v| ticks.record(v));
        Latency::from_ticks(&ticks, &Clock::virtual_ns()).unwrap()
    }

    #[test]
    fn nothing_recorded_is_no_latency() {
        assert_eq!(Latency::from_ticks(&TickHistogram::new(), &Clock::virtual_ns()), None);
    }

    #[test]
    fn one_value_is_all_its_percentiles() {
        let l = of([19_431]);
        assert_eq!((l.mean_ns, l.min_ns, l.p50_ns, l.p99999_ns, l.max_ns), (19_431.0, 19_431, 19_431, 19_431, 19_431));
    }

    #[test]
    fn the_archived_histogram_holds_the_same_percentiles() {
        let l = of((1..=1_000_000).map(|n| n * 7));
        let histogram = l.histogram().unwrap();
        assert_eq!(histogram.len(), 1_000_000);
        for (quantile, ns) in [(0.5, l.p50_ns), (0.99, l.p99_ns), (0.999, l.p999_ns), (0.9999, l.p9999_ns)] {
            assert_eq!(histogram.value_at_quantile(quantile).min(l.max_ns), ns, "{quantile}");
        }
        assert!(l.hdr.starts_with("HISTF"), "the compressed form that other tools read");
    }

    #[test]
    fn an_overflow_is_counted_in_both_places() {
        let l = of([1_000, 1_000, u64::MAX]);
        assert_eq!((l.overflow, l.p50_ns, l.max_ns), (1, 1_000, u64::MAX));
        assert_eq!(l.histogram().unwrap().len(), 3);
    }

    #[test]
    fn a_damaged_histogram_is_an_error() {
        let mut l = of([1]);
        l.hdr.truncate(8);
        assert!(l.histogram().is_err());
        l.hdr = "§".to_owned();
        assert!(l.histogram().is_err());
    }
}
