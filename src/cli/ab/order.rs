//! Which side of a pair runs first. Owns the draw: in every two pairs each side is first once, in random order, so that a
//! drift over the study favours neither.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The side (0 or 1) that runs first in pair `pair`.
pub(super) fn first_of(seed: u64, pair: usize) -> usize {
    let block = (pair / 2) as u64;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(block));
    let first = usize::from(random.random::<bool>());
    if pair % 2 == 0 { first } else { 1 - first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_first_as_often_and_in_no_fixed_order() {
        for seed in 0..50 {
            let order: Vec<usize> = (0..40).map(|pair| first_of(seed, pair)).collect();
            assert!(order.chunks(2).all(|block| block[0] != block[1]));
            let led: usize = order.iter().step_by(2).sum();
            assert!((2..=18).contains(&led), "seed {seed}: {order:?}");
            assert_eq!(order, (0..40).map(|pair| first_of(seed, pair)).collect::<Vec<_>>());
        }
        assert!((0..50).any(|seed| first_of(seed, 0) != first_of(seed + 1, 0)));
    }
}
