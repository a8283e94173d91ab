//! The generator of a lane's I/Os: the mix of reads and writes, of targets and of sizes, and an address for each.
//!
//! Owns the order in which random numbers are drawn for an I/O: direction, target, size, place; what there is only one of
//! costs none.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::number::below;
use super::places::Spot;
use crate::plan::{Access, Lane, Op, Plan, WorkloadPlan};
use crate::units::{Lba, Ticks};

/// One I/O to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextIo {
    /// Index of the target in the plan.
    pub target: u32,
    /// Cell that its figures go to (`Plan::cell`).
    pub cell: u32,
    /// Direction.
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
    mix: Mix,
    spots: Vec<Spot>,
    /// Of reads and of writes.
    sizes: [Sizes; 2],
    access: Access,
    /// How the hot band moves, if it does.
    moves: Option<Moves>,
}

/// What [`Generator`] makes when it reads, or writes, one target uniformly at random: the same I/Os, by a shorter way.
#[derive(Debug, Clone)]
pub struct Uniform {
    random: Xoroshiro128PlusPlus,
    /// The first I/O of the region; the others differ in their address only.
    first: NextIo,
    ios: u64,
}

/// Share of reads; pure ones draw no number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mix {
    Reads,
    Writes,
    /// A read when a uniform 64-bit number is below this.
    Below(u64),
}

/// Which size an I/O of one direction has.
#[derive(Debug, Clone)]
struct Sizes {
    /// Indices into the sizes of a spot; at least one.
    numbers: Vec<usize>,
    /// Uniform 64-bit numbers from which on the size is not the first, not the second …
    bounds: Vec<u64>,
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
        let mut spots: Vec<Spot> = Vec::with_capacity(lane.targets.len());
        for &position in &lane.targets {
            spots.push(Spot::new(plan, lane, position, &spots));
        }
        let mix = match workload.read_percent {
            p if p >= 100.0 => Mix::Reads,
            p if p <= 0.0 => Mix::Writes,
            p => Mix::Below((p / 100.0 * 2f64.powi(64)) as u64),
        };
        Self {
            random: Xoroshiro128PlusPlus::seed_from_u64(seed),
            mix,
            spots,
            sizes: [Op::Read, Op::Write].map(|op| Sizes::of(workload, op)),
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
    #[inline(always)]
    pub fn at(&mut self, now: Ticks) {
        let Some(moves) = &mut self.moves else { return };
        let times = now.since(moves.start).0 / moves.every_ticks;
        if times != moves.times {
            moves.times = times;
            self.spots.iter_mut().for_each(|spot| spot.move_on(&self.access, times));
        }
    }

    /// The same I/Os by the shorter way, where that is possible.
    #[must_use]
    pub fn uniform(&self) -> Option<Uniform> {
        let [spot] = self.spots.as_slice() else { return None };
        let [places] = spot.sizes.as_slice() else { return None };
        let op = match self.mix {
            Mix::Reads => Op::Read,
            Mix::Writes => Op::Write,
            Mix::Below(_) => return None,
        };
        let first = io(spot, op, places.first_block, places.blocks);
        places.are_even().then(|| Uniform { random: self.random.clone(), first, ios: places.count })
    }

    /// The next I/O.
    #[inline(always)]
    pub fn next_io(&mut self) -> NextIo {
        let op = match self.mix {
            Mix::Reads => Op::Read,
            Mix::Writes => Op::Write,
            Mix::Below(limit) => {
                if self.random.next_u64() < limit {
                    Op::Read
                } else {
                    Op::Write
                }
            }
        };
        let which = match self.spots.len() {
            1 => 0,
            n => below(&mut self.random, n as u64) as usize,
        };
        let size = self.sizes[op as usize].draw(&mut self.random);
        let spot = &mut self.spots[which];
        let block = spot.next(size, &mut self.random);
        io(spot, op, block, spot.sizes[size].blocks)
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

impl Sizes {
    fn of(workload: &WorkloadPlan, op: Op) -> Self {
        let all = workload.all_sizes();
        let mix = workload.sizes_of(op);
        let number = |size| all.iter().position(|known| *known == size).unwrap_or_default();
        let whole: f64 = mix.sizes().iter().map(|part| part.share_percent).sum();
        let mut so_far = 0.0;
        let bound = |part: &crate::plan::SizeShare| {
            so_far += part.share_percent / whole;
            (so_far * 2f64.powi(64)) as u64
        };
        let mut bounds: Vec<u64> = mix.sizes().iter().map(bound).collect();
        bounds.pop();
        Self { numbers: mix.sizes().iter().map(|part| number(part.size)).collect(), bounds }
    }

    #[inline(always)]
    fn draw(&self, random: &mut Xoroshiro128PlusPlus) -> usize {
        if self.bounds.is_empty() {
            return self.numbers[0];
        }
        let drawn = random.next_u64();
        // Counted rather than searched: no branch that depends on chance.
        let passed: usize = self.bounds.iter().map(|&bound| usize::from(drawn >= bound)).sum();
        self.numbers[passed]
    }
}

#[inline(always)]
fn io(spot: &Spot, op: Op, block: u64, blocks: u32) -> NextIo {
    let cell = spot.read_cell + u32::from(op == Op::Write);
    NextIo { target: spot.target, cell, op, lba: Lba(block), blocks }
}
