//! A lane at work: its slots, its generator, and where its figures go. Owns the way from a plan's lane to numbers that
//! the loop can index with; knows no driver.

use crate::driver::Io;
use crate::plan::{CorePlan, Lane, Op, Plan};
use crate::workload::{Generator, NextIo, stream_seed};

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
    /// Outstanding I/Os at each point.
    depths: Vec<u32>,
}

impl LaneState {
    /// The lanes of `core`, the `index`-th of the plan. They go through all points: a generator never starts again, or
    /// a later point would find in the target's cache what an earlier one has read.
    pub(super) fn all(plan: &Plan, core: &CorePlan, index: usize) -> Vec<Self> {
        let lane = |(number, lane): (usize, &Lane)| Self {
            generator: Generator::new(plan, lane, stream_seed(plan.seed, index, number)),
            depths: lane.depths.clone(),
        };
        core.lanes.iter().enumerate().map(lane).collect()
    }

    /// The slots of all lanes at a point, numbered as in `driver::CoreOrder`.
    pub(super) fn slots(lanes: &[Self], point: usize) -> Vec<SlotState> {
        let of_lane = |(number, lane): (usize, &Self)| {
            let slot = SlotState { lane: number as u32, ..SlotState::default() };
            std::iter::repeat_n(slot, lane.depths[point] as usize)
        };
        lanes.iter().enumerate().flat_map(of_lane).collect()
    }

    /// The lane's next I/O in `slot`, and the cell of its figures.
    #[inline(always)]
    pub(super) fn next(&mut self, slot: u32) -> (Io, u32) {
        let NextIo { target, cell, op, lba, blocks } = self.generator.next_io();
        (Io { slot, target, write: op == Op::Write, lba: lba.0, blocks }, cell)
    }
}
