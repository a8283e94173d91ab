//! Several targets as one address space: the generator works on a single made-up target, and its addresses are then laid out.
//!
//! Owns the layout. No I/O lies across two stripes or two targets: the plan sees to the sizes, and each target gives whole
//! units only.

use crate::plan::{Lane, Plan, Region, Volume, WorkloadPlan};
use crate::units::Bytes;

/// Where the blocks of the made-up target are.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// Stripes of so many blocks.
    Stripes {
        /// Blocks of a stripe; where they are a power of two its logarithm is used instead.
        blocks: u64,
        shift: Option<u32>,
        /// First block on each target.
        firsts: Vec<u64>,
    },
    /// One after the other: where each begins in the made-up target, and its first block.
    EndToEnd { starts: Vec<u64>, firsts: Vec<u64> },
}

impl Layout {
    /// The layout of a workload; none where its targets are apart.
    pub fn of(plan: &Plan, workload: &WorkloadPlan) -> Option<Self> {
        let unit = unit_blocks(plan, workload)?;
        let firsts: Vec<u64> = workload.regions.iter().map(|region| first_block(region, unit)).collect();
        Some(match workload.volume? {
            Volume::Stripe(_) => {
                Self::Stripes { blocks: unit, shift: unit.is_power_of_two().then(|| unit.trailing_zeros()), firsts }
            }
            Volume::Concat => {
                let starts = workload.regions.iter().scan(0, |start, region| {
                    let here = *start;
                    *start += units(region, unit) * unit;
                    Some(here)
                });
                Self::EndToEnd { starts: starts.collect(), firsts }
            }
        })
    }

    /// How many targets it lies on.
    #[inline(always)]
    pub fn targets(&self) -> usize {
        match self {
            Self::Stripes { firsts, .. } | Self::EndToEnd { firsts, .. } => firsts.len(),
        }
    }

    /// The target, by position, and the block there.
    #[inline(always)]
    pub fn place(&self, block: u64) -> (usize, u64) {
        match self {
            Self::Stripes { blocks, shift, firsts } => {
                let (stripe, within) = match shift {
                    Some(shift) => (block >> shift, block & (blocks - 1)),
                    None => (block / blocks, block % blocks),
                };
                let count = firsts.len() as u64;
                let target = (stripe % count) as usize;
                (target, firsts[target] + stripe / count * blocks + within)
            }
            Self::EndToEnd { starts, firsts } => {
                // Few, and counted rather than searched: no branch that depends on chance.
                let target = starts.iter().map(|start| usize::from(block >= *start)).sum::<usize>() - 1;
                (target, firsts[target] + block - starts[target])
            }
        }
    }
}

/// The plan and lane of the made-up target that a volume's generator works on; none where the targets are apart.
pub(super) fn made_up(plan: &Plan, lane: &Lane) -> Option<(Plan, Lane)> {
    Some((made_up_of(plan, lane.workload)?, Lane { targets: vec![0], ..lane.clone() }))
}

/// The same without a lane.
pub(super) fn made_up_of(plan: &Plan, number: usize) -> Option<Plan> {
    let workload = &plan.workloads[number];
    let unit = unit_blocks(plan, workload)?;
    let each = workload.regions.iter().map(|region| units(region, unit));
    let units = match workload.volume? {
        Volume::Stripe(_) => each.min().unwrap_or(0) * workload.regions.len() as u64,
        Volume::Concat => each.sum(),
    };
    let mut plan = plan.clone();
    let whole = &mut plan.workloads[number];
    whole.targets.truncate(1);
    whole.regions = vec![Region { first_block: 0, blocks: units * unit }];
    whole.volume = None;
    Some(plan)
}

/// Blocks that stay together on one target.
fn unit_blocks(plan: &Plan, workload: &WorkloadPlan) -> Option<u64> {
    let lba_bytes = u64::from(plan.lba_bytes[workload.targets[0]].max(1));
    Some(workload.volume_unit()?.0 / lba_bytes)
}

/// The first block of a region that a unit may begin at.
fn first_block(region: &Region, unit: u64) -> u64 {
    region.first_block.next_multiple_of(unit)
}

/// Whole units of a region.
fn units(region: &Region, unit: u64) -> u64 {
    (region.first_block + region.blocks).saturating_sub(first_block(region, unit)) / unit
}

impl WorkloadPlan {
    /// Bytes that stay together on one target of a volume set: a stripe, or what every size divides.
    #[must_use]
    pub fn volume_unit(&self) -> Option<Bytes> {
        match self.volume? {
            Volume::Stripe(size) => Some(size),
            Volume::Concat => Some(self.block_size),
        }
    }

    /// Whole units of the target with this region, for I/Os on blocks of `lba_bytes`.
    #[must_use]
    pub fn volume_units(&self, region: &Region, lba_bytes: u64) -> Option<u64> {
        self.volume_unit().map(|unit| units(region, (unit.0 / lba_bytes).max(1)))
    }
}
