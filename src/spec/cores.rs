//! The list of cores that a job names.
//!
//! Owns the spelling, `1-3,5`. Knows nothing of the machine; the plan checks that the cores exist.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::scalar::Text;

/// Greatest core number that can be named.
const CORE_MAX: usize = 4095;

/// Core numbers as the operating system counts them: rising, each once, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreList(Vec<usize>);

impl CoreList {
    /// The numbers, rising.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.0
    }
}

const EXPECTING: &str = "a text that lists core numbers, such as \"1-3\" or \"1,3\"";

impl FromStr for CoreList {
    type Err = String;

    /// Reads numbers and ranges separated by commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}` is not a list of cores; write {EXPECTING}");
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| error());
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last > CORE_MAX {
                return Err(format!("core {last} is beyond the greatest number that can be named, {CORE_MAX}"));
            }
            if first > last {
                return Err(format!("the range `{}` falls; write {last}-{first}", part.trim()));
            }
            cores.extend(first..=last);
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Self(cores))
    }
}

impl fmt::Display for CoreList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [only] => write!(f, "{comma}{only}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

impl Serialize for CoreList {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CoreList {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Text { expecting: EXPECTING, parse: str::parse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_are_read_and_printed_back() {
        for (text, numbers, printed) in [
            ("1-3", vec![1, 2, 3], "1-3"),
            ("5, 1,3", vec![1, 3, 5], "1,3,5"),
            ("0,1-2,2,7", vec![0, 1, 2, 7], "0-2,7"),
        ] {
            let cores: CoreList = text.parse().unwrap();
            assert_eq!(cores.numbers(), numbers);
            assert_eq!(cores.to_string(), printed);
        }
        for text in ["", "a", "1-", "3-1", "1,,2", "99999", "-1", "0-18446744073709551615"] {
            assert!(text.parse::<CoreList>().is_err(), "{text}");
        }
    }
}
