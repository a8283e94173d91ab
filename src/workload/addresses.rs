//! The generator of a lane's I/Os: the mix of reads and writes, of targets and of sizes, and an address for each.
//!
//! Owns the order in which random numbers are drawn for an I/O: direction, target, size, place; what there is only one of
//! costs none.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::number::below;
use super::pick::Pick;
use super::places::{EvenBlocks, Orders, PermutedBlocks, Places, SoleUnevenBlocks, StreamBlocks, Uneven, UnevenBlocks};
use super::volume::{self, Layout};
use crate::plan::{Access, Lane, Op, Plan};
use crate::units::{Lba, Ticks};

/// One I/O to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextIo {
    /// Index of the target in the plan.
    pub target: u32,
    /// Cell that its figures go to (`Plan::cell`).
    pub cell: u32,
    /// What it does.
    pub op: Op,
    /// First block.
    pub lba: Lba,
    /// Number of blocks, at least 1.
    pub blocks: u32,
}

/// Makes the I/Os of one lane, one after the other, without end.
#[derive(Debug, Clone)]
pub struct Generator {
    random: Xoroshiro128PlusPlus,
    pick: Pick,
    places: Vec<Places>,
    orders: Orders,
    /// The first I/O of each of the places, by each operation: the others differ in their address only.
    kinds: Vec<NextIo>,
    access: Access,
    /// Where the addresses lie, if the targets are one address space; `places` and `orders` are then that of it.
    layout: Option<Layout>,
    /// The target of such a set that was flushed last.
    flushed: u32,
    /// How the hot band moves, if it does.
    moves: Option<Moves>,
}

/// What [`Generator`] makes when it reads, or writes, one target uniformly at random: the same I/Os, by a shorter way.
#[derive(Debug, Clone)]
pub struct Uniform {
    random: Xoroshiro128PlusPlus,
    first: NextIo,
    ios: u64,
}

/// A hot band on its way.
#[derive(Debug, Clone, Copy)]
struct Moves {
    every_ticks: u64,
    start: Ticks,
    /// How often it has moved since.
    times: u64,
}

impl Generator {
    /// The generator of `lane`, with the seed that [`super::stream_seed`] gives.
    #[must_use]
    pub fn new(plan: &Plan, lane: &Lane, seed: u64) -> Self {
        let workload = &plan.workloads[lane.workload];
        let layout = Layout::of(plan, workload);
        let kinds_of = Places::of(plan, lane);
        let sizes = kinds_of.len() / lane.targets.len().max(1);
        let ops = workload.ops();
        let kind = |index: usize| {
            let Places { first_block, blocks, .. } = kinds_of[index / ops.len()];
            let (position, op) = (lane.targets[index / ops.len() / sizes], ops[index % ops.len()]);
            let target = workload.targets[position] as u32;
            let cell = plan.cell(lane.workload, position, op) as u32;
            NextIo { target, cell, op, lba: Lba(first_block), blocks }
        };
        let kinds = (0..kinds_of.len() * ops.len()).map(kind).collect::<Vec<_>>();
        let made_up = volume::made_up(plan, lane);
        let (plan, lane) = made_up.as_ref().map_or((plan, lane), |(plan, lane)| (plan, lane));
        let places = Places::of(plan, lane);
        Self {
            random: Xoroshiro128PlusPlus::seed_from_u64(seed),
            pick: Pick::new(workload, lane.targets.len()),
            orders: Orders::of(plan, lane, &places),
            kinds,
            places,
            layout,
            flushed: 0,
            access: workload.access.clone(),
            moves: None,
        }
    }

    /// Lets a hot band that moves do so, on a clock of so many ticks a second. Without a clock it stays.
    #[must_use]
    pub fn on_clock(mut self, ticks_per_s: f64) -> Self {
        if let Access::Hot { moves: Some(every), .. } = self.access {
            let every_ticks = ((every.as_secs_f64() * ticks_per_s) as u64).max(1);
            self.moves = Some(Moves { every_ticks, start: Ticks(0), times: 0 });
        }
        self
    }

    /// A point begins at `start`: a band that moves begins at the start of the region.
    pub fn begin_point(&mut self, start: Ticks) {
        if let Some(moves) = &mut self.moves {
            moves.start = start;
        }
        self.at(start);
    }

