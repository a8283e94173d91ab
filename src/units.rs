//! Quantities with their unit in the type, and how they are written and read.
//!
//! Owns the spelling of sizes (`8k` is 8,192 bytes, as in fio) and durations (`350us`). Knows nothing of jobs.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point or a span on the tick clock of a run (the invariant TSC, or a driver's virtual clock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Ticks(pub u64);

impl Ticks {
    /// The span from `earlier` to `self`; zero when `earlier` is later (two cores' clocks may differ by a few ticks).
    #[inline(always)]
    #[must_use]
    pub fn since(self, earlier: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }

    /// This tick moved by `span` ticks, at most the last tick there is.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, span: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(span.0))
    }
}

/// A logical block address, in blocks of the target's own LBA size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
pub struct Lba(pub u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    /// The largest binary unit that keeps the figure whole, in fio's spelling: `8k`, `1m`, `512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
        match UNITS.iter().find(|(size, _)| self.0 >= *size && self.0 % size == 0) {
            Some((size, unit)) => write!(f, "{}{unit}", self.0 / size),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Why a size, duration or share could not be read; the text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a size.
    #[error("`{0}` is not a size; write bytes or a binary unit, such as 512, 8k, 1m, 4GiB")]
    Size(String),
    /// Not a duration.
    #[error("`{0}` is not a duration; write a number with its unit, such as 500us, 20ms, 5s, 10m, 2h")]
    Duration(String),
    /// Not a rate.
    #[error("`{0}` is not a rate; write whole I/Os a second, such as 50000, 50k or 1.5M (k = 1000)")]
    Rate(String),
}

/// Reads a size as fio spells it: `512`, `8k`, `8KiB`, `8kb` (all 1,024-based), `1m`, `4GiB`, `1t`.
pub fn parse_size(text: &str) -> Result<Bytes, UnitError> {
    let error = || UnitError::Size(text.to_owned());
    let (number, unit) = split_number(text.trim());
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        "p" | "pb" | "pib" => 1 << 50,
        _ => return Err(error()),
    };
    let number: u64 = number.parse().map_err(|_| error())?;
    number.checked_mul(factor).map(Bytes).ok_or_else(error)
}

/// Reads a rate: a number (a decimal point is allowed) of events a second, with a decimal unit, `k` or `M`, or none.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError::Rate(text.to_owned());
    let (number, unit) = split_number(text.trim());
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        _ => return Err(error()),
    };
    let rate = number.parse::<f64>().map_err(|_| error())? * factor;
    // Exact for every whole number that is in the range of a job.
    if rate.is_finite() && rate.fract() == 0.0 && rate < 2f64.powi(53) { Ok(rate as u64) } else { Err(error()) }
}

/// The rate as a job file would say it, exact: `200k`, `1500k`, `2M`.
#[must_use]
pub fn format_rate(per_s: u64) -> String {
    match per_s {
        0 => "0".to_owned(),
        n if n % 1_000_000 == 0 => format!("{}M", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}k", n / 1_000),
        n => n.to_string(),
    }
}

/// Reads a duration: a number (a decimal point is allowed) and its unit, `ns us ms s m h d`.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let error = || UnitError::Duration(text.to_owned());
    let (number, unit) = split_number(text.trim());
    let unit_ns: f64 = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    let ns = number * unit_ns;
    if !ns.is_finite() || ns > u64::MAX as f64 / 4.0 {
        return Err(error());
    }
    Ok(Duration::from_nanos(ns.round() as u64))
}

/// The duration as a job file would say it, exact: `1500ms`, `30s`, `2h`.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    const UNITS: [(u128, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let ns = duration.as_nanos();
    if ns == 0 {
        return "0s".to_owned();
    }
    let (size, unit) = UNITS.iter().find(|(size, _)| ns % size == 0).unwrap_or(&(1, "ns"));
    format!("{}{unit}", ns / size)
}

/// A latency with a unit that suits it and four significant digits: `987.6 µs`, `12.35 ms`.
#[must_use]
pub fn format_latency(ns: f64) -> String {
    let (value, unit) = match ns {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = match value {
        v if unit == "ns" || v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$} {unit}")
}

/// A whole number with thousands separated by commas: `208,138`.
#[must_use]
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The greatest number that divides both (Euclid); 0 with any number is that number.
#[must_use]
pub fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_fio() {
        for (text, bytes) in
            [("512", 512), ("8k", 8192), ("8KiB", 8192), ("1m", 1 << 20), ("4 GiB", 4 << 30), ("1T", 1 << 40)]
        {
            assert_eq!(parse_size(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "8x", "-1", "1.5k", "99999999999999999999", "99999999p"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_as_they_are_read() {
        for text in ["512", "8k", "1m", "3g", "1t", "1000"] {
            assert_eq!(parse_size(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration("350us"), Ok(Duration::from_micros(350)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7200)));
        for text in ["5", "", "s", "5 weeks", "-1s", "1e9s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(format_duration(Duration::from_millis(1500)), "1500ms");
    }

    #[test]
    fn figures_for_people_carry_their_unit() {
        assert_eq!(format_latency(640.0), "640 ns");
        assert_eq!(format_latency(19_430.0), "19.43 µs");
        assert_eq!(format_latency(1_234_000_000.0), "1.234 s");
        assert_eq!(format_count(1_208_138), "1,208,138");
    }
}
