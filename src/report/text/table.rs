//! The table at the end of a run.
//!
//! Owns its columns and how they are drawn. All figures stand in the result.

use comfy_table::presets::{ASCII_HORIZONTAL_ONLY, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table};

use super::headroom::verdicts;
use super::rows::{Row, by_point};
use super::{Style, ascii};
use crate::report::columns::{decimal, latencies};
use crate::result::{Latency, RunResult};
use crate::units::format_count;

/// The points of a run, one line each (three where reads and writes are mixed: both, reads, writes), and beneath them
/// what limited them and what a reader must know before trusting the figures. Ends with a line feed.
#[must_use]
pub fn table(result: &RunResult, style: Style) -> String {
    let mut out = String::new();
    if result.points.is_empty() {
        out.push_str("no point was measured\n");
    } else {
        out.push_str(&draw(&by_point(result), "workload", style));
    }
    out.push_str(&verdicts(result));
    for verdict in &result.verdicts {
        out.push_str(&format!("note: {verdict}\n"));
    }
    if style.unicode { out } else { ascii(&out) }
}

/// Draws `rows`, whose `of` stands under the heading `of`. Ends with a line feed.
pub(super) fn draw(rows: &[Row<'_>], of: &str, style: Style) -> String {
    let full = render(columns(rows, of, true), style);
    let widest = full.lines().map(visible_width).max().unwrap_or(0);
    match style.width {
        Some(width) if widest > usize::from(width) => render(columns(rows, of, false), style),
        _ => full,
    }
}

/// A column: heading, unit, cells, and whether it holds words (to the left) or figures (to the right).
struct Column {
    heading: String,
    unit: &'static str,
    cells: Vec<String>,
    words: bool,
}

/// A heading and the figure of a latency, in nanoseconds, that stands under it.
type LatencyFigure = (&'static str, fn(&Latency) -> f64);

fn columns(rows: &[Row<'_>], of: &str, with_mib: bool) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut push = |heading: &str, unit, words, cells| {
        columns.push(Column { heading: heading.to_owned(), unit, cells, words });
    };
    push("load", "", true, rows.iter().map(|row| row.load.clone()).collect());
    if rows.iter().any(|row| row.of != "all") {
        push(of, "", true, rows.iter().map(|row| row.of.clone()).collect());
    }
    push("op", "", true, rows.iter().map(|row| row.op.to_owned()).collect());
    push("IOPS", "", false, rows.iter().map(|row| decimal(row.iops, 0)).collect());
    push("MB/s", "", false, rows.iter().map(|row| decimal(row.bytes_per_s / 1e6, 1)).collect());
    if with_mib {
        push("MiB/s", "", false, rows.iter().map(|row| decimal(row.bytes_per_s / f64::from(1 << 20), 1)).collect());
    }
    let figures: [LatencyFigure; 6] = [
        ("mean", |l| l.mean_ns),
        ("p50", |l| l.p50_ns as f64),
        ("p99", |l| l.p99_ns as f64),
        ("p99.9", |l| l.p999_ns as f64),
        ("p99.99", |l| l.p9999_ns as f64),
        ("max", |l| l.max_ns as f64),
    ];
    for (heading, figure) in figures {
        let column = latencies(&rows.iter().map(|row| row.service.map(figure)).collect::<Vec<_>>());
        push(heading, column.unit, false, column.cells);
    }
    if rows.iter().any(|row| row.errors > 0) {
        push("errors", "", false, rows.iter().map(|row| format_count(row.errors)).collect());
    }
    columns
}

fn render(columns: Vec<Column>, style: Style) -> String {
    let mut table = Table::new();
    table.load_preset(if style.unicode { UTF8_HORIZONTAL_ONLY } else { ASCII_HORIZONTAL_ONLY });
    // Lines between the rows cost as much as the rows tell.
    table.remove_style(comfy_table::TableComponent::HorizontalLines);
    table.remove_style(comfy_table::TableComponent::MiddleIntersections);
    table.force_no_tty();
    if style.colour {
        table.enforce_styling();
    }
    let align = |column: &Column| if column.words { CellAlignment::Left } else { CellAlignment::Right };
    table.set_header(columns.iter().map(|column| {
        let heading = Cell::new(format!("{}\n{}", column.heading, column.unit)).set_alignment(align(column));
        if style.colour { heading.add_attribute(Attribute::Bold) } else { heading }
    }));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns.iter().map(|column| {
            let cell = Cell::new(&column.cells[row]).set_alignment(align(column));
            let alarm = style.colour && column.heading == "errors" && column.cells[row] != "0";
            if alarm { cell.fg(Color::Red) } else { cell }
        }));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Characters of `line` that take up room: all but escape sequences.
fn visible_width(line: &str) -> usize {
    let mut escaped = false;
    line.chars()
        .filter(|&c| {
            let visible = !escaped && c != '\u{1b}';
            escaped = if escaped { c != 'm' } else { c == '\u{1b}' };
            visible
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_take_no_room() {
        assert_eq!(visible_width("\u{1b}[1mIOPS\u{1b}[0m |"), 6);
    }
}
