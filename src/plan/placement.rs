//! Placement: which cores run, and which of them keeps how much outstanding on which target.
//!
//! Owns the choice of cores and the division of depth. Every unit of load is placed exactly once.

use super::{CorePlan, Lane, LaneArrivals, Load, Op, OpenLoad, PlanError, PointPlan, WorkloadPlan};
use crate::facts::DeviceFacts;

/// The cores to run on, rising: those named, or else one for each target from the highest number down, leaving at least
/// one core to the system where there are several.
pub(super) fn choose_cores(
    named: Option<&[usize]>,
    available: &[usize],
    targets: usize,
) -> Result<Vec<usize>, PlanError> {
    let mut available = available.to_vec();
    available.sort_unstable();
    available.dedup();
    if available.is_empty() {
        return Err(PlanError::NoCores);
    }
    let Some(named) = named else {
        let count = targets.min(available.len() - 1).max(1);
        return Ok(available.split_off(available.len() - count));
    };
    let missing: Vec<usize> = named.iter().copied().filter(|core| !available.contains(core)).collect();
    if missing.is_empty() {
        return Ok(named.to_vec());
    }
    let plural = if missing.len() > 1 { "cores" } else { "core" };
    Err(PlanError::NoSuchCore {
        missing: format!("{plural} {}", ranges(&missing)),
        count: available.len(),
        available: ranges(&available),
    })
}

/// Memory for the buffers of an open loop whose limit the job does not state, in bytes.
const OPEN_BUFFERS_MAX: u64 = 256 << 20;

/// A load with the limit of an open loop filled in: the usual one, or as many as the targets take from these cores and as
/// [`OPEN_BUFFERS_MAX`] has room for, and one for each core at least.
pub(super) fn resolve_load(load: Load, workload: &WorkloadPlan, targets: &[DeviceFacts], cores: usize) -> Load {
    let Load::Rate(open @ OpenLoad { max_outstanding: None, .. }) = load else { return load };
    // What is written is sent from buffers of its own.
    let buffers = if workload.does(Op::Read) && workload.does(Op::Write) { 2 } else { 1 };
    let limits = workload.targets.iter().map(|&target| u64::from(targets[target].max_queue_depth));
    let takes = limits.filter(|limit| *limit > 0).min().map(|limit| limit * cores as u64);
    let most = u64::from(load.depth())
        .min(takes.unwrap_or(u64::MAX))
        .min(OPEN_BUFFERS_MAX / (workload.block_size.0.max(1) * buffers))
        .max(cores as u64);
    Load::Rate(OpenLoad { max_outstanding: Some(most as u32), ..open })
}

/// Deals each workload's load to the cores.
pub(super) fn place(cores: &[usize], workloads: &[WorkloadPlan], points: &[PointPlan]) -> Vec<CorePlan> {
    let mut plans: Vec<CorePlan> = cores.iter().map(|core| CorePlan { core: *core, lanes: Vec::new() }).collect();
    for (index, workload) in workloads.iter().enumerate() {
        let loads: Vec<Load> = points.iter().map(|point| point.loads[index]).collect();
        let on_each_target = matches!(loads.first(), Some(Load::QueueDepth(_))) && workload.volume.is_none();
        let positions = 0..workload.targets.len();
        let loads: Vec<Load> = loads.iter().map(|load| over_volume(*load, workload)).collect();
        if on_each_target {
            for position in positions {
                let sharers = sharers(position, workload.targets.len(), cores.len());
                divide(&mut plans, &sharers, index, &[position], &loads);
            }
        } else {
            let everyone: Vec<usize> = (0..cores.len()).collect();
            divide(&mut plans, &everyone, index, &positions.collect::<Vec<_>>(), &loads);
        }
    }
    plans
}

/// The load of a volume set: what would be outstanding on each of its targets may go to any of them.
fn over_volume(load: Load, workload: &WorkloadPlan) -> Load {
    match (load, workload.volume) {
        (Load::QueueDepth(depth), Some(_)) => Load::Outstanding(depth.saturating_mul(workload.targets.len() as u32)),
        _ => load,
    }
}

/// The cores, by position, that drive the target at `position`: one if there are enough targets, else several.
fn sharers(position: usize, targets: usize, cores: usize) -> Vec<usize> {
    if targets >= cores { vec![position % cores] } else { (position..cores).step_by(targets).collect() }
}

