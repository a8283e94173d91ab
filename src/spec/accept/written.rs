//! How a job file writes acceptances: texts, or tables of `that` and `at`.
//!
//! Owns the serde side and the JSON Schema of both forms. What is left out is not written back.

use std::fmt;
use std::str::FromStr;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::{Accept, At, Condition};
use crate::spec::scalar::{self, Text};

const EXPECTED: &str = "what must hold, as a text such as \"iops >= 200k\" or a table such as \
                        {that = \"p99 read <= 1ms\", at = 64}";

/// Reads the list of acceptances.
pub(in crate::spec) fn list<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Accept>, D::Error> {
    scalar::list(d, "a list of what must hold, such as [\"iops >= 200k\", \"errors == 0\"]")
}

/// The schema of the list.
pub(in crate::spec) fn schema(_: &mut SchemaGenerator) -> Schema {
    let condition = r"steady|.*[<>=]\s*[0-9.][0-9A-Za-zµ/%. ]*";
    let place = r"all|any|([0-9]+\.?[0-9]*|\.[0-9]+)\s*[kKmM]?";
    let text = |form: &str| json!({"type": "string", "pattern": format!(r"^\s*({form})\s*$")});
    json_schema!({
        "type": "array",
        "items": {"anyOf": [
            text(&format!(r"({condition})(\s+at\s+({place}))?")),
            {
                "type": "object",
                "properties": {"that": text(condition), "at": {"anyOf": [{"type": "integer", "minimum": 1}, text(place)]}},
                "required": ["that"],
                "additionalProperties": false,
            },
        ]},
        "examples": [["iops >= 200k", "errors == 0", {"that": "p99.9 read <= 500us", "at": 64}]],
    })
}

/// The table form.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default, deserialize_with = "condition")]
    that: Option<Condition>,
    #[serde(default)]
    at: At,
}

fn condition<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Condition>, D::Error> {
    let expecting = "what must hold, such as \"p99.9 read <= 500us\"";
    d.deserialize_str(Text { expecting, parse: Condition::from_str }).map(Some)
}

impl<'de> Deserialize<'de> for Accept {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Accept;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Accept, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Accept, A::Error> {
                let Table { that, at } = Table::deserialize(MapAccessDeserializer::new(map))?;
                let missing = || A::Error::custom("missing field `that`; write such as that = \"iops >= 200k\"");
                Ok(Accept { that: that.ok_or_else(missing)?, at })
            }
        }
        d.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Place;
        impl Visitor<'_> for Place {
            type Value = At;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\", \"any\", or the load of a point, such as 64 or \"50k\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<At, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, load: i64) -> Result<At, E> {
                match u64::try_from(load) {
                    Ok(load) if load > 0 => Ok(At::Load(load)),
                    _ => Err(E::invalid_value(Unexpected::Signed(load), &self)),
                }
            }

            fn visit_u64<E: Error>(self, load: u64) -> Result<At, E> {
                self.visit_i64(i64::try_from(load).unwrap_or(i64::MAX))
            }
        }
        d.deserialize_any(Place)
    }
}

impl Serialize for Accept {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.at == At::All {
            return s.collect_str(&self.that);
        }
        let mut table = s.serialize_map(Some(2))?;
        table.serialize_entry("that", &self.that.to_string())?;
        match self.at {
            At::Load(load) => table.serialize_entry("at", &load)?,
            at => table.serialize_entry("at", &at.to_string())?,
        }
        table.end()
    }
}
