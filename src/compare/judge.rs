//! The word on each figure: change, no change, or cannot tell and how many more runs would.
//!
//! Owns the error rates and how they are shared out over the figures of a study (Holm, Scandinavian Journal of Statistics
//! 6, 1979) and over its looks. Works on numbers; knows no result.

use std::fmt;

use serde::Serialize;

use super::{CONFIDENCE, Rules};
use crate::spec::{Figure, Measure};
use crate::stats::{Change, Demand, MeanError, student};

/// Probability of a false alarm over all figures and all looks.
const FALSE_ALARMS: f64 = 0.05;
/// Probability of calling no change what is as great as the resolution.
const FALSE_PEACE: f64 = 1e-4;
/// Probability of a word with as many runs as are asked for.
const POWER: f64 = 0.9;
/// Confidence that the spread is not greater than what the number of runs is reckoned with (Browne, Statistics in
/// Medicine 14, 1995).
const SPREAD_CONFIDENCE: f64 = 0.8;
/// Degrees of freedom from which on a spread is taken as known.
const KNOWN_DF: f64 = 1e4;
/// Percentiles and the greatest latency are told in steps of 0.1 %, so two of them differ by chance of rounding up to
/// twice that.
const STEPS: f64 = 0.002;

/// The word on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It differs.
    Change,
    /// It differs by less than the resolution, if at all.
    NoChange,
    /// Neither can be said.
    CannotTell {
        /// How many more pairs, or runs of each side, would most likely be enough; none where no number is known.
        more: Option<u32>,
    },
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change => f.write_str("change"),
            Self::NoChange => f.write_str("no change"),
            Self::CannotTell { more: Some(more) } => write!(f, "cannot tell (needs {more} more)"),
            Self::CannotTell { more: None } => f.write_str("cannot tell"),
        }
    }
}

/// One figure of one point over the runs of both sides.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// Index of the point among those that were matched.
    pub point: usize,
    /// Its load, in words.
    pub load: String,
    /// The figure.
    pub figure: Figure,
    /// Its value in each run of the base, above 0.
    pub base: Vec<f64>,
    /// The same of the other side.
    pub new: Vec<f64>,
    /// Whether they are pairs.
    pub paired: bool,
    /// With a single run each: the relative errors within the runs, where they are known.
    pub within: [Option<MeanError>; 2],
    /// Whether there is a word on it; otherwise it is told and no more.
    pub judged: bool,
    /// Whether every value is that of a whole window; otherwise it is told, and nothing can be said of it.
    pub sound: bool,
}

/// What follows for a sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    /// The change, as a share.
    pub share: f64,
    /// With its error; none where that is not known.
    pub change: Option<Change>,
    /// The interval of [`CONFIDENCE`].
    pub interval: Option<(f64, f64)>,
    /// The word.
    pub word: Option<Word>,
}

/// Probability of a false alarm at the `look`-th look.
pub(super) fn false_alarms(look: u32) -> f64 {
    FALSE_ALARMS * 0.5f64.powi(i32::try_from(look.max(1)).unwrap_or(i32::MAX))
}

pub(super) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Judges all samples of one side as one family.
pub(super) fn judge(samples: &[Sample], rules: &Rules) -> Vec<Judged> {
    let changes: Vec<Option<Change>> = samples.iter().map(|sample| sample.change(rules)).collect();
    let family: Vec<Option<f64>> = samples
        .iter()
        .zip(&changes)
        .map(|(sample, change)| change.filter(|_| sample.judged && sample.sound).map(|change| change.p_none()))
        .collect();
    let rejected = holm(&family, false_alarms(rules.look));
    let count = family.iter().flatten().count();
    samples
        .iter()
        .zip(changes)
        .zip(rejected)
        .map(|((sample, change), rejected)| {
            let share = geometric_mean(&sample.new) / geometric_mean(&sample.base) - 1.0;
            let word = sample.judged.then(|| match change.filter(|_| sample.sound) {
                Some(change) if rejected && change.share().abs() > sample.steps() => Word::Change,
                Some(change) if is_none(&change, rules.resolution) => Word::NoChange,
                Some(change) => Word::CannotTell { more: sample.more(&change, rules, count) },
                None => Word::CannotTell { more: None },
            });
            // Each of the two values may be told half a step off, whatever its error.
            let told = sample.steps() / 2.0;
            let interval =
                change.map(|change| change.interval(CONFIDENCE)).map(|(low, high)| (low - told, high + told));
            Judged { share, change, interval, word }
        })
        .collect()
}

