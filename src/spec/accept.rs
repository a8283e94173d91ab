//! What must hold for a run to be accepted: conditions on figures, and at which points.
//!
//! Owns their grammar, `p99.9 read <= 500us at any`, both ways. Judges nothing; whether a job can fulfil one at all is
//! told by `rules`, how a job file writes one by `written`.

mod rules;
mod written;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub(super) use rules::{about, check};
pub(super) use written::{list, schema};

use super::figure::{Figure, Measure};
use super::load::Load;
use super::nearest::hint;
use crate::units::{format_duration, format_rate, parse_duration, parse_rate};

/// The word for a steady state.
const STEADY: &str = "steady";

/// Something that must hold, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Accept {
    /// What.
    pub that: Condition,
    /// At which points.
    pub at: At,
}

/// A condition that a point keeps or breaks.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Rates and latencies were the same throughout the window.
    Steady,
    /// A figure keeps to its bound.
    Bound {
        /// The figure. A latency without operation is that of each operation that did any I/O.
        figure: Figure,
        /// How it has to lie.
        relation: Relation,
        /// The bound: I/Os or bytes a second, nanoseconds, a number of errors, or per cent.
        bound: f64,
    },
}

/// How a figure has to lie to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<=`.
    AtMost,
    /// `>=`.
    AtLeast,
    /// `<`.
    Below,
    /// `>`.
    Above,
    /// `==`, of counts only.
    Equal,
}

/// The points at which a condition has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum At {
    /// All of them.
    #[default]
    All,
    /// At least one.
    Any,
    /// Those with this load: queue depth, I/Os outstanding, or rate.
    Load(u64),
}

impl Accept {
    /// Whether a point belongs to those asked for: the point's loads and the workloads' names, both in the order of the
    /// workloads. With [`At::Load`] a point belongs when the workload of the figure has this load, or any where it names
    /// none.
    #[must_use]
    pub fn covers(&self, loads: &[Load], names: &[&str]) -> bool {
        let At::Load(asked) = self.at else { return true };
        let mine = loads.iter().zip(names).filter(|(_, name)| self.workload().is_none_or(|asked| asked == **name));
        mine.into_iter().any(|(load, _)| number(*load) == asked)
    }

    /// The workload that it is about; all if none.
    fn workload(&self) -> Option<&str> {
        match &self.that {
            Condition::Steady => None,
            Condition::Bound { figure, .. } => figure.workload.as_deref(),
        }
    }
}

/// The number that a load is told by.
fn number(load: Load) -> u64 {
    match load {
        Load::QueueDepth(depth) | Load::Outstanding(depth) => u64::from(depth),
        Load::Rate(open) => open.rate_per_s,
    }
}

impl Relation {
    /// Whether `value` lies so.
    #[must_use]
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtMost => value <= bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::Above => value > bound,
            Self::Equal => value == bound,
        }
    }

    /// Whether a lesser value is nearer to it.
    #[must_use]
    pub fn wants_less(self) -> bool {
        !matches!(self, Self::AtLeast | Self::Above)
    }

    fn parse(sign: &str) -> Option<Self> {
        Some(match sign {
            "<=" => Self::AtMost,
            ">=" => Self::AtLeast,
            "<" => Self::Below,
            ">" => Self::Above,
            "==" => Self::Equal,
            _ => return None,
        })
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::Above => ">",
            Self::Equal => "==",
        })
    }
}

impl FromStr for Accept {
    type Err = String;

