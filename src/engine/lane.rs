//! A lane at work: its slots, its generator, and where its figures go. Owns the way from a plan's lane to numbers that
//! the loop can index with; knows no driver.

use crate::driver::{Io, Slot};
use crate::plan::{CorePlan, Op, Plan};
use crate::workload::{Generator, stream_seed};

/// What the loop keeps of each slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlotState {
    /// Tick of submission.
    pub submitted: u64,
    /// Cell that its I/O's figures go to.
    pub cell: u32,
    /// The slot's lane on this core.
    pub lane: u32,
}

/// One lane of one core.
#[derive(Debug)]
pub(super) struct LaneState {
    generator: Generator,
    /// Cell of reads to the workload's first target; others follow (`Plan::cell`).
    first_cell: u32,
    /// Plan indices of the workload's targets.
    targets: Vec<u32>,
    /// First of its slots.
    pub first_slot: Slot,
    /// Outstanding I/Os at each point.
    pub depths: Vec<u32>,
}

impl LaneState {
    /// The lanes of `core`, the `index`-th of the plan, and the state of all their slots; slots are numbered as in
    /// `driver::CoreOrder`.
    pub(super) fn all(plan: &Plan, core: &CorePlan, index: usize) -> (Vec<Self>, Vec<SlotState>) {
        let mut slots = Vec::new();
        let mut lanes = Vec::new();
        for (number, lane) in core.lanes.iter().enumerate() {
            let first_slot = slots.len() as Slot;
            let count = lane.depths.iter().copied().max().unwrap_or(0) as usize;
            slots.extend(std::iter::repeat_n(SlotState { lane: number as u32, ..SlotState::default() }, count));
            lanes.push(Self {
                generator: Generator::new(plan, lane, stream_seed(plan.seed, index, number)),
                first_cell: plan.cell(lane.workload, 0, Op::Read) as u32,
                targets: plan.workloads[lane.workload].targets.iter().map(|&t| t as u32).collect(),
                first_slot,
                depths: lane.depths.clone(),
            });
        }
        (lanes, slots)
    }

    /// The lane's next I/O in `slot`, and the cell of its figures.
    #[inline(always)]
    pub(super) fn next(&mut self, slot: Slot) -> (Io, u32) {
        let next = self.generator.next_io();
        let cell = self.first_cell + next.position as u32 * 2 + u32::from(next.op == Op::Write);
        let target = self.targets[next.position];
        (Io { slot, target, op: next.op, lba: next.lba, blocks: next.blocks }, cell)
    }
}
