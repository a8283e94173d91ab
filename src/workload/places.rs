//! The places of a lane's I/Os: for each target and size where they may begin, and in which order they are taken.
//!
//! Owns alignment and the end of the region, which no I/O passes. Draws no direction, no target and no size.

use std::sync::Arc;

use rand_xoshiro::Xoroshiro128PlusPlus;

use super::number::below;
use super::permutation::Permutation;
use super::pick::Blocks;
use super::scatter::Scatter;
use super::shape::Shape;
use super::stream::Stream;
use super::stream_seed;
use super::table::{Draws, Table};
use crate::plan::{Access, Lane, Plan, Region, WorkloadPlan, places};
use crate::units::Bytes;

/// The places for I/Os of one size on one target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// First block of the first place.
    pub first_block: u64,
    /// From one place to the next.
    pub step_blocks: u64,
    /// How many there are, at least 1.
    pub count: u64,
    /// Blocks of the I/O.
    pub blocks: u32,
}

/// How places follow each other. Of each entry there is one for each of the lane's places (target by target, each with all
/// sizes), of streams one for each target.
#[derive(Debug, Clone)]
pub(super) enum Orders {
    Even,
    Uneven(Vec<Uneven>),
    Permutations(Vec<Permutation>),
    Streams(Vec<Stream>),
}

/// Ranks by their popularity, and where each lies.
#[derive(Debug, Clone)]
pub(super) struct Uneven {
    pub table: Arc<Table>,
    pub scatter: Scatter,
}

impl Places {
    /// Those of a lane, target by target, each with all sizes.
    pub fn of(plan: &Plan, lane: &Lane) -> Vec<Self> {
        let workload = &plan.workloads[lane.workload];
        let sizes = workload.all_sizes();
        let of = |&position: &usize| {
            let lba_bytes = u64::from(plan.lba_bytes[workload.targets[position]].max(1));
            let region = workload.regions[position];
            sizes.iter().map(move |size| Self::new(workload, region, lba_bytes, *size))
        };
        lane.targets.iter().flat_map(of).collect()
    }

    pub fn new(workload: &WorkloadPlan, region: Region, lba_bytes: u64, size: Bytes) -> Self {
        let blocks = (size.0 / lba_bytes).max(1);
        let step_blocks = (workload.align_of(size).0 / lba_bytes).max(1);
        let first_block = region.first_block.next_multiple_of(step_blocks);
        let count = places(first_block, region.first_block + region.blocks, blocks, step_blocks).max(1);
        Self { first_block, step_blocks, count, blocks: u32::try_from(blocks).unwrap_or(u32::MAX) }
    }
}

impl Orders {
    /// Those of a lane with these places.
    pub fn of(plan: &Plan, lane: &Lane, places: &[Places]) -> Self {
        let workload = &plan.workloads[lane.workload];
        let sizes = places.len() / lane.targets.len().max(1);
        // The same for all lanes: they have their popular blocks, and the order of a permutation, in common.
        let key = |index: usize| {
            let position = lane.targets[index / sizes.max(1)];
            stream_seed(stream_seed(plan.seed, lane.workload, position), usize::MAX, 0)
        };
        match &workload.access {
            Access::Random => Self::Even,
            Access::Sequential | Access::Strided { .. } => {
                let stream = |&position: &usize| {
                    let lba_bytes = u64::from(plan.lba_bytes[workload.targets[position]].max(1));
                    Stream::new(workload, workload.regions[position], lba_bytes, lane.part)
                };
                Self::Streams(lane.targets.iter().map(stream).collect())
            }
            Access::Permutation => {
                let order = |(index, places): (usize, &Places)| Permutation::new(places.count, key(index), lane.part);
                Self::Permutations(places.iter().enumerate().map(order).collect())
            }
            access => {
                let mut tables: Vec<(u64, Arc<Table>)> = Vec::new();
                let mut uneven = Vec::with_capacity(places.len());
                for (index, &Places { count, .. }) in places.iter().enumerate() {
                    let known = tables.iter().find(|(places, _)| *places == count).map(|(_, table)| table.clone());
                    let table = match known {
                        Some(table) => table,
                        None => {
                            let Some(shape) = Shape::of(access, count) else { return Self::Even };
                            let table = Arc::new(Table::new(&shape));
                            tables.push((count, table.clone()));
                            table
                        }
                    };
                    let scattered =
                        matches!(access, Access::Zipf { scatter: true, .. } | Access::Pareto { scatter: true, .. });
                    let scatter = if scattered { Scatter::spread(count, key(index)) } else { Scatter::none(count) };
                    uneven.push(Uneven { table, scatter });
                }
                Self::Uneven(uneven)
            }
        }
    }

    /// The hot band has moved on this many times by its own length.
    pub fn move_on(&mut self, access: &Access, places: &[Places], times: u64) {
        let Self::Uneven(uneven) = self else { return };
        for (uneven, &Places { count, .. }) in uneven.iter_mut().zip(places) {
            if let Some(band) = access.hot_places(count) {
                uneven.scatter.shift_to((u128::from(band) * u128::from(times) % u128::from(count)) as u64);
            }
        }
    }
}

/// Blocks of equally likely places.
pub(super) struct EvenBlocks<'a> {
    pub places: &'a [Places],
}

/// Blocks of places by their popularity.
pub(super) struct UnevenBlocks<'a> {
    pub places: &'a [Places],
    pub uneven: &'a [Uneven],
}

/// The same with only one to choose from.
pub(super) struct SoleUnevenBlocks<'a> {
    pub places: Places,
    pub draws: Draws<'a>,
    pub scatter: Scatter,
}

/// Blocks of places in permuted order.
pub(super) struct PermutedBlocks<'a> {
    pub places: &'a [Places],
    pub permutations: &'a mut [Permutation],
}

/// Blocks of streams.
pub(super) struct StreamBlocks<'a> {
    pub places: &'a [Places],
    pub streams: &'a mut [Stream],
}

impl Places {
    #[inline(always)]
    fn block(&self, place: u64) -> u64 {
        self.first_block + place * self.step_blocks
    }
}

impl Blocks for EvenBlocks<'_> {
    #[inline(always)]
    fn next(&mut self, random: &mut Xoroshiro128PlusPlus, places: usize, _target: usize) -> u64 {
        let places = &self.places[places];
        places.block(below(random, places.count))
    }
}

impl Blocks for UnevenBlocks<'_> {
    #[inline(always)]
    fn next(&mut self, random: &mut Xoroshiro128PlusPlus, places: usize, _target: usize) -> u64 {
        let Uneven { table, scatter } = &self.uneven[places];
        self.places[places].block(scatter.place(table.draws().draw(random)))
    }
}

impl Blocks for SoleUnevenBlocks<'_> {
    #[inline(always)]
    fn next(&mut self, random: &mut Xoroshiro128PlusPlus, _places: usize, _target: usize) -> u64 {
        self.places.block(self.scatter.place(self.draws.draw(random)))
    }
}

impl Blocks for PermutedBlocks<'_> {
    #[inline(always)]
    fn next(&mut self, _random: &mut Xoroshiro128PlusPlus, places: usize, _target: usize) -> u64 {
        self.places[places].block(self.permutations[places].next())
    }
}

impl Blocks for StreamBlocks<'_> {
    #[inline(always)]
    fn next(&mut self, _random: &mut Xoroshiro128PlusPlus, places: usize, target: usize) -> u64 {
        let Places { blocks, step_blocks, .. } = self.places[places];
        self.streams[target].next(u64::from(blocks), step_blocks)
    }
}