    /// Reads `CONDITION [at all|any|LOAD]`.
    fn from_str(text: &str) -> Result<Self, String> {
        // A workload's name may hold the word too; behind the relation it cannot.
        let bound = sign(text).map_or(0, |(_, end)| end);
        match text[bound..].rfind(" at ") {
            Some(at) => {
                let (that, at) = (&text[..bound + at], &text[bound + at + " at ".len()..]);
                Ok(Self { that: that.parse()?, at: at.parse()? })
            }
            None => Ok(Self { that: text.parse()?, at: At::All }),
        }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "all" => Ok(Self::All),
            "any" => Ok(Self::Any),
            number => parse_rate(number).ok().filter(|load| *load > 0).map(Self::Load).ok_or_else(|| {
                format!("`{number}` names no points; write all, any, or the load of a point, such as 64 or 50k")
            }),
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    /// Reads `FIGURE RELATION BOUND`, or `steady`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == STEADY {
            return Ok(Self::Steady);
        }
        let Some((start, end)) = sign(text) else {
            let hint = hint(text, [STEADY]);
            return Err(format!(
                "`{text}` is no condition{hint}; write a figure, a relation and a bound, such as `iops >= 200k` or \
                 `p99.9 read <= 500us`, or the word steady"
            ));
        };
        let wrong = |message: String| format!("`{text}`: {message}");
        let relation = Relation::parse(&text[start..end])
            .ok_or_else(|| wrong(format!("`{}` is no relation; write <=, >=, <, > or ==", &text[start..end])))?;
        let figure: Figure = text[..start].parse().map_err(wrong)?;
        let bound = bound(figure.measure, text[end..].trim()).map_err(wrong)?;
        if relation == Relation::Equal && figure.measure != Measure::Errors {
            return Err(wrong("only errors can be held to equality; write <= or >=".to_owned()));
        }
        Ok(Self::Bound { figure, relation, bound })
    }
}

/// Where the relation begins and ends: the last of its signs, since a bound holds none of them.
fn sign(text: &str) -> Option<(usize, usize)> {
    let end = text.rfind(['<', '>', '='])? + 1;
    Some((text[..end].trim_end_matches(['<', '>', '=']).len(), end))
}

/// Reads the bound of a figure in the figure's unit.
fn bound(measure: Measure, text: &str) -> Result<f64, String> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| text.chars().all(|c| c.is_ascii_digit() || c == '.'));
    match measure {
        Measure::Iops => parse_rate(text).map(|rate| rate as f64).map_err(|error| error.to_string()),
        Measure::Mean | Measure::Max | Measure::Percentile(_) => {
            parse_duration(text).map(|bound| bound.as_nanos() as f64).map_err(|error| error.to_string())
        }
        Measure::BytesPerS => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            let bytes = match text[end..].trim().to_ascii_lowercase().as_str() {
                "" | "mb/s" => Some(1e6),
                "gb/s" => Some(1e9),
                "mib/s" => Some(f64::from(1 << 20)),
                "gib/s" => Some(f64::from(1 << 30)),
                _ => None,
            };
            let bound = bytes.and_then(|bytes| Some((number(&text[..end])? * bytes).round()));
            bound.filter(|bound| *bound < 2f64.powi(53)).ok_or_else(|| {
                format!(
                    "`{text}` is no bandwidth; write a number and its unit, such as 800 MB/s, 760 MiB/s or 1.2 GB/s"
                )
            })
        }
        Measure::Errors => text
            .parse::<u32>()
            .map(f64::from)
            .map_err(|_| format!("`{text}` is no number of errors; write a whole number, such as 0")),
        Measure::Cpu => {
            let share = number(text.trim_end_matches('%').trim_end()).filter(|share| *share <= 100.0);
            share.ok_or_else(|| format!("`{text}` is no share; write per cent, 0 to 100, such as 80"))
        }
    }
}

impl fmt::Display for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.that)?;
        if self.at == At::All { Ok(()) } else { write!(f, " at {}", self.at) }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Any => f.write_str("any"),
            Self::Load(load) => write!(f, "{load}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Bound { figure, relation, bound } = self else { return f.write_str(STEADY) };
        write!(f, "{figure} {relation} ")?;
        match figure.measure {
            Measure::Iops => f.write_str(&format_rate(*bound as u64)),
            Measure::Mean | Measure::Max | Measure::Percentile(_) => {
                f.write_str(&format_duration(Duration::from_nanos(*bound as u64)))
            }
            // Whole bytes have six digits of a megabyte at most.
            Measure::BytesPerS => {
                let (mb, bytes) = (*bound as u64 / 1_000_000, *bound as u64 % 1_000_000);
                let digits = format!("{mb}.{bytes:06}");
                f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
            }
            Measure::Errors => write!(f, "{bound}"),
            Measure::Cpu => write!(f, "{bound} %"),
        }
    }
}

#[cfg(test)]
mod tests;
