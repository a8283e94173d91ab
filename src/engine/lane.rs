//! Where a core's I/Os come from: its lanes, and the short way for the one that needs none of the rest.
//!
//! Owns the generators for the length of a run: they go on through all points and never start again, or a later point
//! would find in the target's cache what an earlier one has read. Knows no driver.

use crate::plan::{CorePlan, Lane, Plan};
use crate::workload::{Generator, NextIo, Uniform, stream_seed};

/// What the loop must know of an I/O when it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tag {
    /// Tick of submission.
    pub submitted: u64,
    /// Cell that its figures go to.
    pub cell: u32,
    /// Its lane on this core.
    pub lane: u32,
}

/// The lanes of a core. The loop is compiled once for each kind, so that none pays for what another one can.
pub(super) trait Source: Send {
    /// Outstanding I/Os of each lane at a point; slots are numbered lane after lane, as in `driver::CoreOrder`.
    fn depths(&self, point: usize) -> Vec<u32>;

    /// A lane's next I/O.
    fn next_io(&mut self, lane: u32) -> NextIo;
}

/// Lanes of any kind.
#[derive(Debug)]
pub(super) struct Lanes(Vec<(Generator, Vec<u32>)>);

/// One lane that reads, or writes, one target uniformly at random.
#[derive(Debug)]
pub(super) struct UniformLane(Uniform, Vec<u32>);

impl Lanes {
    /// The lanes of `core`, the `index`-th of the plan.
    pub(super) fn all(plan: &Plan, core: &CorePlan, index: usize) -> Self {
        let lane = |(number, lane): (usize, &Lane)| {
            (Generator::new(plan, lane, stream_seed(plan.seed, index, number)), lane.depths.clone())
        };
        Self(core.lanes.iter().enumerate().map(lane).collect())
    }

    /// The same I/Os in the short way, where that is possible.
    pub(super) fn uniform(&self) -> Option<UniformLane> {
        let [(generator, depths)] = self.0.as_slice() else { return None };
        Some(UniformLane(generator.uniform()?, depths.clone()))
    }
}

impl Source for Lanes {
    fn depths(&self, point: usize) -> Vec<u32> {
        self.0.iter().map(|(_, depths)| depths[point]).collect()
    }

    #[inline(always)]
    fn next_io(&mut self, lane: u32) -> NextIo {
        self.0[lane as usize].0.next_io()
    }
}

impl Source for UniformLane {
    fn depths(&self, point: usize) -> Vec<u32> {
        vec![self.1[point]]
    }

    #[inline(always)]
    fn next_io(&mut self, _lane: u32) -> NextIo {
        self.0.next_io()
    }
}
