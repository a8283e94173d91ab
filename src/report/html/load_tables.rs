//! What stands above the charts over load: what was searched for, the knee of each curve and how erratic it is.
//!
//! Owns the table's layout; its words are those of every report.

use maud::{Markup, html};

use super::Source;
use crate::report::columns::decimal;
use crate::report::curve::{STABILITY, knee, stability};
use crate::report::text::outcome;
use crate::result::CurveResult;
use crate::units::format_count;

/// What was searched for: the answer of each search, and every load that it tried.
pub(super) fn searches(sources: &[Source<'_>]) -> Markup {
    html! {
        @if sources.iter().any(|source| !source.result.search.is_empty()) {
            h2 id="search" { "Search" }
            @for source in sources {
                @let label = if sources.len() > 1 { format!("{}: ", source.label) } else { String::new() };
                @for search in &source.result.search {
                    p { (label) (search.says) }
                    details { summary { "The loads that were tried" } div class="scroll" { table {
                        thead { tr {
                            @for head in ["point", "load", "outcome", "of the limit", "why"] { th class="w" { (head) } }
                        } }
                        tbody { @for tried in &search.tried { tr {
                            td { (tried.point + 1) } td { (format_count(tried.load)) }
                            td class="w" { (outcome(tried)) }
                            td { (tried.of_limit.map(|share| format!("{} %", decimal(share * 100.0, 1))).unwrap_or_default()) }
                            td class="w wrap" { (tried.reason.as_deref().unwrap_or_default()) }
                        } } }
                    } } }
                }
            }
        }
    }
}

/// The knees as sentences, the stability as a table; nothing for results that tell of no curve.
pub(super) fn curves(sources: &[Source<'_>]) -> Markup {
    let all = || sources.iter().flat_map(|source| source.result.curves.iter().map(move |curve| (source, curve)));
    let label = |source: &Source<'_>, curve: &CurveResult| match (sources.len(), curve.series.as_str()) {
        (1, series) => series.to_owned(),
        (_, "") => source.label.clone(),
        (_, series) => format!("{}, {series}", source.label),
    };
    let named = all().any(|(source, curve)| !label(source, curve).is_empty());
    html! {
        @if all().next().is_some() {
            ul class="notes" {
                @for (source, curve) in all() {
                    @let label = label(source, curve);
                    li class="bound" { @if !label.is_empty() { (label) ": " } (knee(curve)) }
                }
            }
        }
        @if all().any(|(_, curve)| !curve.stability.is_empty()) {
            div class="scroll" { table id="stability" {
                thead { tr {
                    @if named { th class="w" { "curve" } }
                    @for (number, head) in STABILITY.into_iter().enumerate() {
                        th class=[(number == 0).then_some("w")] { (head) }
                    }
                } }
                tbody { @for (source, curve) in all() { @for row in stability(curve) { tr {
                    @if named { td class="w" { (label(source, curve)) } }
                    @for (number, cell) in row.iter().enumerate() {
                        td class=[(number == 0).then_some("w")] { (cell) }
                    }
                } } } }
            } }
        }
    }
}
