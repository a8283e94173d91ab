//! What writes carry, as a job states it: how far an array can reduce it, or zeroes.
//!
//! Owns the spelling, the limits and the defaults. Knows neither how such bytes are made nor any device.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

use super::nearest::hint;
use super::scalar;
use super::schema;
use crate::units::Bytes;

/// Greatest ratio of compression or dedupe that a job may ask for.
pub(super) const RATIO_MAX: f64 = 100.0;
/// The unit of dedupe where a job states none and the block size allows it.
const DEFAULT_UNIT: u64 = 4096;
/// What units are counted in.
const SECTOR: u64 = 512;

/// The payload of a workload as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PayloadSpec {
    /// Nothing but zeroes.
    Zeroes,
    /// Bytes that can be reduced as far as stated.
    Made(Reduction),
}

/// How far the payload can be reduced.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reduction {
    /// Ratio N:1 by which it compresses, 1 to 100; 1 (incompressible) if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "ratio")]
    #[schemars(schema_with = "schema::ratio")]
    pub compression: Option<f64>,
    /// Ratio N:1 of written units to different ones, 1 to 100; 1 (all different) if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "ratio")]
    #[schemars(schema_with = "schema::ratio")]
    pub dedupe: Option<f64>,
    /// Bytes that an array compares as one, a multiple of 512 that divides the block size; 4 KiB if absent, or less where
    /// the block size asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "unit", serialize_with = "scalar::write_size")]
    #[schemars(schema_with = "schema::unit")]
    pub unit: Option<Bytes>,
    /// Between which targets duplicates are shared; `global` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// Between which targets duplicates are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All targets of the workload hold the same duplicates: for an array that dedupes over its volumes.
    #[default]
    Global,
    /// Each target has duplicates of its own.
    Target,
}

impl Reduction {
    /// Ratio of compression.
    #[must_use]
    pub fn compression(&self) -> f64 {
        self.compression.unwrap_or(1.0)
    }

    /// Ratio of dedupe.
    #[must_use]
    pub fn dedupe(&self) -> f64 {
        self.dedupe.unwrap_or(1.0)
    }

    /// The unit of dedupe for I/Os of `block_size`: the largest of up to 4 KiB that divides it, if none is stated.
    #[must_use]
    pub fn unit(&self, block_size: Bytes) -> Bytes {
        let dividing = (1..=DEFAULT_UNIT / SECTOR).rev().map(|sectors| sectors * SECTOR);
        self.unit
            .unwrap_or_else(|| dividing.into_iter().find(|unit| block_size.0 % unit == 0).map_or(block_size, Bytes))
    }

    /// Between which targets duplicates are shared.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope.unwrap_or_default()
    }

    /// Refuses a stated unit that does not divide `block_size`.
    pub(super) fn check_unit(&self, block_size: Bytes) -> Result<(), String> {
        match self.unit {
            Some(unit) if block_size.0 % unit.0 != 0 => Err(format!(
                "`unit` {unit} does not divide the block size, {block_size} (of mixed sizes what divides all), so that units would lie across I/Os; write \
                 one that does, such as \"{}\", or leave `unit` out",
                Self { unit: None, ..*self }.unit(block_size)
            )),
            _ => Ok(()),
        }
    }
}

/// The table of a job for what `--payload` says; the error says what it looks like.
pub(super) fn from_flag(typed: &str) -> Result<Value, String> {
    if !typed.contains('=') {
        return Ok(Value::String(typed.trim().to_owned()));
    }
    let mut table = Table::new();
    for assignment in typed.split(',') {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(format!("`{assignment}` is no KEY=VALUE; write such as compression=2,dedupe=1.5,unit=8k"));
        };
        let (key, value) = (key.trim(), value.trim());
        let value = value.parse().unwrap_or_else(|_| Value::String(value.to_owned()));
        if table.insert(key.to_owned(), value).is_some() {
            return Err(format!("`{key}` is given twice; give each key once"));
        }
    }
    Ok(Value::Table(table))
}

impl Serialize for PayloadSpec {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Zeroes => s.serialize_str("zeroes"),
            Self::Made(reduction) => reduction.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for PayloadSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Payload;
        impl<'de> Visitor<'de> for Payload {
            type Value = PayloadSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"zeroes\", or ratios such as { compression = 2.0, dedupe = 1.5, unit = \"8k\" }")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PayloadSpec, E> {
                match text {
                    "zeroes" => Ok(PayloadSpec::Zeroes),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PayloadSpec, A::Error> {
                Reduction::deserialize(MapAccessDeserializer::new(map)).map(PayloadSpec::Made)
            }
        }
        d.deserialize_any(Payload)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let parse = |text: &str| match text {
            "global" => Ok(Self::Global),
            "target" => Ok(Self::Target),
            _ => Err(format!(
                "unknown scope `{text}`{}; write \"global\" or \"target\"",
                hint(text, ["global", "target"])
            )),
        };
        d.deserialize_str(scalar::Text { expecting: "a scope of duplicates, \"global\" or \"target\"", parse })
    }
}

/// Reads a ratio N:1.
fn ratio<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    struct Ratio;
    impl Visitor<'_> for Ratio {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a ratio N:1 of 1 to 100, such as 2.5")
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
            match value {
                1.0..=RATIO_MAX => Ok(value),
                _ => Err(E::invalid_value(Unexpected::Float(value), &self)),
            }
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
            match value {
                1..=100 => Ok(value as f64),
                _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
            }
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
            self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
        }
    }
    d.deserialize_any(Ratio).map(Some)
}

/// Reads a unit of dedupe.
fn unit<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
    let unit = scalar::block_size(d)?;
    match unit {
        Some(unit) if unit.0 % SECTOR != 0 => {
            Err(D::Error::custom(format!("{unit} is not a multiple of 512 bytes; write one, such as \"4k\"")))
        }
        unit => Ok(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_divides_the_block_size_and_is_4k_where_that_does() {
        let unit = |block_size| Reduction::default().unit(Bytes(block_size)).0;
        for (block_size, expected) in
            [(512, 512), (4096, 4096), (6144, 3072), (8192, 4096), (1 << 20, 4096), (5632, 512), (520, 520)]
        {
            assert_eq!(unit(block_size), expected, "{block_size}");
        }
    }
}
