//! Limits on changes: how much a figure may fall or rise, and what became of that.
//!
//! Owns their spelling, `iops=-2%`, and when one is broken beyond doubt. Knows no run.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::judge::{Judged, Sample, holm};
use crate::spec::Figure;

/// Probability of calling any limit broken although all are kept, the sides of a comparison one by one.
const FALSE_ALARMS: f64 = 0.025;

/// How much a figure may change.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The figure; a latency without an operation is that of each.
    pub figure: Figure,
    /// How far it may fall, as a share: 0.02 is two per cent; none when it may fall at will.
    pub fall: Option<f64>,
    /// How far it may rise, likewise.
    pub rise: Option<f64>,
}

impl FromStr for Limit {
    type Err = String;

    /// Reads `FIGURE=-2%` (may fall by two per cent), `=+5%` (may rise by five), `=1%` (either).
    fn from_str(text: &str) -> Result<Self, String> {
        let remedy = "write FIGURE=CHANGE, such as iops=-2%, p99.read=+5% or mean=3%";
        let (figure, change) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is no limit; {remedy}"))?;
        let figure = figure.parse()?;
        let change = change.trim();
        let (sign, number) = match change.strip_prefix(['-', '+', '−']) {
            Some(number) => (change.chars().next(), number),
            None => (None, change),
        };
        let number = number.trim().strip_suffix('%').unwrap_or(number).trim();
        let share = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let share = share.ok_or_else(|| format!("`{change}` is no change in per cent; {remedy}"))? / 100.0;
        if sign != Some('+') && share >= 1.0 {
            return Err(format!("`{change}`: nothing falls by 100 % or more; {remedy}"));
        }
        let (fall, rise) = match sign {
            Some('+') => (None, Some(share)),
            Some(_) => (Some(share), None),
            None => (Some(share), Some(share)),
        };
        Ok(Self { figure, fall, rise })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shares that were typed as per cent come back as they were.
        let per_cent = |share: f64| (share * 1e12).round() / 1e10;
        match (self.fall, self.rise) {
            (Some(fall), Some(_)) => write!(f, "{}={}%", self.figure, per_cent(fall)),
            (Some(fall), None) => write!(f, "{}=-{}%", self.figure, per_cent(fall)),
            (None, rise) => write!(f, "{}=+{}%", self.figure, per_cent(rise.unwrap_or(0.0))),
        }
    }
}

/// What became of a limit at one point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitOutcome {
    /// The limit as it was written, with the operation it was looked at for.
    pub limit: String,
    /// Index into the sides that are compared with the base.
    pub side: usize,
    /// Index of the point among those that were matched.
    pub point: usize,
    /// Its load, in words.
    pub load: String,
    /// The change, as a share.
    pub change: f64,
    /// The interval that holds the true change; none where there is no measure of its error.
    pub interval: Option<(f64, f64)>,
    /// Broken, kept, or neither for certain.
    pub word: LimitWord,
}

/// The word on a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitWord {
    /// The true change is within it.
    Kept,
    /// The true change is beyond it.
    Broken,
    /// It may be either.
    CannotTell,
}

impl fmt::Display for LimitWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::CannotTell => "cannot tell",
        })
    }
}

/// Looks at all limits of one side, which are one family.
pub(super) fn outcomes(limits: &[Limit], side: usize, samples: &[Sample], judged: &[Judged]) -> Vec<LimitOutcome> {
    let about = |limit: &Limit, figure: &Figure| {
        let any_op = limit.figure.op.is_none() && limit.figure.measure.is_latency();
        limit.figure == Figure { op: if any_op { None } else { figure.op }, ..figure.clone() }
    };
    let each: Vec<(&Limit, &Sample, &Judged)> = limits
        .iter()
        .flat_map(|limit| samples.iter().zip(judged).map(move |(sample, judged)| (limit, sample, judged)))
        .filter(|(limit, sample, _)| about(limit, &sample.figure))
        .collect();
    let broken = holm(&each.iter().map(|(limit, _, judged)| p_kept(limit, judged)).collect::<Vec<_>>(), FALSE_ALARMS);
    let outcome = |((limit, sample, judged), broken): (&(&Limit, &Sample, &Judged), bool)| {
        let kept = judged.interval.is_some_and(|(low, high)| {
            limit.fall.is_none_or(|fall| low >= -fall) && limit.rise.is_none_or(|rise| high <= rise)
        });
        let limit = Limit { figure: sample.figure.clone(), ..(*limit).clone() };
        LimitOutcome {
            limit: limit.to_string(),
            side,
            point: sample.point,
            load: sample.load.clone(),
            change: judged.share,
            interval: judged.interval,
            word: match (broken, kept) {
                (true, _) => LimitWord::Broken,
                (false, true) => LimitWord::Kept,
                (false, false) => LimitWord::CannotTell,
            },
        }
    };
    each.iter().zip(broken).map(outcome).collect()
}

/// The probability of such an estimate if the limit is kept.
fn p_kept(limit: &Limit, judged: &Judged) -> Option<f64> {
    let change = judged.change?;
    let fallen = limit.fall.map(|fall| change.p_not_below(-fall));
    let risen = limit.rise.map(|rise| change.p_not_above(rise));
    match (fallen, risen) {
        (Some(fallen), Some(risen)) => Some((2.0 * fallen.min(risen)).min(1.0)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_print_as_they_are_read() {
        for (typed, told) in [
            ("iops=-2%", "iops=-2%"),
            ("p99.read=+5%", "p99 read=+5%"),
            ("mean=3", "mean=3%"),
            ("oltp/p99.9.write=+2.5 %", "oltp/p99.9 write=+2.5%"),
            ("iops=-0%", "iops=-0%"),
            ("p99=+150%", "p99=+150%"),
        ] {
            let limit: Limit = typed.parse().unwrap_or_else(|e| panic!("{typed}: {e}"));
            assert_eq!(limit.to_string(), told);
            assert_eq!(told.parse(), Ok(limit));
        }
        for (typed, says) in [
            ("iops", "write FIGURE=CHANGE"),
            ("iopps=-2%", "did you mean `iops`"),
            ("iops=", "no change in per cent"),
            ("iops=fast", "no change in per cent"),
            ("iops=-100%", "nothing falls by 100 %"),
        ] {
            let message = typed.parse::<Limit>().unwrap_err();
            assert!(message.contains(says), "{typed}: {message}");
        }
    }
}
