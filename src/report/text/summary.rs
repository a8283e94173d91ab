//! `summary.txt`: the run on a page, for mail and tickets.
//!
//! Owns its order and wording. ASCII only, since nobody knows where it will be read.

use super::checks::{arrivals, checks};
use super::headroom;
use super::payload;
use super::rows::by_target;
use super::table::{draw, table};
use super::{Style, ascii, search};
use crate::plan::{Plan, WorkloadPlan};
use crate::report::columns::decimal;
use crate::report::curve::{STABILITY, knee, stability};
use crate::result::{CurveResult, PointResult, RunResult};
use crate::units::{format_count, format_duration, format_latency};

/// The whole run as plain text: set-up, targets, plan, figures, arrivals, cores and checks.
#[must_use]
pub fn summary(result: &RunResult) -> String {
    let mut out = String::new();
    head(&mut out, result);
    host(&mut out, result);
    targets(&mut out, result);
    plan(&mut out, &result.plan);
    if !result.payload.is_empty() {
        section(&mut out, "Payload");
        out.push_str(&payload::found(result));
    }
    section(&mut out, "Figures of the window");
    out.push_str(&table(result, Style::plain()));
    if !result.search.is_empty() {
        section(&mut out, "Search");
        out.push_str(&search::trace(result));
    }
    if result.plan.targets.len() > 1 && !result.points.is_empty() {
        section(&mut out, "By target");
        out.push_str(&draw(&by_target(result), "workload", Style::plain()));
    }
    if !result.curves.is_empty() {
        section(&mut out, "Against load");
        result.curves.iter().for_each(|curve| against_load(&mut out, curve));
    }
    if result.points.iter().any(|point| !point.checks.arrivals.is_empty()) {
        section(&mut out, "Arrivals in the window");
        for (index, point) in result.points.iter().enumerate() {
            arrivals(&mut out, index, point);
        }
    }
    section(&mut out, "Footprint");
    for (index, point) in result.points.iter().enumerate() {
        footprint(&mut out, index, point);
    }
    section(&mut out, "Cores in the window");
    for (index, point) in result.points.iter().enumerate() {
        cores(&mut out, index, point);
    }
    section(&mut out, "Headroom");
    out.push_str(&headroom::headroom(result));
    let host = headroom::host(result);
    if !host.is_empty() {
        section(&mut out, "Host in the window");
        out.push_str(&host);
    }
    section(&mut out, "Checks");
    for (index, point) in result.points.iter().enumerate() {
        checks(&mut out, index, point);
    }
    ascii(&out)
}

fn section(out: &mut String, title: &str) {
    line!(out, "\n{title}");
}

fn head(out: &mut String, result: &RunResult) {
    let tool = &result.tool;
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
    line!(out, "{} {}, commit {}, SPDK {}", tool.name, tool.version, or(&tool.git, "unknown"), or(&tool.spdk, "none"));
    if let Some(name) = result.job.get("name").and_then(|name| name.as_str()) {
        line!(out, "job      {name}");
    }
    line!(out, "started  {}", result.started_at);
    line!(out, "command  {}", result.command.join(" "));
}

fn host(out: &mut String, result: &RunResult) {
    let host = &result.facts.host;
    section(out, "Host");
    line!(out, "  {}, {}, {}", host.hostname, host.kernel, host.cpu);
    let memory = decimal(host.memory_bytes as f64 / f64::from(1 << 30), 1);
    let mhz = decimal(host.ticks_per_s as f64 / 1e6, 3);
    line!(out, "  {} cores, {memory} GiB, clock {} at {mhz} MHz", host.cores.len(), host.clock);
    if let Some(clock) = &result.clock {
        line!(out, "  clock {}", headroom::clock(clock));
    }
}

fn targets(out: &mut String, result: &RunResult) {
    section(out, "Targets");
    for (index, target) in result.facts.targets.iter().enumerate() {
        let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        let bytes = u128::from(target.blocks) * u128::from(target.block_size);
        line!(out, "  [{index}] {} ({})", target.uri, target.driver);
        let (model, serial, firmware) = (or_none(&target.model), or_none(&target.serial), or_none(&target.firmware));
        line!(out, "      model {model}, serial {serial}, firmware {firmware}");
        let (blocks, gb) = (format_count(target.blocks), decimal(bytes as f64 / 1e9, 3));
        line!(out, "      {blocks} blocks of {} bytes ({gb} GB)", target.block_size);
    }
}

