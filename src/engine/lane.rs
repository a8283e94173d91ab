//! Where a core's I/Os come from: its lanes, and the short way for the one that needs none of the rest.
//!
//! Owns the generators for the length of a run: they go on through all points and never start again, or a later point
//! would find in the target's cache what an earlier one has read. Knows no driver.

use super::open_loop::OpenLoop;
use crate::clock::Clock;
use crate::plan::{CorePlan, Lane, Plan};
use crate::workload::{Generator, NextIo, Uniform, stream_seed};

/// What the loop must know of an I/O when it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tag {
    /// Tick of submission.
    pub submitted: u64,
    /// Tick for which it was scheduled; in a closed loop that of submission.
    pub arrival: u64,
    /// Cell that its figures go to.
    pub cell: u32,
    /// Its lane on this core.
    pub lane: u32,
}

/// The lanes of a core. The loop is compiled once for each kind, so that none pays for what another one can.
pub(super) trait Source: Send {
    /// Whether any lane may be an open loop.
    const OPEN: bool;

    /// Most outstanding I/Os of each lane at a point; slots are numbered lane after lane, as in `driver::CoreOrder`.
    fn depths(&self, point: usize) -> Vec<u32>;

    /// A lane's next I/O.
    fn next_io(&mut self, lane: u32) -> NextIo;

    /// What makes a lane an open loop; none for a closed one.
    fn open_loop(&mut self, lane: u32) -> Option<&mut OpenLoop>;

    /// All open loops, with the number of their lane.
    fn open_loops(&mut self) -> impl Iterator<Item = (u32, &mut OpenLoop)>;
}

/// Lanes of any kind.
#[derive(Debug)]
pub(super) struct Lanes(Vec<AnyLane>);

#[derive(Debug)]
struct AnyLane {
    generator: Generator,
    open_loop: Option<OpenLoop>,
    depths: Vec<u32>,
}

/// One lane that reads, or writes, one target uniformly at random, in a closed loop.
#[derive(Debug)]
pub(super) struct UniformLane {
    generator: Uniform,
    depths: Vec<u32>,
}

impl Lanes {
    /// The lanes of `core`, the `index`-th of the plan.
    pub(super) fn all(plan: &Plan, clock: &Clock, core: &CorePlan, index: usize) -> Self {
        let lane = |(number, lane): (usize, &Lane)| AnyLane {
            generator: Generator::new(plan, lane, stream_seed(plan.seed, index, number)),
            open_loop: OpenLoop::of(plan, clock, lane, (index, number)),
            depths: lane.depths.clone(),
        };
        Self(core.lanes.iter().enumerate().map(lane).collect())
    }

    /// The same I/Os by the short way, where that is possible.
    pub(super) fn uniform(&self) -> Option<UniformLane> {
        let [AnyLane { generator, open_loop: None, depths }] = self.0.as_slice() else { return None };
        Some(UniformLane { generator: generator.uniform()?, depths: depths.clone() })
    }
}

impl Source for Lanes {
    const OPEN: bool = true;

    fn depths(&self, point: usize) -> Vec<u32> {
        self.0.iter().map(|lane| lane.depths[point]).collect()
    }

    #[inline(always)]
    fn next_io(&mut self, lane: u32) -> NextIo {
        self.0[lane as usize].generator.next_io()
    }

    #[inline(always)]
    fn open_loop(&mut self, lane: u32) -> Option<&mut OpenLoop> {
        self.0[lane as usize].open_loop.as_mut()
    }

    #[inline(always)]
    fn open_loops(&mut self) -> impl Iterator<Item = (u32, &mut OpenLoop)> {
        (0..).zip(&mut self.0).filter_map(|(number, lane)| Some((number, lane.open_loop.as_mut()?)))
    }
}

impl Source for UniformLane {
    const OPEN: bool = false;

    fn depths(&self, point: usize) -> Vec<u32> {
        vec![self.depths[point]]
    }

    #[inline(always)]
    fn next_io(&mut self, _lane: u32) -> NextIo {
        self.generator.next_io()
    }

    #[inline(always)]
    fn open_loop(&mut self, _lane: u32) -> Option<&mut OpenLoop> {
        None
    }

    #[inline(always)]
    fn open_loops(&mut self) -> impl Iterator<Item = (u32, &mut OpenLoop)> {
        std::iter::empty()
    }
}
