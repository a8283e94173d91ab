//! How the targets were filled before the first point. Owns its shape in the result and the sentence on a fill that did
//! not come to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunResult;
use crate::fill::{State, SteadyRounds};
use crate::spec::FillOrder;
use crate::units::Bytes;

/// How the targets were filled before the first point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreconditionResult {
    /// The part of each target, as the job writes it.
    pub region: String,
    /// In which order each pass wrote it.
    pub order: FillOrder,
    /// Bytes of a write.
    pub block_size: Bytes,
    /// Passes that were asked for.
    pub passes: u32,
    /// Passes that were done: each wrote every block of the region once.
    pub passes_done: u32,
    /// Bytes written.
    pub bytes: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Bytes written a second.
    pub bytes_per_s: f64,
    /// The rounds of random writes after the passes; none where the job does not ask for them, or the passes were not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyResult>,
}

/// Rounds of random writes until the targets were steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyResult {
    /// Whether the last five rounds were steady.
    pub reached: bool,
    /// Writes a second in each round.
    pub iops: Vec<f64>,
    /// Greatest less least of the last five, as a share of their mean; none of fewer.
    pub range_share: Option<f64>,
    /// Rise of the line through the last five, as a share of their mean; none of fewer.
    pub slope_share: Option<f64>,
}

impl From<&SteadyRounds> for SteadyResult {
    fn from(rounds: &SteadyRounds) -> Self {
        let trend = rounds.trend();
        Self {
            reached: rounds.are_steady(),
            iops: rounds.0.clone(),
            range_share: trend.map(|trend| trend.range_share),
            slope_share: trend.map(|trend| trend.slope_share),
        }
    }
}

impl SteadyResult {
    fn sentence(&self) -> Option<String> {
        let shares = self.range_share.zip(self.slope_share);
        let moved = shares.map(|(range, slope)| {
            format!(" (the last five: range {:.1} %, slope {:+.1} %)", range * 100.0, slope * 100.0)
        });
        let (rounds, moved) = (self.iops.len(), moved.unwrap_or_default());
        (!self.reached).then(|| format!("the targets were not steady after {rounds} rounds of random writes{moved}"))
    }
}

impl From<&State> for PreconditionResult {
    fn from(state: &State) -> Self {
        Self {
            region: state.fill.region.clone(),
            order: state.fill.order,
            block_size: state.fill.block_size,
            passes: state.fill.passes,
            passes_done: state.passes_done,
            bytes: state.bytes,
            seconds: state.seconds,
            bytes_per_s: state.bytes_per_s(),
            steady: None,
        }
    }
}

impl PreconditionResult {
    /// Whether all was done that was asked for.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.passes_done >= self.passes && self.steady.as_ref().is_none_or(|steady| steady.reached)
    }
}

impl RunResult {
    /// The same, on targets that were filled before.
    #[must_use]
    pub fn after(mut self, precondition: Option<PreconditionResult>) -> Self {
        if let Some(done) = precondition.as_ref().filter(|done| done.passes_done < done.passes) {
            let (done, all) = (done.passes_done, done.passes);
            self.verdicts.push(format!("the targets were not filled as asked for: {done} of {all} passes were done"));
        }
        let steady = precondition.as_ref().and_then(|done| done.steady.as_ref());
        self.verdicts.extend(steady.and_then(SteadyResult::sentence));
        self.precondition = precondition;
        self
    }
}
