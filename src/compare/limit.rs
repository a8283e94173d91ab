//! Limits on changes: how much a figure may fall or rise, and what became of that.
//!
//! Owns their spelling, `iops=-2%`, and when one is broken beyond doubt. Knows no run.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::CompareError;
use super::figures::of_limit;
use super::judge::{Judged, Sample, holm};
use super::points::{At, LeftOut, Matched};
use crate::spec::Figure;

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
    /// The point's load, in words.
    pub load: String,
    /// The change, as a share; none where there is none to be told.
    pub change: Option<f64>,
    /// The interval that holds the true change; none where there is no measure of its error.
    pub interval: Option<(f64, f64)>,
    /// Broken, kept, or neither for certain.
    pub word: LimitWord,
    /// Why it was not looked at; none when it was.
    pub reason: Option<String>,
    /// The probability of such an estimate if the limit is kept; none where there is no estimate.
    #[serde(skip)]
    p_kept: Option<f64>,
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

/// Looks at one limit at every matched point; what is broken among them is for [`judge`] to say.
pub(super) fn outcomes(
    limit: &Limit,
    side: usize,
    matched: &[Matched<'_>],
    samples: &[Sample],
    judged: &[Judged],
) -> Result<Vec<LimitOutcome>, CompareError> {
    let mut outcomes = Vec::new();
    for point in matched {
        for figure in of_limit(limit, point)? {
            let limit = Limit { figure: figure.clone(), ..limit.clone() };
            let values =
                |side: &[At<'_>]| side.iter().map(|at| at.point.value(&figure).unwrap_or(0.0)).collect::<Vec<_>>();
            if values(&point.base).iter().all(|value| *value <= 0.0) {
                let reason = format!("{}: it is 0 in the base, and nothing is so many per cent of 0", point.load);
                return Err(CompareError::NoFigure { figure: figure.to_string(), reason });
            }
            let gone = values(&point.new).iter().all(|value| *value <= 0.0);
            let found = samples.iter().zip(judged).find(|(s, _)| s.point == point.number && s.figure == figure);
            outcomes.push(match found {
                // All of it is gone, which is the greatest fall there is, or nothing that may not rise.
                None if gone => LimitOutcome {
                    change: Some(-1.0),
                    word: if limit.fall.is_some() { LimitWord::Broken } else { LimitWord::Kept },
                    ..blank(&limit, side, &point.load)
                },
                None => LimitOutcome {
                    reason: Some("not every run has this figure".to_owned()),
                    ..blank(&limit, side, &point.load)
                },
                Some((sample, judged)) => of_sample(&limit, side, sample, judged),
            });
        }
    }
    Ok(outcomes)
}

/// A limit at a point that only one side has.
pub(super) fn not_looked_at(limit: &Limit, side: usize, point: &LeftOut) -> LimitOutcome {
    LimitOutcome { reason: Some(point.reason.clone()), ..blank(limit, side, &point.load) }
}

fn blank(limit: &Limit, side: usize, load: &str) -> LimitOutcome {
    LimitOutcome {
        limit: limit.to_string(),
        side,
        load: load.to_owned(),
        change: None,
        interval: None,
        word: LimitWord::CannotTell,
        reason: None,
        p_kept: None,
    }
}

fn of_sample(limit: &Limit, side: usize, sample: &Sample, judged: &Judged) -> LimitOutcome {
    let told =
        LimitOutcome { change: Some(judged.share), interval: judged.interval, ..blank(limit, side, &sample.load) };
    if !sample.sound {
        let reason = "a run ended this point early, lost count or has no such figure".to_owned();
        return LimitOutcome { reason: Some(reason), ..told };
    }
    let steps = sample.steps();
    let kept = judged.interval.is_some_and(|(low, high)| {
        limit.fall.is_none_or(|fall| low >= -fall - steps) && limit.rise.is_none_or(|rise| high <= rise + steps)
    });
    let p_kept = judged.change.map(|change| {
        let fallen = limit.fall.map(|fall| change.p_not_below(-(fall + steps).min(1.0 - f64::EPSILON)));
        let risen = limit.rise.map(|rise| change.p_not_above(rise + steps));
        match (fallen, risen) {
            (Some(fallen), Some(risen)) => (2.0 * fallen.min(risen)).min(1.0),
            (one, other) => one.or(other).unwrap_or(1.0),
        }
    });
    LimitOutcome { word: if kept { LimitWord::Kept } else { LimitWord::CannotTell }, p_kept, ..told }
}

/// Says which limits of a side are broken: all of them together are wrongly called so with the probability `level`.
pub(super) fn judge(outcomes: &mut [LimitOutcome], side: usize, level: f64) {
    let mut of_side: Vec<&mut LimitOutcome> = outcomes.iter_mut().filter(|outcome| outcome.side == side).collect();
    let family: Vec<Option<f64>> = of_side.iter().map(|outcome| outcome.p_kept).collect();
    for (outcome, broken) in of_side.iter_mut().zip(holm(&family, level)) {
        if broken {
            outcome.word = LimitWord::Broken;
        }
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
