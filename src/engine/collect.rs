//! The collector: puts the packets of all cores together, by interval and by point. Owns the merge and the check that
//! nothing was lost on the way; runs on the caller's thread, never on a polled core's.

use std::collections::BTreeMap;

use super::handover::{Packet, PointEnd, Tally};
use super::rounds::Rounds;
use super::{ErrorCount, IntervalFigures, Leftover, Phase, PointFigures};
use crate::clock::Clock;
use crate::plan::Plan;
use crate::units::Ticks;

/// Figures of one point in the making.
#[derive(Debug)]
pub(super) struct Collector {
    point: usize,
    /// An empty tally, and some more that were used and emptied.
    empty: Tally,
    spare: Vec<Tally>,
    cores: usize,
    /// By phase.
    sums: [Tally; 3],
    /// Where the last complete interval ended.
    closed: Ticks,
    /// By workload: arrivals that had come due and were not sent when the last complete interval ended.
    backlog: Vec<u64>,
    /// By workload: the greatest backlog of any interval of the window.
    backlog_max: Vec<u64>,
    /// Completions of the window as the loops counted them.
    counted: u64,
    /// Intervals that not every core has reported yet, by the tick at which they end.
    open: BTreeMap<u64, Open>,
    /// For each core, the end of the last interval it has reported.
    reached: Vec<Ticks>,
    intervals: usize,
    rounds: Rounds,
    ends: Vec<(usize, PointEnd)>,
}

impl Collector {
    pub(super) fn new(point: usize, plan: &Plan, clock: &Clock) -> Self {
        let empty = Tally::of(plan);
        let cores = plan.cores.len();
        let workloads = plan.workloads.len();
        Self {
            point,
            sums: [empty.clone(), empty.clone(), empty.clone()],
            empty,
            spare: Vec::new(),
            cores,
            closed: Ticks(0),
            backlog: vec![0; workloads],
            backlog_max: vec![0; workloads],
            counted: 0,
            open: BTreeMap::new(),
            reached: vec![Ticks(0); cores],
            intervals: 0,
            rounds: Rounds::new(clock.ticks(plan.ramp), clock.ticks(plan.time), plan.cells()),
            ends: Vec::new(),
        }
    }

    /// Takes in one packet of `core`; returns the intervals that are complete with it.
    pub(super) fn take(&mut self, core: usize, packet: &mut Packet) -> Vec<IntervalFigures> {
        self.sums[packet.phase as usize].merge(&packet.tally);
        let end = packet.last.take();
        if packet.phase == Phase::Window {
            self.counted += packet.completions;
        }
        if packet.phase != Phase::Drain && packet.end > packet.begin {
            self.join(packet);
        }
        self.reached[core] = if end.is_some() { Ticks(u64::MAX) } else { packet.end };
        if let Some(end) = end {
            self.ends.push((core, end));
        }
        self.complete()
    }

    /// Adds a packet to the interval it belongs to. A core that could not hand over in time sends one packet for several
    /// intervals; whatever overlaps with it becomes one interval.
    fn join(&mut self, packet: &mut Packet) {
        let empty = self.spare.pop().unwrap_or_else(|| self.empty.clone());
        let tally = std::mem::replace(&mut packet.tally, empty);
        let mut interval = Open { start: packet.begin, end: packet.end, phase: packet.phase, tally };
        let overlaps = |open: &Open| open.start < packet.end && packet.begin < open.end;
        let ends: Vec<u64> = self.open.iter().filter(|(_, open)| overlaps(open)).map(|(&end, _)| end).collect();
        for end in ends {
            let Some(open) = self.open.remove(&end) else { continue };
            interval.start = interval.start.min(open.start);
            interval.end = interval.end.max(open.end);
            interval.tally.merge(&open.tally);
            self.keep(open.tally);
        }
        self.open.insert(interval.end.0, interval);
    }

    /// Takes back an interval that has been told of, for the next one to be counted in.
    pub(super) fn give_back(&mut self, interval: IntervalFigures) {
        let IntervalFigures { cells, arrivals, .. } = interval;
        self.keep(Tally { cells, arrivals });
    }

    fn keep(&mut self, mut tally: Tally) {
        tally.clear();
        self.spare.push(tally);
    }

