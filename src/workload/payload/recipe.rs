//! How the payload of a workload is made: which units are duplicates, and how much of each is random.
//!
//! Owns the arithmetic (docs/method.md, "Payload"). A recipe is the same on all cores and at all points.

use crate::plan::{PayloadPlan, Plan, ReductionPlan, Scope};
use crate::workload::stream_seed;

/// Longest stretch that has a random and a compressible part of its own, in bytes.
const GRANULE_MAX: u32 = 4096;
/// What granules are counted in, in bytes.
const SECTOR: u32 = 512;
/// Bytes of a stamp.
pub(super) const STAMP_BYTES: u32 = 16;
/// Most different duplicates. Few enough that what has been written of a large region has the ratio long before all of it
/// is written.
const SETS_MAX: f64 = 2048.0;

/// How the payload of a workload is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    pub(super) seed: u64,
    /// Bytes of a unit of dedupe.
    pub(super) unit: u32,
    /// Bytes of a granule; divides the unit.
    pub(super) granule: u32,
    /// Random bytes at the end of each granule, the stamp among them; 0 for zeroes and nothing else.
    pub(super) random: u32,
    /// Share of units that are duplicates, in 2^-64.
    duplicates: u64,
    /// Different duplicates; none when no unit is one.
    pub(super) sets: u64,
    scope: Scope,
    /// LBA size of each target of the plan, in bytes.
    pub(super) lba_bytes: Vec<u32>,
}

impl Recipe {
    /// The recipe of a workload of the plan; none when nothing is known of its payload.
    #[must_use]
    pub fn of(plan: &Plan, workload: usize) -> Option<Self> {
        let workload = &plan.workloads[workload];
        let payload = workload.payload?;
        let bytes = |(region, &target): (&crate::plan::Region, &usize)| {
            region.blocks.saturating_mul(u64::from(plan.lba_bytes[target]))
        };
        let bytes = workload.regions.iter().zip(&workload.targets).map(bytes).fold(0, u64::saturating_add);
        let targets = workload.targets.len().max(1) as u64;
        Some(Self::new(payload, plan.seed, bytes, targets, &plan.lba_bytes))
    }

    /// The recipe of a payload for `bytes` on `targets` targets together.
    #[must_use]
    pub fn new(payload: PayloadPlan, seed: u64, bytes: u64, targets: u64, lba_bytes: &[u32]) -> Self {
        let seed = stream_seed(seed, usize::MAX, 1);
        let lba_bytes = lba_bytes.to_vec();
        let PayloadPlan::Made(ReductionPlan { compression, dedupe, unit, scope }) = payload else {
            let (unit, granule) = (GRANULE_MAX, GRANULE_MAX);
            return Self { seed, unit, granule, random: 0, duplicates: 0, sets: 0, scope: Scope::Global, lba_bytes };
        };
        let unit = u32::try_from(unit.0).unwrap_or(u32::MAX).max(STAMP_BYTES);
        let granule = granule(unit);
        let units = match scope {
            Scope::Global => bytes / u64::from(unit),
            Scope::Target => bytes / targets.max(1) / u64::from(unit),
        };
        let (share, sets) = duplicates(dedupe, units.max(1) as f64);
        // Saturates: a share of 1 is all of them.
        let duplicates = (share * 2f64.powi(64)) as u64;
        Self { seed, unit, granule, random: random(granule, compression), duplicates, sets, scope, lba_bytes }
    }

    /// Bytes of a unit of dedupe.
    #[must_use]
    pub fn unit_bytes(&self) -> u32 {
        self.unit
    }

    /// Whether a write sends what its buffer holds but for stamps, so that buffers have to differ and to take turns.
    #[must_use]
    pub fn takes_turns(&self) -> bool {
        self.random > 0 && self.sets == 0
    }

