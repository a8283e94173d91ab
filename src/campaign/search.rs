//! The search for the highest load that keeps its limits: which load is tried next, and when it has ended.
//!
//! Owns the choice. The bracket is the highest load that kept the limits and the least one above it that did not; within it
//! the next load is where the limits would be reached, were the latency that of a queue: its reciprocal falls with the rate
//! in a straight line (M/M/1), and in a closed loop it rises with the depth (Little's law). Chance decides near the limit, so
//! both ends of the final bracket are tried twice, and once more where the two disagree: the majority counts.

use super::{of_step, role, set_load};
use crate::plan::Load;
use crate::result::{Accepted, PointResult, Role, SearchOutcome, SearchResult, SettingResult, Tried};
use crate::spec::{Job, OpenLoad, Search, SearchField, Step};

/// The first rate tried, as a share of the highest one.
const FIRST: f64 = 0.8;
/// The lowest rate of interest where none is stated, as a share of the highest one.
const LOWEST: f64 = 0.01;
/// How far beside the expected limit a load is tried, as a share of the width asked for: near enough that two such loads
/// are a bracket, far enough that chance seldom takes one for the other.
const ASIDE: f64 = 0.4;
/// How often each end of the bracket is tried.
const CONFIRMED: usize = 2;
/// How often in a row a load is tried that other programs disturb.
const DISTURBED_MAX: usize = 3;
/// A load that breaks a limit by more than this share of it does not do so by chance.
const CLEARLY: f64 = 0.1;

/// A search so far.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    search: Search,
    /// The highest rate that the targets reached in a closed loop, for each workload.
    max: Option<f64>,
    tried: Vec<Tried>,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// The highest rate is looked for.
    Max,
    /// A load is tried.
    Try(u64),
    /// Nothing.
    End(SearchOutcome),
}

/// The step's job at a load that is tried; the load's own options are those of the workloads.
pub(super) fn job_at(job: &Job, step: &Step, load: u64) -> Job {
    let depth = u32::try_from(load).unwrap_or(u32::MAX);
    let mut at = step.job.clone();
    let load = match job.search.as_ref().map(Search::field).unwrap_or_default() {
        SearchField::Rate => {
            Load::Rate(OpenLoad { rate_per_s: load, arrivals: Default::default(), max_outstanding: None })
        }
        SearchField::QueueDepth => Load::QueueDepth(depth),
        SearchField::Outstanding => Load::Outstanding(depth),
    };
    set_load(&mut at, load);
    at
}

impl Progress {
    /// The search at a step, from the points so far.
    pub(super) fn of(search: Search, step: &Step, points: &[PointResult]) -> Self {
        let number = |load: Load| match load {
            Load::QueueDepth(depth) | Load::Outstanding(depth) => u64::from(depth),
            Load::Rate(open) => open.rate_per_s,
        };
        let (mut max, mut tried) = (None, Vec::new());
        for (index, point) in of_step(step, points) {
            match (role(point), point.step.as_ref().and_then(|step| step.plan.points[0].loads.first())) {
                (Some(Role::Max), _) => max = Some(point.total.iops / point.workloads.len().max(1) as f64),
                (Some(Role::Tried), Some(load)) => {
                    tried.push(Tried::of(index, number(*load), point, &search.limit));
                }
                _ => {}
            }
        }
        Self { search, max, tried }
    }

    /// What comes next.
    pub(super) fn next(&self) -> Next {
        let Some((floor, ceiling)) = self.range() else { return Next::Max };
        if self.tried.last().is_some_and(|tried| tried.outcome == Accepted::NotJudged) {
            return Next::End(SearchOutcome::NotJudged);
        }
        let tries_left = self.has_tries_left();
        if let Some(tried) =
            self.tried.last().filter(|tried| tries_left && !tried.disturbed && self.majority(tried.load) == 0)
        {
            return Next::Try(tried.load);
        }
        if let Some(load) = self.disturbed().filter(|_| tries_left) {
            return Next::Try(load);
        }
        let (low, high) = self.bracket();
        let narrow = self.is_narrow(low, high.or(self.untried_ceiling()));
        if let Some(low) = low.filter(|_| narrow || high.is_none()) {
            if high.is_none() && low >= ceiling && (self.search.to.is_some() || !self.is_rate()) {
                return self.confirmed(low, None, SearchOutcome::HighestKeeps);
            }
            if narrow {
                return self.confirmed(low, high, SearchOutcome::Found);
            }
        }
        if high.is_some_and(|high| high <= floor) {
            return Next::End(SearchOutcome::LowestBreaks);
        }
        if !tries_left {
            return Next::End(SearchOutcome::Wide);
        }
        Next::Try(match (low, high) {
            (None, None) => self.first(floor, ceiling),
            (None, Some(high)) => self.below(floor, high),
            (Some(low), None) => self.above(low, ceiling),
            (Some(low), Some(high)) => self.between(low, high),
        })
    }

