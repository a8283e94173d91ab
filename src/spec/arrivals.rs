//! How the arrivals of an open loop are spread over time, and how a job spells it: as a text (`"poisson"`, `"bursts:32"`)
//! or as a table (`{ pattern = "bursts", size = 32 }`).
//!
//! Owns the spelling and its limits. Knows no rate.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::nearest::hint;

/// Most arrivals of one burst.
pub const BURST_MAX: u32 = 1_048_576;

const PATTERNS: [&str; 3] = ["poisson", "constant", "bursts"];

const EXPECTING: &str = "how arrivals are spread, \"poisson\", \"constant\", or \"bursts:32\", which may also be written \
     { pattern = \"bursts\", size = 32 }";

/// How the arrivals of an open loop are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Independent of each other: exponential times between them, as from many independent users.
    #[default]
    Poisson,
    /// Evenly spaced, over all cores together.
    Constant,
    /// So many at once, each core's by themselves; exponential times between the bursts.
    Bursts {
        /// Arrivals of one burst, at least 1.
        size: u32,
    },
}

impl Arrivals {
    /// How many come at one moment.
    #[must_use]
    pub fn at_once(self) -> u32 {
        match self {
            Self::Poisson | Self::Constant => 1,
            Self::Bursts { size } => size,
        }
    }
}

impl fmt::Display for Arrivals {
    /// `Poisson`, `evenly spaced`, or `bursts of 32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson => f.write_str("Poisson"),
            Self::Constant => f.write_str("evenly spaced"),
            Self::Bursts { size } => write!(f, "bursts of {size}"),
        }
    }
}

/// The table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default)]
    pattern: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<i64>,
}

impl Fields {
    fn arrivals(self) -> Result<Arrivals, String> {
        let size = |size: i64| match u32::try_from(size) {
            Ok(size @ 1..=BURST_MAX) => Ok(Arrivals::Bursts { size }),
            _ => Err(format!("`size` is {size}, but a burst has 1 to {BURST_MAX} arrivals; write one such as 32")),
        };
        match (self.pattern.as_str(), self.size) {
            ("poisson", None) => Ok(Arrivals::Poisson),
            ("constant", None) => Ok(Arrivals::Constant),
            ("bursts", Some(arrivals)) => size(arrivals),
            ("bursts", None) => Err("bursts need their `size`; write { pattern = \"bursts\", size = 32 }".to_owned()),
            ("poisson" | "constant", Some(_)) => Err(format!(
                "`size` belongs to bursts, not to {}; leave `size` out, or write pattern = \"bursts\"",
                self.pattern
            )),
            ("", _) => Err("the table lacks `pattern`; write { pattern = \"bursts\", size = 32 }".to_owned()),
            (other, _) => Err(format!(
                "unknown arrivals `{other}`{}; write \"poisson\", \"constant\" or \"bursts:32\"",
                hint(other, PATTERNS)
            )),
        }
    }
}

impl FromStr for Arrivals {
    type Err = String;

    /// Reads the text forms.
    fn from_str(text: &str) -> Result<Self, String> {
        let (pattern, size) = text.split_once(':').map_or((text, None), |(pattern, size)| (pattern, Some(size)));
        let number = |size: &str| {
            let number = size.trim().parse::<i64>().ok();
            number.ok_or_else(|| format!("`{size}` in `{text}` is no number of arrivals; write one such as bursts:32"))
        };
        Fields { pattern: pattern.trim().to_owned(), size: size.map(number).transpose()? }.arrivals()
    }
}

impl Serialize for Arrivals {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Poisson => s.serialize_str("poisson"),
            Self::Constant => s.serialize_str("constant"),
            Self::Bursts { size } => Fields { pattern: "bursts".to_owned(), size: Some(i64::from(*size)) }.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Arrivals {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Spread;
        impl<'de> Visitor<'de> for Spread {
            type Value = Arrivals;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Arrivals, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Arrivals, A::Error> {
                Fields::deserialize(MapAccessDeserializer::new(map))?.arrivals().map_err(A::Error::custom)
            }
        }
        d.deserialize_any(Spread)
    }
}

impl JsonSchema for Arrivals {
    fn schema_name() -> Cow<'static, str> {
        "Arrivals".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let table = |pattern: &str| {
            json!({
                "type": "object",
                "properties": {"pattern": {"const": pattern}},
                "required": ["pattern"],
                "additionalProperties": false,
            })
        };
        json_schema!({
            "description": "How the arrivals of an open loop are spread over time.",
            "anyOf": [
                {"type": "string", "pattern": r"^\s*(poisson|constant)\s*$|^\s*bursts\s*:\s*\+?[0-9]+\s*$"},
                table("poisson"),
                table("constant"),
                {
                    "type": "object",
                    "properties": {
                        "pattern": {"const": "bursts"},
                        "size": {"type": "integer", "minimum": 1, "maximum": BURST_MAX},
                    },
                    "required": ["pattern", "size"],
                    "additionalProperties": false,
                },
            ],
            "examples": ["poisson", {"pattern": "bursts", "size": 32}],
        })
    }
}
