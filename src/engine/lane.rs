//! Where a core's I/Os come from: its lanes, and the short way for the one that needs none of the rest.
//!
//! Owns the generators for the length of a run: they go on through all points and never start again, or a later point
//! would find in the target's cache what an earlier one has read. Knows no driver.

use super::open_loop::OpenLoop;
use super::thinking::Thinking;
use crate::clock::Clock;
use crate::plan::{CorePlan, Lane, LaneBudget, Op, Plan};
use crate::units::Ticks;
use crate::workload::{Batch, Generator, NextIo, SoleBatch, Uniform, stream_seed};

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
    /// Whether the slots of any lane may think between two I/Os.
    const THINK: bool;
    /// Whether lanes come to an end of their own.
    const FINITE: bool = false;
    /// Whether the sizes of I/Os may be mixed, so that their blocks must be counted.
    const MIXED: bool;

    /// Most outstanding I/Os of each lane at a point; slots are numbered lane after lane, as in `driver::CoreOrder`.
    fn depths(&self, point: usize) -> Vec<u32>;

    /// Whether the blocks of I/Os must be counted, since sizes are mixed.
    fn are_mixed(&self) -> bool {
        false
    }

    /// A point begins at `start`.
    fn begin_point(&mut self, start: Ticks);

    /// A lane's next I/O, to be sent `now`.
    fn next_io(&mut self, lane: u32, now: Ticks) -> NextIo;

    /// Counts an I/O that a lane is about to draw; false once it has drawn all.
    #[inline(always)]
    fn may_draw(&mut self, _lane: u32) -> bool {
        true
    }

    /// By lane: I/Os that it has still to draw; empty where lanes have no end.
    fn left(&self) -> Vec<u64> {
        Vec::new()
    }

    /// What makes a lane an open loop; none for a closed one.
    #[inline(always)]
    fn open_loop(&mut self, _lane: u32) -> Option<&mut OpenLoop> {
        None
    }

    /// All open loops, with the number of their lane.
    #[inline(always)]
    fn open_loops(&mut self) -> impl Iterator<Item = (u32, &mut OpenLoop)> {
        std::iter::empty()
    }

    /// The slots of a lane that think; none where they never do.
    #[inline(always)]
    fn thinking(&mut self, _lane: u32) -> Option<&mut Thinking> {
        None
    }

    /// All lanes whose slots think, with the number of the lane.
    #[inline(always)]
    fn all_thinking(&mut self) -> impl Iterator<Item = (u32, &mut Thinking)> {
        std::iter::empty()
    }
}

/// Lanes of any kind; without `OPEN`, of closed loops only; without `THINK`, of such that never pause.
#[derive(Debug)]
pub(super) struct Lanes<const OPEN: bool, const THINK: bool>(Vec<AnyLane>);

#[derive(Debug)]
struct AnyLane {
    batch: Batch,
    open_loop: Option<OpenLoop>,
    thinking: Option<Thinking>,
    depths: Vec<u32>,
    /// Whether reads, or writes, have several sizes.
    mixed: bool,
}

/// One lane that reads, or writes, one target uniformly at random, in a closed loop.
#[derive(Debug)]
pub(super) struct UniformLane {
    generator: Uniform,
    depths: Vec<u32>,
}

/// One lane of I/Os that differ in their address only, in a closed loop.
#[derive(Debug)]
pub(super) struct SoleLane {
    batch: SoleBatch,
    depths: Vec<u32>,
}

/// The only lane of a core, a closed loop that never pauses, whose I/Os are of several kinds; `MIXED` if of several sizes.
#[derive(Debug)]
pub(super) struct OneLane<const MIXED: bool> {
    batch: Batch,
    depths: Vec<u32>,
}

/// Lanes of closed loops that each send so many I/Os and then no more.
#[derive(Debug)]
pub(super) struct BudgetLanes(Vec<BudgetLane>);

