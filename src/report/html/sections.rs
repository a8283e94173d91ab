//! The words and tables of the report. Owns their order and wording; every figure stands in the results.

use maud::{Markup, html};

use super::Source;
use crate::report::accepted;
use crate::report::chart::Unit;
use crate::report::columns::decimal;
use crate::report::text::{bounds, payload_asked, payload_found};
use crate::result::{Accepted, Figures, OpFigures, PointResult, RunResult};
use crate::units::{Bytes, format_count, format_duration, format_latency};

/// The title of the page.
pub(super) fn title(sources: &[Source<'_>]) -> String {
    let names: Vec<_> = sources.iter().map(|source| source.label.as_str()).collect();
    names.join(" · ")
}

/// Name and time of each result, with its headline unless the page has another.
pub(super) fn head(title: &str, sources: &[Source<'_>], headlines: bool) -> Markup {
    html! {
        header {
            h1 { (title) }
            @for (index, source) in sources.iter().enumerate() {
                @let result = source.result;
                p class="sub" {
                    @if sources.len() > 1 { span class={ "key k" (index % 8) } {} b { (source.label) } ": " }
                    (result.started_at) ", " (result.facts.host.hostname) ", Rigel " (result.tool.version)
                    @if !result.tool.spdk.is_empty() { ", SPDK " (result.tool.spdk) }
                }
                @if headlines { (headline(result)) }
            }
        }
    }
}

/// The point of most IOPS, in tiles.
fn headline(result: &RunResult) -> Markup {
    let best = result.points.iter().max_by(|a, b| a.total.iops.total_cmp(&b.total.iops));
    html! {
        @match best {
            None => { p { "No point was measured." } }
            Some(point) => {
                div class="headline" {
                    (tile(&decimal(point.total.iops, 0), &format!("IOPS, the most reached, at {}", point.label())))
                    (tile(&format!("{} MB/s", decimal(point.total.bytes_per_s / 1e6, 0)), "bandwidth there"))
                    @for (op, figures) in point.total.ops() {
                        @if let Some(latency) = figures.latency() {
                            (tile(&format_latency(latency.mean_ns), &format!("mean {op} latency there")))
                            (tile(&format_latency(latency.p99_ns as f64), &format!("p99 {op} latency there")))
                        }
                    }
                }
            }
        }
    }
}

fn tile(figure: &str, what: &str) -> Markup {
    html! { div class="tile" { b { (figure) } span { (what) } } }
}

/// What was to hold, and whether it did.
pub(super) fn acceptances(sources: &[Source<'_>]) -> Markup {
    html! {
        @if sources.iter().any(|source| !source.result.acceptances.is_empty()) {
            h2 id="acceptance" { "Acceptance" }
            ul class="notes" {
                @for source in sources {
                    @let label = if sources.len() > 1 { format!("{}: ", source.label) } else { String::new() };
                    @for acceptance in &source.result.acceptances {
                        @let class = if acceptance.outcome == Accepted::Passed { "good" } else { "bad" };
                        li class=(class) { (label) (accepted::sentence(acceptance)) }
                    }
                }
            }
        }
    }
}

/// What stands against the figures, or that nothing does.
pub(super) fn verdicts(sources: &[Source<'_>]) -> Markup {
    html! {
        ul class="notes" {
            @for source in sources {
                @let label = if sources.len() > 1 { format!("{}: ", source.label) } else { String::new() };
                @if source.result.verdicts.is_empty() {
                    li class="good" { (label) "All checks passed: nothing stands against these figures." }
                }
                @for verdict in &source.result.verdicts { li { (label) (verdict) } }
                @for bound in bounds(source.result).lines() { li class="bound" { (label) (bound) } }
            }
        }
    }
}

/// The table of all points.
pub(super) fn figures(sources: &[Source<'_>]) -> Markup {
    html! {
        h2 id="figures" { "Figures" }
        @for source in sources {
            @if sources.len() > 1 { h3 { (source.label) } }
            div class="scroll" {
                table {
                    (heading("load"))
                    tbody {
                        @for point in &source.result.points {
                            (rows(&point.label(), &point.total))
                            @if point.workloads.len() > 1 {
                                @for workload in &point.workloads { (rows(&workload.name, &workload.figures)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn heading(first: &str) -> Markup {
    html! {
        thead { tr {
            th class="w" { (first) } th class="w" { "op" } th { "IOPS" } th { "MB/s" } th { "MiB/s" }
            th { "mean" } th { "p50" } th { "p99" } th { "p99.9" } th { "p99.99" } th { "max" } th { "errors" }
        } }
    }
}

fn rows(name: &str, figures: &Figures) -> Markup {
    let used: Vec<_> = figures.ops().filter(|(_, op)| op.completions + op.errors > 0).collect();
    html! {
        @if used.len() != 1 {
            tr {
                td class="w" { (name) } td class="w" { "all" }
                (rates(figures.iops, figures.bytes_per_s))
                td {} td {} td {} td {} td {} td {}
                td { (format_count(figures.errors)) }
            }
        }
        @for (op, of) in &used { (row(name, op.name(), of, used.len() > 1)) }
    }
}

fn row(name: &str, op: &str, figures: &OpFigures, again: bool) -> Markup {
    html! {
        @let latencies = [("", figures.service.as_ref()), (" response", figures.response.as_ref())];
        @for (number, (kind, latency)) in latencies.into_iter().enumerate() {
            @if number == 0 || latency.is_some() {
                tr class=[(again || number > 0).then_some("again")] {
                    td class="w" { (name) } td class="w" { (op) (kind) }
                    (rates(figures.iops, figures.bytes_per_s))
                    @match latency {
                        None => { td {} td {} td {} td {} td {} td {} }
                        Some(l) => {
                            td { (format_latency(l.mean_ns)) }
                            @for ns in [l.p50_ns, l.p99_ns, l.p999_ns, l.p9999_ns, l.max_ns] {
                                td { (format_latency(ns as f64)) }
                            }
                        }
                    }
                    td { (format_count(figures.errors)) }
                }
            }
        }
    }
}

fn rates(iops: f64, bytes_per_s: f64) -> Markup {
    html! {
        td { (decimal(iops, 0)) }
        td { (decimal(bytes_per_s / 1e6, 1)) }
        td { (decimal(bytes_per_s / f64::from(1 << 20), 1)) }
    }
}

/// By target, by core, errors: folded, for those who look closer.
pub(super) fn details(sources: &[Source<'_>]) -> Markup {
    html! {
        h2 id="details" { "In detail" }
        @for source in sources {
            @if sources.len() > 1 { h3 { (source.label) } }
            @if source.result.plan.targets.len() > 1 {
                details { summary { "By target" } div class="scroll" { table {
                    (heading("target"))
                    tbody { @for point in &source.result.points { (targets(source.result, point)) } }
                } } }
            }
            details { summary { "By core" } div class="scroll" { table {
                thead { tr {
                    th class="w" { "load" } th { "core" } th { "busy" } th { "taken away" } th { "longest poll gap" } th { "polls" }
                    th { "I/Os a tick" } th { "waits for a full queue" }
                } }
                tbody { @for point in &source.result.points { @for core in &point.cores { tr {
                    td class="w" { (point.label()) } td { (core.core) } td { (decimal(core.busy * 100.0, 1)) " %" }
                    td { (decimal(core.off_core * 100.0, 1)) " %" }
                    td { (format_latency(core.poll_gap_max_ns as f64)) } td { (format_count(core.polls)) }
                    td { (core.completions_per_tick) } td { (format_count(core.back_pressure)) }
                } } } }
            } } }
            @if source.result.points.iter().any(|point| !point.errors.is_empty()) {
                details open { summary { "Errors" } div class="scroll" { table {
                    thead { tr {
                        th class="w" { "load" } th class="w" { "workload" } th class="w" { "target" } th class="w" { "op" }
                        th class="w" { "status" } th { "count" }
                    } }
                    tbody { @for point in &source.result.points { @for error in &point.errors { tr {
                        td class="w" { (point.label()) } td class="w" { (error.workload) } td class="w wrap" { (error.target) }
                        td class="w" { (format!("{:?}", error.op).to_lowercase()) } td class="w" { (error.status) }
                        td { (format_count(error.count)) }
                    } } } }
                } } }
            }
        }
    }
}

fn targets(result: &RunResult, point: &PointResult) -> Markup {
    html! {
        @for workload in &point.workloads { @for target in &workload.targets {
            @let index = result.plan.targets.iter().position(|uri| *uri == target.uri).unwrap_or(0);
            (rows(&format!("{} [{index}] {}", point.label(), workload.name), &target.figures))
        } }
    }
}

/// Host, devices, job, and the command to repeat it.
pub(super) fn set_up(sources: &[Source<'_>]) -> Markup {
    html! {
        h2 id="set-up" { "Set-up" }
        @for source in sources {
            @let result = source.result;
            @let (host, plan) = (&result.facts.host, &result.plan);
            @if sources.len() > 1 { h3 { (source.label) } }
            dl {
                dt { "host" } dd { (host.hostname) ", " (host.cpu) ", " (Unit::Count.write(host.cores.len() as f64)) " cores, "
                    (host.memory_bytes >> 30) " GiB, " (host.kernel) }
                dt { "clock" } dd { (host.clock) ", " (format_count(host.ticks_per_s)) " ticks/s" }
                @if let Some(headroom) = &result.headroom {
                    dt { "ceiling" } dd { (format_count(headroom.null_iops.round() as u64)) " IOPS of this plan on the null driver" }
                }
                @for (index, target) in result.facts.targets.iter().enumerate() {
                    dt { "target [" (index) "]" }
                    dd {
                        (target.uri) br;
                        (target.model) @if !target.serial.is_empty() { ", serial " (target.serial) }
                        @if !target.firmware.is_empty() { ", firmware " (target.firmware) }
                        ", " (Bytes(target.blocks.saturating_mul(u64::from(target.block_size)))) ", LBA "
                        (Bytes(u64::from(target.block_size)))
                    }
                }
                dt { "each point" } dd { "ramp " (format_duration(plan.ramp)) ", window " (format_duration(plan.time))
                    ", intervals of " (format_duration(plan.interval)) ", seed " (plan.seed) }
                @for workload in &plan.workloads {
                    @if let Some(payload) = &workload.payload {
                        dt { "payload of " (workload.name) } dd { (payload_asked(payload)) }
                    }
                }
                dt { "cores" } dd { (plan.cores.iter().map(|core| core.core.to_string()).collect::<Vec<_>>().join(", ")) }
                dt { "repeat it" } dd { code { (result.command.join(" ")) } }
            }
            @if !result.payload.is_empty() {
                details { summary { "Payload, as compressors found it" } pre { (payload_found(result)) } }
            }
            details { summary { "Job" } pre { (job(result)) } }
        }
        p class="sub" { "What each figure means: docs/method.md of Rigel. Latencies are exact to 0.1 %; every I/O is in them." }
    }
}

/// The job as a job file would say it.
fn job(result: &RunResult) -> String {
    toml::to_string(&result.job).unwrap_or_else(|_| result.job.to_string())
}
