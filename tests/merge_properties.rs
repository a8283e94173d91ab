//! What must hold for any latencies at all: merging is lossless, percentiles keep their stated error, a result reads
//! back as it was written. The oracle is a sorted list of the values.

#[path = "common/figures.rs"]
mod figures;

use std::time::Duration;

use proptest::prelude::*;
use rigel::clock::Clock;
use rigel::engine::record::{ArrivalFigures, CellFigures, PointFigures};
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
            cells.iter().map(|(values, errors)| CellFigures { service: histogram(values), errors: *errors, ..CellFigures::default() }).collect();
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

// Each of these cases fills dozens of histograms.
proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cells_merge_to_the_whole_whatever_cut_them_up_and_in_any_order(
        // Service, what it waited before, core, interval, target, whether it failed.
        ios in prop::collection::vec((any_ticks(), ticks(), 0..3usize, 0..4usize, 0..2usize, prop::bool::weighted(0.05)), 0..300),
        order in Just((0..3 * 4 * 2usize).collect::<Vec<_>>()).prop_shuffle(),
        open in prop::collection::vec(any::<bool>(), 2),
        group in 1..9usize,
    ) {
        let empty = |target: usize| {
            CellFigures { response: open[target].then(TickHistogram::new), ..CellFigures::default() }
        };
        let record = |cell: &mut CellFigures, &(service, waited, .., failed): &(u64, u64, usize, usize, usize, bool)| {
            if failed {
                cell.errors += 1;
                return;
            }
            cell.service.record(service);
            cell.response.iter_mut().for_each(|response| response.record(service.saturating_add(waited)));
        };
        // One cell for each core, interval and target; the whole is recorded target by target.
        let mut parts: Vec<CellFigures> = (0..3 * 4 * 2).map(|part| empty(part % 2)).collect();
        let mut whole: Vec<CellFigures> = (0..2).map(empty).collect();
        for io @ &(.., core, interval, target, _) in &ios {
            record(&mut parts[(core * 4 + interval) * 2 + target], io);
            record(&mut whole[target], io);
        }
        // Merged in any order, by groups first, as by core or by interval.
        let mut all = CellFigures::default();
        for groups in order.chunks(group) {
            let mut sum = CellFigures::default();
            groups.iter().for_each(|&part| sum.merge(&parts[part]));
            all.merge(&sum);
        }
        let mut expected = CellFigures::default();
        whole.iter().for_each(|cell| expected.merge(cell));
        let values = |open_only: bool| -> Vec<u64> {
            let good = ios.iter().filter(|io| !io.5 && (!open_only || open[io.4]));
            good.map(|io| if open_only { io.0.saturating_add(io.1) } else { io.0 }).collect()
        };
        for cell in [&all, &expected] {
            assert_same(&cell.service, &histogram(&values(false)));
            prop_assert_eq!(cell.errors, ios.iter().filter(|io| io.5).count() as u64);
            prop_assert_eq!(cell.response.is_some(), open.contains(&true));
            cell.response.iter().for_each(|response| assert_same(response, &histogram(&values(true))));
        }
        // Target by target, over cores and intervals only.
        for target in 0..2 {
            let mut sum = empty(target);
            order.iter().filter(|&part| part % 2 == target).for_each(|&part| sum.merge(&parts[part]));
            assert_same(&sum.service, &whole[target].service);
            prop_assert_eq!(sum.response.is_some(), whole[target].response.is_some());
            if let (Some(sum), Some(whole)) = (&sum.response, &whole[target].response) {
                assert_same(sum, whole);
            }
        }
    }

    #[test]
    fn arrivals_add_up_over_cores_and_over_time(
        // Slip, core, interval; backlog of each core in each interval.
        sent in prop::collection::vec((any_ticks(), 0..3usize, 0..4usize), 0..200),
        backlogs in prop::collection::vec(0..1_000u64, 3 * 4),
    ) {
        let mut cells: Vec<ArrivalFigures> =
            backlogs.iter().map(|&backlog_max| ArrivalFigures { backlog_max, ..ArrivalFigures::default() }).collect();
        for &(slip, core, interval) in &sent {
            let cell = &mut cells[interval * 3 + core];
            cell.slip.record(slip);
            cell.sent += 1;
            cell.offered += 2;
        }
        let mut point = ArrivalFigures::default();
        for interval in cells.chunks(3) {
            let mut sum = ArrivalFigures::default();
            interval.iter().for_each(|core| sum.merge(core));
            point.append(&sum);
        }
        let slips: Vec<u64> = sent.iter().map(|io| io.0).collect();
        assert_same(&point.slip, &histogram(&slips));
        prop_assert_eq!((point.sent, point.offered), (slips.len() as u64, 2 * slips.len() as u64));
        let worst = backlogs.chunks(3).map(|interval| interval.iter().sum::<u64>()).max();
        prop_assert_eq!(Some(point.backlog_max), worst);
    }
}
