//! Draws from uneven distributions: which stretch by an alias table, where in it by a multiplication.
//!
//! Owns the exactness: a stretch is drawn by its greatest weight times its width, a place in it evenly, and kept with the
//! share that its own weight has of the greatest. That share is known to be nearly one, so that nearly always a comparison
//! decides and no power is taken. Alias tables: A. J. Walker, 1977; M. D. Vose, 1991.

use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::RngCore;

use super::shape::{Shape, Weight};

/// Bits of an alias entry that number the other stretch; those above are the share of its own.
const NUMBER_BITS: u32 = 16;

/// A distribution over ranks.
#[derive(Debug, Clone)]
pub(super) struct Table {
    weight: Weight,
    /// A power of two of them.
    aliases: Vec<u64>,
    stretches: Vec<Kept>,
    /// The greatest weight in each stretch, which few draws need.
    greatest: Vec<f64>,
}

/// A stretch as it is drawn from; never in two lines of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Kept {
    first: u64,
    width: u64,
    /// A fraction of 2^64 below which the first place of it is kept, and by how much less the next ones each.
    sure: u64,
    fall: u64,
}

impl Table {
    /// # Panics
    /// With more stretches than [`NUMBER_BITS`] can number, which no shape has.
    pub fn new(shape: &Shape) -> Self {
        let weight = shape.weight;
        let (stretches, (greatest, shares)): (Vec<Kept>, (Vec<f64>, Vec<f64>)) = shape
            .stretches
            .iter()
            .map(|stretch| {
                let (kept, greatest) = Kept::new(weight, stretch.first, stretch.width);
                let even = weight == Weight::Even;
                (kept, (greatest, if even { stretch.share } else { greatest * stretch.width as f64 }))
            })
            .unzip();
        Self { weight, aliases: aliases(&shares), stretches, greatest }
    }

    /// What draws from it.
    #[inline(always)]
    pub fn draws(&self) -> Draws<'_> {
        let Self { weight, aliases, stretches, greatest } = self;
        Draws { weight, aliases, stretches, greatest, number_mask: aliases.len() - 1 }
    }
}

impl Kept {
    /// The stretch, and the greatest weight in it.
    fn new(weight: Weight, first: u64, width: u64) -> (Self, f64) {
        let ends = [weight.of(first), weight.of(first + width - 1)];
        let (least, greatest) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        // 2^64 as a number saturates to the greatest fraction, which counts as one.
        let fraction = |share: f64| (share * 2f64.powi(64)) as u64;
        // A line that reaches zero within the stretch says less than the least weight.
        let (sure, fall) = match weight.fall(first).filter(|fall| fall * (width as f64) < 0.5) {
            Some(fall) if width > 1 => (u64::MAX - 1, fraction(fall) + 1),
            _ if greatest > 0.0 => (fraction(least / greatest), 0),
            _ => (0, 0),
        };
        (Self { first, width, sure, fall }, greatest)
    }
}

/// A [`Table`] at hand: all that a draw needs, without a pointer on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws<'t> {
    weight: &'t Weight,
    aliases: &'t [u64],
    stretches: &'t [Kept],
    greatest: &'t [f64],
    number_mask: usize,
}

impl Draws<'_> {
    /// A rank.
    #[inline(always)]
    pub fn draw(&self, random: &mut Xoroshiro128PlusPlus) -> u64 {
        loop {
            let drawn = random.next_u64();
            // The lower bits number the entry, the upper ones are the fraction.
            let own = drawn as usize & self.number_mask;
            let entry = self.aliases[own];
            let fraction = drawn >> NUMBER_BITS;
            // A mask and no branch: which of the two it is cannot be foreseen.
            let other = (entry & ((1 << NUMBER_BITS) - 1)) as usize;
            let mask = usize::from(fraction < entry >> NUMBER_BITS).wrapping_neg();
            let number = other ^ ((other ^ own) & mask);
            let stretch = &self.stretches[number];
            let product = u128::from(random.next_u64()) * u128::from(stretch.width);
            let offset = (product >> 64) as u64;
            let rank = stretch.first + offset;
            let fraction = product as u64;
            if fraction < stretch.sure - stretch.fall * offset || self.keeps(number, rank, fraction) {
                return rank;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn keeps(&self, number: usize, rank: u64, fraction: u64) -> bool {
        self.stretches[number].sure == u64::MAX
            || (fraction as f64) * 2f64.powi(-64) * self.greatest[number] < self.weight.of(rank)
    }
}

/// For each number, the share of its slot that is its own, in 2^-48, and the number that the rest belongs to.
fn aliases(shares: &[f64]) -> Vec<u64> {
    let slots = shares.len().next_power_of_two().max(2);
    assert!(slots <= 1 << NUMBER_BITS, "{slots} stretches");
    let sum: f64 = shares.iter().sum();
    let mut left: Vec<f64> = shares.iter().map(|share| share / sum * slots as f64).collect();
    left.resize(slots, 0.0);
    let whole = |number: usize| (u64::MAX << NUMBER_BITS) | number as u64;
    let mut entries: Vec<u64> = (0..slots).map(whole).collect();
    let (mut small, mut great): (Vec<usize>, Vec<usize>) = (0..slots).partition(|&number| left[number] < 1.0);
    while let Some(&giver) = great.last() {
        let Some(taker) = small.pop() else { break };
        let own = (left[taker] * 2f64.powi(64 - NUMBER_BITS as i32)) as u64;
        entries[taker] = (own << NUMBER_BITS) | giver as u64;
        left[giver] -= 1.0 - left[taker];
        if left[giver] < 1.0 {
            great.pop();
            small.push(giver);
        }
    }
    // What is left of either kind is a whole slot but for rounding; a slot without any share belongs to the greatest.
    let greatest = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
    for number in small {
        if shares.get(number).is_none_or(|share| *share <= 0.0) {
            entries[number] = greatest as u64;
        }
    }
    entries
}
