//! The bytes of writes. Runs once a write, just before it is sent. Where nothing is to be a duplicate no more than the
//! stamps are written, and the rest is what the buffer holds; otherwise each unit is copied from a pool.
//!
//! Owns the layout of a unit: granules, each with zeroes in front and random bytes at its end, the last 16 of which are its
//! stamp. Allocates nothing after it was made.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::recipe::{Recipe, STAMP_BYTES, scramble};

/// Bytes that differ in more than their stamps: what units are copied from, and what buffers writes take turns with. So
/// much that hardly two neighbours on a target are of the same origin, and no more than a core's cache.
pub const ROTATION_BYTES: u32 = 2 << 20;
/// By how many buffers targets are apart.
const APART: u64 = 97;
/// Odd, so that no two factors have the same product.
const SPREAD: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Makes the payload of one workload on one core.
#[derive(Debug, Clone)]
pub struct Filler {
    recipe: Recipe,
    /// Seed of what the buffers hold.
    seed: u64,
    /// Where counting writes starts: where no other filler does.
    start: u64,
    /// How many writes each target has had, and the number of the present one. Each target counts by itself, so that what
    /// it gets does not depend on how fast another one is.
    counts: Vec<u64>,
    sequence: u64,
    /// What units are copies of but for their stamps; the same in all fillers of a recipe. Empty where there are no
    /// duplicates.
    pool: Vec<u8>,
}

impl Filler {
    /// A filler; `seed` is its own, that of the recipe is shared by all.
    #[must_use]
    pub fn new(recipe: &Recipe, seed: u64) -> Self {
        let pool = if recipe.sets == 0 {
            Vec::new()
        } else {
            let mut pool = vec![0; (ROTATION_BYTES / recipe.unit).max(1) as usize * recipe.unit as usize];
            lay(recipe, &mut Xoshiro256PlusPlus::seed_from_u64(recipe.seed), &mut pool);
            pool
        };
        let start = scramble(seed ^ recipe.seed);
        let counts = vec![0; recipe.lba_bytes.len()];
        Self { recipe: recipe.clone(), seed: scramble(seed), start, counts, sequence: start, pool }
    }

    /// Lays what buffer `number` holds, in one that is zeroed or was laid before.
    pub fn prime(&mut self, number: u64, bytes: &mut [u8]) {
        lay(&self.recipe, &mut Xoshiro256PlusPlus::seed_from_u64(scramble(self.seed ^ number)), bytes);
    }

    /// Another write to `target` begins: the number of its buffer, counted up.
    #[inline(always)]
    pub fn begin(&mut self, target: u32) -> u64 {
        let Some(count) = self.counts.get_mut(target as usize) else { return 0 };
        *count += 1;
        self.sequence = self.start.wrapping_add(*count);
        // Targets are apart, so that their writes seldom ask for the same buffer.
        *count + u64::from(target) * APART
    }

    /// Makes the bytes of the next write, to `target` from `lba` on, in a buffer that was primed and perhaps filled before.
    #[inline(always)]
    pub fn fill(&mut self, target: u32, lba: u64, bytes: &mut [u8]) {
        if self.recipe.random == 0 {
            return;
        }
        let lba_bytes = self.recipe.lba_bytes.get(target as usize).copied().unwrap_or(1);
        let address = lba.wrapping_mul(u64::from(lba_bytes));
        if self.recipe.sets == 0 {
            stamp(bytes, self.recipe.granule, address >> 9, self.moment(target));
        } else {
            self.fill_units(target, address, bytes);
        }
    }

    /// Unit by unit. Neighbours are copies of different units of the pool, so that no compressor finds one in the other.
    fn fill_units(&self, target: u32, address: u64, bytes: &mut [u8]) {
        let Recipe { seed, unit, granule, sets, .. } = self.recipe;
        let pool_units = (self.pool.len() / unit as usize) as u64;
        for (number, bytes) in (0u64..).zip(bytes.chunks_mut(unit as usize)) {
            let address = address.wrapping_add(number * u64::from(unit));
            let index = address / u64::from(unit);
            let (copy_of, place, moment) = if self.recipe.is_duplicate(target, index) {
                // Another one each time, so that no write repeats what its address holds.
                let draw = scramble(scramble(index ^ (u64::from(target) << 48)) ^ self.sequence);
                let set = ((u128::from(draw) * u128::from(sets)) >> 64) as u64;
                (set, set << 24, !(seed ^ self.recipe.scope_of(target)))
            } else {
                (index, address >> 9, self.moment(target))
            };
            let from = (copy_of % pool_units) as usize * unit as usize;
            bytes.copy_from_slice(&self.pool[from..from + bytes.len()]);
            stamp(bytes, granule, place, moment);
        }
    }

    /// What no other write to any target has.
    #[inline(always)]
    fn moment(&self, target: u32) -> u64 {
        self.sequence ^ (u64::from(target) << 40)
    }
}

/// Zeroes and random bytes, granule by granule.
fn lay(recipe: &Recipe, random: &mut Xoshiro256PlusPlus, bytes: &mut [u8]) {
    for granule in bytes.chunks_mut(recipe.granule as usize) {
        let zeroes = granule.len().saturating_sub(recipe.random as usize);
        random.fill_bytes(&mut granule[zeroes..]);
    }
}

/// Writes the last bytes of each granule: two numbers that are made of `place`, counted up, and of `moment`, so that two
/// stamps are alike only where both are.
#[inline(always)]
fn stamp(bytes: &mut [u8], granule: u32, place: u64, moment: u64) {
    let moment = moment.wrapping_mul(SPREAD[1]);
    if bytes.len() <= granule as usize {
        return stamp_one(bytes, place, moment);
    }
    let sectors = u64::from(granule >> 9).max(1);
    for (number, granule) in (0u64..).zip(bytes.chunks_mut(granule as usize)) {
        stamp_one(granule, place.wrapping_add(number * sectors), moment);
    }
}

#[inline(always)]
fn stamp_one(granule: &mut [u8], place: u64, moment: u64) {
    if let Some(stamp) = granule.last_chunk_mut::<{ STAMP_BYTES as usize }>() {
        stamp[..8].copy_from_slice(&moment.to_le_bytes());
        stamp[8..].copy_from_slice(&place.wrapping_mul(SPREAD[0]).to_le_bytes());
    }
}
