//! Whole random numbers in an interval, and the shares of it that lanes have.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::RngCore;

/// A uniform number in `0..n`, `n` at least 1, without bias: a multiplication, and a division only in the rare case that
/// the draw may have to be repeated (D. Lemire, "Fast Random Integer Generation in an Interval", 2019).
#[inline(always)]
pub(super) fn below(random: &mut Xoroshiro128PlusPlus, n: u64) -> u64 {
    let mut product = u128::from(random.next_u64()) * u128::from(n);
    if (product as u64) < n {
        let threshold = n.wrapping_neg() % n;
        while (product as u64) < threshold {
            product = u128::from(random.next_u64()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}

/// The upper half of the product: `a` as a fraction of 2^64 times `n`.
#[inline(always)]
pub(super) fn scale(a: u64, n: u64) -> u64 {
    ((u128::from(a) * u128::from(n)) >> 64) as u64
}

/// The numbers of `0..n` that part `part.0` of `part.1` has: the parts cover them all and differ by at most one.
pub(super) fn part_of(n: u64, (index, count): (u32, u32)) -> (u64, u64) {
    let boundary = |index: u32| (u128::from(n) * u128::from(index) / u128::from(count.max(1))) as u64;
    (boundary(index), boundary(index + 1))
}
