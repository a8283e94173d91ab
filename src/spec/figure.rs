//! Figures by name: what a limit, an acceptance or a comparison is about.
//!
//! Owns the spelling: `iops`, `p99.9 read`, `mean.write`, `oltp/p99 read response`. Knows no result.

use std::fmt;
use std::str::FromStr;

use super::load::Op;
use super::nearest::hint;

/// A quantity that each point has a value of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Good completions a second.
    Iops,
    /// Their bytes a second.
    BytesPerS,
    /// Mean latency, in nanoseconds.
    Mean,
    /// A percentile of the latency, in per cent, above 0 and below 100; its value is in nanoseconds.
    Percentile(f64),
    /// Greatest latency, in nanoseconds.
    Max,
    /// Number of I/Os that failed.
    Errors,
    /// Share of the host's processors that was in use, in per cent.
    Cpu,
}

/// Where a latency begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyKind {
    /// At the submission.
    Service,
    /// At the scheduled arrival; there is none in a closed loop.
    Response,
}

/// A figure of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The workload; all together if absent.
    pub workload: Option<String>,
    /// The quantity.
    pub measure: Measure,
    /// The operation. If absent: all for rates, and each one that there is for latencies.
    pub op: Option<Op>,
    /// Where the latency begins. If absent: at the arrival in open loops, at the submission else.
    pub kind: Option<LatencyKind>,
}

/// The names of measures, for hints.
const NAMES: [&str; 9] = ["iops", "MB/s", "mean", "p50", "p99", "p99.9", "max", "errors", "cpu"];

impl Measure {
    /// Whether its value is a latency in nanoseconds.
    #[must_use]
    pub fn is_latency(self) -> bool {
        matches!(self, Self::Mean | Self::Percentile(_) | Self::Max)
    }

    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Iops | Self::BytesPerS)
    }

    fn parse(word: &str) -> Option<Self> {
        let lower = word.to_ascii_lowercase();
        Some(match lower.as_str() {
            "iops" => Self::Iops,
            "mb/s" | "mb_s" | "bandwidth" => Self::BytesPerS,
            "mean" | "average" => Self::Mean,
            "median" => Self::Percentile(50.0),
            "max" => Self::Max,
            "errors" => Self::Errors,
            "cpu" => Self::Cpu,
            _ => {
                let per_cent = lower.strip_prefix('p')?;
                let digits = |c: char| c.is_ascii_digit() || c == '.';
                let per_cent = per_cent.parse().ok().filter(|_| per_cent.chars().all(digits))?;
                (per_cent > 0.0 && per_cent < 100.0).then_some(Self::Percentile(per_cent))?
            }
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iops => f.write_str("iops"),
            Self::BytesPerS => f.write_str("MB/s"),
            Self::Mean => f.write_str("mean"),
            Self::Percentile(per_cent) => write!(f, "p{per_cent}"),
            Self::Max => f.write_str("max"),
            Self::Errors => f.write_str("errors"),
            Self::Cpu => f.write_str("cpu"),
        }
    }
}

impl FromStr for Figure {
    type Err = String;

    /// Reads `[WORKLOAD/]MEASURE [read|write] [service|response]`; a dot may stand for a space.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // `MB/s` has a slash of its own.
        let (workload, rest) = match text.split_once('/') {
            Some((name, rest)) if !name.eq_ignore_ascii_case("mb") => (Some(name.trim().to_owned()), rest),
            _ => (None, text),
        };
        if workload.as_deref() == Some("") {
            return Err(format!("`{text}`: the name of the workload before `/` is missing"));
        }
        let mut words = words(rest).into_iter();
        let name = words.next().unwrap_or_default();
        let measure = Measure::parse(&name).ok_or_else(|| {
            let hint = hint(&name, NAMES);
            format!(
                "`{name}` is no figure{hint}; write iops, MB/s, mean, a percentile such as p99.9, max, errors or cpu"
            )
        })?;
        let mut figure = Self { workload, measure, op: None, kind: None };
        for word in words {
            figure.qualify(&word).map_err(|message| format!("`{text}`: {message}"))?;
        }
        if !measure.is_latency() && figure.kind.is_some() {
            return Err(format!("`{text}`: only latencies are told by service and response"));
        }
        if measure == Measure::Cpu && (figure.op.is_some() || figure.workload.is_some()) {
            return Err(format!("`{text}`: the use of processors is the host's, not an operation's or a workload's"));
        }
        Ok(figure)
    }
}