#[derive(Debug)]
struct BudgetLane {
    batch: Batch,
    depths: Vec<u32>,
    left: u64,
}

impl BudgetLanes {
    /// The lanes of `core`, the `index`-th of the plan; a lane without a budget sends nothing.
    pub(super) fn new(plan: &Plan, clock: &Clock, core: &CorePlan, index: usize) -> Self {
        let lane = |(number, lane): (usize, &Lane)| {
            let budget = lane.budget.unwrap_or(LaneBudget { skip: 0, ios: 0 });
            let seed = stream_seed(plan.seed, index, number);
            let mut generator = Generator::new(plan, lane, seed).on_clock(clock.ticks_per_s());
            generator.skip(budget.skip);
            BudgetLane { batch: Batch::new(generator), depths: lane.depths.clone(), left: budget.ios }
        };
        Self(core.lanes.iter().enumerate().map(lane).collect())
    }
}

impl Source for BudgetLanes {
    const OPEN: bool = false;
    const THINK: bool = false;
    const FINITE: bool = true;
    const MIXED: bool = false;

    fn depths(&self, point: usize) -> Vec<u32> {
        self.0.iter().map(|lane| lane.depths[point]).collect()
    }

    fn begin_point(&mut self, start: Ticks) {
        self.0.iter_mut().for_each(|lane| lane.batch.begin_point(start));
    }

    #[inline(always)]
    fn next_io(&mut self, lane: u32, now: Ticks) -> NextIo {
        self.0[lane as usize].batch.next_io(now)
    }

    #[inline(always)]
    fn may_draw(&mut self, lane: u32) -> bool {
        let left = &mut self.0[lane as usize].left;
        let more = *left > 0;
        *left -= u64::from(more);
        more
    }

    fn left(&self) -> Vec<u64> {
        self.0.iter().map(|lane| lane.left).collect()
    }
}

impl Lanes<true, true> {
    /// The lanes of `core`, the `index`-th of the plan.
    pub(super) fn all(plan: &Plan, clock: &Clock, core: &CorePlan, index: usize) -> Self {
        let lane = |(number, lane): (usize, &Lane)| AnyLane {
            batch: Batch::new(
                Generator::new(plan, lane, stream_seed(plan.seed, index, number)).on_clock(clock.ticks_per_s()),
            ),
            open_loop: OpenLoop::of(plan, clock, lane, (index, number)),
            thinking: Thinking::of(plan, clock, lane, (index, number)),
            depths: lane.depths.clone(),
            mixed: [Op::Read, Op::Write].iter().any(|op| plan.workloads[lane.workload].sizes_of(*op).only().is_none()),
        };
        Self(core.lanes.iter().enumerate().map(lane).collect())
    }

    /// The same I/Os by the short way, where that is possible.
    pub(super) fn uniform(&self) -> Option<UniformLane> {
        let [AnyLane { batch, open_loop: None, thinking: None, depths, .. }] = self.0.as_slice() else { return None };
        Some(UniformLane { generator: batch.generator().uniform()?, depths: depths.clone() })
    }

    /// The same I/Os by the next shorter way, where that is possible.
    pub(super) fn sole(&self) -> Option<SoleLane> {
        let [AnyLane { batch, open_loop: None, thinking: None, depths, .. }] = self.0.as_slice() else { return None };
        Some(SoleLane { batch: batch.sole()?, depths: depths.clone() })
    }

    /// The only lane, if it is one, and a closed loop that never pauses, with I/Os of one size or (`MIXED`) of several.
    pub(super) fn one<const MIXED: bool>(&self) -> Option<OneLane<MIXED>> {
        let [AnyLane { batch, open_loop: None, thinking: None, depths, mixed }] = self.0.as_slice() else {
            return None;
        };
        (*mixed == MIXED).then(|| OneLane { batch: batch.clone(), depths: depths.clone() })
    }

