//! What was run beside the load, and the figures before, during and after it.
//!
//! Owns to which of the three an interval of the window belongs (`docs/method.md`), and the sums. Intervals are decided on
//! as they come, by the events that have begun and ended until then, so that nothing is kept but sums.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::total;
use super::point::Figures;
use crate::clock::Clock;
use crate::engine::record::{CellFigures, IntervalFigures, Phase};
use crate::plan::Plan;

/// A command that was run at a moment of a point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventResult {
    /// What it is called.
    pub label: String,
    /// The command, without secrets.
    pub run: String,
    /// How it went.
    #[serde(flatten)]
    pub outcome: EventOutcome,
    /// The window from its opening, or the event before, to this one; none where no interval lies there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<EventFigures>,
    /// The intervals of the window that touch the event, from its start to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<EventFigures>,
    /// The window from its end to the next event, or to the end of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EventFigures>,
}

/// How an event went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventOutcome {
    /// When it began, in seconds from the start of the point, ramp included; none if it was never begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// When it ended, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_s: Option<f64>,
    /// Exit status of the command; none if it did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// What went wrong, and the remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What it wrote to stdout and stderr, without secrets; the first 64 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// Figures of a part of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventFigures {
    /// Its length in seconds: that of its intervals.
    pub seconds: f64,
    /// All workloads and targets together.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The sums of a point between and during its events.
#[derive(Debug, Default)]
pub struct EventBook {
    /// Before the first event, between each two, behind the last.
    gaps: Vec<Sum>,
    /// During each.
    during: Vec<Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    seconds: f64,
    cells: Vec<CellFigures>,
}

impl EventBook {
    /// For a point with `events` events.
    #[must_use]
    pub fn new(events: usize) -> Self {
        let sums = |count| std::iter::repeat_with(Sum::default).take(count).collect();
        Self { gaps: sums(events + 1), during: sums(events) }
    }

    /// Adds an interval; `events`, in the order of their moments, hold what has begun and ended until its end.
    pub fn take(&mut self, clock: &Clock, interval: &IntervalFigures, events: &[EventOutcome]) {
        if interval.phase != Phase::Window {
            return;
        }
        let [start_s, end_s] = [interval.start, interval.end].map(|tick| clock.ns(tick.0 as f64) / 1e9);
        let mut touched = false;
        let mut begun = 0;
        for (event, sum) in events.iter().zip(&mut self.during) {
            let Some(at_s) = event.start_s.filter(|at_s| *at_s < end_s) else { continue };
            begun += 1;
            if event.end_s.is_none_or(|ended_s| ended_s >= start_s) || at_s >= start_s {
                sum.add(end_s - start_s, &interval.cells);
                touched = true;
            }
        }
        if !touched {
            self.gaps[begun].add(end_s - start_s, &interval.cells);
        }
    }

    /// The figures before, during and after the event `index`.
    #[must_use]
    pub fn figures(&self, plan: &Plan, clock: &Clock, index: usize) -> [Option<EventFigures>; 3] {
        [&self.gaps[index], &self.during[index], &self.gaps[index + 1]].map(|sum| {
            let figures = |sum: &Sum| total(plan, clock, &sum.cells, sum.seconds);
            (sum.seconds > 0.0).then(|| EventFigures { seconds: sum.seconds, figures: figures(sum) })
        })
    }
}

impl Sum {
    fn add(&mut self, seconds: f64, cells: &[CellFigures]) {
        self.seconds += seconds;
        self.cells.resize_with(cells.len(), CellFigures::default);
        self.cells.iter_mut().zip(cells).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Ticks;

    fn interval(start: u64, end: u64) -> IntervalFigures {
        let cell = CellFigures { errors: end - start, ..CellFigures::default() };
        let (phase, cells) = (Phase::Window, vec![cell]);
        IntervalFigures { start: Ticks(start), end: Ticks(end), phase, cells, arrivals: vec![None], backlog: vec![0] }
    }

    fn outcome(start_s: f64, end_s: Option<f64>) -> EventOutcome {
        EventOutcome { start_s: Some(start_s), end_s, ..EventOutcome::default() }
    }

    /// Seconds before, during and after each of `events` over ten intervals of a second.
    fn lengths(events: &[EventOutcome]) -> (Vec<f64>, Vec<f64>) {
        let clock = Clock::virtual_ns();
        let mut book = EventBook::new(events.len());
        (0..10u64).for_each(|s| book.take(&clock, &interval(s * 1_000_000_000, (s + 1) * 1_000_000_000), events));
        let seconds = |sums: &[Sum]| sums.iter().map(|sum| sum.seconds.round()).collect();
        (seconds(&book.gaps), seconds(&book.during))
    }

    #[test]
    fn intervals_that_hold_start_or_end_are_during_the_event() {
        assert_eq!(lengths(&[outcome(3.5, Some(5.2))]), (vec![3.0, 4.0], vec![3.0]));
    }

    #[test]
    fn a_command_that_runs_on_has_nothing_after_it() {
        assert_eq!(lengths(&[outcome(3.5, None)]), (vec![3.0, 0.0], vec![7.0]));
    }

    #[test]
    fn what_lies_between_two_events_is_after_one_and_before_the_other() {
        let events = [outcome(2.5, Some(2.6)), outcome(6.5, Some(6.6))];
        assert_eq!(lengths(&events), (vec![2.0, 3.0, 3.0], vec![1.0, 1.0]));
    }
}