impl Figure {
    /// Takes one word behind the measure.
    fn qualify(&mut self, word: &str) -> Result<(), String> {
        let lower = word.to_ascii_lowercase();
        let op = match lower.as_str() {
            "read" | "reads" => Some(Op::Read),
            "write" | "writes" => Some(Op::Write),
            "trim" | "trims" => Some(Op::Trim),
            "write_zeroes" => Some(Op::WriteZeroes),
            "flush" | "flushes" => Some(Op::Flush),
            _ => None,
        };
        let kind = match lower.as_str() {
            "service" => Some(LatencyKind::Service),
            "response" => Some(LatencyKind::Response),
            _ => None,
        };
        match (op, kind) {
            (Some(op), _) if self.op.replace(op).is_none() => Ok(()),
            (_, Some(kind)) if self.kind.replace(kind).is_none() => Ok(()),
            (None, None) if lower == "all" || lower == "latency" => Ok(()),
            (None, None) => {
                let hint = hint(word, ["read", "write", "service", "response"]);
                Err(format!("`{word}` is neither read nor write, service nor response{hint}"))
            }
            _ => Err("two operations or two kinds of latency; name one".to_owned()),
        }
    }
}

/// Words between spaces and dots; a dot within a number, as in `p99.9`, is the number's.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split_whitespace() {
        let mut fresh = true;
        for piece in part.split('.') {
            let number = !piece.is_empty() && piece.chars().all(|c| c.is_ascii_digit());
            match words.last_mut().filter(|_| !fresh) {
                Some(last) if number => {
                    last.push('.');
                    last.push_str(piece);
                }
                _ => words.push(piece.to_owned()),
            }
            fresh = false;
        }
    }
    words
}

impl fmt::Display for Figure {
    /// In words that can be read again: `oltp/p99.9 read response`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(workload) = &self.workload {
            write!(f, "{workload}/")?;
        }
        write!(f, "{}", self.measure)?;
        if let Some(op) = self.op {
            write!(f, " {op}")?;
        }
        f.write_str(match self.kind {
            Some(LatencyKind::Service) => " service",
            Some(LatencyKind::Response) => " response",
            None => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_print_as_they_are_read_with_spaces_or_dots() {
        for (typed, told) in [
            ("iops", "iops"),
            ("IOPS.read", "iops read"),
            ("p99.9.read", "p99.9 read"),
            ("p99.read", "p99 read"),
            ("p99.9 write response", "p99.9 write response"),
            ("oltp/mean.write", "oltp/mean write"),
            ("my log/p50 read service", "my log/p50 read service"),
            ("MB/s", "MB/s"),
            ("oltp/MB/s read", "oltp/MB/s read"),
            ("median", "p50"),
            ("mean latency reads", "mean read"),
            ("p99.999", "p99.999"),
            ("errors", "errors"),
            ("cpu", "cpu"),
        ] {
            let figure: Figure = typed.parse().unwrap_or_else(|e| panic!("{typed}: {e}"));
            assert_eq!(figure.to_string(), told);
            assert_eq!(told.parse(), Ok(figure), "{told}");
        }
    }

    #[test]
    fn what_is_no_figure_is_named_with_the_remedy() {
        for (typed, says) in [
            ("", "is no figure"),
            ("iopps", "did you mean `iops`"),
            ("p100", "is no figure"),
            ("p0", "is no figure"),
            ("pnan", "is no figure"),
            ("p99 raed", "did you mean `read`"),
            ("p99 read write", "name one"),
            ("iops response", "only latencies"),
            ("cpu read", "the host's"),
            ("/p99", "is missing"),
        ] {
            let message = typed.parse::<Figure>().unwrap_err();
            assert!(message.contains(says), "{typed}: {message}");
        }
    }
}
