//! The search for the highest load that keeps a limit: `[search]`.
//!
//! Owns its fields, defaults and limits. How the next load is found is `campaign`'s.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::accept::Condition;
use super::load::{OUTSTANDING_MAX, QUEUE_DEPTH_MAX};
use super::open::{self, RATE_MAX};
use super::scalar;
use super::schema;

/// Most points of a search where none is stated.
const TRIES_DEFAULT: u32 = 12;
/// Most points that a search may take.
pub const TRIES_MAX: u32 = 100;
/// The greatest depth that is of interest where none is stated.
const DEEPEST: u64 = 1_024;
/// How narrow the bracket has to be where nothing is stated, in per cent.
const WITHIN_DEFAULT: f64 = 2.0;

/// Looks for the highest load at which the limits hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Which load is looked for; the rate of an open loop if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "field")]
    pub field: Option<SearchField>,
    /// What has to hold, all of it: texts such as `p99.9 read <= 500us`.
    #[serde(deserialize_with = "limits", serialize_with = "write_limits")]
    #[schemars(schema_with = "limits_schema")]
    pub limit: Vec<Condition>,
    /// The lowest load that is of interest; a hundredth of what the targets reach, or a depth of 1, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "open::rate")]
    #[schemars(schema_with = "schema::rate")]
    pub from: Option<u64>,
    /// The highest load that is of interest; what the targets reach in a closed loop, or the greatest depth, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "open::rate")]
    #[schemars(schema_with = "schema::rate")]
    pub to: Option<u64>,
    /// How far the loads that keep and break the limit may be apart at the end, in per cent of the latter; 2 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    pub within: Option<f64>,
    /// Most points that it takes, that of the highest rate among them, 3 to 100; 12 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3, max = 100))]
    pub tries: Option<u32>,
}

/// What a search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchField {
    /// Arrivals a second of an open loop.
    #[default]
    Rate,
    /// Outstanding I/Os on each target.
    QueueDepth,
    /// Outstanding I/Os over all targets.
    Outstanding,
}

impl SearchField {
    /// Its name, as a job has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::QueueDepth => "queue_depth",
            Self::Outstanding => "outstanding",
        }
    }

    /// The greatest load of this kind.
    #[must_use]
    pub fn greatest(self) -> u64 {
        match self {
            Self::Rate => RATE_MAX,
            Self::QueueDepth => QUEUE_DEPTH_MAX.into(),
            Self::Outstanding => OUTSTANDING_MAX.into(),
        }
    }
}

impl fmt::Display for SearchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Search {
    /// Which load is looked for.
    #[must_use]
    pub fn field(&self) -> SearchField {
        self.field.unwrap_or_default()
    }

    /// The greatest depth that is of interest, where it looks for one.
    #[must_use]
    pub fn deepest(&self) -> u64 {
        self.to.unwrap_or(DEEPEST.max(self.from.unwrap_or(1))).min(self.field().greatest())
    }

    /// Most points that it takes.
    #[must_use]
    pub fn tries(&self) -> u32 {
        self.tries.unwrap_or(TRIES_DEFAULT)
    }

    /// How narrow the bracket has to be, as a share.
    #[must_use]
    pub fn within(&self) -> f64 {
        self.within.unwrap_or(WITHIN_DEFAULT) / 100.0
    }

    /// Whether its fields fit each other; the field at fault and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let (field, greatest) = (self.field(), self.field().greatest());
        if self.limit.is_empty() {
            return Err(("limit", "`limit` is empty; write what has to hold, such as \"p99 read <= 1ms\"".to_owned()));
        }
        for (name, load) in [("from", self.from), ("to", self.to)] {
            if let Some(load) = load.filter(|load| *load > greatest) {
                return Err((name, format!("{load} is more than the greatest `{field}`, {greatest}; write less")));
            }
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            return Err(("to", format!("`to` ({to}) is not above `from` ({from}); write a greater one")));
        }
        if let Some(tries) = self.tries.filter(|tries| !(3..=TRIES_MAX).contains(tries)) {
            return Err(("tries", format!("{tries} is no number of loads to try; write 3 to {TRIES_MAX}")));
        }
        match self.within {
            Some(within) if !(0.1..=50.0).contains(&within) => {
                Err(("within", format!("{within} % is no width of a bracket; write 0.1 to 50 per cent")))
            }
            _ => Ok(()),
        }
    }
}

fn field<'de, D: Deserializer<'de>>(d: D) -> Result<Option<SearchField>, D::Error> {
    let expecting = "\"rate\", \"queue_depth\" or \"outstanding\"";
    let parse = |text: &str| match text.trim() {
        "rate" => Ok(SearchField::Rate),
        "queue_depth" => Ok(SearchField::QueueDepth),
        "outstanding" => Ok(SearchField::Outstanding),
        other => Err(format!("`{other}` is no load; write rate, queue_depth or outstanding")),
    };
    d.deserialize_str(scalar::Text { expecting, parse }).map(Some)
}

fn limits<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Condition>, D::Error> {
    let read = |text: &String| match text.parse() {
        Ok(Condition::Steady) => Err(serde::de::Error::custom(
            "`steady` is no limit on a load; write a bound on a figure, such as `p99 read <= 1ms`",
        )),
        other => other.map_err(serde::de::Error::custom),
    };
    scalar::strings(d)?.iter().map(read).collect()
}

fn write_limits<S: Serializer>(limits: &[Condition], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(limits.iter().map(ToString::to_string))
}

fn limits_schema(generator: &mut SchemaGenerator) -> Schema {
    let texts = schema::strings(generator);
    json_schema!({"allOf": [texts], "examples": ["p99.9 read <= 500us"]})
}
