//! What a workload touched at a point, from the engine's counts.
//!
//! Owns the sum over targets. What a pattern touches is known to `workload`.

use super::point::Footprint;
use crate::clock::Clock;
use crate::engine::record::PointFigures;
use crate::plan::{Op, Plan};
use crate::workload::coverage;

/// The footprint of the `number`-th workload.
pub(super) fn footprint(plan: &Plan, clock: &Clock, figures: &PointFigures, number: usize) -> Footprint {
    let workload = &plan.workloads[number];
    let time_s = plan.ramp.as_secs_f64() + clock.ns(figures.window.0 as f64) / 1e9;
    let (mut ios, mut first, mut touched, mut region_bytes) = (0, 0.0, 0.0, 0);
    let count = |positions: std::ops::Range<usize>| {
        // A flush has no address.
        let ops = workload.ops().into_iter().filter(|op| *op != Op::Flush);
        let of_op = |op: Op| {
            let phases = [&figures.ramp, &figures.cells, &figures.drain];
            let cells = positions.clone().map(|position| plan.cell(number, position, op));
            let count = |cell: usize| phases.iter().map(|cells| cells[cell].service.count()).sum::<u64>();
            (op, cells.map(count).sum::<u64>())
        };
        ops.map(of_op).collect::<Vec<_>>()
    };
    let all = 0..workload.targets.len();
    // A volume set is one target to its generator.
    let parts: Vec<_> = match workload.volume {
        Some(_) => vec![(0, count(all))],
        None => all.map(|position| (position, count(position..position + 1))).collect(),
    };
    for (position, of_op) in parts {
        let target = workload.targets[position];
        let here = coverage(plan, number, position, &of_op, time_s);
        let lba_bytes = u64::from(plan.lba_bytes[target]);
        ios += of_op.iter().map(|(_, ios)| ios).sum::<u64>();
        first += here.first_ios;
        touched += here.touched_blocks * lba_bytes as f64;
        region_bytes += here.region_blocks * lba_bytes;
    }
    let share = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 0.0 };
    Footprint {
        ios,
        region_bytes,
        touched_bytes: touched.round() as u64,
        touched_share: share(touched, region_bytes as f64),
        first_share: share(first, ios as f64),
        ios_per_place: if first > 0.0 { (ios as f64 / first).max(1.0) } else { 0.0 },
    }
}
