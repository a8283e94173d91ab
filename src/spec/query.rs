//! The part of a target URI behind the question mark: `key=value` pairs joined by `&`.
//!
//! Owns the refusal of unknown and repeated keys, and the values that several schemes share. Knows no scheme.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::nearest::{hint, list};
use crate::units::{Bytes, parse_duration, parse_size};

/// The pairs of a query, in the order written.
pub(super) struct Query<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Query<'a> {
    /// Splits a query; keys outside `known` are refused, and so are repeated ones unless they are in `repeatable`.
    pub fn parse(text: &'a str, known: &[&str], repeatable: &[&str]) -> Result<Self, String> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| format!("option `{pair}` has no value; write {pair}=…"))?;
            if !known.contains(&key) {
                let known_keys = if known.is_empty() { "none".to_owned() } else { list(known.iter().copied()) };
                let hint = hint(key, known.iter().copied());
                return Err(format!("unknown option `{key}`{hint}; options of this scheme: {known_keys}"));
            }
            if !repeatable.contains(&key) && pairs.iter().any(|(earlier, _)| *earlier == key) {
                return Err(format!("option `{key}` is given twice; keep one"));
            }
            pairs.push((key, value));
        }
        Ok(Self { pairs })
    }

    /// All values of a key.
    pub fn all(&self, key: &str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(k, _)| *k == key).map(|(_, value)| *value)
    }

    /// The value of a key through `parse`, if it is given; the error names the key.
    pub fn value<T, E: Display>(&self, key: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<Option<T>, String> {
        self.all(key).next().map(|text| parse(text).map_err(|error| format!("{key}: {error}"))).transpose()
    }

    /// A whole number of a key within a range, if it is given.
    pub fn whole(&self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, String> {
        self.value(key, |text| {
            let number = text.parse::<u32>().ok().filter(|number| range.contains(number));
            number.ok_or_else(|| format!("`{text}` is not a whole number of {} to {}", range.start(), range.end()))
        })
    }

    /// A duration of a key, if it is given.
    pub fn duration(&self, key: &str) -> Result<Option<Duration>, String> {
        self.value(key, parse_duration)
    }

    /// The NVMe namespace, 1 unless given.
    pub fn namespace(&self) -> Result<u32, String> {
        let ns = self.whole("ns", 1..=u32::MAX - 1).map_err(|error| format!("{error}; namespaces count from 1"))?;
        Ok(ns.unwrap_or(1))
    }

    /// The LBA size of a target made for this run, if it is given.
    pub fn block_size(&self) -> Result<Option<u32>, String> {
        self.value("block_size", |text| match parse_size(text) {
            Ok(Bytes(size @ (512 | 4096))) => Ok(size as u32),
            _ => Err(format!("`{text}` is not an LBA size that Rigel makes; write 512 or 4096")),
        })
    }
}

/// Reads the capacity of a target made for this run.
pub(super) fn parse_capacity(text: &str) -> Result<Bytes, String> {
    let size = parse_size(text).map_err(|error| error.to_string())?;
    if size.0 == 0 { Err("a capacity of 0 holds nothing; write a size such as 1g".to_owned()) } else { Ok(size) }
}

/// Refuses a capacity that is not a whole number of blocks.
pub(super) fn check_capacity(size: Bytes, block_size: u32) -> Result<(), String> {
    if size.0 % u64::from(block_size) == 0 {
        return Ok(());
    }
    Err(format!("the capacity {size} is not a multiple of the block size {block_size}; round it to whole blocks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_repeated_and_valueless_options_are_refused() {
        let error = |text| Query::parse(text, &["ns", "sessions"], &[]).err().unwrap();
        assert!(error("sesions=4").contains("did you mean `sessions`?"));
        assert!(error("ns=1&ns=2").contains("twice"));
        assert!(error("ns").contains("ns=…"));
        assert!(Query::parse("", &[], &[]).is_ok());
    }

    #[test]
    fn namespaces_count_from_one() {
        let ns = |text| Query::parse(text, &["ns"], &[]).unwrap().namespace();
        assert_eq!(ns(""), Ok(1));
        assert_eq!(ns("ns=7"), Ok(7));
        assert!(ns("ns=0").unwrap_err().contains("count from 1"));
        assert!(ns("ns=4294967295").is_err());
    }
}