    /// The same without what open loops need, where there is none; else as they are.
    pub(super) fn closed(self) -> Result<Lanes<false, false>, Self> {
        let plain = |lane: &AnyLane| lane.open_loop.is_none() && lane.thinking.is_none();
        if self.0.iter().all(plain) { Ok(Lanes(self.0)) } else { Err(self) }
    }

    /// The same without what think times need, where there is none; else as they are.
    pub(super) fn restless(self) -> Result<Lanes<true, false>, Self> {
        if self.0.iter().all(|lane| lane.thinking.is_none()) { Ok(Lanes(self.0)) } else { Err(self) }
    }
}

impl<const OPEN: bool, const THINK: bool> Source for Lanes<OPEN, THINK> {
    const OPEN: bool = OPEN;
    const THINK: bool = THINK;
    const MIXED: bool = true;

    fn depths(&self, point: usize) -> Vec<u32> {
        self.0.iter().map(|lane| lane.depths[point]).collect()
    }

    fn are_mixed(&self) -> bool {
        self.0.iter().any(|lane| lane.mixed)
    }

    fn begin_point(&mut self, start: Ticks) {
        self.0.iter_mut().for_each(|lane| lane.batch.begin_point(start));
    }

    #[inline(always)]
    fn next_io(&mut self, lane: u32, now: Ticks) -> NextIo {
        self.0[lane as usize].batch.next_io(now)
    }

    #[inline(always)]
    fn open_loop(&mut self, lane: u32) -> Option<&mut OpenLoop> {
        if OPEN { self.0[lane as usize].open_loop.as_mut() } else { None }
    }

    #[inline(always)]
    fn open_loops(&mut self) -> impl Iterator<Item = (u32, &mut OpenLoop)> {
        (0..).zip(&mut self.0).filter_map(|(number, lane)| Some((number, lane.open_loop.as_mut()?)))
    }

    #[inline(always)]
    fn thinking(&mut self, lane: u32) -> Option<&mut Thinking> {
        if THINK { self.0[lane as usize].thinking.as_mut() } else { None }
    }

    #[inline(always)]
    fn all_thinking(&mut self) -> impl Iterator<Item = (u32, &mut Thinking)> {
        let lanes = if THINK { &mut self.0[..] } else { &mut [] };
        (0..).zip(lanes).filter_map(|(number, lane)| Some((number, lane.thinking.as_mut()?)))
    }
}

impl Source for UniformLane {
    const OPEN: bool = false;
    const THINK: bool = false;
    const MIXED: bool = false;

    fn depths(&self, point: usize) -> Vec<u32> {
        vec![self.depths[point]]
    }

    fn begin_point(&mut self, _start: Ticks) {}

    #[inline(always)]
    fn next_io(&mut self, _lane: u32, _now: Ticks) -> NextIo {
        self.generator.next_io()
    }
}

impl Source for SoleLane {
    const OPEN: bool = false;
    const THINK: bool = false;
    const MIXED: bool = false;

    fn depths(&self, point: usize) -> Vec<u32> {
        vec![self.depths[point]]
    }

    fn begin_point(&mut self, start: Ticks) {
        self.batch.begin_point(start);
    }

    #[inline(always)]
    fn next_io(&mut self, _lane: u32, now: Ticks) -> NextIo {
        self.batch.next_io(now)
    }
}

impl<const MIXED: bool> Source for OneLane<MIXED> {
    const OPEN: bool = false;
    const THINK: bool = false;
    const MIXED: bool = MIXED;

    fn depths(&self, point: usize) -> Vec<u32> {
        vec![self.depths[point]]
    }

    fn are_mixed(&self) -> bool {
        MIXED
    }

    fn begin_point(&mut self, start: Ticks) {
        self.batch.begin_point(start);
    }

    #[inline(always)]
    fn next_io(&mut self, _lane: u32, now: Ticks) -> NextIo {
        self.batch.next_io(now)
    }
}
