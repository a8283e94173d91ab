//! The section on what was run beside the load: how each event went, and the figures around it with their change.

use maud::{Markup, html};

use super::Source;
use crate::report::columns::{NONE, decimal};
use crate::report::events::{latency, ops, parts, state};
use crate::result::{EventResult, Latency, OpFigures};
use crate::units::format_latency;

/// Takes a latency.
type Of = fn(&Latency) -> f64;

const LATENCIES: [(&str, Of); 5] = [
    ("mean", |l| l.mean_ns),
    ("p50", |l| l.p50_ns as f64),
    ("p99", |l| l.p99_ns as f64),
    ("p99.9", |l| l.p999_ns as f64),
    ("max", |l| l.max_ns as f64),
];

/// The events of all results; nothing without any.
pub(super) fn section(sources: &[Source<'_>]) -> Markup {
    let points = || sources.iter().flat_map(|source| source.result.points.iter().map(move |point| (source, point)));
    html! {
        @if points().any(|(_, point)| !point.events.is_empty()) {
            h2 id="events" { "Events" }
            p { "Each figure with its change from before the event." }
            @for (source, point) in points() {
                @for event in &point.events {
                    h3 { (event.label) @if sources.len() > 1 { ", " (source.label) } ", " (point.load.to_string()) }
                    p { (state(event)) ": " code { (event.run) } }
                    @if let Some(trouble) = &event.outcome.trouble { p { (trouble) } }
                    (figures(event))
                    @if !event.outcome.output.is_empty() {
                        details { summary { "output" } pre { (event.outcome.output) } }
                    }
                }
            }
        }
    }
}

fn figures(event: &EventResult) -> Markup {
    html! {
        table {
            thead { tr {
                th { "part" } th { "op" } th { "s" } th { "IOPS" } th { "MB/s" }
                @for (name, _) in LATENCIES { th { (name) } }
                th { "I/Os" } th { "errors" }
            } }
            tbody {
                @for (part, figures) in parts(event) {
                    @if let Some(figures) = figures {
                        @for (op, now) in ops(&figures.figures) {
                            @let before = event.before.as_ref().filter(|_| part != "before");
                            @let before = before.and_then(|b| ops(&b.figures).find(|(name, _)| *name == op)).map(|(_, op)| op);
                            tr {
                                td { (part) } td { (op) } td { (decimal(figures.seconds, 3)) }
                                td { (decimal(now.iops, 0)) (change(now.iops, before.map(|op| op.iops))) }
                                td {
                                    (decimal(now.bytes_per_s / 1e6, 1))
                                    (change(now.bytes_per_s, before.map(|op| op.bytes_per_s)))
                                }
                                @for (_, of) in LATENCIES { td { (latency_cell(now, before, of)) } }
                                td { (now.completions) } td { (now.errors) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn latency_cell(now: &OpFigures, before: Option<&OpFigures>, of: Of) -> String {
    let Some(now) = latency(now).map(of) else { return NONE.to_owned() };
    format!("{}{}", format_latency(now), change(now, before.and_then(latency).map(of)))
}

/// ` (+3.0 %)`; empty where there is nothing to compare with.
fn change(now: f64, before: Option<f64>) -> String {
    let before = before.filter(|before| *before > 0.0);
    before.map_or_else(String::new, |before| format!(" ({:+.1} %)", (now / before - 1.0) * 100.0))
}
