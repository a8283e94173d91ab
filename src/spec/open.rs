//! The open loop: a rate of arrivals, and what holds when a target cannot follow.
//!
//! Owns their spelling and their limits. Knows nothing of targets or cores.

use schemars::JsonSchema;
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};

use super::arrivals::Arrivals;
use super::load::{OUTSTANDING_MAX, list};
use super::nearest::hint;
use super::scalar::{Text, Whole};
use crate::units::parse_rate;

/// Most I/Os that an open loop has outstanding when the job does not say; fewer where targets or memory set a limit.
pub const DEFAULT_MAX_OUTSTANDING: u32 = 1_024;
/// Greatest rate, in I/Os a second.
pub const RATE_MAX: u64 = 1_000_000_000;

/// What becomes of a point whose target cannot follow its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Overload {
    /// It ends when more than a second's arrivals are waiting at two edges of intervals in a row, and no fewer; the points
    /// after it run all the same.
    #[default]
    Stop,
    /// It goes on to its end.
    Continue,
}

/// The load of an open loop, over all targets and cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoad {
    /// Arrivals a second, 1 to [`RATE_MAX`].
    pub rate_per_s: u64,
    /// How they are spread over time.
    pub arrivals: Arrivals,
    /// Most I/Os outstanding at once; arrivals beyond it wait. In a job: none means that the plan chooses.
    pub max_outstanding: Option<u32>,
}

/// Reads what becomes of an overloaded point.
pub(super) fn overload<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Overload>, D::Error> {
    let parse = |text: &str| match text {
        "stop" => Ok(Overload::Stop),
        "continue" => Ok(Overload::Continue),
        _ => Err(format!(
            "unknown overload rule `{text}`{}; write \"stop\" or \"continue\"",
            hint(text, ["stop", "continue"])
        )),
    };
    d.deserialize_str(Text { expecting: "an overload rule, \"stop\" or \"continue\"", parse }).map(Some)
}

/// A rate: a whole number of I/Os a second, or text with a decimal unit.
#[derive(Clone)]
struct Rate;

impl serde::de::Visitor<'_> for Rate {
    type Value = u64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a rate of 1 to 1000000000 I/Os a second, such as 50000 or \"50k\" (k = 1000)")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<u64, E> {
        let rate = parse_rate(text).map_err(E::custom)?;
        match rate {
            1..=RATE_MAX => Ok(rate),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<u64, E> {
        match u64::try_from(value) {
            Ok(rate @ 1..=RATE_MAX) => Ok(rate),
            _ => Err(E::invalid_value(serde::de::Unexpected::Signed(value), &self)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<u64, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl<'de> DeserializeSeed<'de> for Rate {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<u64, D::Error> {
        d.deserialize_any(self)
    }
}

/// Reads a rate.
pub(super) fn rate<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    Rate.deserialize(d).map(Some)
}

/// Reads a list of rates.
pub(super) fn rates<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<u64>>, D::Error> {
    list::read(d, "a list of rates, such as [\"10k\", \"20k\", \"40k\"]", Rate)
}

/// Reads the most I/Os that an open loop may have outstanding.
pub(super) fn max_outstanding<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    let whole = Whole {
        expecting: "a number of I/Os that may be outstanding over all targets, 1 to 1048576, such as 1024",
        range: 1..=u64::from(OUTSTANDING_MAX),
    };
    whole.deserialize(d).map(|most| u32::try_from(most).ok())
}
