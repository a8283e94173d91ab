//! What one core needs opened for one point: the plan as a driver sees it, without workloads.

use crate::plan::{CorePlan, Op, Plan, WorkloadPlan};
use crate::workload::payload::{ROTATION_BYTES, Recipe};
use crate::workload::stream_seed;

/// Bytes of a slot's buffer that nothing is read into.
#[cfg(feature = "spdk")]
const INCOMING_UNUSED_BYTES: u32 = 4096;

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
    /// For each target of the plan: whether any of the plan's workloads changes what it holds.
    pub writes: Vec<bool>,
    /// For each target of the plan: whether any of the plan's workloads flushes it.
    pub flushes: Vec<bool>,
    /// Identities that were typed to allow writing.
    pub destroy: Vec<String>,
    /// What writes send. Without it they send what their slot's buffer holds.
    pub outgoing: Vec<StockOrder>,
    /// Seed of whatever the driver makes up (service times).
    pub seed: u64,
}

/// Most memory for buffers beyond those of the slots. Where it holds fewer buffers than there are slots, each slot has its
/// own only.
const RING_BYTES_MAX: u32 = 16 << 20;

/// Buffers that the writes of one workload are sent from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockOrder {
    /// Slots with a buffer here.
    pub slots: Vec<u32>,
    /// Bytes of each buffer.
    pub bytes: u32,
    /// Buffers beyond those of the slots, which writes go through in turn; a power of two, or 0.
    pub ring: u32,
    /// Whether the slots are read into as well.
    pub reads: bool,
    /// What the buffers are filled with.
    pub recipe: Recipe,
    /// Seed of the filler.
    pub seed: u64,
}

impl CoreOrder {
    /// The order for `core` of `plan` at one point: each lane has as many slots as its depth there, lane after lane.
    #[must_use]
    pub fn of(plan: &Plan, core: &CorePlan, point: usize) -> Self {
        let mut slot_bytes = Vec::new();
        let mut lanes = Vec::new();
        let mut depths = vec![0u32; plan.targets.len()];
        let mut slots_of = vec![Vec::new(); plan.workloads.len()];
        for lane in &core.lanes {
            let workload = &plan.workloads[lane.workload];
            let slots = lane.depths[point];
            let bytes = u32::try_from(workload.block_size.0).unwrap_or(u32::MAX);
            let first = slot_bytes.len() as u32;
            slots_of[lane.workload].extend(first..first + slots);
            slot_bytes.extend(std::iter::repeat_n(bytes, slots as usize));
            let targets: Vec<_> = lane.targets.iter().map(|&position| workload.targets[position]).collect();
            targets.iter().for_each(|&target| depths[target] += slots);
            lanes.push((slots, targets));
        }
        let on_targets = |does: fn(&WorkloadPlan) -> bool| -> Vec<bool> {
            let touches = |target| plan.workloads.iter().any(|w| does(w) && w.targets.contains(&target));
            (0..plan.targets.len()).map(touches).collect()
        };
        let writes = on_targets(WorkloadPlan::destroys);
        let flushes = on_targets(|workload| workload.does(Op::Flush));
        let seed = stream_seed(stream_seed(plan.seed, core.core, usize::MAX), point, 0);
        let stock = |(workload, slots)| StockOrder::of(plan, workload, slots, seed);
        let outgoing = slots_of.into_iter().enumerate().filter_map(stock).collect();
        let destroy = plan.destroy.clone();
        Self { core: core.core, slot_bytes, lanes, depths, writes, flushes, destroy, outgoing, seed }
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

    /// Bytes of each slot's buffer for reads: one block where there are none.
    #[cfg(feature = "spdk")]
    pub(super) fn incoming_bytes(&self) -> Vec<u32> {
        let mut bytes = self.slot_bytes.clone();
        for slot in self.outgoing.iter().filter(|stock| !stock.reads).flat_map(|stock| &stock.slots) {
            bytes[*slot as usize] = bytes[*slot as usize].min(INCOMING_UNUSED_BYTES);
        }
        bytes
    }
}

impl StockOrder {
    /// The buffers of a workload; none of one that only reads.
    fn of(plan: &Plan, workload: usize, slots: Vec<u32>, seed: u64) -> Option<Self> {
        let planned = &plan.workloads[workload];
        if slots.is_empty() || !planned.does(Op::Write) {
            return None;
        }
        let recipe = Recipe::of(plan, workload)?;
        let bytes = u32::try_from(planned.block_size.0).unwrap_or(u32::MAX).max(1);
        // As many as make up what differs, and so many that one hardly comes round again before its write has ended; where
        // that is too much memory, as many as there is room for.
        let most = (RING_BYTES_MAX / bytes).max(1).ilog2();
        let ring = (ROTATION_BYTES / bytes).max(16 * slots.len() as u32).next_power_of_two().min(1 << most);
        let ring = if recipe.takes_turns() && ring > slots.len() as u32 { ring } else { 0 };
        let reads = planned.does(Op::Read);
        Some(Self { slots, bytes, ring, reads, recipe, seed: stream_seed(seed, workload, 1) })
    }
}