/// Whether a change as great as the resolution is ruled out in both directions.
fn is_none(change: &Change, resolution: f64) -> bool {
    // What undoes a rise by the resolution is a fall by a little less.
    let fall = -resolution / (1.0 + resolution);
    change.p_not_below(resolution) <= FALSE_PEACE && change.p_not_above(fall) <= FALSE_PEACE
}

/// Which hypotheses of a family are rejected at `level` for all of them together, by their probabilities; one without a
/// probability never is.
pub(super) fn holm(family: &[Option<f64>], level: f64) -> Vec<bool> {
    let mut order: Vec<(usize, f64)> =
        family.iter().enumerate().filter_map(|(index, p)| p.map(|p| (index, p))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut rejected = vec![false; family.len()];
    let count = order.len();
    for (rank, (index, p)) in order.into_iter().enumerate() {
        if p > level / (count - rank) as f64 {
            break;
        }
        rejected[index] = true;
    }
    rejected
}

impl Sample {
    fn change(&self, rules: &Rules) -> Option<Change> {
        if self.paired {
            return Change::paired(&self.base, &self.new);
        }
        if let ([base], [new]) = (&self.base[..], &self.new[..]) {
            let within = self.within.map(|error| error.map(|error| (error.se, error.df)));
            return Some(Change::single(*base, *new, within, rules.spread));
        }
        Change::unpaired(&self.base, &self.new)
    }

    /// Whether nothing of the sample says how much runs differ.
    pub(super) fn is_single(&self) -> bool {
        !self.paired && self.base.len() == 1 && self.new.len() == 1
    }

    /// Whether runs of one kind did not differ at all.
    pub(super) fn is_still(&self) -> bool {
        let still = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
        if self.paired {
            let changes: Vec<f64> = self.base.iter().zip(&self.new).map(|(base, new)| new / base).collect();
            return still(&changes);
        }
        !self.is_single() && still(&self.base) && still(&self.new)
    }

    /// By how much two values may differ for no other reason than how they are told, as a share.
    pub(super) fn steps(&self) -> f64 {
        if matches!(self.figure.measure, Measure::Percentile(_) | Measure::Max) { STEPS } else { 0.0 }
    }

    /// How many more pairs, or runs of each side, would be enough at the next look.
    fn more(&self, change: &Change, rules: &Rules, family: usize) -> Option<u32> {
        let demand = Demand {
            resolution: rules.resolution.ln_1p(),
            false_alarm: false_alarms(rules.look + 1) / family.max(1) as f64,
            false_peace: FALSE_PEACE,
            power: POWER,
        };
        let (base, new) = (self.base.len() as f64, self.new.len() as f64);
        let (needed, have) = if self.paired {
            let spread = change.se * base.sqrt() * caution(change.df);
            (demand.runs(|runs| (spread / f64::from(runs).sqrt(), f64::from(runs) - 1.0))?, self.base.len())
        } else {
            let spread = change.se / (1.0 / base + 1.0 / new).sqrt() * caution(change.df);
            let se = |runs: u32| (spread * (2.0 / f64::from(runs)).sqrt(), 2.0 * f64::from(runs) - 2.0);
            (demand.runs(se)?, self.base.len().min(self.new.len()))
        };
        let have = u32::try_from(have).ok()?;
        Some(needed.saturating_sub(have).max(1))
    }
}

/// How much greater than the estimate the spread may be, at [`SPREAD_CONFIDENCE`].
fn caution(df: f64) -> f64 {
    if df < KNOWN_DF { (df / student::chi_square_quantile(1.0 - SPREAD_CONFIDENCE, df)).sqrt() } else { 1.0 }
}
