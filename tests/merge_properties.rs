//! What must hold for any latencies at all: merging is lossless, percentiles keep their stated error, a result reads
//! back as it was written. The oracle is a sorted list of the values.

#[path = "common/figures.rs"]
mod figures;

use std::time::Duration;

use proptest::prelude::*;
use rigel::clock::Clock;
use rigel::engine::record::{CellFigures, PointFigures};
use rigel::report::json;
use rigel::result::{Latency, from_json, point};
use rigel::stats::{MAX_TICKS, TickHistogram};
use rigel::units::Ticks;

/// Quantiles that are compared.
const QUANTILES: [f64; 9] = [0.0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];
/// Stated relative error of a tick histogram, and of an archived one: one part in 1,024.
const ERROR: f64 = 1.0 / 1024.0;

/// A latency of any magnitude that has a bucket.
fn ticks() -> impl Strategy<Value = u64> {
    (0..=MAX_TICKS, 0..45u32).prop_map(|(value, shift)| value >> shift)
}

/// A latency of any magnitude, those without a bucket too.
fn any_ticks() -> impl Strategy<Value = u64> {
    // Small enough that no sum of them wraps.
    prop_oneof![20 => ticks(), 1 => MAX_TICKS + 1..1 << 50]
}

fn histogram(values: &[u64]) -> TickHistogram {
    let mut histogram = TickHistogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

/// The ⌈quantile × count⌉-th smallest value.
fn exact_quantile(sorted: &[u64], quantile: f64) -> u64 {
    let rank = ((quantile * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
    sorted[rank - 1]
}

fn assert_same(merged: &TickHistogram, whole: &TickHistogram) {
    assert_eq!(merged.count(), whole.count());
    assert_eq!(merged.overflow(), whole.overflow());
    assert_eq!(merged.sum_ticks(), whole.sum_ticks());
    assert_eq!((merged.min_ticks(), merged.max_ticks()), (whole.min_ticks(), whole.max_ticks()));
    assert_eq!(merged.mean_ticks(), whole.mean_ticks());
    assert!(merged.buckets().eq(whole.buckets()));
    for quantile in QUANTILES {
        assert_eq!(merged.quantile_ticks(quantile), whole.quantile_ticks(quantile), "{quantile}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_parts_gives_the_whole(
        values in prop::collection::vec((any_ticks(), 0..8usize), 0..400),
        parts in 1..8usize,
    ) {
        let all: Vec<u64> = values.iter().map(|(value, _)| *value).collect();
        let mut merged = TickHistogram::new();
        for part in 0..parts {
            let of_part = |(value, n): &(u64, usize)| (n % parts == part).then_some(*value);
            merged.merge(&histogram(&values.iter().filter_map(of_part).collect::<Vec<_>>()));
        }
        assert_same(&merged, &histogram(&all));
    }

    #[test]
    fn a_cleared_histogram_is_as_new(
        first in prop::collection::vec(any_ticks(), 0..50),
        second in prop::collection::vec(any_ticks(), 0..50),
    ) {
        let mut reused = histogram(&first);
        reused.clear();
        second.iter().for_each(|value| reused.record(*value));
        assert_same(&reused, &histogram(&second));
    }

    #[test]
    fn quantiles_keep_the_stated_error(mut values in prop::collection::vec(ticks(), 1..400)) {
        let histogram = histogram(&values);
        values.sort_unstable();
        prop_assert_eq!(histogram.min_ticks(), values.first().copied());
        prop_assert_eq!(histogram.max_ticks(), values.last().copied());
        prop_assert_eq!(histogram.sum_ticks(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        for quantile in QUANTILES {
            let (told, exact) = (histogram.quantile_ticks(quantile).unwrap(), exact_quantile(&values, quantile));
            prop_assert!(told >= exact, "{} told for {} at {}", told, exact, quantile);
            prop_assert!((told - exact) as f64 <= exact as f64 * ERROR, "{} told for {} at {}", told, exact, quantile);
        }
    }

    #[test]
    fn from_recording_to_the_result_the_errors_do_not_add_up(
        mut values in prop::collection::vec(ticks(), 1..400),
    ) {
        let clock = Clock::virtual_ns();
        let latency = Latency::from_ticks(&histogram(&values), &clock).unwrap();
        values.sort_unstable();
        let archived = latency.histogram().unwrap();
        prop_assert_eq!(archived.len(), values.len() as u64);
        prop_assert_eq!((latency.min_ns, latency.max_ns), (values[0], values[values.len() - 1]));
        let told = [
            (0.5, latency.p50_ns), (0.9, latency.p90_ns), (0.95, latency.p95_ns), (0.99, latency.p99_ns),
            (0.999, latency.p999_ns), (0.9999, latency.p9999_ns), (0.99999, latency.p99999_ns),
        ];
        for (quantile, ns) in told {
            let exact = exact_quantile(&values, quantile) as f64;
            prop_assert!((ns as f64 - exact).abs() <= exact * ERROR, "{} told for {} at {}", ns, exact, quantile);
            let read = archived.value_at_quantile(quantile).clamp(latency.min_ns, latency.max_ns);
            prop_assert_eq!(read, ns, "the archived histogram at {}", quantile);
        }
        prop_assert!(told.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }

    #[test]
    fn a_result_of_any_figures_reads_back_equal(
        cells in prop::collection::vec((prop::collection::vec(any_ticks(), 0..40), 0..3u64), 4),
        window in 0..1u64 << 40,
        busy in 0.0..1.0f64,
        ended_early in prop::option::of(".*"),
    ) {
        let plan = figures::plan(2, 33.3, &[1, 7], Duration::from_millis(1));
        let cells: Vec<CellFigures> =
            cells.iter().map(|(values, errors)| CellFigures { service: histogram(values), response: None, errors: *errors }).collect();
        let mut driven = figures::drive(&plan, 1);
        driven.cores[0].busy = busy;
        let driven = PointFigures { window: Ticks(window), cells: cells.clone(), ended_early, ..driven };
        let point = point(&plan, &Clock::virtual_ns(), &driven);

        let completions: u64 = cells.iter().map(|cell| cell.service.count()).sum();
        prop_assert_eq!(point.total.completions, completions);
        prop_assert_eq!(point.total.completions, point.total.read.completions + point.total.write.completions);
        prop_assert_eq!(point.total.errors, cells.iter().map(|cell| cell.errors).sum::<u64>());
        let targets = &point.workloads[0].targets;
        prop_assert_eq!(targets.iter().map(|target| target.figures.completions).sum::<u64>(), completions);

        let result = figures::result(plan, vec![point]);
        let text = String::from_utf8(json::render(&result)).unwrap();
        prop_assert_eq!(from_json(&text).unwrap(), result);
    }
}
