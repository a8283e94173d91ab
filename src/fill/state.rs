//! What of a fill is done, and of which fill: the content of a state file (docs/formats.md, "State of a fill").
//!
//! Owns its shape and the rule that only the same fill is continued.

use serde::{Deserialize, Serialize};

use super::FillError;
use crate::plan::PayloadPlan;
use crate::spec::FillOrder;
use crate::units::Bytes;

/// Version of the shape.
const SCHEMA: u32 = 1;

/// How far a fill has come. Only what is known to be written counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Version of this shape.
    pub schema: u32,
    /// Which fill it is.
    pub fill: What,
    /// Passes that are done.
    pub passes_done: u32,
    /// Writes of the pass in hand that are done, by stream.
    pub done: Vec<u64>,
    /// Bytes written so far.
    pub bytes: u64,
    /// Seconds it took.
    pub seconds: f64,
}

/// All that must be the same for a fill to be continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct What {
    /// The targets.
    pub targets: Vec<TargetId>,
    /// The part of each.
    pub region: String,
    /// How often each block is written.
    pub passes: u32,
    /// In which order.
    pub order: FillOrder,
    /// Bytes of a write.
    pub block_size: Bytes,
    /// What is written.
    pub payload: Option<PayloadPlan>,
    /// Seed of the order and of the payload.
    pub seed: u64,
    /// Streams that share each pass, which follow from cores and queue depth: what each writes, in the order of `done`.
    pub streams: Vec<String>,
}

/// A target, and how to know it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetId {
    /// Its URI, without secrets.
    pub uri: String,
    /// Its first identity; empty if it has none.
    pub identity: String,
    /// Its capacity in bytes.
    pub bytes: u64,
}

impl State {
    /// That of a fill that has not begun.
    #[must_use]
    pub fn new(fill: What) -> Self {
        let done = vec![0; fill.streams.len()];
        Self { schema: SCHEMA, fill, passes_done: 0, done, bytes: 0, seconds: 0.0 }
    }

    /// Whether all passes are done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.passes_done >= self.fill.passes
    }

    /// Bytes a second so far; 0 before anything is written.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// Refuses the state of another fill, with what differs.
    ///
    /// # Errors
    /// [`FillError::Other`] and [`FillError::Broken`].
    pub fn continues(&self, fill: &What) -> Result<(), FillError> {
        if self.schema != SCHEMA {
            return Err(FillError::Broken(format!("its `schema` is {}, known is {SCHEMA}", self.schema)));
        }
        let fields = |what: &What| serde_json::to_value(what).unwrap_or_default();
        let (was, is) = (fields(&self.fill), fields(fill));
        let names = was.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let differing = names.filter(|name| was[name] != is[name]).map(|name| {
            let hint = if name == "streams" { " (they follow from --cores and --queue-depth)" } else { "" };
            format!("`{name}` was {} and is {}{hint}", was[name], is[name])
        });
        let differing: Vec<String> = differing.collect();
        if !differing.is_empty() {
            return Err(FillError::Other(differing.join(", ")));
        }
        if self.done.len() != fill.streams.len() {
            let streams = self.done.len();
            return Err(FillError::Broken(format!("`done` has {streams} numbers for {} streams", fill.streams.len())));
        }
        Ok(())
    }
}
