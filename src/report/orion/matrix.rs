//! `_iops.csv`, `_mbps.csv` and `_lat.csv`: a figure for each point, columns by small load, rows by large load.
//!
//! Owns their layout: labels 11 wide, cells `,` and 7 wide, nothing behind the last point that was run. Newer releases
//! put what the figures are before the matrix; its words are published, its line breaks are not: one line a sentence and
//! a blank line were chosen.

use std::fmt::Write;

use super::{OrionCell, OrionReport};
use crate::import::orion::Dialect;

/// Small I/Os a second.
pub(super) fn iops(report: &OrionReport) -> String {
    let small = without_zero(report.run.points.small_loads());
    let table =
        table(report, &small, &report.run.points.large_loads(), |cell| cell.iops.map(|iops| format!("{iops:.0}")));
    headed(report, "the rates sustained by small I/Os in IOPS", table)
}

/// Bandwidth of the large I/Os.
pub(super) fn mbps(report: &OrionReport) -> String {
    let large = without_zero(report.run.points.large_loads());
    let table =
        table(report, &report.run.points.small_loads(), &large, |cell| cell.mbps.map(|mbps| format!("{mbps:.2}")));
    // The words of this one are not published; they follow those of the other two.
    headed(report, "the rates sustained by large I/Os in MBPS", table)
}

/// Mean latency of the small I/Os: milliseconds up to 11.1, microseconds from 11.2.
pub(super) fn latency(report: &OrionReport) -> String {
    let unit_us = if report.run.options.dialect == Dialect::V11_2 { 1.0 } else { 1000.0 };
    let small = without_zero(report.run.points.small_loads());
    let table = table(report, &small, &report.run.points.large_loads(), |cell| {
        cell.latency_us.map(|us| format!("{:.2}", us / unit_us))
    });
    headed(report, "the average latency sustained by small I/Os in microseconds", table)
}

fn without_zero(loads: Vec<u32>) -> Vec<u32> {
    loads.into_iter().filter(|load| *load > 0).collect()
}

fn headed(report: &OrionReport, what: &str, table: String) -> String {
    if report.run.options.dialect != Dialect::V11_2 {
        return table;
    }
    format!(
        "Contains {what}.\nEach value corresponds to a data point test that used a fixed number of outstanding small and \
         large I/Os.\n\n{table}"
    )
}

fn table(report: &OrionReport, small: &[u32], large: &[u32], figure: impl Fn(&OrionCell) -> Option<String>) -> String {
    let mut text = "Large/Small".to_owned();
    small.iter().for_each(|small| push(&mut text, &small.to_string()));
    text.push('\n');
    for large in large {
        let _ = write!(text, "{large:>11}");
        let at = |small: &u32| report.cells.iter().find(|cell| cell.small == *small && cell.large == *large);
        let row: Vec<Option<String>> = small.iter().map(|small| at(small).and_then(&figure)).collect();
        let filled = row.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        row[..filled].iter().for_each(|cell| push(&mut text, cell.as_deref().unwrap_or_default()));
        text.push('\n');
    }
    text
}

fn push(text: &mut String, cell: &str) {
    let _ = write!(text, ",{cell:>7}");
}
