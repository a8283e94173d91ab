//! All places in random order, each once: a keyed bijection applied to a counter.
//!
//! Owns the bijection. For many places it is one of 0..2^k, k as small as n allows, made of steps that can be undone (add,
//! multiply by an odd number, shift and exclusive-or), from which numbers of n and more are left out: what remains is every
//! number below n, once (J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", 2002, treat this and the like).
//! Few places are shuffled. All lanes of a workload use one key and count through parts of their own, so that they share no
//! place.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::number::{below, part_of};

/// Fewer places than this, or than [`FEW_OF_PART`] for each part, are shuffled.
const FEW: u64 = 1 << 14;
const FEW_OF_PART: u64 = 1 << 11;
/// Places made at a time.
const AHEAD: usize = 64;

/// The places of one part, without end: after the last one the first comes again.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    order: Order,
    ready: [u64; AHEAD],
    taken: usize,
}

#[derive(Debug, Clone)]
enum Order {
    Shuffled { places: Vec<u64>, at: usize },
    Mixed(Mixed),
}

/// A counter in `first..end`, whose numbers are mixed.
#[derive(Debug, Clone, Copy)]
struct Mixed {
    n: u64,
    first: u64,
    end: u64,
    at: u64,
    mask: u64,
    shift: u32,
    add: u64,
    factors: [u64; 3],
}

impl Permutation {
    /// That of `0..n` with this key; the part must not be empty.
    pub fn new(n: u64, key: u64, part: (u32, u32)) -> Self {
        let mut random = Xoroshiro128PlusPlus::seed_from_u64(key);
        let order = if n < FEW.max(FEW_OF_PART * u64::from(part.1)) {
            let mut all: Vec<u64> = (0..n).collect();
            for last in (1..all.len()).rev() {
                all.swap(last, below(&mut random, last as u64 + 1) as usize);
            }
            let (first, end) = part_of(n, part);
            Order::Shuffled { places: all[first as usize..end as usize].to_vec(), at: 0 }
        } else {
            let domain = n.next_power_of_two();
            let (first, end) = part_of(domain, part);
            Order::Mixed(Mixed {
                n,
                first,
                end,
                at: first,
                mask: domain - 1,
                shift: domain.trailing_zeros().div_ceil(2),
                add: random.next_u64(),
                factors: std::array::from_fn(|_| random.next_u64() | 1),
            })
        };
        Self { order, ready: [0; AHEAD], taken: AHEAD }
    }

    /// Places of the part: so many until the first comes again.
    pub fn period(&self) -> u64 {
        match &self.order {
            Order::Shuffled { places, .. } => places.len() as u64,
            Order::Mixed(mixed) => (mixed.first..mixed.end).map(|x| u64::from(mixed.mix(x) < mixed.n)).sum(),
        }
    }

    /// Leaves out the next `places`, before the first is taken.
    pub fn skip(&mut self, mut count: u64) {
        match &mut self.order {
            Order::Shuffled { places, at } => *at = ((*at as u64 + count) % places.len() as u64) as usize,
            Order::Mixed(mixed) => {
                while count > 0 {
                    count -= u64::from(mixed.mix(mixed.at) < mixed.n);
                    mixed.at = if mixed.at + 1 == mixed.end { mixed.first } else { mixed.at + 1 };
                }
            }
        }
    }

    /// The next place.
    #[inline(always)]
    pub fn next(&mut self) -> u64 {
        if self.taken >= AHEAD {
            self.refill();
        }
        let place = self.ready[self.taken];
        self.taken += 1;
        place
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.taken = 0;
        match &mut self.order {
            Order::Shuffled { places, at } => {
                for ready in &mut self.ready {
                    *ready = places[*at];
                    *at = if *at + 1 == places.len() { 0 } else { *at + 1 };
                }
            }
            Order::Mixed(mixed) => {
                let mut local = *mixed;
                let mut filled = 0;
                while filled < AHEAD {
                    // Written whether it counts or not, since which of them do cannot be foreseen by a branch.
                    let place = local.mix(local.at);
                    self.ready[filled] = place;
                    filled += usize::from(place < local.n);
                    local.at = if local.at + 1 == local.end { local.first } else { local.at + 1 };
                }
                *mixed = local;
            }
        }
    }
}

impl Mixed {
    #[inline(always)]
    fn mix(&self, x: u64) -> u64 {
        let x = x.wrapping_add(self.add) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(self.factors[0]) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(self.factors[1]) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(self.factors[2]) & self.mask;
        x ^ (x >> self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_known_beforehand_and_what_is_left_out_is_not_made_again() {
        for n in [1, 40, FEW - 1, 40_001] {
            for part in (0..3).filter(|part| n > *part) {
                let order = || Permutation::new(n, 7, (part as u32, n.min(3) as u32));
                let mut whole = order();
                let (period, all) = (order().period(), (0..2 * order().period()).map(|_| whole.next()));
                let all: Vec<u64> = all.collect();
                assert_eq!(all[..period as usize], all[period as usize..]);
                for skipped in [0, 1, period / 2, period - 1, period] {
                    let mut rest = order();
                    rest.skip(skipped);
                    let from = skipped as usize;
                    assert!(all[from..from + 64.min(period as usize)].iter().all(|place| *place == rest.next()));
                }
            }
        }
    }

    #[test]
    fn each_place_comes_once_in_a_period_whatever_the_parts() {
        for n in (1..40).chain([257, 4099, FEW - 1, FEW, FEW + 1, 40_001, 65_536]) {
            for parts in [1, 2, 3, 7].into_iter().filter(|parts| u64::from(*parts) <= n) {
                let mut places = Vec::new();
                for part in 0..parts {
                    let mut permutation = Permutation::new(n, 7, (part, parts));
                    let first = permutation.next();
                    let period = std::iter::once(first).chain(std::iter::from_fn(|| {
                        let place = permutation.next();
                        (place != first).then_some(place)
                    }));
                    places.extend(period);
                }
                places.sort_unstable();
                assert!(places.into_iter().eq(0..n), "{n} in {parts} parts");
            }
        }
    }
}
