//! What one core needs opened: the plan as a driver sees it, without workloads or points.

use crate::plan::{CorePlan, Plan};

/// Queues, slots and permissions of one core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreOrder {
    /// The core's number, as the operating system counts.
    pub core: usize,
    /// Bytes of each slot's buffer.
    pub slot_bytes: Vec<u32>,
    /// For each target of the plan: most I/Os this core will have outstanding on it; 0 means it never uses it.
    pub depths: Vec<u32>,
    /// For each target of the plan: whether any of the plan's workloads writes to it.
    pub writes: Vec<bool>,
    /// Identities that were typed to allow writing.
    pub destroy: Vec<String>,
    /// Seed of whatever the driver makes up (buffer contents, service times).
    pub seed: u64,
}

impl CoreOrder {
    /// The order for `core` of `plan`: each lane has as many slots as its deepest point needs, lane after lane.
    #[must_use]
    pub fn of(plan: &Plan, core: &CorePlan) -> Self {
        let mut slot_bytes = Vec::new();
        let mut depths = vec![0u32; plan.targets.len()];
        for lane in &core.lanes {
            let workload = &plan.workloads[lane.workload];
            let slots = lane.depths.iter().copied().max().unwrap_or(0);
            let bytes = u32::try_from(workload.block_size.0).unwrap_or(u32::MAX);
            slot_bytes.extend(std::iter::repeat_n(bytes, slots as usize));
            for &position in &lane.targets {
                depths[workload.targets[position]] += slots;
            }
        }
        let mut writes = vec![false; plan.targets.len()];
        for workload in plan.workloads.iter().filter(|w| w.read_percent < 100.0) {
            for &target in &workload.targets {
                writes[target] = true;
            }
        }
        let seed = crate::workload::stream_seed(plan.seed, core.core, usize::MAX);
        Self { core: core.core, slot_bytes, depths, writes, destroy: plan.destroy.clone(), seed }
    }
}

/// Fills the slots' buffers with bytes that neither compress nor repeat, for what is written.
#[cfg(feature = "spdk")]
pub(super) fn fill_buffers(slots: &spdk_wrapper::slots::Slots, order: &CoreOrder) {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    let mut random = Xoshiro256PlusPlus::seed_from_u64(order.seed);
    for slot in 0..order.slot_bytes.len() {
        slots.fill(slot as u32, |_| random.next_u32() as u8);
    }
}
