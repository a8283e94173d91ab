//! Where the popular places lie: a bijection from rank to place.
//!
//! Owns the map k → (a·k + b) mod n with a prime to n and near n divided by the golden ratio, so that neighbouring ranks lie
//! as far apart as they can, whatever n. With a = 1 it is a mere shift. The remainder is had by a multiplication with the
//! precomputed quotient a/n (Shoup's way), not by a division.

use super::number::scale;
use crate::units::greatest_divisor;

/// The golden ratio less one, in 2^-64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of `0..n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scatter {
    factor: u64,
    /// `factor` / `n`, in 2^-64, rounded down.
    quotient: u64,
    shift: u64,
    n: u64,
}

impl Scatter {
    /// The map that changes nothing, to be shifted at will.
    pub fn none(n: u64) -> Self {
        Self::of(1 % n, 0, n)
    }

    /// One that spreads neighbours over all of `0..n`, begun at a place that `key` chooses.
    pub fn spread(n: u64, key: u64) -> Self {
        let near = scale(GOLDEN, n).max(1);
        let prime_to_n = |factor: &u64| greatest_divisor(*factor, n) == 1;
        // One is found within a few steps, 1 being prime to all.
        let factor = (1..=near).rev().find(prime_to_n).unwrap_or(1) % n;
        Self::of(factor, scale(key, n), n)
    }

    fn of(factor: u64, shift: u64, n: u64) -> Self {
        Self { factor, quotient: ((u128::from(factor) << 64) / u128::from(n)) as u64, shift, n }
    }

    /// Shifts what the map leads to.
    pub fn shift_to(&mut self, shift: u64) {
        self.shift = shift % self.n;
    }

    /// Where `k`, below `n`, leads. `n` is at most 2^62.
    #[inline(always)]
    pub fn place(&self, k: u64) -> u64 {
        let remainder = if self.factor == 1 {
            k
        } else {
            let product = self.factor.wrapping_mul(k);
            // The quotient may have been one too small.
            self.once(product.wrapping_sub(scale(self.quotient, k).wrapping_mul(self.n)))
        };
        self.once(remainder + self.shift)
    }

    /// What is left when `n` is taken away once, if it can be; by a minimum and no branch, since chance decides.
    #[inline(always)]
    fn once(&self, number: u64) -> u64 {
        number.min(number.wrapping_sub(self.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_met_once() {
        for n in (1..300).chain([1009, 4096, 65_535]) {
            for scatter in [Scatter::none(n), Scatter::spread(n, 12_345 << 50)] {
                let mut places: Vec<u64> = (0..n).map(|k| scatter.place(k)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..n), "{scatter:?}");
            }
        }
    }

    #[test]
    fn the_remainder_is_exact_for_great_numbers() {
        for n in [(1 << 48) - 59, 1 << 48, (1 << 62) - 57] {
            let scatter = Scatter::spread(n, u64::MAX / 3);
            for k in [0, 1, 2, n / 3, n - 2, n - 1] {
                let exact = u128::from(scatter.factor) * u128::from(k) + u128::from(scatter.shift);
                assert_eq!(u128::from(scatter.place(k)), exact % u128::from(n), "{k} of {n}");
            }
        }
    }
}
