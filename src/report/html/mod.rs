//! The report: one page that needs nothing else, opens offline and prints.
//!
//! Owns its order: what was found first, then the curves, then what they were made of. Every figure stands in the
//! results; nothing is fetched, and no script is needed to read it.

mod curves;
mod events;
mod load_tables;
mod over_load;
mod over_time;
mod sections;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use curves::Named;

use crate::report::chart::{self, STYLE};
use crate::result::RunResult;
use crate::result::series::Series;

/// One result of a report.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// What it is called beside others.
    pub label: String,
    /// The result.
    pub result: &'a RunResult,
    /// Its intervals, where they are at hand.
    pub series: Option<&'a Series>,
}

const PAGE_STYLE: &str = include_str!("page.css");

/// The page over one or several results, which share its charts.
#[must_use]
pub fn page(sources: &[Source<'_>]) -> String {
    page_led_by(None, sources)
}

/// The same with a section of its own before the figures, and the title that goes with it.
#[must_use]
pub fn page_led_by(lead: Option<(&str, Markup)>, sources: &[Source<'_>]) -> String {
    let (title, lead) = match lead {
        Some((title, lead)) => (title.to_owned(), Some(lead)),
        None => (sections::title(sources), None),
    };
    let over_load = over_load::over_load(sources);
    let distributions = curves::distributions(sources);
    let over_time = over_time(sources);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(PAGE_STYLE)) }
            }
            body {
                (sections::head(&title, sources, lead.is_none()))
                main {
                    @if let Some(lead) = &lead { (lead) }
                    (sections::acceptances(sources))
                    (sections::verdicts(sources))
                    (load_tables::searches(sources))
                    (sections::figures(sources))
                    @if !over_load.is_empty() {
                        h2 id="load" { "Against load" }
                        (load_tables::curves(sources))
                        (figures_of(&over_load))
                    }
                    @if !distributions.is_empty() {
                        h2 id="distributions" { "Distributions" }
                        (figures_of(&distributions))
                    }
                    @for (index, (label, charts)) in over_time.iter().enumerate() {
                        h2 id={ "time-" (index) } { "Over time" @if sources.len() > 1 { ": " (label) } }
                        (figures_of(charts))
                    }
                    (events::section(sources))
                    (sections::details(sources))
                    (sections::set_up(sources))
                }
            }
        }
    };
    page.into_string()
}

/// All charts of the page, for files of their own.
#[must_use]
pub fn charts(sources: &[Source<'_>]) -> Vec<Named> {
    let mut charts = over_load::over_load(sources);
    charts.extend(curves::distributions(sources));
    charts.extend(over_time(sources).into_iter().flat_map(|(_, charts)| charts));
    charts
}

/// The charts over time of each result that has its intervals, with its label.
fn over_time(sources: &[Source<'_>]) -> Vec<(String, Vec<Named>)> {
    let of = |(index, source): (usize, &Source<'_>)| {
        let mut charts = over_time::over_time(source.series?, &source.result.points);
        if sources.len() > 1 {
            charts.iter_mut().for_each(|named| named.id = format!("{}-{}", named.id, index + 1));
        }
        Some((source.label.clone(), charts))
    };
    sources.iter().enumerate().filter_map(of).collect()
}

fn figures_of(charts: &[Named]) -> Markup {
    html! {
        div class="charts" { @for named in charts { (figure(named)) } }
    }
}

/// A chart with its title; where outliers would ruin it, without them, and with them at a click.
fn figure(Named { id, chart }: &Named) -> Markup {
    let usual = chart::svg(chart, false, false);
    let full = chart.has_outliers().then(|| chart::svg(chart, true, false));
    html! {
        figure id=(id) {
            figcaption { (chart.title) }
            @if let Some(full) = full {
                input type="checkbox" id={ (id) "-full" };
                label for={ (id) "-full" } { "full range" }
                div class="usual" { (PreEscaped(usual)) }
                div class="full" { (PreEscaped(full)) }
            } @else {
                (PreEscaped(usual))
            }
        }
    }
}
