//! Rounds until steady: a point held again and again, until five rounds in a row are.
//!
//! Owns when that is, after SNIA's Solid State Storage Performance Test Specification: range up to 20 % and slope up to
//! 10 % of the mean of the IOPS.

use super::{of_step, role};
use crate::result::{PointResult, Role};
use crate::spec::Step;
use crate::stats::{ROUNDS, Trend};

/// The rounds of a step.
#[derive(Debug)]
pub(super) struct Rounds {
    iops: Vec<f64>,
    most: u32,
}

impl Rounds {
    /// Those that were run, of at most `most`.
    pub(super) fn of(step: &Step, points: &[PointResult], most: u32) -> Self {
        let rounds = of_step(step, points).filter(|(_, point)| role(point) == Some(Role::Point));
        Self { iops: rounds.map(|(_, point)| point.total.iops).collect(), most }
    }

    /// Whether no more are needed, or allowed.
    pub(super) fn are_over(&self) -> bool {
        self.are_steady() || self.iops.len() >= self.most as usize
    }

    fn are_steady(&self) -> bool {
        let last = self.iops.last_chunk::<ROUNDS>();
        last.and_then(Trend::of).is_some_and(|trend| trend.is_steady())
    }

    /// That they never became steady, if they did not.
    pub(super) fn complaint(&self, step: &Step, points: &[PointResult]) -> Option<String> {
        let (_, last) = of_step(step, points).last()?;
        (self.are_over() && !self.are_steady())
            .then(|| format!("{}: not steady after {} rounds", last.label(), self.iops.len()))
    }
}
