//! How a column of figures is written: one unit and one number of decimals for all its cells.
//!
//! Owns the choice of both. Knows no table.

use crate::units::format_count;

/// What a cell without a figure shows.
pub(super) const NONE: &str = "-";

/// A column of latencies: its unit and its cells.
pub(super) struct LatencyColumn {
    /// `ns`, `µs`, `ms` or `s`.
    pub(super) unit: &'static str,
    /// The cells, in the order of the values.
    pub(super) cells: Vec<String>,
}

/// Writes latencies (nanoseconds) in the unit that suits all of them, with at least three digits of the least, and four
/// where the greatest leaves room.
pub(super) fn latencies(values_ns: &[Option<f64>]) -> LatencyColumn {
    let least = values_ns.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let greatest = values_ns.iter().flatten().copied().fold(0.0, f64::max);
    let (unit, unit_ns) = match (least, greatest) {
        (_, greatest) if greatest < 10e3 => ("ns", 1.0),
        (least, _) if least < 1e6 => ("µs", 1e3),
        (least, _) if least < 10e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let digits = match least / unit_ns {
        _ if unit == "ns" => 0,
        least if least < 10.0 => 3,
        least if least < 100.0 => 2,
        _ => 1,
    };
    let digits = if greatest / unit_ns < 10e3 { digits } else { usize::saturating_sub(digits, 1) };
    let cell = |value: &Option<f64>| value.map_or_else(|| NONE.to_owned(), |ns| decimal(ns / unit_ns, digits));
    LatencyColumn { unit, cells: values_ns.iter().map(cell).collect() }
}

/// A figure of zero or more with thousands separated and a fixed number of decimals: `1,705.1`.
pub(crate) fn decimal(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), format_count);
    fraction.map_or_else(|| whole.clone(), |fraction| format!("{whole}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit() {
        for (values, unit, cells) in [
            (vec![640.0, 9_800.0], "ns", vec!["640", "9,800"]),
            (vec![640.0, 3_012_345.0], "µs", vec!["0.640", "3,012.345"]),
            (vec![19_430.0, 3_012_346.0], "µs", vec!["19.43", "3,012.35"]),
            (vec![62_430.0, 53_873_670.0], "µs", vec!["62.4", "53,873.7"]),
            (vec![1_234_567.0, 20_000_000.0], "ms", vec!["1.235", "20.000"]),
            (vec![12e9], "s", vec!["12.00"]),
        ] {
            let column = latencies(&values.into_iter().map(Some).collect::<Vec<_>>());
            assert_eq!((column.unit, column.cells), (unit, cells.into_iter().map(str::to_owned).collect()));
        }
        assert_eq!(latencies(&[None]).cells, ["-"]);
    }

    #[test]
    fn decimals_carry_over() {
        assert_eq!(decimal(999.96, 1), "1,000.0");
        assert_eq!(decimal(1_705.06, 1), "1,705.1");
        assert_eq!(decimal(0.0, 0), "0");
    }
}