    /// The outcome so far.
    pub(super) fn result(&self, step: &Step, points: &[PointResult]) -> SearchResult {
        let (answer, broken_at) = self.bracket();
        let outcome = if let Next::End(outcome) = self.next() { outcome } else { SearchOutcome::Unfinished };
        let there: Vec<&Tried> = self.tried.iter().filter(|tried| Some(tried.load) == answer).collect();
        let kept = there.iter().filter(|tried| tried.outcome == Accepted::Passed).count() as u32;
        let iops: f64 = there.iter().map(|tried| points[tried.point].total.iops).sum();
        let mut result = SearchResult {
            settings: step.settings.iter().map(SettingResult::from).collect(),
            field: self.search.field(),
            limit: self.search.limit.iter().map(ToString::to_string).collect(),
            outcome,
            answer,
            broken_at,
            iops: (!there.is_empty()).then(|| iops / there.len() as f64),
            kept: (kept, there.len() as u32),
            max_iops: self.max,
            tried: self.tried.clone(),
            says: String::new(),
        };
        result.says = result.sentence();
        result
    }

    fn has_tries_left(&self) -> bool {
        self.tried.len() + usize::from(self.max.is_some()) < self.search.tries() as usize
    }

    fn is_rate(&self) -> bool {
        self.search.field() == SearchField::Rate
    }

    /// The loads of interest; none while that of the highest rate is not known.
    fn range(&self) -> Option<(u64, u64)> {
        let Search { from, to, .. } = self.search;
        if !self.is_rate() {
            return Some((from.unwrap_or(1), self.search.deepest()));
        }
        let ceiling = to.or(self.max.map(|max| (max.round() as u64).max(1)))?;
        Some((from.unwrap_or(((ceiling as f64 * LOWEST) as u64).max(1)), ceiling))
    }

    /// What the targets reached is as good as a load that they could not follow.
    fn untried_ceiling(&self) -> Option<u64> {
        (self.is_rate() && self.search.to.is_none()).then(|| self.range().map(|(_, ceiling)| ceiling)).flatten()
    }

    /// The highest load that was kept below the least one that was not, and the latter.
    fn bracket(&self) -> (Option<u64>, Option<u64>) {
        let loads = || self.tried.iter().map(|tried| tried.load);
        let high = loads().filter(|load| self.majority(*load) < 0).min();
        (loads().filter(|load| self.majority(*load) > 0 && high.is_none_or(|high| *load < high)).max(), high)
    }

    /// How many more tries of a load kept the limits than broke them.
    fn majority(&self, load: u64) -> i32 {
        let tries = || self.tried.iter().filter(|tried| tried.load == load);
        // Where no try was left in peace, the disturbed ones are all there is.
        let peace = tries().any(|tried| !tried.disturbed);
        let vote = |tried: &Tried| match tried.outcome {
            Accepted::Passed => 1,
            Accepted::Failed => -1,
            Accepted::NotJudged => 0,
        };
        tries().filter(|tried| !peace || !tried.disturbed).map(vote).sum()
    }

    fn is_narrow(&self, low: Option<u64>, high: Option<u64>) -> bool {
        let (Some(low), Some(high)) = (low, high) else { return false };
        high.saturating_sub(low) as f64 <= self.search.within() * high as f64 || high <= low + 1
    }

    /// The load of the last try, where other programs may have broken its limits, unless that happened time and again.
    fn disturbed(&self) -> Option<u64> {
        let last = self.tried.last().filter(|tried| tried.disturbed)?;
        let times = self.tried.iter().rev().take_while(|tried| tried.disturbed && tried.load == last.load).count();
        (times < DISTURBED_MAX).then_some(last.load)
    }

