//! A comparison as a section of the report's page.
//!
//! Owns the section and its chart of intervals. The page itself and its other charts are `report`'s.

use maud::{Markup, html};

use super::suites::found;
use super::text::{is_better, legend, value};
use super::{Cell, Comparison, LimitWord, Word};

/// The section, with a heading.
#[must_use]
pub fn section(comparison: &Comparison) -> Markup {
    html! {
        h2 id="comparison" { "Comparison" }
        ul class="notes" {
            @for note in &comparison.notes { li { (note) } }
            @for limit in &comparison.limits {
                li class=(match limit.word { LimitWord::Kept => "good", LimitWord::Broken => "bad", LimitWord::CannotTell => "" }) {
                    "Limit " (limit.limit) ": " b { (limit.word) } ", "
                    @if comparison.new.len() > 1 { (comparison.new[limit.side].label) ", " }
                    (limit.load) ": " (found(limit))
                }
            }
            @if comparison.notes.is_empty() && comparison.limits.is_empty() {
                li class="good" { "Nothing stands against comparing these runs." }
            }
        }
        @for (point, load) in comparison.points() { (table(comparison, point, load)) }
        p class="sub" { (legend(comparison)) "." }
    }
}

fn table(comparison: &Comparison, point: usize, load: &str) -> Markup {
    let figures = comparison.figures(point);
    let of_point = comparison.cells.iter().filter(|cell| cell.point == point);
    let scale = of_point.filter_map(|cell| cell.interval).map(|(low, high)| low.abs().max(high.abs()));
    let scale = scale.fold(comparison.resolution, f64::max).min(1.0);
    html! {
        h3 { (load) }
        div class="scroll" { table class="compare" {
            thead { tr { th class="w" {} @for figure in &figures { th { (figure) } } } }
            tbody {
                tr {
                    td class="w" { (comparison.base.label) }
                    @for figure in &figures {
                        td { @if let Some(cell) = (0..comparison.new.len()).find_map(|side| comparison.cell(point, side, figure)) {
                            (value(figure, cell.base))
                        } }
                    }
                }
                @for (side, info) in comparison.new.iter().enumerate() {
                    tr {
                        td class="w" { (info.label) }
                        @for figure in &figures { td { @if let Some(cell) = comparison.cell(point, side, figure) {
                            (self::cell(cell, scale, comparison.resolution))
                        } } }
                    }
                }
            }
        } }
    }
}

fn cell(cell: &Cell, scale: f64, resolution: f64) -> Markup {
    let class = match cell.word {
        Some(Word::Change) if is_better(cell) => "better",
        Some(Word::Change) => "worse",
        Some(Word::CannotTell { .. }) => "doubt",
        Some(Word::NoChange) | None => "same",
    };
    html! {
        (value(&cell.figure, cell.new)) br;
        b class=(class) { (format!("{:+.2} %", cell.change * 100.0)) }
        @if let (Some(word), Some(interval)) = (cell.word, cell.interval) {
            br; span class="sub" { (format!("{:+.2} to {:+.2} %", interval.0 * 100.0, interval.1 * 100.0)) }
            br; (bar(cell.change, interval, scale, resolution, class))
            span class=(class) { (word) }
        }
    }
}

/// The interval as a bar about zero, which the resolution's band surrounds.
fn bar(change: f64, (low, high): (f64, f64), scale: f64, resolution: f64, class: &str) -> Markup {
    const WIDTH: f64 = 120.0;
    let x = |share: f64| format!("{:.1}", WIDTH / 2.0 * (1.0 + (share / scale).clamp(-1.0, 1.0)));
    let told = format!("change {:+.2} %, {:+.2} to {:+.2} %", change * 100.0, low * 100.0, high * 100.0);
    html! {
        svg class={ "bar " (class) } viewBox={ "0 0 " (WIDTH) " 12" } width=(WIDTH) height="12" role="img" aria-label=(told) {
            line class="zero" x1=(x(0.0)) x2=(x(0.0)) y1="0" y2="12" {}
            line class="edge" x1=(x(-resolution)) x2=(x(-resolution)) y1="2" y2="10" {}
            line class="edge" x1=(x(resolution)) x2=(x(resolution)) y1="2" y2="10" {}
            line class="span" x1=(x(low)) x2=(x(high)) y1="6" y2="6" {}
            circle cx=(x(change)) cy="6" r="2.5" {}
        }
        br;
    }
}
