//! What an I/O is but for its address: direction, target and size, each by its share.
//!
//! Owns how the three are drawn and numbered. What there is only one of costs no random number.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::RngCore;

use super::number::below;
use crate::plan::{Op, OpMix, WorkloadPlan};

/// Where I/Os begin. A trait and no closure, so that it is always compiled into the loop that calls it: the random numbers
/// would go through memory otherwise.
pub(super) trait Blocks {
    /// First block of the next I/O with these places, which are among those of the lane's `target`-th target.
    fn next(&mut self, random: &mut Xoroshiro128PlusPlus, places: usize, target: usize) -> u64;
}

/// Draws directions, targets and sizes for one lane.
#[derive(Debug, Clone)]
pub(super) struct Pick {
    mix: Mix,
    targets: usize,
    /// Sizes in all, of either direction.
    size_count: usize,
    /// Of reads and of all else.
    sizes: [Sizes; 2],
    /// Operations that have a number: reads, writes, and what else there is.
    ops: usize,
}

/// Share of reads; pure ones draw no number.
#[derive(Debug, Clone, PartialEq)]
enum Mix {
    Reads,
    Writes,
    /// A read when a uniform 64-bit number is below this.
    Below(u64),
    /// Other operations among them.
    Shares(Shares),
}

/// Any operations by their shares.
#[derive(Debug, Clone, PartialEq)]
struct Shares {
    /// Uniform 64-bit numbers from which on the operation is not the first, not the second …
    bounds: Vec<u64>,
    /// Number of the flush, which has no address.
    flush: Option<usize>,
}

impl Shares {
    fn of(mix: &OpMix, ops: &[Op]) -> Self {
        let whole: f64 = ops.iter().map(|&op| mix.share(op)).sum();
        let mut so_far = 0.0;
        let bound = |op: &Op| {
            so_far += mix.share(*op) / whole;
            (so_far * 2f64.powi(64)) as u64
        };
        let mut bounds: Vec<u64> = ops.iter().map(bound).collect();
        bounds.pop();
        Self { bounds, flush: ops.iter().position(|&op| op == Op::Flush) }
    }

    #[inline(always)]
    fn draw(&self, random: &mut Xoroshiro128PlusPlus) -> usize {
        let drawn = random.next_u64();
        self.bounds.iter().map(|&bound| usize::from(drawn >= bound)).sum()
    }
}

/// Which size an I/O of one direction has.
#[derive(Debug, Clone)]
struct Sizes {
    /// Numbers of the sizes; at least one.
    numbers: Vec<usize>,
    /// Uniform 64-bit numbers from which on the size is not the first, not the second …
    bounds: Vec<u64>,
}

impl Pick {
    pub fn new(workload: &WorkloadPlan, targets: usize) -> Self {
        let ops = workload.ops();
        let mix = match (&workload.mix, workload.read_percent) {
            (Some(mix), _) => Mix::Shares(Shares::of(mix, &ops)),
            (None, p) if p >= 100.0 => Mix::Reads,
            (None, p) if p <= 0.0 => Mix::Writes,
            (None, p) => Mix::Below((p / 100.0 * 2f64.powi(64)) as u64),
        };
        let size_count = workload.all_sizes().len();
        let sizes = [Op::Read, Op::Write].map(|op| Sizes::of(workload, op));
        Self { mix, targets, size_count, sizes, ops: ops.len() }
    }

    /// The one index of places, and the one kind, where there is only one.
    pub fn sole(&self) -> Option<(usize, usize)> {
        let op = match self.mix {
            Mix::Reads => 0,
            Mix::Writes => 1,
            Mix::Below(_) | Mix::Shares(_) => return None,
        };
        match self.sizes[op].numbers[..] {
            [size] if self.targets == 1 => Some((size, 2 * size + op)),
            _ => None,
        }
    }

    /// Fills in the kind of each I/O and its first block.
    #[inline(always)]
    pub fn fill(
        &self,
        random: &mut Xoroshiro128PlusPlus,
        (blocks, kinds): (&mut [u64], &mut [u32]),
        mut of: impl Blocks,
    ) {
        if let Some((index, kind)) = self.sole() {
            kinds.fill(kind as u32);
            blocks.iter_mut().for_each(|next| *next = of.next(random, index, 0));
            return;
        }
        if let Mix::Shares(shares) = &self.mix {
            self.fill_shares(shares, random, (blocks, kinds), of);
            return;
        }
        for (next, kind) in blocks.iter_mut().zip(kinds) {
            let op = match self.mix {
                Mix::Reads => 0,
                Mix::Writes | Mix::Shares(_) => 1,
                Mix::Below(limit) => usize::from(random.next_u64() >= limit),
            };
            let target = if self.targets == 1 { 0 } else { below(random, self.targets as u64) as usize };
            let index = target * self.size_count + self.sizes[op].draw(random);
            *kind = (2 * index + op) as u32;
            *next = of.next(random, index, target);
        }
    }
}

impl Pick {
    /// The same with other operations among them.
    #[inline(never)]
    fn fill_shares(
        &self,
        shares: &Shares,
        random: &mut Xoroshiro128PlusPlus,
        (blocks, kinds): (&mut [u64], &mut [u32]),
        mut of: impl Blocks,
    ) {
        for (next, kind) in blocks.iter_mut().zip(kinds) {
            let op = shares.draw(random);
            let target = if self.targets == 1 { 0 } else { below(random, self.targets as u64) as usize };
            let flushes = shares.flush == Some(op);
            // A flush is of the whole target, and takes no place from the others.
            let size = if flushes { 0 } else { self.sizes[op.min(1)].draw(random) };
            let index = target * self.size_count + size;
            *kind = (self.ops * index + op) as u32;
            *next = if flushes { 0 } else { of.next(random, index, target) };
        }
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