    /// The end, once both ends of the bracket were tried often enough. What the targets could not follow, or what is far
    /// beyond the limit, needs no second try.
    fn confirmed(&self, answer: u64, high: Option<u64>, outcome: SearchOutcome) -> Next {
        let times = |load: u64| self.tried.iter().filter(|tried| tried.load == load).count();
        let close = high.filter(|high| self.of_limit(*high).is_some_and(|share| share <= 1.0 + CLEARLY));
        let open = [Some(answer), close].into_iter().flatten().find(|load| times(*load) < CONFIRMED);
        match open.filter(|_| self.has_tries_left()) {
            Some(load) => Next::Try(load),
            None => Next::End(outcome),
        }
    }

    fn first(&self, floor: u64, ceiling: u64) -> u64 {
        match (self.is_rate(), self.search.to) {
            (true, None) => ((ceiling as f64 * FIRST) as u64).max(floor),
            (true, Some(to)) => to,
            (false, _) => floor,
        }
    }

    /// Nothing was kept yet.
    fn below(&self, floor: u64, high: u64) -> u64 {
        let guess = match self.of_limit(high) {
            // A queue's latency is not that of its waiting alone, so the guess is a careful one.
            Some(over) if self.is_rate() => {
                let ceiling = self.max.unwrap_or(high as f64 * 1.05).max(high as f64 * 1.01);
                let expected = ceiling - (ceiling - high as f64) * over;
                expected.clamp(high as f64 * 0.5, high as f64 * 0.95)
            }
            _ => high as f64 / 2.0,
        };
        // Far below, the lowest load is as good a guess, and it ends the search if it is broken.
        let tries = self.tried.iter().filter(|tried| tried.outcome == Accepted::Failed).count();
        let guess = if tries >= 3 { floor } else { guess as u64 };
        guess.clamp(floor, high.saturating_sub(1).max(floor))
    }

    /// Nothing was broken yet.
    fn above(&self, low: u64, ceiling: u64) -> u64 {
        match self.untried_ceiling() {
            Some(ceiling) => self.between(low, ceiling),
            None => low.saturating_mul(2).min(ceiling),
        }
    }

    /// Within the bracket: beside the load at which the limits are expected to be reached.
    fn between(&self, low: u64, high: u64) -> u64 {
        let (from, to) = (low as f64, high as f64);
        let width = to - from;
        // Where the curve is not that of the model, halving makes sure of the progress.
        let halve = self.tried.len() % 4 == 3;
        let expected = self.expected(low, high).filter(|_| !halve).unwrap_or(if to > 4.0 * from {
            (from * to).sqrt()
        } else {
            from + width / 2.0
        });
        let aside = ASIDE * self.search.within() * to;
        let next = if !self.is_rate() || halve {
            expected
        } else if expected - from <= 2.0 * aside {
            expected + aside
        } else {
            expected - aside
        };
        let margin = (width * 0.05).min(aside);
        let next = next.clamp(from + margin, to - margin).round() as u64;
        next.clamp(low + 1, high.saturating_sub(1).max(low + 1))
    }

    /// The load at which the limits are reached, after the model of a queue; none without figures.
    fn expected(&self, low: u64, high: u64) -> Option<f64> {
        let (from, to) = (low as f64, high as f64);
        let at_low = self.of_limit(low)?;
        let (a, b) = if self.is_rate() {
            // No figure stands for a queue without end.
            (1.0 / at_low - 1.0, self.of_limit(high).map_or(0.0, |share| 1.0 / share) - 1.0)
        } else {
            (1.0 - at_low, 1.0 - self.of_limit(high)?)
        };
        (a > 0.0 && b < 0.0).then(|| from + (to - from) * a / (a - b))
    }

    /// How near its limits a load came, on the mean of its tries; none where one of them has no figure.
    fn of_limit(&self, load: u64) -> Option<f64> {
        let tries = || self.tried.iter().filter(|tried| tried.load == load);
        let sum: Option<f64> = tries().map(|tried| tried.of_limit).sum();
        sum.filter(|_| tries().count() > 0).map(|sum| sum / tries().count() as f64)
    }
}

#[cfg(test)]
mod tests;
