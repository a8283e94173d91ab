//! The mix of operations of a workload, where it does more than read and write: `{ read = 70, write = 25, flush = 5 }`.
//!
//! Owns the spelling and the rule that shares add up. Knows no device.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access_form::SHARES_OFF_PERCENT;
use super::load::Op;
use super::{scalar, schema};

/// Shares of the operations of a workload, in per cent; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Shares", into = "Shares")]
#[schemars(with = "Shares")]
pub struct OpMix([f64; Op::ALL.len()]);

impl OpMix {
    /// The share of one operation, in per cent.
    #[must_use]
    pub fn share(&self, op: Op) -> f64 {
        self.0[op as usize]
    }

    /// Whether there are only reads and writes.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        Op::ALL.iter().all(|&op| matches!(op, Op::Read | Op::Write) || self.share(op) == 0.0)
    }
}

impl fmt::Display for OpMix {
    /// `70 % read, 30 % flush`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = Op::ALL.iter().filter(|op| self.share(**op) > 0.0);
        let parts: Vec<String> = done.map(|op| format!("{} % {op}", self.share(*op))).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Shares of the operations, in per cent; they add up to 100.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OpMix", transform = schema::some_field)]
struct Shares {
    /// Reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    read: Option<f64>,
    /// Writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    write: Option<f64>,
    /// Blocks given back to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    trim: Option<f64>,
    /// Blocks that become zeroes without being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    write_zeroes: Option<f64>,
    /// Flushes of the whole target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    flush: Option<f64>,
}

impl TryFrom<Shares> for OpMix {
    type Error = String;

    fn try_from(shares: Shares) -> Result<Self, String> {
        let Shares { read, write, trim, write_zeroes, flush } = shares;
        let shares = [read, write, trim, write_zeroes, flush].map(Option::unwrap_or_default);
        let sum: f64 = shares.iter().sum();
        if (sum - 100.0).abs() > SHARES_OFF_PERCENT {
            return Err(format!(
                "the shares of the operations add up to {sum} %, not 100 %; change one of them, as in \
                 {{ read = 70, write = 25, trim = 4, flush = 1 }}"
            ));
        }
        Ok(Self(shares))
    }
}

impl From<OpMix> for Shares {
    fn from(mix: OpMix) -> Self {
        let [read, write, trim, write_zeroes, flush] = mix.0.map(|share| (share != 0.0).then_some(share));
        Self { read, write, trim, write_zeroes, flush }
    }
}
