//! The generator of a lane's I/Os: uniform random or sequential addresses, and the mix of reads and writes.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use crate::plan::{Access, Lane, Op, Plan};
use crate::units::{Bytes, Lba};

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
    access: Access,
    mix: Mix,
    spans: Vec<Span>,
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

/// The part of one target that a lane touches, counted in I/Os.
#[derive(Debug, Clone)]
struct Span {
    target: u32,
    read_cell: u32,
    first_block: u64,
    io_blocks: u32,
    /// I/Os in the region, at least 1.
    ios: u64,
    /// Sequential: next I/O, in `part_first..part_end`.
    cursor: u64,
    part_first: u64,
    part_end: u64,
}

impl Generator {
    /// The generator of `lane`, with the seed that [`super::stream_seed`] gives.
    #[must_use]
    pub fn new(plan: &Plan, lane: &Lane, seed: u64) -> Self {
        let workload = &plan.workloads[lane.workload];
        let span = |&position: &usize| {
            let region = workload.regions[position];
            let target = workload.targets[position];
            let io_blocks = io_blocks(workload.block_size, plan.lba_bytes[target]);
            let ios = (region.blocks / u64::from(io_blocks)).max(1);
            let part = region.part(lane.part, u64::from(io_blocks));
            let part_first = (part.first_block - region.first_block) / u64::from(io_blocks);
            let part_end = part_first + (part.blocks / u64::from(io_blocks)).max(1);
            Span {
                target: target as u32,
                read_cell: plan.cell(lane.workload, position, Op::Read) as u32,
                first_block: region.first_block,
                io_blocks,
                ios,
                cursor: part_first,
                part_first,
                part_end,
            }
        };
        let mix = match workload.read_percent {
            p if p >= 100.0 => Mix::Reads,
            p if p <= 0.0 => Mix::Writes,
            p => Mix::Below((p / 100.0 * 2f64.powi(64)) as u64),
        };
        Self {
            random: Xoroshiro128PlusPlus::seed_from_u64(seed),
            access: workload.access,
            mix,
            spans: lane.targets.iter().map(span).collect(),
        }
    }

    /// The same I/Os by the shorter way, where that is possible.
    #[must_use]
    pub fn uniform(&self) -> Option<Uniform> {
        let [span] = self.spans.as_slice() else { return None };
        let op = match self.mix {
            Mix::Reads => Op::Read,
            Mix::Writes => Op::Write,
            Mix::Below(_) => return None,
        };
        let first = span.io(0, op);
        (self.access == Access::Random).then(|| Uniform { random: self.random.clone(), first, ios: span.ios })
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
        let which = match self.spans.len() {
            1 => 0,
            n => below(&mut self.random, n as u64) as usize,
        };
        let span = &mut self.spans[which];
        let io = match self.access {
            Access::Random => below(&mut self.random, span.ios),
            Access::Sequential => {
                let io = span.cursor;
                span.cursor = if io + 1 == span.part_end { span.part_first } else { io + 1 };
                io
            }
        };
        span.io(io, op)
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

impl Span {
    /// The `io`-th I/O of the region.
    #[inline(always)]
    fn io(&self, io: u64, op: Op) -> NextIo {
        let lba = Lba(self.first_block + io * u64::from(self.io_blocks));
        NextIo {
            target: self.target,
            cell: self.read_cell + u32::from(op == Op::Write),
            op,
            lba,
            blocks: self.io_blocks,
        }
    }
}

/// Blocks of one I/O on a target with this LBA size.
fn io_blocks(block_size: Bytes, lba_bytes: u32) -> u32 {
    u32::try_from(block_size.0 / u64::from(lba_bytes.max(1))).unwrap_or(u32::MAX).max(1)
}

/// A uniform number in `0..n`, `n` at least 1, without bias: a multiplication, and a division only in the rare case that
/// the draw may have to be repeated (D. Lemire, "Fast Random Integer Generation in an Interval", 2019).
#[inline(always)]
fn below(random: &mut Xoroshiro128PlusPlus, n: u64) -> u64 {
    let mut product = u128::from(random.next_u64()) * u128::from(n);
    if (product as u64) < n {
        let threshold = n.wrapping_neg() % n;
        while (product as u64) < threshold {
            product = u128::from(random.next_u64()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}