fn plan(out: &mut String, plan: &Plan) {
    section(out, "Plan");
    let [ramp, time, interval] = [plan.ramp, plan.time, plan.interval].map(format_duration);
    line!(out, "  ramp {ramp}, time {time}, interval {interval}, seed {}", plan.seed);
    for (index, workload) in plan.workloads.iter().enumerate() {
        self::workload(out, plan, index, workload);
    }
    for core in &plan.cores {
        for lane in &core.lanes {
            let workload = &plan.workloads[lane.workload];
            let targets: Vec<usize> = lane.targets.iter().map(|&position| workload.targets[position]).collect();
            let depths: Vec<String> = lane.depths.iter().map(u32::to_string).collect();
            line!(
                out,
                "  core {}: {} on {}, outstanding {}",
                core.core,
                workload.name,
                list(&targets),
                depths.join(", ")
            );
        }
    }
    if !plan.destroy.is_empty() {
        line!(out, "  writing allowed by identity: {}", plan.destroy.join(", "));
    }
}

fn workload(out: &mut String, plan: &Plan, index: usize, workload: &WorkloadPlan) {
    let (size, access, mix) = (workload.sizes_text(), &workload.access, workload.mix_text());
    line!(out, "  workload {}: {size} {access}, {mix}, on {}", workload.name, list(&workload.targets));
    for (region, &target) in workload.regions.iter().zip(&workload.targets) {
        let (first, blocks) = (format_count(region.first_block), format_count(region.blocks));
        line!(out, "      region of [{target}]: {blocks} blocks from block {first}");
    }
    if let Some(payload) = &workload.payload {
        line!(out, "      writes carry {}", payload::asked(payload));
    }
    let loads: Vec<String> = plan.points.iter().filter_map(|p| p.loads.get(index)).map(ToString::to_string).collect();
    line!(out, "      load at each point: {}", loads.join(", "));
}

/// Targets by their index in the result: `[0] [1]`.
fn list(targets: &[usize]) -> String {
    targets.iter().map(|target| format!("[{target}]")).collect::<Vec<_>>().join(" ")
}

fn against_load(out: &mut String, curve: &CurveResult) {
    let series = if curve.series.is_empty() { String::new() } else { format!("{}: ", curve.series) };
    line!(out, "  {series}{} loads, {} points; {}", curve.loads, curve.points, knee(curve));
    let rows = stability(curve);
    if !rows.is_empty() {
        for [figure, median, worst, rough] in std::iter::once(STABILITY.map(str::to_owned)).chain(rows) {
            line!(out, "      {figure:<20} {median:>15} {worst:>9} {rough:>10}");
        }
    }
}

fn footprint(out: &mut String, index: usize, point: &PointResult) {
    for workload in &point.workloads {
        let Some(found) = &workload.footprint else { continue };
        let gb = |bytes: u64| decimal(bytes as f64 / 1e9, 3);
        line!(
            out,
            "  point {} ({}) {}: {} of {} GB touched ({:.2} %), {:.1} % of the I/Os to a place for the first time, {:.2} I/Os a \
             place",
            index + 1,
            point.label(),
            workload.name,
            gb(found.touched_bytes),
            gb(found.region_bytes),
            found.touched_share * 100.0,
            found.first_share * 100.0,
            found.ios_per_place
        );
    }
}

fn cores(out: &mut String, index: usize, point: &PointResult) {
    for core in &point.cores {
        line!(
            out,
            "  point {} ({}) core {}: busy {:.1} %, off core {:.1} %, longest poll gap {}, {} polls, {} waits for a full queue",
            index + 1,
            point.label(),
            core.core,
            core.busy * 100.0,
            core.off_core * 100.0,
            format_latency(core.poll_gap_max_ns as f64),
            format_count(core.polls),
            format_count(core.back_pressure)
        );
    }
}
