//! The places of a lane's I/Os on one target: for each size where they may begin, and in which order they are taken.
//!
//! Owns alignment and the end of the region, which no I/O passes. Draws no direction and no size.

use std::sync::Arc;

use rand_xoshiro::Xoroshiro128PlusPlus;

use super::number::{below, part_of};
use super::permutation::Permutation;
use super::scatter::Scatter;
use super::shape::Shape;
use super::stream_seed;
use super::table::Table;
use crate::plan::{Access, Lane, Plan, Region, WorkloadPlan, places};
use crate::units::Bytes;

/// What a lane touches of one target.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// Index of the target in the plan.
    pub target: u32,
    /// Cell of its reads; that of its writes is the next.
    pub read_cell: u32,
    /// In the order of the workload's sizes.
    pub sizes: Vec<Places>,
    stream: Stream,
}

/// The places for I/Os of one size.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// Blocks of the I/O.
    pub blocks: u32,
    /// First block of the first place.
    pub first_block: u64,
    /// From one place to the next.
    step_blocks: u64,
    /// How many there are, at least 1.
    pub count: u64,
    order: Order,
}

/// How places follow each other.
#[derive(Debug, Clone)]
enum Order {
    Even,
    Uneven(Arc<Table>, Scatter),
    Permutation(Permutation),
    /// Those of the target's one stream.
    Stream,
}

/// Rising addresses within a part of the region, which all sizes share.
#[derive(Debug, Clone)]
struct Stream {
    next: u64,
    first: u64,
    end: u64,
    /// From the start of one I/O to that of the next; 0: each begins where the one before ends.
    stride: u64,
    /// Strided: blocks that must be left before the end, those of the greatest size.
    reach: u64,
}

impl Spot {
    /// Those of `lane` on the target at `position` of its workload. Tables are shared with the spots of `others` that have
    /// as many places.
    pub fn new(plan: &Plan, lane: &Lane, position: usize, others: &[Spot]) -> Self {
        let workload = &plan.workloads[lane.workload];
        let (target, region) = (workload.targets[position], workload.regions[position]);
        let lba_bytes = u64::from(plan.lba_bytes[target].max(1));
        // The same for all lanes: they have their popular blocks, and the order of a permutation, in common.
        let key = stream_seed(stream_seed(plan.seed, lane.workload, position), usize::MAX, 0);
        let mut sizes: Vec<Places> = Vec::new();
        for size in workload.all_sizes() {
            let places = Places::new(workload, region, lba_bytes, size);
            let known = || others.iter().flat_map(|spot| &spot.sizes).chain(&sizes);
            let order = order(&workload.access, places.count, key, lane.part, known);
            sizes.push(Places { order, ..places });
        }
        Self {
            target: target as u32,
            read_cell: plan.cell(lane.workload, position, crate::plan::Op::Read) as u32,
            sizes,
            stream: Stream::new(workload, region, lba_bytes, lane.part),
        }
    }

    /// The first block of the next I/O of the `size`-th size.
    #[inline(always)]
    pub fn next(&mut self, size: usize, random: &mut Xoroshiro128PlusPlus) -> u64 {
        let places = &mut self.sizes[size];
        let place = match &mut places.order {
            Order::Even => below(random, places.count),
            Order::Uneven(table, scatter) => scatter.place(table.draw(random)),
            Order::Permutation(permutation) => permutation.next(),
            Order::Stream => return self.stream.next(u64::from(places.blocks), places.step_blocks),
        };
        places.first_block + place * places.step_blocks
    }

    /// The hot band has moved on this many times by its own length.
    pub fn move_on(&mut self, access: &Access, times: u64) {
        for places in &mut self.sizes {
            if let (Order::Uneven(_, scatter), Some(band)) = (&mut places.order, access.hot_places(places.count)) {
                scatter.shift_to(((u128::from(band) * u128::from(times)) % u128::from(places.count)) as u64);
            }
        }
    }
}

impl Places {
    fn new(workload: &WorkloadPlan, region: Region, lba_bytes: u64, size: Bytes) -> Self {
        let blocks = (size.0 / lba_bytes).max(1);
        let step_blocks = (workload.align_of(size).0 / lba_bytes).max(1);
        let first_block = region.first_block.next_multiple_of(step_blocks);
        let count = places(first_block, region.first_block + region.blocks, blocks, step_blocks).max(1);
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        Self { blocks, first_block, step_blocks, count, order: Order::Even }
    }

    /// Whether all of them are equally likely, independently of each other.
    pub fn are_even(&self) -> bool {
        matches!(self.order, Order::Even) && self.step_blocks == u64::from(self.blocks)
    }
}

fn order<'a, I: Iterator<Item = &'a Places>>(
    access: &Access,
    count: u64,
    key: u64,
    part: (u32, u32),
    known: impl Fn() -> I,
) -> Order {
    match access {
        Access::Sequential | Access::Strided { .. } => return Order::Stream,
        Access::Permutation => return Order::Permutation(Permutation::new(count, key, part)),
        _ => {}
    }
    let scatter = match access {
        Access::Zipf { scatter: true, .. } | Access::Pareto { scatter: true, .. } => Scatter::spread(count, key),
        _ => Scatter::none(count),
    };
    let same = known().filter(|places| places.count == count).find_map(|places| match &places.order {
        Order::Uneven(table, _) => Some(table.clone()),
        _ => None,
    });
    let made = || Shape::of(access, count).map(|shape| Arc::new(Table::new(&shape)));
    same.or_else(made).map_or(Order::Even, |table| Order::Uneven(table, scatter))
}

impl Stream {
    fn new(workload: &WorkloadPlan, region: Region, lba_bytes: u64, part: (u32, u32)) -> Self {
        let blocks = |size: Bytes| (size.0 / lba_bytes).max(1);
        let reach = blocks(workload.block_size);
        let last_end = region.first_block + region.blocks;
        let (unit, stride, first, end) = match workload.access {
            Access::Strided { stride } => {
                let stride = blocks(stride);
                let start = region.first_block.next_multiple_of(blocks(workload.align_of(workload.block_size)));
                let (first, end) = part_of(places(start, last_end, reach, stride).max(1), part);
                (stride, stride, start + first * stride, start + end.max(first + 1) * stride - stride + reach)
            }
            _ => {
                // Several sizes, or a coarse alignment, find an aligned place in any two units in a row.
                let one_size = workload.sizes.is_none() && workload.align.is_none();
                let unit = if one_size { reach } else { 2 * blocks(workload.stream_unit()) };
                let (first, end) = part_of((region.blocks / unit).max(1), part);
                let end = if part.0 + 1 == part.1 { last_end } else { region.first_block + end * unit };
                (if one_size { unit } else { 1 }, 0, region.first_block + first * unit, end)
            }
        };
        let units = ((end - first) as f64 / unit as f64 * workload.start_percent / 100.0) as u64;
        Self { next: first + units * unit, first, end, stride, reach }
    }

    /// The start of the next I/O of so many blocks, aligned to `align` of them.
    #[inline(always)]
    fn next(&mut self, blocks: u64, align: u64) -> u64 {
        let reach = if self.stride == 0 { blocks } else { self.reach };
        let mut at = up(self.next, align);
        if at + reach > self.end {
            at = up(self.first, align);
        }
        self.next = at + if self.stride == 0 { blocks } else { self.stride };
        at
    }
}

/// The next multiple of `align`, by a mask where that will do.
#[inline(always)]
fn up(block: u64, align: u64) -> u64 {
    if align.is_power_of_two() { (block + align - 1) & !(align - 1) } else { block.div_ceil(align) * align }
}
