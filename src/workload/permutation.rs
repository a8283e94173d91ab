//! All places in random order, each once: a keyed bijection of `0..n` applied to a counter.
//!
//! Owns the bijection: a Feistel network on pairs (l, r) with l < a and r < b, where a·b is hardly more than n, and cycle
//! walking past the few that are n or more (J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). All
//! lanes of a workload use one key and count through parts of `0..n` of their own, so that they share no place.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::number::{part_of, scale};

const ROUNDS: usize = 4;

/// The places of one part, without end: after the last one the first comes again.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    n: u64,
    a: u64,
    b: u64,
    keys: [u64; ROUNDS],
    /// What is counted through, and where the count stands, also as (l, r).
    first: u64,
    end: u64,
    at: u64,
    pair: (u64, u64),
}

impl Permutation {
    /// That of `0..n` with this key; the part must not be empty.
    pub fn new(n: u64, key: u64, part: (u32, u32)) -> Self {
        let mut random = Xoroshiro128PlusPlus::seed_from_u64(key);
        let a = n.isqrt() + u64::from(n.isqrt().pow(2) < n);
        let b = n.div_ceil(a);
        let (first, end) = part_of(n, part);
        let keys = std::array::from_fn(|_| random.next_u64());
        Self { n, a, b, keys, first, end, at: first, pair: (first / b, first % b) }
    }

    /// The next place.
    #[inline(always)]
    pub fn next(&mut self) -> u64 {
        let mut pair = self.rounds(self.pair);
        while pair.0 * self.b + pair.1 >= self.n {
            pair = self.rounds(pair);
        }
        self.at += 1;
        if self.at == self.end {
            self.at = self.first;
            self.pair = (self.first / self.b, self.first % self.b);
        } else {
            let (l, r) = (self.pair.0, self.pair.1 + 1);
            self.pair = if r == self.b { (l + 1, 0) } else { (l, r) };
        }
        pair.0 * self.b + pair.1
    }

    #[inline(always)]
    fn rounds(&self, (mut l, mut r): (u64, u64)) -> (u64, u64) {
        for keys in self.keys.chunks_exact(2) {
            l += scale(hash(r ^ keys[0]), self.a);
            l -= if l >= self.a { self.a } else { 0 };
            r += scale(hash(l ^ keys[1]), self.b);
            r -= if r >= self.b { self.b } else { 0 };
        }
        (l, r)
    }
}

/// Bits that depend on all bits of `x`, the upper ones most.
#[inline(always)]
fn hash(x: u64) -> u64 {
    let x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_comes_once_in_a_period_whatever_the_parts() {
        for n in (1..80).chain([255, 256, 257, 1009, 4099]) {
            for parts in [1, 2, 3, 7].into_iter().filter(|parts| u64::from(*parts) <= n) {
                let mut places = Vec::new();
                for part in 0..parts {
                    let mut permutation = Permutation::new(n, 7, (part, parts));
                    let own = permutation.end - permutation.first;
                    let period: Vec<u64> = (0..own).map(|_| permutation.next()).collect();
                    let again: Vec<u64> = (0..own).map(|_| permutation.next()).collect();
                    assert_eq!(period, again);
                    places.extend(period);
                }
                places.sort_unstable();
                assert!(places.into_iter().eq(0..n), "{n} in {parts} parts");
            }
        }
    }
}
