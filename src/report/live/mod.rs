//! What is shown while a run is on: how far it is, and the figures of the last moment.
//!
//! Owns the wording, as one line or as a few that are redrawn. Shows the engine's intervals, since the result does not
//! exist yet; all workloads are taken together here, and apart in the series and in every report of the finished run.

mod minute;
mod moment;

use std::time::Duration;

use minute::Minute;
use moment::Moment;

use super::columns::decimal;
use crate::clock::Clock;
use crate::engine::record::{IntervalFigures, Phase};
use crate::plan::{CellBytes, Plan};
use crate::result::PointLoad;
use crate::units::format_count;

/// Cells of the progress bar.
const BAR: usize = 24;

/// The run as it is seen from outside.
#[derive(Debug)]
pub struct View {
    clock: Clock,
    ramp_s: f64,
    time_s: f64,
    /// The load of each point of the plan, in words.
    loads: Vec<String>,
    /// Points of the run before those of the plan.
    offset: usize,
    /// Points of the run; none where that depends on what is measured.
    planned: Option<usize>,
    /// By cell.
    bytes: Vec<CellBytes>,
    /// The point that is on; none while the queues of `next` are being opened.
    point: Option<usize>,
    next: usize,
    /// How far the point is, in seconds.
    at_s: f64,
    /// Seconds of all points before it.
    before_s: f64,
    moment: Moment,
    /// The figures that stand in the frame.
    shown: Vec<String>,
    errors: u64,
    minute: Minute,
}

impl View {
    /// A run of `plan`, before its first point.
    #[must_use]
    pub fn new(plan: &Plan, clock: &Clock) -> Self {
        let loads: Vec<_> = (0..plan.points.len()).map(|point| PointLoad::of(plan, point).to_string()).collect();
        let cells = plan.workloads.iter().enumerate().flat_map(|(w, workload)| {
            let ops = move |position| workload.ops().into_iter().map(move |op| plan.cell_bytes(w, position, op));
            (0..workload.targets.len()).flat_map(ops)
        });
        Self {
            clock: *clock,
            ramp_s: plan.ramp.as_secs_f64(),
            time_s: plan.time.as_secs_f64(),
            planned: Some(loads.len()),
            offset: 0,
            loads,
            bytes: cells.collect(),
            point: None,
            next: 0,
            at_s: 0.0,
            before_s: 0.0,
            moment: Moment::of(Phase::Ramp),
            shown: Vec::new(),
            errors: 0,
            minute: Minute::default(),
        }
    }

    /// The same for a plan that is a part of a campaign: what its point is called, how many points come before it, and how
    /// many there are.
    #[must_use]
    pub fn among(self, label: String, offset: usize, planned: Option<usize>) -> Self {
        Self { loads: vec![label], offset, planned, ..self }
    }

    /// The same for the rest of a plan, of which `offset` points were run before.
    #[must_use]
    pub fn behind(self, offset: usize) -> Self {
        let planned = Some(offset + self.loads.len());
        Self { offset, planned, ..self }
    }

    /// The plan's point `point` (from 0) begins.
    pub fn point_started(&mut self, point: usize) {
        (self.point, self.next) = (Some(point), point + 1);
        self.moment = Moment::of(Phase::Ramp);
        self.shown.clear();
    }

    /// The point that is on has ended.
    pub fn point_done(&mut self) {
        self.point = None;
        self.before_s += std::mem::take(&mut self.at_s);
    }

    /// Takes in an interval of the point that is on. Several make one moment, until it is shown; ramp and window do not
    /// mix.
    pub fn take(&mut self, interval: &IntervalFigures) {
        let seconds = |ticks: u64| self.clock.ns(ticks as f64) / 1e9;
        let (start_s, end_s) = (seconds(interval.start.0), seconds(interval.end.0));
        if self.moment.phase != interval.phase {
            self.moment = Moment::of(interval.phase);
        }
        let completions = self.moment.add(interval, &self.bytes, end_s - start_s);
        self.minute.add(self.before_s + start_s, self.before_s + end_s, completions);
        self.errors += interval.cells.iter().map(|cell| cell.errors).sum::<u64>();
        self.at_s = end_s;
    }

