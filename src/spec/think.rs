//! Think time: how long a closed loop waits after a completion before it sends again, as a user does before the next
//! request, and how a job spells it: as a text (`"100us"`) or as a table (`{ mean = "100us", spread = "exponential" }`).
//!
//! Owns the spelling and its limits. Knows no load.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{scalar, schema};
use crate::units::{format_duration, parse_duration};

/// Longest think time: a day.
const THINK_MAX: Duration = Duration::from_secs(86_400);

const EXPECTING: &str = "a think time, such as \"100us\" or { mean = \"100us\", spread = \"exponential\" }";

/// How long each slot of a closed loop waits after a completion before its next submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkTime {
    /// Its mean, above 0.
    pub mean: Duration,
    /// How it is spread.
    pub spread: ThinkSpread,
}

/// How think times are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThinkSpread {
    /// All are the same.
    #[default]
    Constant,
    /// Exponential and independent of each other.
    Exponential,
}

impl fmt::Display for ThinkTime {
    /// `100us`, or `100us on average, exponential`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = format_duration(self.mean);
        match self.spread {
            ThinkSpread::Constant => f.write_str(&mean),
            ThinkSpread::Exponential => write!(f, "{mean} on average, exponential"),
        }
    }
}

/// The table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default, deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    mean: Option<Duration>,
    #[serde(default)]
    spread: ThinkSpread,
}

impl Fields {
    fn think_time(self) -> Result<ThinkTime, String> {
        let Self { mean, spread } = self;
        match mean {
            None => Err("the table lacks `mean`; write { mean = \"100us\", spread = \"exponential\" }".to_owned()),
            Some(Duration::ZERO) => {
                Err("the think time is 0; leave `think_time` out, or write one such as \"100us\"".to_owned())
            }
            Some(mean) if mean > THINK_MAX => {
                Err("the think time is longer than a day; write a shorter one".to_owned())
            }
            Some(mean) => Ok(ThinkTime { mean, spread }),
        }
    }
}

impl Serialize for ThinkTime {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.spread {
            ThinkSpread::Constant => s.serialize_str(&format_duration(self.mean)),
            spread => Fields { mean: Some(self.mean), spread }.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for ThinkTime {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Think;
        impl<'de> Visitor<'de> for Think {
            type Value = ThinkTime;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ThinkTime, E> {
                let mean = parse_duration(text).map_err(E::custom)?;
                Fields { mean: Some(mean), spread: ThinkSpread::Constant }.think_time().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThinkTime, A::Error> {
                Fields::deserialize(MapAccessDeserializer::new(map))?.think_time().map_err(A::Error::custom)
            }
        }
        d.deserialize_any(Think)
    }
}

impl JsonSchema for ThinkTime {
    fn schema_name() -> Cow<'static, str> {
        "ThinkTime".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (mean, spread) = (schema::duration(generator), generator.subschema_for::<ThinkSpread>());
        json_schema!({
            "description": "How long each slot of a closed loop waits after a completion before its next submission.",
            "anyOf": [
                &mean,
                {
                    "type": "object",
                    "properties": {"mean": mean, "spread": spread},
                    "required": ["mean"],
                    "additionalProperties": false,
                },
            ],
            "examples": ["100us", {"mean": "100us", "spread": "exponential"}],
        })
    }
}
