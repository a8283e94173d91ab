//! `_trace.txt`: each point's figures, unprocessed, in the order the points ran.
//!
//! Owns its layout, which is Rigel's own but for the two lines that begin a point: ORION's is not published.

use std::fmt::Write;

use super::{OrionReport, summary};

/// The file.
pub(super) fn render(report: &OrionReport) -> String {
    let points = &report.run.points;
    let mut text = format!("ORION VERSION {}\n\nCommandline:\n{}\n", report.version, report.command_line);
    // The point without any I/O counts as the first one where it is within the shape.
    let first = points.total - points.cells.len() + 1;
    for cell in report.cells {
        let _ = write!(text, "\nRunning point: Small={}, Large={}\n", cell.small, cell.large);
        if let Some(at) = points.cells.iter().position(|point| (point.small, point.large) == (cell.small, cell.large)) {
            let _ = writeln!(text, "Point {} out of {}", at + first, points.total);
        }
        for (name, figure) in
            [("Small IOPS", cell.iops), ("Large MBPS", cell.mbps), ("Small latency in usecs", cell.latency_us)]
        {
            if let Some(figure) = figure {
                let _ = writeln!(text, "{name}: {figure:.6}");
            }
        }
        for (name, latency) in [
            ("Small read", &cell.small_read),
            ("Small write", &cell.small_write),
            ("Large read", &cell.large_read),
            ("Large write", &cell.large_write),
        ] {
            if let Some(latency) = latency {
                let ios: u64 = latency.histogram.iter().map(|(_, count)| count).sum();
                let _ = writeln!(text, "{name}: {ios} IOs, {}", summary::statistics(latency));
            }
        }
    }
    text
}
