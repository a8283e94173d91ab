//! How the targets of a workload make one address space: end to end, or striped.
//!
//! Owns the spelling, `concat` and `stripe:1m`. What the targets hold is the plan's to know.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::nearest::hint;
use super::scalar::Text;
use crate::units::{Bytes, parse_size};

/// The layout of a volume set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volume {
    /// The first target, then the second, and so on.
    Concat,
    /// Stripes of this many bytes, one target after the other.
    Stripe(Bytes),
}

const EXPECTING: &str = "a layout, \"concat\" or \"stripe:1m\"";

impl FromStr for Volume {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "concat" {
            return Ok(Self::Concat);
        }
        if let Some(size) = text.strip_prefix("stripe:") {
            let size = parse_size(size).map_err(|error| error.to_string())?;
            return match size.0 {
                0 => Err("a stripe of nothing; write one such as stripe:1m".to_owned()),
                _ => Ok(Self::Stripe(size)),
            };
        }
        let word = text.split(':').next().unwrap_or_default();
        Err(format!("unknown layout `{text}`{}; write \"concat\" or \"stripe:1m\"", hint(word, ["concat", "stripe"])))
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concat => f.write_str("concat"),
            Self::Stripe(size) => write!(f, "stripe:{size}"),
        }
    }
}

impl Serialize for Volume {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Volume {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Text { expecting: EXPECTING, parse: str::parse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_print_as_they_are_read() {
        for text in ["concat", "stripe:1m", "stripe:64k"] {
            assert_eq!(text.parse::<Volume>().unwrap().to_string(), text);
        }
        for (text, says) in
            [("raid5", "unknown layout"), ("strip:1m", "did you mean `stripe`"), ("stripe:0", "of nothing")]
        {
            assert!(text.parse::<Volume>().unwrap_err().contains(says), "{text}");
        }
    }
}
