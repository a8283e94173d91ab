//! The plan as a map for people: core → target → queue pair, printed before the first I/O.
//!
//! Owns the layout of those lines. Returns text; prints nothing.

use super::{CorePlan, Lane, Plan, queue_pairs};
use crate::facts::DeviceFacts;
use crate::units::Bytes;

/// Most targets and most placements that are listed; the rest is counted.
const TARGETS_MAX: usize = 8;
const PLACEMENTS_MAX: usize = 30;

/// The targets that were found, then each core with its targets, queue pairs and depths: a line each, at most 40.
#[must_use]
pub fn describe(plan: &Plan, targets: &[DeviceFacts]) -> String {
    let mut lines = cut(targets.iter().map(describe_target).collect(), TARGETS_MAX);
    let rows: Vec<[String; 4]> = plan.cores.iter().flat_map(|core| describe_core(plan, targets, core)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let aligned = rows.iter().map(|row| {
        let [core, target, queue_pair, depth] = row;
        let [a, b, c] = widths;
        format!("{core:a$}  {target:b$}  {queue_pair:c$}  {depth}").trim_end().to_owned()
    });
    lines.extend(cut(aligned.collect(), PLACEMENTS_MAX));
    lines.join("\n") + "\n"
}

fn describe_target(target: &DeviceFacts) -> String {
    let size = Bytes(target.blocks.saturating_mul(u64::from(target.block_size)));
    let known = [("", &target.model), ("serial ", &target.serial), ("firmware ", &target.firmware)];
    let known = known.iter().filter(|(_, value)| !value.trim().is_empty());
    let known: String = known.map(|(label, value)| format!("{label}{}, ", value.trim())).collect();
    format!("target {}: {known}{size}, LBA {}", target.uri, Bytes(u64::from(target.block_size)))
}

fn describe_core(plan: &Plan, targets: &[DeviceFacts], core: &CorePlan) -> Vec<[String; 4]> {
    let name = format!("core {}", core.core);
    if core.lanes.is_empty() {
        return vec![[name, "idle".to_owned(), String::new(), String::new()]];
    }
    let row = |lane: &Lane, position: usize| {
        let target = plan.workloads[lane.workload].targets[position];
        [
            name.clone(),
            plan.targets[target].clone(),
            queue_pairs_of(plan, targets, core, target),
            describe_depth(plan, lane),
        ]
    };
    core.lanes.iter().flat_map(|lane| lane.targets.iter().map(move |position| row(lane, *position))).collect()
}

/// A core's queue pairs among those of a target, from 1, in the order of the cores.
fn queue_pairs_of(plan: &Plan, targets: &[DeviceFacts], core: &CorePlan, target: usize) -> String {
    let limit = targets.get(target).map_or(0, |facts| facts.queue_pair_depth);
    let count = |core: &CorePlan| {
        let touching = core.lanes.iter().filter(|lane| lane.touches(target, &plan.workloads));
        queue_pairs(touching.map(|lane| lane.depths.iter().max().unwrap_or(&0)).sum(), limit)
    };
    let before: u32 = plan.cores.iter().take_while(|c| c.core != core.core).map(count).sum();
    match count(core) {
        0 | 1 => format!("queue pair {}", before + 1),
        more => format!("queue pairs {}-{}", before + 1, before + more),
    }
}

fn describe_depth(plan: &Plan, lane: &Lane) -> String {
    let (least, most) = (lane.depths.iter().min().unwrap_or(&0), lane.depths.iter().max().unwrap_or(&0));
    let depth = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let over = if lane.targets.len() > 1 { format!(" over {} targets", lane.targets.len()) } else { String::new() };
    let name = &plan.workloads[lane.workload].name;
    let think = plan.workloads[lane.workload].think_time;
    let think = think.map(|time| format!(", think time {time}")).unwrap_or_default();
    let Some(arrivals) = &lane.arrivals else { return format!("depth {depth}{over}{think} ({name})") };
    let rates = arrivals.rates_per_s.iter().copied();
    let (least, most) = (rates.clone().fold(f64::INFINITY, f64::min), rates.fold(0.0, f64::max));
    let rate = if least == most { format!("{most:.0}") } else { format!("{least:.0} to {most:.0}") };
    format!("{rate} arrivals/s, at most {depth} outstanding{over} ({name})")
}

fn cut(mut lines: Vec<String>, max: usize) -> Vec<String> {
    if lines.len() > max {
        let more = lines.len() - max;
        lines.truncate(max);
        lines.push(format!("… and {more} more"));
    }
    lines
}