    /// One line, without a line feed, on what came since the last call; the frame shows the same from now on.
    pub fn line(&mut self) -> String {
        let empty = Moment::of(self.moment.phase);
        let moment = std::mem::replace(&mut self.moment, empty);
        let (rates, errors, latencies) = (moment.rates(), moment.errors(), moment.latencies(&self.clock));
        let so_far = if self.errors > 0 { format!(" ({} so far)", format_count(self.errors)) } else { String::new() };
        self.shown = [vec![format!("{rates}, {errors}{so_far}")], latencies.clone()].concat();
        let point = self.point.unwrap_or_default();
        let figures = [vec![rates], latencies, vec![errors]].concat().join(", ");
        format!("[{} {}] {}: {figures}", self.number(point), self.loads[point], self.progress(self.at_s, moment.phase))
    }

    /// The lines to redraw in place, none wider than `width`, `since` the last interval came.
    #[must_use]
    pub fn frame(&self, since: Duration, width: usize) -> String {
        let mut lines = vec![self.headline(since.as_secs_f64())];
        if self.point.is_some() {
            lines.extend(self.shown.iter().cloned());
            let bars = self.minute.bars();
            lines.extend(bars.map(|(bars, top)| format!("{bars} IOPS of the last minute, up to {}", decimal(top, 0))));
        }
        let cut = |line: &String| line.chars().take(width).collect::<String>();
        lines.iter().map(cut).collect::<Vec<_>>().join("\n")
    }

    fn headline(&self, since_s: f64) -> String {
        let whole_s = self.ramp_s + self.time_s;
        let Some(point) = self.point else {
            let next = self.next.min(self.loads.len() - 1);
            return match self.next < self.loads.len() {
                true => format!("point {} {}: opening queues", self.number(next), self.loads[next]),
                false => format!("point {} {}: done", self.number(next), self.loads[next]),
            };
        };
        let at_s = (self.at_s + since_s).min(whole_s);
        let phase = if at_s < self.ramp_s { Phase::Ramp } else { Phase::Window };
        let (number, load, progress) = (self.number(point), &self.loads[point], self.progress(at_s, phase));
        let Some(planned) = self.planned else { return format!("point {number} {load}: {progress}") };
        let before = self.offset + point;
        let share = ((before as f64 + at_s / whole_s) / planned as f64).min(1.0);
        let filled = ((share * BAR as f64) as usize).min(BAR);
        let left_s = whole_s * planned.saturating_sub(before) as f64 - at_s;
        format!(
            "point {number} {load}: {progress} {}{} {:.0} %, {} left",
            "━".repeat(filled),
            "─".repeat(BAR - filled),
            share * 100.0,
            minutes(left_s.max(0.0))
        )
    }

    /// `2/7`, or `2` where nobody knows how many there will be.
    fn number(&self, point: usize) -> String {
        let number = self.offset + point + 1;
        self.planned.map_or_else(|| number.to_string(), |planned| format!("{number}/{planned}"))
    }

    /// How far a phase is: `3.2 of 10 s window`.
    fn progress(&self, at_s: f64, phase: Phase) -> String {
        let (at_s, whole_s, name) = match phase {
            Phase::Ramp => (at_s, self.ramp_s, "ramp"),
            Phase::Window | Phase::Drain => (at_s - self.ramp_s, self.time_s, "window"),
        };
        format!("{:.1} of {whole_s} s {name}", at_s.clamp(0.0, whole_s))
    }
}

/// A time to wait: `45 s`, `3 min 20 s`, `2 h 5 min`.
fn minutes(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        s if s < 60 => format!("{s} s"),
        s if s < 3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::minutes;

    #[test]
    fn times_to_wait_are_rounded_up() {
        assert_eq!([0.2, 60.0, 7_500.0].map(minutes), ["1 s", "1 min 0 s", "2 h 5 min"]);
    }
}