    /// Whether I/Os of this point were never answered.
    pub(super) fn has_abandoned(&self) -> bool {
        self.ends.iter().any(|(_, end)| end.abandoned > 0)
    }

    /// Whether one core has ended the point.
    pub(super) fn has_ended(&self, core: usize) -> bool {
        self.ends.iter().any(|(ended, _)| *ended == core)
    }

    /// Whether every core has ended the point.
    pub(super) fn is_over(&self) -> bool {
        self.ends.len() == self.cores
    }

    /// The finished point. `describe` puts the reason why it ended early, if it did.
    pub(super) fn finish(self, ended_early: Option<String>) -> PointFigures {
        let [ramp, mut window, drain] = self.sums;
        for (sum, &most) in window.arrivals.iter_mut().zip(&self.backlog_max) {
            // Summed over cores and packets so far; what counts is the worst interval.
            sum.iter_mut().for_each(|sum| sum.backlog_max = most);
        }
        let mut ends = self.ends;
        ends.sort_by_key(|(core, _)| *core);
        let mut errors: Vec<ErrorCount> = Vec::new();
        for (cell, status, count) in ends.iter().flat_map(|(_, end)| &end.errors) {
            let status = status.to_string();
            match errors.iter_mut().find(|e| e.cell == *cell as usize && e.status == status) {
                Some(known) => known.count += count,
                None => errors.push(ErrorCount { cell: *cell as usize, status, count: *count }),
            }
        }
        let open_loop = |arrivals: &Option<_>| arrivals.as_ref().map(|_| Leftover::default());
        let mut leftovers: Vec<Option<Leftover>> = window.arrivals.iter().map(open_loop).collect();
        for (workload, leftover) in ends.iter().flat_map(|(_, end)| &end.leftovers) {
            leftovers[*workload].iter_mut().for_each(|sum| sum.merge(leftover));
        }
        let abandoned: u32 = ends.iter().map(|(_, end)| end.abandoned).sum();
        let unanswered = (abandoned > 0).then(|| format!("{abandoned} I/Os were never answered"));
        let ended_early = match (ended_early, unanswered) {
            (Some(why), Some(more)) => Some(format!("{why}; {more}")),
            (why, more) => why.or(more),
        };
        PointFigures {
            point: self.point,
            window: ends.iter().map(|(_, end)| end.window).min().unwrap_or_default(),
            ramp: ramp.cells,
            cells: window.cells,
            drain: drain.cells,
            ramp_arrivals: ramp.arrivals,
            arrivals: window.arrivals,
            leftovers,
            rounds: self.rounds.finish(),
            cores: ends.into_iter().map(|(_, end)| end.figures).collect(),
            errors,
            intervals: self.intervals,
            interval_completions: self.counted,
            ended_early,
            overloaded: false,
        }
    }

    /// Intervals that every core has gone past.
    fn complete(&mut self) -> Vec<IntervalFigures> {
        let reached = self.reached.iter().copied().min().unwrap_or_default();
        let later = self.open.split_off(&reached.0.saturating_add(1));
        let complete = std::mem::replace(&mut self.open, later).into_values();
        complete.map(|open| self.close(open)).collect()
    }

    /// An interval that nothing more will be added to; they come in the order of time, without a gap: where no core
    /// looked for longer than an interval, what it then found completed at some time since.
    fn close(&mut self, open: Open) -> IntervalFigures {
        let Open { start: _, end, phase, tally: Tally { cells, arrivals } } = open;
        let start = std::mem::replace(&mut self.closed, end);
        let in_window = phase == Phase::Window;
        self.intervals += usize::from(in_window);
        for (workload, arrivals) in arrivals.iter().enumerate() {
            let Some(arrivals) = arrivals else { continue };
            let backlog = &mut self.backlog[workload];
            *backlog = (*backlog + arrivals.offered).saturating_sub(arrivals.sent);
            if in_window {
                self.backlog_max[workload] = self.backlog_max[workload].max(arrivals.backlog_max);
            }
        }
        let interval = IntervalFigures { start, end, phase, cells, arrivals, backlog: self.backlog.clone() };
        self.rounds.add(&interval);
        interval
    }
}

/// An interval in the making.
#[derive(Debug)]
struct Open {
    start: Ticks,
    end: Ticks,
    phase: Phase,
    tally: Tally,
}
