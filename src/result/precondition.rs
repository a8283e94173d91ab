//! How the targets were filled before the first point. Owns its shape in the result and the sentence on a fill that did
//! not come to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunResult;
use crate::fill::State;
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
        }
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
        self.precondition = precondition;
        self
    }
}