    /// Whether a unit, by its number on the target, is always a duplicate, whenever it is written. Of any 256 neighbours the
    /// share is as asked for, whatever their order: the numbers are shuffled within a window, and dealt evenly.
    #[inline(always)]
    pub(super) fn is_duplicate(&self, target: u32, unit: u64) -> bool {
        let window = unit >> 8;
        let key = scramble(window ^ self.seed ^ (u64::from(target) << 48));
        let shuffled = unit.wrapping_mul(key | 1).wrapping_add(key >> 32) & 0xff;
        ((window << 8) | shuffled).wrapping_mul(self.duplicates) < self.duplicates
    }

    /// What is mixed into the stamps of duplicates on a target.
    #[inline(always)]
    pub(super) fn scope_of(&self, target: u32) -> u64 {
        match self.scope {
            Scope::Global => 0,
            Scope::Target => u64::from(target) + 1,
        }
    }
}

/// The largest number of whole sectors up to [`GRANULE_MAX`] that divides the unit; the unit itself where there is none.
fn granule(unit: u32) -> u32 {
    let sectors = (1..=GRANULE_MAX / SECTOR).rev().map(|sectors| sectors * SECTOR);
    sectors.into_iter().find(|granule| unit % granule == 0).unwrap_or(unit)
}

/// Random bytes of a granule for a ratio of compression: its share, less what a compressor adds to a granule for itself.
/// lz4 adds 4 bytes and one for each 227 of the granule; zstd 6 and less, and the less the longer the chunk. This is
/// midway between lz4, and zstd at chunks of 32 KiB.
fn random(granule: u32, compression: f64) -> u32 {
    if compression <= 1.0 {
        return granule;
    }
    let bytes = f64::from(granule);
    let share = bytes / compression - (3.7 + bytes / 400.0);
    (share.round() as u32).clamp(STAMP_BYTES, granule)
}

/// The share of units that are duplicates, and how many different ones there are, so that `units` units hold `units` /
/// `dedupe` different ones. Each is there at least eight times on average, so that hardly any is missing.
fn duplicates(dedupe: f64, units: f64) -> (f64, u64) {
    if dedupe <= 1.0 {
        return (0.0, 0);
    }
    let repeated = 1.0 - 1.0 / dedupe;
    let copies = (4.0 * dedupe).max(8.0);
    let sets = (repeated / (1.0 - 1.0 / copies) * units / copies).clamp(1.0, SETS_MAX).floor();
    ((repeated + sets / units).min(1.0), sets as u64)
}

/// A number that has nothing in common with those of its neighbours (the output function of SplitMix64).
#[inline(always)]
pub(super) fn scramble(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn recipe(compression: f64, dedupe: f64, unit: u64) -> Recipe {
        let made = ReductionPlan { compression, dedupe, unit: Bytes(unit), scope: Scope::Global };
        Recipe::new(PayloadPlan::Made(made), 7, 64 << 20, 1, &[512])
    }

    #[test]
    fn a_granule_is_made_of_sectors_and_divides_the_unit() {
        for (unit, granule) in
            [(512, 512), (3584, 3584), (4096, 4096), (4608, 1536), (5632, 512), (8192, 4096), (520, 520)]
        {
            assert_eq!(recipe(1.0, 1.0, unit).granule, granule, "{unit}");
        }
    }

    #[test]
    fn any_window_holds_the_share_of_duplicates_however_odd_the_ratio() {
        for dedupe in [1.1, 1.5, 2.0, 3.7, 10.0, 100.0] {
            let recipe = recipe(1.0, dedupe, 4096);
            let share = recipe.duplicates as f64 / 2f64.powi(64);
            for window in 0..50u64 {
                let found = (0..256).filter(|unit| recipe.is_duplicate(3, window * 256 + unit)).count() as f64;
                assert!((found - share * 256.0).abs() <= 2.0, "{dedupe}: {found} of 256 in window {window}");
            }
        }
    }

    #[test]
    fn duplicates_do_not_lie_at_regular_places() {
        let recipe = recipe(1.0, 2.0, 4096);
        let pattern = |window: u64| (0..256).map(|u| recipe.is_duplicate(0, window * 256 + u)).collect::<Vec<_>>();
        assert!((1..20).all(|window| pattern(window) != pattern(0)));
    }
}
