//! Whether runs differ: each figure of each point of one or several sets of runs against a base, with the interval that
//! holds the change, and a word on it.
//!
//! Owns the comparison as data, and in `text`, `html` and `suites` how it is shown. The method is in `docs/method.md`,
//! "Comparing". A function of results: opens no file, starts no run.

mod figures;
mod html;
mod judge;
mod limit;
mod notes;
mod points;
mod suites;
mod text;
mod within;

use serde::Serialize;

pub use html::section as html;
pub use judge::Word;
pub use limit::{Limit, LimitOutcome, LimitWord};
pub use suites::suites;
pub use text::text;

use crate::result::RunResult;
use crate::result::series::Series;
use crate::spec::Figure;
use judge::{Judged, Sample};

/// Version of the shape of a comparison as JSON; it rises as that of a result does.
pub const SCHEMA: u32 = 1;
/// Confidence of the intervals that are shown.
pub const CONFIDENCE: f64 = 0.95;

/// One run of a set.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What it found.
    pub result: &'a RunResult,
    /// Its intervals, where they are at hand.
    pub series: Option<&'a Series>,
}

/// Runs of one condition.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// What it is called.
    pub label: String,
    /// At least one.
    pub runs: Vec<Run<'a>>,
}

/// How the runs of the sides belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// Each run of one side with the run of the same number of the other: they were done close to each other.
    Paired,
    /// Not at all.
    Unpaired,
}

/// What a comparison goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// How the runs belong together.
    pub design: Design,
    /// The least change that matters, as a share, above 0.
    pub resolution: f64,
    /// Spread from run to run that is assumed where there is one run on each side, as a share.
    pub spread: f64,
    /// How many times the study has been looked at, this one among them: each look has half the chance of a false alarm
    /// of the one before, so that all together stay within 5 %.
    pub look: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Self { design: Design::Unpaired, resolution: 0.025, spread: 0.05, look: 1 }
    }
}

/// Why results cannot be compared at all; the text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A run without a point.
    #[error("{0}: no point was measured; compare results that have some")]
    NoPoint(String),
    /// No load is in both.
    #[error("{base} and {new} have no load in common ({base_loads} against {new_loads}); compare runs of one job")]
    NoLoad {
        /// The base.
        base: String,
        /// The other.
        new: String,
        /// Its loads.
        base_loads: String,
        /// Likewise.
        new_loads: String,
    },
    /// Pairs without a partner.
    #[error("pairs need as many runs of {base} ({base_runs}) as of {new} ({new_runs})")]
    Partners {
        /// The base.
        base: String,
        /// The other.
        new: String,
        /// Its runs.
        base_runs: usize,
        /// Likewise.
        new_runs: usize,
    },
    /// A limit on something that was not measured.
    #[error("the limit on `{figure}` cannot be looked at: {reason}; compare runs that have it, or leave the limit out")]
    NoFigure {
        /// The figure.
        figure: String,
        /// Why.
        reason: String,
    },
}

/// A comparison, ready to be shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this shape, see [`SCHEMA`].
    pub schema: u32,
    /// `rigel-comparison`.
    pub kind: &'static str,
    /// How the runs belong together.
    pub design: Design,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The least change that matters, as a share.
    pub resolution: f64,
    /// Spread from run to run that was assumed, as a share; none where it was measured.
    pub assumed_spread: Option<f64>,
    /// Probability of calling any figure of one side changed although none is.
    pub false_alarms: f64,
    /// What stands against comparing, said first; empty when nothing does.
    pub notes: Vec<String>,
    /// The base.
    pub base: SideInfo,
    /// What is compared with it.
    pub new: Vec<SideInfo>,
    /// The figures, by point.
    pub cells: Vec<Cell>,
    /// What became of the limits.
    pub limits: Vec<LimitOutcome>,
}

/// A side as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideInfo {
    /// What it is called.
    pub label: String,
    /// When its runs were begun, RFC 3339 in UTC.
    pub started_at: Vec<String>,
}

/// One figure of one point, on one side and on the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Index into the sides that are compared with the base.
    pub side: usize,
    /// Index of the point among those that were matched.
    pub point: usize,
    /// Its load, in words.
    pub load: String,
    /// The figure, in words.
    #[serde(serialize_with = "figure_in_words")]
    pub figure: Figure,
    /// Its geometric mean over the base's runs: a rate a second, nanoseconds, or per cent.
    pub base: f64,
    /// The same over the side's runs.
    pub new: f64,
    /// Number of runs of both.
    pub runs: [usize; 2],
    /// The change as a share: 0.05 is five per cent more. For pairs the mean of theirs.
    pub change: f64,
    /// The interval that holds the true change; none where there is no measure of its error.
    pub interval: Option<(f64, f64)>,
    /// The word on it; none for what is told but not judged.
    pub word: Option<Word>,
    /// Changes of the pairs, as shares; empty without pairs.
    pub pairs: Vec<f64>,
}

