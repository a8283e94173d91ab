//! Rounds of random writes until the targets are steady.
//!
//! Owns when that is: five rounds in a row whose rate keeps the limits of [`crate::stats::Trend`].

use std::sync::atomic::Ordering;

use super::{Drive, Filling, Outcome};
use crate::clock::Clock;
use crate::engine::{EngineError, RunControl};
use crate::stats::{ROUNDS, Trend};
use crate::units::format_count;

/// The rate of each round, in writes a second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SteadyRounds(pub Vec<f64>);

impl SteadyRounds {
    /// How the last rounds moved; none of fewer than five, or where nothing was written.
    #[must_use]
    pub fn trend(&self) -> Option<Trend> {
        Trend::of(self.0.last_chunk::<ROUNDS>()?)
    }

    /// Whether the last rounds were steady.
    #[must_use]
    pub fn are_steady(&self) -> bool {
        self.trend().is_some_and(|trend| trend.is_steady())
    }
}

impl Filling {
    /// Writes rounds until they are steady, or there are as many as may be. One that ends early does not count.
    ///
    /// # Errors
    /// Whatever keeps the engine from running.
    pub fn run_rounds(
        &self,
        rounds: &mut SteadyRounds,
        clock: &Clock,
        control: &RunControl,
        drive: &mut Drive<'_>,
        tell: &mut dyn FnMut(&SteadyRounds),
    ) -> Result<Outcome, EngineError> {
        while let Some(plan) = self.round(rounds.0.len()).filter(|_| !rounds.are_steady()) {
            let figures = drive(&plan, control, &mut |_| {})?;
            let errors: u64 = figures.iter().flat_map(|point| &point.errors).map(|error| error.count).sum();
            let early = figures.iter().find_map(|point| point.ended_early.clone());
            match figures.first() {
                _ if errors > 0 => return Ok(Outcome::Failed(format!("{} writes failed", format_count(errors)))),
                _ if control.interrupt.load(Ordering::Relaxed) => return Ok(Outcome::Interrupted),
                Some(point) if early.is_none() => {
                    let writes: u64 = point.cells.iter().map(|cell| cell.service.count()).sum();
                    rounds.0.push(writes as f64 / (clock.ns(point.window.0 as f64) / 1e9));
                    tell(rounds);
                }
                _ => return Ok(Outcome::Failed(early.unwrap_or_else(|| "a round did not begin".to_owned()))),
            }
        }
        Ok(Outcome::Done)
    }
}
