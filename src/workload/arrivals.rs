//! When the arrivals of an open loop come due.
//!
//! Owns the schedule, in ticks; it depends on rate, seed and start only, never on what the target does. Knows no
//! driver and no clock: whoever asks says what time it is.

use rand::distr::Distribution;
use rand_distr::Exp1;
use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::plan::Arrivals;

/// Bits of a fraction of a tick: a rate is kept to better than a part in 10^6 up to one arrival a tick.
const FRACTION_BITS: u32 = 16;

/// An endless, rising sequence of ticks. Two clones tell the same sequence.
#[derive(Debug, Clone)]
pub struct ArrivalTimes {
    random: Xoroshiro128PlusPlus,
    spread: Arrivals,
    /// Mean time between two, in ticks and fractions.
    gap: f64,
    next: u64,
    fraction: u64,
    /// Arrivals that the present burst has left.
    left: u32,
}

impl ArrivalTimes {
    /// A sequence that has yet to be started.
    #[must_use]
    pub fn new(spread: Arrivals, seed: u64) -> Self {
        let random = Xoroshiro128PlusPlus::seed_from_u64(seed);
        Self { random, spread, gap: 0.0, next: u64::MAX, fraction: 0, left: 0 }
    }

    /// Arrivals from the tick `start` on, every `gap_ticks` (above 0) on average: the first of Poisson arrivals and
    /// the first burst after an exponential time like all others, the first of evenly spaced ones after the share `offset` of a gap. The numbers
    /// drawn go on where an earlier sequence has ended.
    pub fn start(&mut self, gap_ticks: f64, offset: f64, start: u64) {
        self.gap = gap_ticks * f64::from(1u32 << FRACTION_BITS);
        (self.next, self.fraction, self.left) = (start, 0, 0);
        match self.spread {
            Arrivals::Poisson | Arrivals::Bursts { .. } => self.step(),
            Arrivals::Constant => self.move_on(self.gap * offset),
        }
    }

    /// Tick of the next arrival.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Tick of the next arrival, which is past then.
    #[inline(always)]
    pub fn take(&mut self) -> u64 {
        let at = self.next;
        self.step();
        at
    }

    #[inline(always)]
    fn step(&mut self) {
        let gap = match self.spread {
            Arrivals::Poisson => {
                let exponential: f64 = Exp1.sample(&mut self.random);
                self.gap * exponential
            }
            Arrivals::Constant => self.gap,
            Arrivals::Bursts { .. } if self.left > 0 => {
                self.left -= 1;
                return;
            }
            Arrivals::Bursts { size } => {
                self.left = size - 1;
                let exponential: f64 = Exp1.sample(&mut self.random);
                self.gap * f64::from(size) * exponential
            }
        };
        self.move_on(gap);
    }

    #[inline(always)]
    fn move_on(&mut self, gap: f64) {
        let by = self.fraction + gap as u64;
        self.next = self.next.saturating_add(by >> FRACTION_BITS);
        self.fraction = by & ((1 << FRACTION_BITS) - 1);
    }
}
