//! How long the slots of a closed loop think.
//!
//! Owns the draw, in ticks. Knows no driver and no clock.

use rand::distr::Distribution;
use rand_distr::Exp1;
use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use crate::plan::{ThinkSpread, ThinkTime};

/// Think times, one after the other, without end.
#[derive(Debug, Clone)]
pub struct ThinkTimes {
    random: Xoroshiro128PlusPlus,
    spread: ThinkSpread,
    mean_ticks: f64,
}

impl ThinkTimes {
    /// On a clock of so many ticks a second.
    #[must_use]
    pub fn new(think_time: ThinkTime, ticks_per_s: f64, seed: u64) -> Self {
        let ThinkTime { mean, spread } = think_time;
        let random = Xoroshiro128PlusPlus::seed_from_u64(seed);
        Self { random, spread, mean_ticks: mean.as_secs_f64() * ticks_per_s }
    }

    /// The next one, in ticks.
    #[inline(always)]
    #[must_use]
    pub fn draw(&mut self) -> u64 {
        match self.spread {
            ThinkSpread::Constant => self.mean_ticks.round() as u64,
            ThinkSpread::Exponential => {
                let exponential: f64 = Exp1.sample(&mut self.random);
                (self.mean_ticks * exponential).round() as u64
            }
        }
    }

    /// What is left of one that is found at a random moment.
    #[must_use]
    pub fn rest_of_one(&mut self) -> u64 {
        match self.spread {
            ThinkSpread::Constant => {
                let share = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                (self.mean_ticks * share) as u64
            }
            // It does not age.
            ThinkSpread::Exponential => self.draw(),
        }
    }
}
