//! What a search found: the highest load that keeps its limits, what bounds it, and every load that was tried.
//!
//! Owns the types, how a point is judged by the limits, and the sentence. Which load is tried next is `campaign`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::acceptance::{Accepted, judged};
use super::checks::Judgement;
use super::point::PointResult;
use super::step::SettingResult;
use crate::spec::{Condition, SearchField};
use crate::units::format_count;

/// A search and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// The settings of the sweep at which it searched; none without a sweep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingResult>,
    /// Which load it looked for.
    pub field: SearchField,
    /// The limits.
    pub limit: Vec<String>,
    /// How it ended.
    pub outcome: SearchOutcome,
    /// The highest load at which all limits held, in more of its tries than not; none if none did.
    pub answer: Option<u64>,
    /// The least load above it at which one did not; none if none was found.
    pub broken_at: Option<u64>,
    /// IOPS at the answer, mean of its points; none without one.
    pub iops: Option<f64>,
    /// Points at the answer that kept the limits, and points there in all.
    pub kept: (u32, u32),
    /// The highest rate that the targets reached in a closed loop, in I/Os a second; none where it was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iops: Option<f64>,
    /// Every load that was tried, in order.
    pub tried: Vec<Tried>,
    /// All that in a sentence.
    pub says: String,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchOutcome {
    /// The bracket is as narrow as was asked for.
    Found,
    /// All points that it may take were taken before that.
    Wide,
    /// Already the lowest load breaks a limit.
    LowestBreaks,
    /// Still the highest load keeps the limits.
    HighestKeeps,
    /// A point could not be judged.
    NotJudged,
    /// It has not ended.
    Unfinished,
}

/// A load that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Index of its point in the result.
    pub point: usize,
    /// The load.
    pub load: u64,
    /// Whether the limits held.
    pub outcome: Accepted,
    /// The figure nearest to its limit, or farthest beyond it, as a share of the limit; none where there is no figure.
    pub of_limit: Option<f64>,
    /// Why it was broken, or could not be judged; none where the limits held.
    pub reason: Option<String>,
    /// Whether other programs took the cores for long enough to break a limit by themselves: such a try is repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// Share of the window that other programs had a core, from which on a broken limit may be theirs. A p99 is what the
/// slowest hundredth of the I/Os take, so half of that matters.
const DISTURBED: f64 = 0.005;

impl Tried {
    /// Judges a point by the limits, all of which have to hold.
    #[must_use]
    pub fn of(index: usize, load: u64, point: &PointResult, limits: &[Condition]) -> Self {
        let broken = |reason: String| (Accepted::Failed, Some(reason));
        let (mut outcome, mut reason) = (Accepted::Passed, None);
        let mut of_limit: Option<f64> = None;
        for limit in limits {
            let (value, held, why) = judged(limit, point);
            let share = match limit {
                Condition::Bound { relation, bound, .. } => value
                    .filter(|value| *value > 0.0 && *bound > 0.0)
                    .map(|value| if relation.wants_less() { value / bound } else { bound / value }),
                Condition::Steady => None,
            };
            of_limit = of_limit.into_iter().chain(share).reduce(f64::max);
            match held {
                Accepted::Passed => {}
                Accepted::Failed => (outcome, reason) = broken(format!("{limit} is broken")),
                Accepted::NotJudged if outcome == Accepted::Passed => (outcome, reason) = (held, why),
                Accepted::NotJudged => {}
            }
        }
        // What the targets cannot follow breaks every limit sooner or later: the queue grows as long as the load is held.
        let behind = point.checks.arrivals.iter().any(|check| check.judgement == Judgement::Off);
        if point.overloaded {
            ((outcome, reason), of_limit) = (broken("the targets could not follow the rate".to_owned()), None);
        } else if behind && outcome == Accepted::Passed {
            ((outcome, reason), of_limit) = (broken("the targets did not follow the rate".to_owned()), None);
        }
        let disturbed = outcome == Accepted::Failed && point.cores.iter().any(|core| core.off_core >= DISTURBED);
        Self { point: index, load, outcome, of_limit, reason, disturbed }
    }
}

impl SearchResult {
    /// Whether the upper end of the bracket rests on disturbed tries alone.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let mut there = self.tried.iter().filter(|tried| Some(tried.load) == self.broken_at).peekable();
        there.peek().is_some() && there.all(|tried| tried.disturbed)
    }

    /// The sentence that tells the outcome.
    #[must_use]
    pub fn sentence(&self) -> String {
        let limits = self.limit.join(" and ");
        let unit = |load: u64| match self.field {
            SearchField::Rate => format!("{}/s", format_count(load)),
            SearchField::QueueDepth => format!("queue depth {load}"),
            SearchField::Outstanding => format!("{load} outstanding"),
        };
        let what = if self.field == SearchField::Rate { "highest rate" } else { "highest depth" };
        let at = match super::step::series(&self.settings) {
            series if series.is_empty() => String::new(),
            series => format!("{series}: "),
        };
        let tried = format!("{} loads tried", self.tried.len());
        let bracket = self.broken_at.map(|load| format!("; broken at {}", unit(load))).unwrap_or_default();
        let (kept, of) = self.kept;
        let told = match (self.outcome, self.answer) {
            (SearchOutcome::LowestBreaks, _) => {
                let lowest = self.tried.iter().map(|tried| tried.load).min().map(unit).unwrap_or_default();
                format!("{at}no load keeps {limits}: already the lowest, {lowest}, breaks it ({tried})")
            }
            (SearchOutcome::HighestKeeps, Some(answer)) => {
                format!("{at}{limits} holds up to the highest load that was asked for, {} ({tried})", unit(answer))
            }
            (SearchOutcome::NotJudged, _) => {
                let reason = self.tried.last().and_then(|tried| tried.reason.clone()).unwrap_or_default();
                format!(
                    "{at}the search for the {what} with {limits} ended, since a point could not be judged: {reason}"
                )
            }
            (SearchOutcome::Unfinished, _) => {
                format!("{at}the search for the {what} with {limits} is not finished ({tried})")
            }
            (outcome, Some(answer)) => {
                let wide = if outcome == SearchOutcome::Wide {
                    "; all points it may take are used up, so the bracket is wide"
                } else {
                    ""
                };
                let iops =
                    self.iops.map(|iops| format!(" ({} IOPS)", format_count(iops.round() as u64))).unwrap_or_default();
                format!(
                    "{at}{what} with {limits}: {}{iops}, kept {kept} of {of} times there{bracket} ({tried}){wide}",
                    unit(answer)
                )
            }
            (_, None) => format!("{at}no load that was tried keeps {limits}{bracket} ({tried})"),
        };
        let doubt = "; other programs had the polled cores then, so the limit may be theirs and not the targets'";
        if self.is_disturbed() { told + doubt } else { told }
    }
}
