//! What one core needs opened for one point: the plan as a driver sees it, without workloads.

use crate::plan::{CorePlan, Plan};
use crate::workload::stream_seed;

/// Queues, slots and permissions of one core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreOrder {
    /// The core's number, as the operating system counts.
    pub core: usize,
    /// Bytes of each slot's buffer.
    pub slot_bytes: Vec<u32>,
    /// The slots lane by lane: how many, and the targets (of the plan) that their I/Os go to.
    pub lanes: Vec<(u32, Vec<usize>)>,
    /// For each target of the plan: most I/Os this core will have outstanding on it; 0 means it does not use it.
    pub depths: Vec<u32>,
    /// For each target of the plan: whether any of the plan's workloads writes to it.
    pub writes: Vec<bool>,
    /// Identities that were typed to allow writing.
    pub destroy: Vec<String>,
    /// Seed of whatever the driver makes up (buffer contents, service times).
    pub seed: u64,
}

impl CoreOrder {
    /// The order for `core` of `plan` at one point: each lane has as many slots as its depth there, lane after lane.
    #[must_use]
    pub fn of(plan: &Plan, core: &CorePlan, point: usize) -> Self {
        let mut slot_bytes = Vec::new();
        let mut lanes = Vec::new();
        let mut depths = vec![0u32; plan.targets.len()];
        for lane in &core.lanes {
            let workload = &plan.workloads[lane.workload];
            let slots = lane.depths[point];
            let bytes = u32::try_from(workload.block_size.0).unwrap_or(u32::MAX);
            slot_bytes.extend(std::iter::repeat_n(bytes, slots as usize));
            let targets: Vec<_> = lane.targets.iter().map(|&position| workload.targets[position]).collect();
            targets.iter().for_each(|&target| depths[target] += slots);
            lanes.push((slots, targets));
        }
        let mut writes = vec![false; plan.targets.len()];
        for workload in plan.workloads.iter().filter(|w| w.read_percent < 100.0) {
            for &target in &workload.targets {
                writes[target] = true;
            }
        }
        let seed = stream_seed(stream_seed(plan.seed, core.core, usize::MAX), point, 0);
        Self { core: core.core, slot_bytes, lanes, depths, writes, destroy: plan.destroy.clone(), seed }
    }

    /// For each slot, its number among those whose I/Os may go to `target`; none for the others.
    #[must_use]
    pub fn places(&self, target: usize) -> Vec<Option<u32>> {
        let mut next = 0..;
        let lane = |(slots, targets): &(u32, Vec<usize>)| {
            let touches = targets.contains(&target);
            (0..*slots).map(|_| if touches { next.next() } else { None }).collect::<Vec<_>>()
        };
        self.lanes.iter().flat_map(lane).collect()
    }

    /// Fills buffers with bytes that neither compress nor repeat, for what is written.
    #[cfg(feature = "spdk")]
    pub(super) fn fill(&self, buffers: &mut spdk_wrapper::slots::Buffers) {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{RngCore, SeedableRng};

        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        buffers.fill(|bytes| random.fill_bytes(bytes));
    }
}