/// Divides a load evenly over cores, the first ones taking the remainder; a core that would never get any has no lane.
fn divide(plans: &mut [CorePlan], cores: &[usize], workload: usize, targets: &[usize], loads: &[Load]) {
    let depths: Vec<usize> = loads.iter().map(|load| load.depth() as usize).collect();
    let busy = depths.iter().copied().max().unwrap_or(0).min(cores.len());
    for (i, core) in cores.iter().take(busy).enumerate() {
        let share = |depth: &usize| (depth / cores.len() + usize::from(i < depth % cores.len())) as u32;
        plans[*core].lanes.push(Lane {
            workload,
            targets: targets.to_vec(),
            part: (i as u32, busy as u32),
            depths: depths.iter().map(share).collect(),
            arrivals: arrivals(loads, i, busy),
            budget: None,
        });
    }
}

/// What arrives at the `part`-th of `parts` lanes: an equal share, and evenly spread arrivals take turns.
fn arrivals(loads: &[Load], part: usize, parts: usize) -> Option<LaneArrivals> {
    let Some(Load::Rate(first)) = loads.first() else { return None };
    let rate = |load: &Load| match load {
        Load::Rate(open) => open.rate_per_s as f64 / parts as f64,
        Load::QueueDepth(_) | Load::Outstanding(_) => 0.0,
    };
    Some(LaneArrivals {
        spread: first.arrivals,
        rates_per_s: loads.iter().map(rate).collect(),
        offset: part as f64 / parts as f64,
    })
}

/// Queue pairs that a core needs to keep `depth` I/Os outstanding on a target whose queue pairs hold `queue_pair_depth`
/// each (0: no limit).
#[must_use]
pub fn queue_pairs(depth: u32, queue_pair_depth: u32) -> u32 {
    match (depth, queue_pair_depth) {
        (0, _) => 0,
        (_, 0) => 1,
        (depth, limit) => depth.div_ceil(limit),
    }
}

/// Refuses a plan in which a core keeps more outstanding on a target than the target takes from one core.
///
/// An I/O of an `outstanding` lane may go to any of its targets, so each of them must take the lane's whole depth.
pub(super) fn check_depths(
    cores: &[CorePlan],
    workloads: &[WorkloadPlan],
    points: usize,
    targets: &[DeviceFacts],
) -> Result<(), PlanError> {
    for core in cores {
        for (index, target) in targets.iter().enumerate().filter(|(_, target)| target.max_queue_depth > 0) {
            let touching: Vec<&Lane> = core.lanes.iter().filter(|lane| lane.touches(index, workloads)).collect();
            let depth_at = |point: usize| touching.iter().map(|lane| u64::from(lane.depths[point])).sum::<u64>();
            let depth = (0..points).map(depth_at).max().unwrap_or(0);
            if depth > u64::from(target.max_queue_depth) {
                let (core, max) = (core.core, target.max_queue_depth);
                return Err(PlanError::Depth { core, depth, uri: target.uri.clone(), max });
            }
        }
    }
    Ok(())
}

impl Lane {
    /// Whether it sends I/Os to a target of the plan.
    pub(super) fn touches(&self, target: usize, workloads: &[WorkloadPlan]) -> bool {
        self.targets.iter().any(|position| workloads[self.workload].targets[*position] == target)
    }
}

/// Numbers as `0-3, 7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(usize::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_cores_are_chosen_and_one_is_left_to_the_system() {
        let choose = |available: &[usize], targets| choose_cores(None, available, targets).unwrap();
        assert_eq!(choose(&[0, 1, 2, 3], 1), [3]);
        assert_eq!(choose(&[3, 1, 0, 2], 2), [2, 3]);
        assert_eq!(choose(&[0, 1], 8), [1]);
        assert_eq!(choose(&[0], 8), [0]);
        assert_eq!(choose_cores(None, &[], 1), Err(PlanError::NoCores));
    }

    #[test]
    fn every_core_has_a_target_and_every_target_a_core() {
        assert_eq!([0, 1, 2].map(|t| sharers(t, 3, 2)), [vec![0], vec![1], vec![0]]);
        assert_eq!([0, 1].map(|t| sharers(t, 2, 5)), [vec![0, 2, 4], vec![1, 3]]);
    }

    #[test]
    fn numbers_print_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 7]), "0-2, 7");
        assert_eq!(ranges(&[5]), "5");
    }
}
