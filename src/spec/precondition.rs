//! How the targets are filled before they are measured: `[precondition]` of a job, and the flags of `rigel fill`.
//!
//! Owns the spelling, the limits and the defaults. Knows no device and fills nothing.

use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};

use super::load;
use super::nearest::hint;
use super::payload::PayloadSpec;
use super::region::RegionSpec;
use super::scalar::{self, Text, Whole};
use super::schema;
use crate::units::Bytes;

/// Most passes over a region.
pub const PASSES_MAX: u32 = 1000;
/// Fewest rounds that can be judged, and most.
const ROUNDS_MIN: u32 = 5;
const ROUNDS_MAX: u32 = 1000;
/// Outstanding I/Os on each target of a fill that states none.
const DEFAULT_QUEUE_DEPTH: u32 = 32;

/// How the targets are filled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// How often every block is written, 1 to 1000; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "passes")]
    #[schemars(schema_with = "passes_schema")]
    pub passes: Option<u32>,
    /// In which order; sequential if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "order")]
    pub order: Option<FillOrder>,
    /// The part of each target; that of the workloads if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<RegionSpec>,
    /// Bytes of each write; 256 KiB if absent, or what the targets take at once. What is left of the region before the first
    /// and behind the last is written too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::block_size", serialize_with = "scalar::write_size")]
    #[schemars(schema_with = "schema::size")]
    pub block_size: Option<Bytes>,
    /// Outstanding writes on each target, 1 to 65,535; 32 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "load::queue_depth")]
    #[schemars(schema_with = "schema::queue_depth")]
    pub queue_depth: Option<u32>,
    /// What is written; that of the workloads if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadSpec>,
    /// What a run does after the passes: `"steady"`, random writes in rounds until five rounds in a row are steady; nothing if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "until")]
    pub until: Option<Until>,
    /// Most rounds, 5 to 1000; 25 if absent. Only with `until`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "max_rounds")]
    #[schemars(schema_with = "max_rounds_schema")]
    pub max_rounds: Option<u32>,
    /// Length of a round, above 0, up to 30 days; 1 min if absent. Only with `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    #[schemars(schema_with = "schema::duration")]
    pub round_time: Option<Duration>,
}

/// What a run does after the passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// It writes at random until the rate moves no more.
    Steady,
}

/// In which order the blocks of a pass are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FillOrder {
    /// Rising, each core a part of its own.
    #[default]
    Sequential,
    /// At random, each block once a pass, another order each pass.
    Random,
}

impl fmt::Display for FillOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        })
    }
}

impl Precondition {
    /// How often every block is written.
    #[must_use]
    pub fn passes(&self) -> u32 {
        self.passes.unwrap_or(1)
    }

    /// In which order.
    #[must_use]
    pub fn order(&self) -> FillOrder {
        self.order.unwrap_or_default()
    }

    /// Most rounds until the targets are steady.
    #[must_use]
    pub fn max_rounds(&self) -> u32 {
        self.max_rounds.unwrap_or(25)
    }

    /// Length of a round.
    #[must_use]
    pub fn round_time(&self) -> Duration {
        self.round_time.unwrap_or(Duration::from_secs(60))
    }

    /// Refuses fields that mean nothing beside the others; the error names the field.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let rounds = [("max_rounds", self.max_rounds.is_some()), ("round_time", self.round_time.is_some())];
        if let Some((field, _)) = rounds.iter().find(|(_, stated)| *stated && self.until.is_none()) {
            return Err((
                field,
                format!("`{field}` is of the rounds that follow the passes; write until = \"steady\" too"),
            ));
        }
        if self.round_time.is_some_and(|time| time.is_zero()) {
            return Err(("round_time", "`round_time` is 0; write such as \"60s\"".to_owned()));
        }
        Ok(())
    }

    /// Outstanding writes on each target.
    #[must_use]
    pub fn queue_depth(&self) -> u32 {
        self.queue_depth.unwrap_or(DEFAULT_QUEUE_DEPTH)
    }
}

fn passes<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    let whole = Whole { expecting: "a number of passes, 1 to 1000, such as 2", range: 1..=u64::from(PASSES_MAX) };
    whole.deserialize(d).map(|passes| u32::try_from(passes).ok())
}

fn passes_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": PASSES_MAX})
}

fn max_rounds<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    let range = u64::from(ROUNDS_MIN)..=u64::from(ROUNDS_MAX);
    let whole = Whole { expecting: "a number of rounds, 5 to 1000, such as 25", range };
    whole.deserialize(d).map(|rounds| u32::try_from(rounds).ok())
}

fn max_rounds_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": ROUNDS_MIN, "maximum": ROUNDS_MAX})
}

fn until<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Until>, D::Error> {
    let parse = |text: &str| match text {
        "steady" => Ok(Until::Steady),
        _ => Err(format!("unknown end `{text}`{}; write \"steady\", or leave `until` out", hint(text, ["steady"]))),
    };
    d.deserialize_str(Text { expecting: "what to go on until, \"steady\"", parse }).map(Some)
}

fn order<'de, D: Deserializer<'de>>(d: D) -> Result<Option<FillOrder>, D::Error> {
    let parse = |text: &str| match text {
        "sequential" => Ok(FillOrder::Sequential),
        "random" => Ok(FillOrder::Random),
        _ => Err(format!(
            "unknown order `{text}`{}; write \"sequential\" or \"random\"",
            hint(text, ["sequential", "random"])
        )),
    };
    d.deserialize_str(Text { expecting: "an order, \"sequential\" or \"random\"", parse }).map(Some)
}