    /// It is `now`.
    pub fn at(&mut self, now: Ticks) {
        let Some(moves) = &mut self.moves else { return };
        let times = now.since(moves.start).0 / moves.every_ticks;
        if times != moves.times {
            moves.times = times;
            self.orders.move_on(&self.access, &self.places, times);
        }
    }

    /// The same I/Os by the shorter way, where that is possible.
    #[must_use]
    pub fn uniform(&self) -> Option<Uniform> {
        let first = self.sole()?;
        let [Places { step_blocks, count, .. }] = self.places[..] else { return None };
        let even = matches!(self.orders, Orders::Even) && step_blocks == u64::from(first.blocks);
        even.then(|| Uniform { random: self.random.clone(), first, ios: count })
    }

    /// The first I/O of the region, where all others differ from it in their address only.
    #[must_use]
    pub fn sole(&self) -> Option<NextIo> {
        self.pick.sole().filter(|_| self.layout.is_none()).map(|(_, kind)| self.kinds[kind])
    }

    /// How many I/Os it takes until each place of the lane has come once, and then all come again; none where the places
    /// are no such round: several targets or sizes, or a pattern that repeats some before others.
    #[must_use]
    pub fn period(&self) -> Option<u64> {
        let _ = self.pick.sole()?;
        match &self.orders {
            Orders::Streams(streams) => streams.first()?.period(),
            Orders::Permutations(permutations) => Some(permutations.first()?.period()),
            Orders::Even | Orders::Uneven(_) => None,
        }
    }

    /// Leaves out the next I/Os, before the first is made. Patterns without a period stay where they are.
    pub fn skip(&mut self, ios: u64) {
        match &mut self.orders {
            Orders::Streams(streams) => streams.iter_mut().for_each(|stream| stream.skip(ios)),
            Orders::Permutations(permutations) => permutations.iter_mut().for_each(|order| order.skip(ios)),
            Orders::Even | Orders::Uneven(_) => {}
        }
    }

    /// The I/Os by the numbers that [`Generator::fill`] gives them.
    pub(super) fn kinds(&self) -> &[NextIo] {
        &self.kinds
    }

    /// The next I/O.
    pub fn next_io(&mut self) -> NextIo {
        let (mut blocks, mut kinds) = ([0], [0]);
        self.fill(&mut blocks, &mut kinds);
        NextIo { lba: Lba(blocks[0]), ..self.kinds[kinds[0] as usize] }
    }

    /// The next I/Os, by first block and kind.
    #[inline(always)]
    pub(super) fn fill(&mut self, blocks: &mut [u64], kinds: &mut [u32]) {
        // A copy that lives in registers; the patterns are told apart once and not at each I/O.
        let mut random = self.random.clone();
        let (pick, places, out) = (&self.pick, &self.places[..], (&mut *blocks, &mut *kinds));
        match &mut self.orders {
            Orders::Even => pick.fill(&mut random, out, EvenBlocks { places }),
            Orders::Uneven(uneven) if pick.sole().is_some() => {
                let index = pick.sole().map_or(0, |(index, _)| index);
                let Uneven { table, scatter } = &uneven[index];
                let (places, draws, scatter) = (places[index], table.draws(), *scatter);
                pick.fill(&mut random, out, SoleUnevenBlocks { places, draws, scatter });
            }
            Orders::Uneven(uneven) => pick.fill(&mut random, out, UnevenBlocks { places, uneven }),
            Orders::Permutations(permutations) => pick.fill(&mut random, out, PermutedBlocks { places, permutations }),
            Orders::Streams(streams) => pick.fill(&mut random, out, StreamBlocks { places, streams }),
        }
        self.random = random;
        if let Some(layout) = &self.layout {
            let of_each = (self.kinds.len() / layout.targets()) as u32;
            for (block, kind) in blocks.iter_mut().zip(kinds) {
                if self.kinds[*kind as usize].op == Op::Flush {
                    // It has no place; the targets are flushed in turn.
                    self.flushed = (self.flushed + 1) % layout.targets() as u32;
                    *kind += self.flushed * of_each;
                    continue;
                }
                let (target, there) = layout.place(*block);
                *block = there;
                *kind += target as u32 * of_each;
            }
        }
    }
}

impl Uniform {
    /// The next I/O.
    #[inline(always)]
    pub fn next_io(&mut self) -> NextIo {
        let io = below(&mut self.random, self.ios);
        NextIo { lba: Lba(self.first.lba.0 + io * u64::from(self.first.blocks)), ..self.first }
    }
}
