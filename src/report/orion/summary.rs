//! `_summary.txt`: the test, its volumes, and its best points.
//!
//! Owns the two layouts. That of 11.1 is published whole. Of the newer one the figures are published, and of its head
//! the lines from the duration on; the lines before those follow what runs of 11.2 are known to print.

use std::fmt::Write;

use super::{OrionCell, OrionLatency, OrionReport, hist};
use crate::import::orion::{Dialect, LargeLoad, Shape, Volume};
use crate::units::Bytes;

/// The file.
pub(super) fn render(report: &OrionReport) -> String {
    let newer = report.run.options.dialect == Dialect::V11_2;
    let mut text = if newer { newer_head(report) } else { older_head(report) };
    text += &loads(report);
    text.push('\n');
    for lun in report.luns {
        let _ = writeln!(text, "Name: {}\tSize: {}", lun.name, lun.size);
    }
    let _ = writeln!(text, "{} {} found.\n", report.luns.len(), if newer { "files" } else { "FILEs" });
    text + &figures(report)
}

/// The best points.
pub(super) fn figures(report: &OrionReport) -> String {
    match report.run.options.dialect {
        Dialect::V11_2 => newer_figures(report.cells),
        Dialect::V10_2 | Dialect::V11_1 => older_figures(report.cells),
    }
}

fn older_head(report: &OrionReport) -> String {
    let run = report.run;
    let large = match run.large {
        LargeLoad::Random => "Large Random IOs".to_owned(),
        LargeLoad::Streams { ios } => {
            format!("Large Sequential Streams\nNumber of Concurrent IOs Per Stream: {ios}")
        }
    };
    let array = match run.volume {
        Volume::Concat => "CONCAT".to_owned(),
        Volume::Raid0 { stripe } => format!("RAID 0\nStripe Depth: {} KB", kilobytes(stripe)),
    };
    let cache = run.options.cache_size.map_or_else(|| "Not Entered".to_owned(), |megabytes| format!("{megabytes} MB"));
    format!(
        "ORION VERSION {}\n\nCommandline:\n{}\n\nThis maps to this test:\nTest: {}\nSmall IO size: {} KB\nLarge IO \
         size: {} KB\nIO Types: Small Random IOs, {large}\nSimulated Array Type: {array}\nWrite: {}%\nCache Size: \
         {cache}\nDuration for each Data Point: {} seconds\n",
        report.version,
        report.command_line,
        run.testname,
        kilobytes(run.small_size),
        kilobytes(run.large_size),
        run.write_percent,
        run.duration.as_secs(),
    )
}

fn newer_head(report: &OrionReport) -> String {
    let run = report.run;
    let large = match run.large {
        LargeLoad::Random => "large random IOs".to_owned(),
        LargeLoad::Streams { ios } => {
            format!("large sequential streams\nNumber of concurrent IOs per stream: {ios}")
        }
    };
    let pattern = match run.volume {
        Volume::Concat => "one LUN per stream".to_owned(),
        Volume::Raid0 { stripe } => {
            format!("RAID-0 striping for all streams\nStripe depth: {} KB", kilobytes(stripe))
        }
    };
    let cache =
        run.options.cache_size.map_or_else(|| "not specified".to_owned(), |megabytes| format!("{megabytes} MB"));
    format!(
        "ORION VERSION {}\n\nCommand line:\n{}\n\nThese options enable these settings:\nTest: {}\nSmall IO size: {} \
         KB\nLarge IO size: {} KB\nIO types: small random IOs, {large}\nSequential stream pattern: {pattern}\nWrites: \
         {}%\nCache size: {cache}\nDuration for each data point: {} seconds\n",
        report.version,
        report.command_line,
        run.testname,
        kilobytes(run.small_size),
        kilobytes(run.large_size),
        run.write_percent,
        run.duration.as_secs(),
    )
}

fn kilobytes(size: Bytes) -> u64 {
    size.0 / 1024
}

/// The loads of the matrix. Of a first row and column, ORION names only the column.
fn loads(report: &OrionReport) -> String {
    let points = &report.run.points;
    let small = if points.shape == Shape::Basic { vec![0] } else { points.small_loads() };
    let list = |loads: Vec<u32>| loads.iter().map(|load| format!(",{load:>7}")).collect::<String>();
    format!(
        "Small Columns:{}\nLarge Columns:{}\nTotal Data Points: {}\n",
        list(small),
        list(points.large_loads()),
        points.total
    )
}

/// The point that is best by a figure; the first of equals.
fn best(cells: &[OrionCell], figure: fn(&OrionCell) -> Option<f64>, least: bool) -> Option<(&OrionCell, f64)> {
    cells.iter().filter_map(|cell| figure(cell).map(|figure| (cell, figure))).reduce(|best, next| {
        let better = if least { next.1 < best.1 } else { next.1 > best.1 };
        if better { next } else { best }
    })
}

/// Where a figure was had.
fn at(cell: &OrionCell) -> String {
    format!("@ Small={} and Large={}", cell.small, cell.large)
}

fn older_figures(cells: &[OrionCell]) -> String {
    let mut text = String::new();
    if let Some((cell, mbps)) = best(cells, |cell| cell.mbps, false) {
        let _ = writeln!(text, "Maximum Large MBPS={mbps:.2} {}", at(cell));
    }
    if let Some((cell, iops)) = best(cells, |cell| cell.iops, false) {
        let _ = writeln!(text, "Maximum Small IOPS={iops:.0} {}", at(cell));
    }
    if let Some((cell, us)) = best(cells, |cell| cell.latency_us, true) {
        let _ = writeln!(text, "Minimum Small Latency={:.2} {}", us / 1000.0, at(cell));
    }
    text
}

fn newer_figures(cells: &[OrionCell]) -> String {
    let mut blocks = Vec::new();
    if let Some((cell, mbps)) = best(cells, |cell| cell.mbps, false) {
        blocks.push(format!("Maximum Large MBPS={mbps:.2} {}\n", at(cell)));
    }
    if let Some((cell, iops)) = best(cells, |cell| cell.iops, false) {
        blocks.push(format!("Maximum Small IOPS={iops:.0} {}\n{}", at(cell), small_latencies(cell)));
    }
    if let Some((cell, us)) = best(cells, |cell| cell.latency_us, true) {
        let histogram = hist::small(cell).unwrap_or_default();
        let latencies = small_latencies(cell);
        blocks.push(format!("Minimum Small Latency={us:.3} usecs {}\n{latencies}{histogram}", at(cell)));
    }
    blocks.join("\n")
}

fn small_latencies(cell: &OrionCell) -> String {
    let line = |op: &str, latency: &Option<OrionLatency>| {
        let line = |latency| format!("Small {op} Latency: {} {}\n", statistics(latency), at(cell));
        latency.as_ref().map(line).unwrap_or_default()
    };
    line("Read", &cell.small_read) + &line("Write", &cell.small_write)
}

/// Mean, range and deviation of latencies.
pub(super) fn statistics(latency: &OrionLatency) -> String {
    let OrionLatency { mean_us, min_us, max_us, std_dev_us, .. } = latency;
    format!("avg={mean_us:.3} us, min={min_us:.3} us, max={max_us:.3} us, std dev={std_dev_us:.3} us")
}
