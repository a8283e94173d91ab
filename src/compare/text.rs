//! A comparison for people who read text.
//!
//! Owns its order: what stands against it, the limits, then for each point a table with figures as columns, the base in
//! the first row and each side below it with its change, interval and word.

use comfy_table::{Attribute, Cell as TableCell, CellAlignment, Color};

use super::suites::found;
use super::{Cell, Comparison, Design, LimitWord, Word};
use crate::report::columns::decimal;
use crate::report::text::{Style, ascii, drawn, frame};
use crate::spec::{Figure, Measure};
use crate::units::format_latency;

/// Widest column of a table, in characters; tells how many fit beside each other.
const COLUMN: usize = 21;
/// Columns beside each other where any width will do.
const COLUMNS: usize = 6;

/// The whole comparison. Ends with a line feed.
#[must_use]
pub fn text(comparison: &Comparison, style: Style) -> String {
    let mut out = String::new();
    for note in &comparison.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    for limit in &comparison.limits {
        let word = match limit.word {
            LimitWord::Broken => "BROKEN",
            LimitWord::Kept => "kept",
            LimitWord::CannotTell => "cannot tell",
        };
        let of =
            if comparison.new.len() > 1 { format!("{}, ", comparison.new[limit.side].label) } else { String::new() };
        out.push_str(&format!("limit {}: {word}, {of}{}: {}\n", limit.limit, limit.load, found(limit)));
    }
    for (point, load) in comparison.points() {
        out.push_str(&format!("\n{load}\n"));
        let figures = comparison.figures(point);
        let room = style.width.map_or(COLUMNS, |width| (usize::from(width).saturating_sub(COLUMN) / COLUMN).max(1));
        for chunk in figures.chunks(room) {
            out.push_str(&table(comparison, point, chunk, style));
        }
    }
    out.push_str(&format!("\n{}\n", legend(comparison)));
    if style.unicode { out } else { ascii(&out) }
}

fn table(comparison: &Comparison, point: usize, figures: &[&Figure], style: Style) -> String {
    let mut table = frame(style);
    let right = |text: String| TableCell::new(text).set_alignment(CellAlignment::Right);
    let bold = |cell: TableCell| if style.colour { cell.add_attribute(Attribute::Bold) } else { cell };
    let heads = figures.iter().map(|figure| bold(right(figure.to_string())));
    table.set_header(std::iter::once(TableCell::new("")).chain(heads));
    let base = figures.iter().map(|figure| {
        let cell = (0..comparison.new.len()).find_map(|side| comparison.cell(point, side, figure));
        right(cell.map_or_else(|| "-".to_owned(), |cell| value(&cell.figure, cell.base)))
    });
    table.add_row(std::iter::once(TableCell::new(&comparison.base.label)).chain(base));
    for (side, info) in comparison.new.iter().enumerate() {
        let cells = figures.iter().map(|figure| match comparison.cell(point, side, figure) {
            None => right("-".to_owned()),
            Some(cell) => {
                let colour = colour(cell).filter(|_| style.colour);
                let shown = right(lines(cell));
                colour.map_or_else(|| shown.clone(), |colour| shown.clone().fg(colour))
            }
        });
        table.add_row(std::iter::once(TableCell::new(&info.label)).chain(cells));
    }
    drawn(&table)
}

/// Value, change, interval and word, one beneath the other.
fn lines(cell: &Cell) -> String {
    let mut lines = vec![value(&cell.figure, cell.new), format!("{:+.2} %", cell.change * 100.0)];
    if let Some(word) = cell.word {
        if let Some((low, high)) = cell.interval {
            lines.push(format!("{:+.2} to {:+.2} %", low * 100.0, high * 100.0));
        }
        match word {
            Word::CannotTell { more } => {
                lines.push("cannot tell".to_owned());
                lines.extend(more.map(|more| format!("(needs {more} more)")));
            }
            Word::Change => lines.push(format!("change, {}", if is_better(cell) { "better" } else { "worse" })),
            Word::NoChange => lines.push(word.to_string()),
        }
    }
    lines.join("\n")
}

/// Whether the change is in the direction that people want.
pub(super) fn is_better(cell: &Cell) -> bool {
    (cell.change > 0.0) == cell.figure.measure.more_is_better()
}

fn colour(cell: &Cell) -> Option<Color> {
    match cell.word? {
        Word::Change if is_better(cell) => Some(Color::Green),
        Word::Change => Some(Color::Red),
        Word::CannotTell { .. } => Some(Color::Yellow),
        Word::NoChange => None,
    }
}

/// A figure's value with its unit.
pub(super) fn value(figure: &Figure, value: f64) -> String {
    match figure.measure {
        Measure::Iops | Measure::Errors => decimal(value, if value < 100.0 { 1 } else { 0 }),
        Measure::BytesPerS => decimal(value / 1e6, 1),
        Measure::Mean | Measure::Percentile(_) | Measure::Max => format_latency(value),
        Measure::Cpu => format!("{} %", decimal(value, 1)),
    }
}

/// What was done to come to these words.
pub(super) fn legend(comparison: &Comparison) -> String {
    let runs = |info: &super::SideInfo| match info.started_at.len() {
        1 => format!("{} (1 run)", info.label),
        n => format!("{} ({n} runs)", info.label),
    };
    let new: Vec<String> = comparison.new.iter().map(runs).collect();
    let how = match comparison.design {
        Design::Paired => format!("{} pairs", comparison.base.started_at.len()),
        Design::Unpaired => format!("{} against {}", new.join(", "), runs(&comparison.base)),
    };
    let assumed = comparison.assumed_spread;
    let assumed = assumed.map(|spread| format!("; if runs differ by {:.1} %", spread * 100.0)).unwrap_or_default();
    format!(
        "{how}{assumed}; intervals hold the true change with {:.0} % confidence; false alarms over a table of one side {:.1} \
         % at most; no change: less than {:.1} % either way",
        comparison.confidence * 100.0,
        comparison.false_alarms * 100.0,
        comparison.resolution * 100.0
    )
}