fn figure_in_words<S: serde::Serializer>(figure: &Figure, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(figure)
}

/// Compares `new`, side by side, with `base`.
///
/// # Errors
/// Sides without a point, or without a load in common; limits on figures that the runs lack.
pub fn compare(base: &Side<'_>, new: &[Side<'_>], limits: &[Limit], rules: &Rules) -> Result<Comparison, CompareError> {
    let mut notes = Vec::new();
    let mut cells = Vec::new();
    let mut outcomes = Vec::new();
    let mut single = false;
    for (index, side) in new.iter().enumerate() {
        let mut left_out = Vec::new();
        let (matched, unmatched) = points::matched(base, side, rules.design, &mut left_out)?;
        notes::about(base, side, &matched, &mut notes);
        notes.extend(left_out);
        let samples = figures::samples(&matched, limits, rules.design, &mut notes)?;
        let judged = judge::judge(&samples, rules);
        notes::about_samples(base, side, &samples, rules, &mut notes);
        single |= samples.iter().any(Sample::is_single);
        for limit in limits {
            outcomes.extend(limit::outcomes(limit, index, &matched, &samples, &judged)?);
            outcomes.extend(unmatched.iter().map(|point| limit::not_looked_at(limit, index, point)));
        }
        limit::judge(&mut outcomes, index, judge::false_alarms(rules.look));
        cells.extend(samples.iter().zip(&judged).map(|(sample, judged)| cell(index, sample, judged)));
    }
    let mut told = std::collections::HashSet::new();
    notes.retain(|note| told.insert(note.clone()));
    Ok(Comparison {
        schema: SCHEMA,
        kind: "rigel-comparison",
        design: rules.design,
        confidence: CONFIDENCE,
        resolution: rules.resolution,
        assumed_spread: single.then_some(rules.spread),
        false_alarms: judge::false_alarms(rules.look),
        notes,
        base: info(base),
        new: new.iter().map(info).collect(),
        cells,
        limits: outcomes,
    })
}

fn cell(side: usize, sample: &Sample, judged: &Judged) -> Cell {
    Cell {
        side,
        point: sample.point,
        load: sample.load.clone(),
        figure: sample.figure.clone(),
        base: judge::geometric_mean(&sample.base),
        new: judge::geometric_mean(&sample.new),
        runs: [sample.base.len(), sample.new.len()],
        change: judged.share,
        interval: judged.interval,
        word: judged.word,
        pairs: if sample.paired {
            sample.base.iter().zip(&sample.new).map(|(a, b)| b / a - 1.0).collect()
        } else {
            Vec::new()
        },
    }
}

fn info(side: &Side<'_>) -> SideInfo {
    let started_at = side.runs.iter().map(|run| run.result.started_at.clone()).collect();
    SideInfo { label: side.label.clone(), started_at }
}

impl Comparison {
    /// The points that were matched, with their loads.
    #[must_use]
    pub fn points(&self) -> Vec<(usize, &str)> {
        let mut points: Vec<_> = self.cells.iter().map(|cell| (cell.point, cell.load.as_str())).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// The figures of a point, in the order they were compared.
    #[must_use]
    pub fn figures(&self, point: usize) -> Vec<&Figure> {
        let mut figures: Vec<&Figure> = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.point == point) {
            if !figures.contains(&&cell.figure) {
                figures.push(&cell.figure);
            }
        }
        figures
    }

    /// One figure of one side.
    #[must_use]
    pub fn cell(&self, point: usize, side: usize, figure: &Figure) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.point == point && cell.side == side && cell.figure == *figure)
    }

    /// Whether a limit is broken beyond doubt.
    #[must_use]
    pub fn is_breached(&self) -> bool {
        self.limits.iter().any(|limit| limit.word == LimitWord::Broken)
    }

    /// Whether it cannot be told of a limit that it is kept.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.limits.iter().any(|limit| limit.word == LimitWord::CannotTell)
    }

    /// The comparison as JSON, with a line feed.
    #[must_use]
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("numbers, texts and lists");
        json.push('\n');
        json
    }
}
