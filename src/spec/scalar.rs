//! How single values of a job are read and written: what each accepts, in words that an error can print.
//!
//! Owns the serde side of sizes, durations, shares and counts. Knows no field by name.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, SeqAccess, Unexpected, Visitor};
use serde::ser::Serializer;

use crate::units::{Bytes, format_duration, parse_duration, parse_size};

/// Greatest block size of an I/O, in bytes.
pub(super) const BLOCK_SIZE_MAX: u64 = 64 << 20;
/// Longest ramp, time or interval.
const DURATION_MAX: Duration = Duration::from_secs(30 * 86_400);

/// A value written as text, read by `parse`.
pub(super) struct Text<T> {
    pub expecting: &'static str,
    pub parse: fn(&str) -> Result<T, String>,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

/// A whole number within `range`.
#[derive(Clone)]
pub(super) struct Whole {
    pub expecting: &'static str,
    pub range: RangeInclusive<u64>,
}

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        if self.range.contains(&value) { Ok(value) } else { Err(E::invalid_value(Unexpected::Unsigned(value), &self)) }
    }
}

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<u64, D::Error> {
        d.deserialize_any(self)
    }
}

/// A size: bytes, or text with a binary unit.
struct Size {
    expecting: &'static str,
    most: u64,
}

impl Visitor<'_> for Size {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
        let size = parse_size(text).map_err(E::custom)?;
        if (1..=self.most).contains(&size.0) { Ok(size) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bytes, E> {
        match u64::try_from(value) {
            Ok(value) if (1..=self.most).contains(&value) => Ok(Bytes(value)),
            _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bytes, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// Reads the size of an I/O, or of what it is aligned to.
pub(super) fn block_size<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
    let size = Size { expecting: "a size of 1 byte to 64m, such as \"8k\" or 8192", most: BLOCK_SIZE_MAX };
    d.deserialize_any(size).map(Some)
}

/// Reads any size above 0.
pub(super) fn size<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
    d.deserialize_any(Size { expecting: "a size of 1 byte or more, such as \"64k\" or 65536", most: u64::MAX })
        .map(Some)
}

/// A number that stands for a share: of 0 to 100, where text may end in a per cent sign, or of 0 to 1.
struct Share {
    expecting: &'static str,
    most: f64,
    /// Whether text is read, and what a per cent sign in it divides by.
    percent_sign: Option<f64>,
}

impl Visitor<'_> for Share {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        let digits = text.trim().strip_suffix('%').map(str::trim_end);
        let number = digits.unwrap_or(text.trim()).parse::<f64>().ok();
        let divisor = if digits.is_some() { self.percent_sign } else { self.percent_sign.map(|_| 1.0) };
        match number.zip(divisor).map(|(number, divisor)| number / divisor) {
            Some(share) if (0.0..=self.most).contains(&share) => Ok(share),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        if (0.0..=self.most).contains(&value) {
            Ok(value)
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        if (0.0..=self.most).contains(&(value as f64)) {
            Ok(value as f64)
        } else {
            Err(E::invalid_value(Unexpected::Signed(value), &self))
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// Reads a share in per cent, 0 to 100.
pub(super) fn percent<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    let share = Share { expecting: "a share in per cent, 0 to 100, such as 70", most: 100.0, percent_sign: None };
    d.deserialize_any(share).map(Some)
}

/// Reads a share in per cent, 0 to 100, which may also be text with a per cent sign.
pub(super) fn share<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    let expecting = "a share of 0 to 100 per cent, such as \"80%\" or 80";
    d.deserialize_any(Share { expecting, most: 100.0, percent_sign: Some(1.0) }).map(Some)
}

/// Reads a fraction of 0 to 1, which may also be text with a per cent sign.
pub(super) fn fraction<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    let expecting = "a share of 0 to 1, such as 0.2 or \"20%\"";
    d.deserialize_any(Share { expecting, most: 1.0, percent_sign: Some(100.0) }).map(Some)
}

/// Reads a duration, at most 30 days.
pub(super) fn duration<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
    let expecting = "a duration with its unit, such as \"30s\" or \"500ms\"";
    let parse = |text: &str| {
        let duration = parse_duration(text).map_err(|e| e.to_string())?;
        let short_enough = duration <= DURATION_MAX;
        short_enough
            .then_some(duration)
            .ok_or_else(|| format!("`{text}` is longer than 30 days, the most a run may take"))
    };
    d.deserialize_str(Text { expecting, parse }).map(Some)
}

/// Reads a seed, 0 to 2^63 - 1 (TOML has no greater number).
pub(super) fn seed<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    Whole { expecting: "a whole number of 0 to 9223372036854775807, such as 42", range: 0..=i64::MAX as u64 }
        .deserialize(d)
        .map(Some)
}

/// Reads one text, or a list of texts; none may be empty.
pub(super) fn strings<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    struct Strings;
    impl<'de> Visitor<'de> for Strings {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one text or a list of texts, none of them empty, such as \"S1ABC\"")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            match text.trim() {
                "" => Err(E::invalid_value(Unexpected::Str(text), &self)),
                _ => Ok(vec![text.to_owned()]),
            }
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut out = Vec::new();
            while let Some(text) = seq.next_element_seed(Each)? {
                out.extend(text);
            }
            Ok(out)
        }
    }
    /// An entry of the list, read as its own step, so that a fault is placed at the entry.
    struct Each;
    impl<'de> DeserializeSeed<'de> for Each {
        type Value = Vec<String>;

        fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Vec<String>, D::Error> {
            d.deserialize_str(Strings)
        }
    }
    d.deserialize_any(Strings)
}

/// Reads a choice between two.
pub(super) fn yes_or_no<'de, D: Deserializer<'de>>(d: D) -> Result<Option<bool>, D::Error> {
    struct YesOrNo;
    impl Visitor<'_> for YesOrNo {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true or false, without quotes")
        }

        fn visit_bool<E: de::Error>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }
    }
    d.deserialize_any(YesOrNo).map(Some)
}

/// Reads a list of tables, which a job writes with double brackets.
pub(super) fn tables<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<Vec<T>, D::Error> {
    list(d, "a list of tables, each begun with double brackets, such as [[workload]]")
}

/// Reads a list.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    d: D,
    expecting: &'static str,
) -> Result<Vec<T>, D::Error> {
    struct List<T>(&'static str, PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut out = Vec::new();
            while let Some(value) = seq.next_element()? {
                out.push(value);
            }
            Ok(out)
        }
    }
    d.deserialize_any(List(expecting, PhantomData))
}

/// Writes a size as it is read.
pub(super) fn write_size<S: Serializer>(size: &Option<Bytes>, s: S) -> Result<S::Ok, S::Error> {
    match size {
        Some(size) => s.collect_str(size),
        None => s.serialize_none(),
    }
}

/// Writes a duration as it is read.
pub(super) fn write_duration<S: Serializer>(duration: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => s.serialize_str(&format_duration(*duration)),
        None => s.serialize_none(),
    }
}

/// Writes a share as people do: `70`, not `70.0`.
pub(super) fn write_percent<S: Serializer>(percent: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    match percent {
        Some(percent) if percent.fract() == 0.0 => s.serialize_i64(*percent as i64),
        Some(percent) => s.serialize_f64(*percent),
        None => s.serialize_none(),
    }
}
