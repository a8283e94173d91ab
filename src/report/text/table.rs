//! The table at the end of a run.
//!
//! Owns its columns and how they are drawn. All figures stand in the result.

use comfy_table::presets::{ASCII_HORIZONTAL_ONLY, UTF8_HORIZONTAL_ONLY};
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table};

use super::events::events;
use super::headroom::verdicts;
use super::rows::{FAILED, Rates, Row, UNSTEADY, by_point};
use super::{Style, ascii, search};
use crate::report::accepted;
use crate::report::columns::{decimal, latencies};
use crate::result::{Latency, RunResult};
use crate::units::format_count;

/// The points of a run, one line each (three where reads and writes are mixed: both, reads, writes; one more for each
/// response latency), and beneath them what limited them, what was to hold, and what a reader must know before trusting the figures. Ends with a line feed.
#[must_use]
pub fn table(result: &RunResult, style: Style) -> String {
    let mut out = String::new();
    if result.points.is_empty() {
        out.push_str("no point was measured\n");
    } else {
        let rows = by_point(result);
        out.push_str(&draw(&rows, "workload", style));
        out.push_str(&legend(&rows));
    }
    out.push_str(&events(result, style));
    out.push_str(&verdicts(result));
    out.push_str(&search::found(result));
    out.push_str(&acceptances(result));
    for verdict in &result.verdicts {
        out.push_str(&format!("note: {verdict}\n"));
    }
    if style.unicode { out } else { ascii(&out) }
}

/// A line for each thing that was to hold.
#[must_use]
pub fn acceptances(result: &RunResult) -> String {
    result.acceptances.iter().map(|acceptance| format!("{}\n", accepted::sentence(acceptance))).collect()
}

/// What the signs in these rows mean; empty when there is none.
fn legend(rows: &[Row<'_>]) -> String {
    let marked = |sign: &str| rows.iter().any(|row| row.load.ends_with(sign));
    let meanings = [
        (
            rows.iter().any(Row::is_response),
            "resp: response latency, from the scheduled arrival; the line above it: from the submission",
        ),
        (marked(FAILED), "!: a check failed or the point is incomplete, see the notes"),
        (marked(UNSTEADY), "~: not in a steady state, see the notes"),
    ];
    meanings.iter().filter(|(there, _)| *there).map(|(_, meaning)| format!(" {meaning}\n")).collect()
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
    let rates = |cell: &dyn Fn(&Rates) -> String| -> Vec<String> {
        rows.iter().map(|row| row.rates.as_ref().map(cell).unwrap_or_default()).collect()
    };
    push("IOPS", "", false, rates(&|row| decimal(row.iops, 0)));
    push("MB/s", "", false, rates(&|row| decimal(row.bytes_per_s / 1e6, 1)));
    if with_mib {
        push("MiB/s", "", false, rates(&|row| decimal(row.bytes_per_s / f64::from(1 << 20), 1)));
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
        let column = latencies(&rows.iter().map(|row| row.latency.map(figure)).collect::<Vec<_>>());
        push(heading, column.unit, false, column.cells);
    }
    if rows.iter().filter_map(|row| row.rates.as_ref()).any(|row| row.errors > 0) {
        push("errors", "", false, rates(&|row| format_count(row.errors)));
    }
    columns
}

/// A table without rows yet, as all of them look.
pub(crate) fn frame(style: Style) -> Table {
    let mut table = Table::new();
    table.load_preset(if style.unicode { UTF8_HORIZONTAL_ONLY } else { ASCII_HORIZONTAL_ONLY });
    // Lines between the rows cost as much as the rows tell.
    table.remove_style(comfy_table::TableComponent::HorizontalLines);
    table.remove_style(comfy_table::TableComponent::MiddleIntersections);
    table.force_no_tty();
    if style.colour {
        table.enforce_styling();
    }
    table
}

/// A table drawn, each line with a line feed.
pub(crate) fn drawn(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn render(columns: Vec<Column>, style: Style) -> String {
    let mut table = frame(style);
    let align = |column: &Column| if column.words { CellAlignment::Left } else { CellAlignment::Right };
    table.set_header(columns.iter().map(|column| {
        let heading = Cell::new(format!("{}\n{}", column.heading, column.unit)).set_alignment(align(column));
        if style.colour { heading.add_attribute(Attribute::Bold) } else { heading }
    }));
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns.iter().map(|column| {
            let cell = Cell::new(&column.cells[row]).set_alignment(align(column));
            let alarm = style.colour && column.heading == "errors" && !["0", ""].contains(&column.cells[row].as_str());
            if alarm { cell.fg(Color::Red) } else { cell }
        }));
    }
    drawn(&table)
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
