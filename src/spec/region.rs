//! The part of a target that a workload touches, as a job writes it.
//!
//! Owns the spelling: `whole`, `1g`, `0-1g`, `10%-20%`. Knows no capacity; the plan resolves it to blocks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::scalar::Text;
use crate::units::{Bytes, parse_size};

/// A region as written; `first < end` always holds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RegionSpec {
    /// All of the target.
    #[default]
    Whole,
    /// From byte `first` up to, not including, byte `end`.
    Bytes {
        /// First byte.
        first: Bytes,
        /// First byte behind the region.
        end: Bytes,
    },
    /// From `first` to `end` per cent of the capacity, each 0 to 100.
    Percent {
        /// Start, in per cent.
        first: f64,
        /// End, in per cent.
        end: f64,
    },
}

const EXPECTING: &str = "a region: \"whole\", \"1g\" (the first 1g), \"1g-2g\" or \"10%-20%\"";

impl FromStr for RegionSpec {
    type Err = String;

    /// Reads a region; the error says what a region looks like.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "whole" {
            return Ok(Self::Whole);
        }
        let (first, end) = text.split_once('-').unwrap_or(("0", text));
        let error = || format!("`{text}` is not a region; write {EXPECTING}");
        let region = if end.contains('%') {
            let share = |text: &str| {
                let digits = text.trim().trim_end_matches('%').trim_end();
                digits.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share)).ok_or_else(error)
            };
            Self::Percent { first: share(first)?, end: share(end)? }
        } else {
            let size = |text: &str| parse_size(text.trim()).map_err(|_| error());
            Self::Bytes { first: size(first)?, end: size(end)? }
        };
        let empty = match region {
            Self::Whole => false,
            Self::Bytes { first, end } => first >= end,
            Self::Percent { first, end } => first >= end,
        };
        if empty {
            return Err(format!("region `{text}` is empty; its start must be less than its end, as in \"0-1g\""));
        }
        Ok(region)
    }
}

impl fmt::Display for RegionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Bytes { first, end } => write!(f, "{first}-{end}"),
            Self::Percent { first, end } => write!(f, "{first}%-{end}%"),
        }
    }
}

impl Serialize for RegionSpec {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RegionSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Text { expecting: EXPECTING, parse: str::parse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_is_read() {
        let gib = |n: u64| Bytes(n << 30);
        for (text, region) in [
            ("whole", RegionSpec::Whole),
            ("1g", RegionSpec::Bytes { first: Bytes(0), end: gib(1) }),
            ("1g-2GiB", RegionSpec::Bytes { first: gib(1), end: gib(2) }),
            ("10%-20%", RegionSpec::Percent { first: 10.0, end: 20.0 }),
            ("10-20%", RegionSpec::Percent { first: 10.0, end: 20.0 }),
            ("12.5%", RegionSpec::Percent { first: 0.0, end: 12.5 }),
        ] {
            assert_eq!(text.parse(), Ok(region), "{text}");
            assert_eq!(region.to_string().parse(), Ok(region), "{region}");
        }
    }

    #[test]
    fn an_empty_or_misspelt_region_is_refused() {
        for text in ["", "0", "2g-1g", "1g-1g", "20%-10%", "0-101%", "-1g", "half", "1g-50%", "NaN%", "1%%-x"] {
            assert!(text.parse::<RegionSpec>().is_err(), "{text}");
        }
    }
}
