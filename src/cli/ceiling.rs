//! The generator's ceiling: the plan of a run, driven for a moment on Rigel's null driver before the targets.
//!
//! Owns what is left of the plan for that. Never fails a run: where it cannot be measured there is none.

use std::time::Duration;

use crate::clock::Clock;
use crate::driver::NullBackend;
use crate::engine::{RunControl, run};
use crate::facts::DeviceFacts;
use crate::plan::{CorePlan, Lane, Load, Plan, PointPlan, WorkloadPlan};
use crate::result::Headroom;

/// Time before the ceiling is measured.
const RAMP: Duration = Duration::from_millis(20);
/// Time for which it is measured.
const TIME: Duration = Duration::from_millis(200);

/// Measures the ceiling of `plan` on these targets; none for targets that are a ceiling or a clock of their own.
pub(super) fn measure(plan: &Plan, targets: &[DeviceFacts], clock: &Clock, control: &RunControl) -> Option<Headroom> {
    if targets.iter().any(|target| matches!(target.driver.as_str(), "null" | "sim")) {
        return None;
    }
    let points = run(&NullBackend::in_place_of(targets), &flat_out(plan), clock, control, &mut |_| {}).ok()?;
    let [point] = points.as_slice() else { return None };
    let completions: u64 = point.cells.iter().map(|cell| cell.service.count()).sum();
    let window_s = clock.ns(point.window.0 as f64) / 1e9;
    // What other programs take in these moments is no limit of the generator.
    let off_core = point.cores.iter().map(|core| core.off_core).sum::<f64>() / point.cores.len() as f64;
    let null_iops = completions as f64 / (window_s * (1.0 - off_core));
    (point.ended_early.is_none() && null_iops.is_finite() && null_iops > 0.0).then_some(Headroom { null_iops })
}

/// The plan as one short point: each lane a closed loop as deep as it ever gets, that never pauses.
fn flat_out(plan: &Plan) -> Plan {
    let lane = |lane: &Lane| Lane {
        depths: vec![lane.depths.iter().copied().max().unwrap_or(0)],
        arrivals: None,
        budget: None,
        ..lane.clone()
    };
    let cores: Vec<CorePlan> = plan
        .cores
        .iter()
        .map(|core| CorePlan { core: core.core, lanes: core.lanes.iter().map(lane).collect() })
        .collect();
    let of_workload = |number: usize| {
        let lanes = cores.iter().flat_map(|core| &core.lanes).filter(|lane| lane.workload == number);
        Load::Outstanding(lanes.map(|lane| lane.depths[0]).sum())
    };
    let loads = (0..plan.workloads.len()).map(of_workload).collect();
    let workloads =
        plan.workloads.iter().map(|workload| WorkloadPlan { think_time: None, ..workload.clone() }).collect();
    let points = vec![PointPlan { loads }];
    Plan { ramp: RAMP, time: TIME, interval: TIME, workloads, cores, points, ..plan.clone() }
}
