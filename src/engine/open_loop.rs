//! An open loop at work: which arrivals have come due, how many of them wait, and which slots are idle.
//!
//! Owns the rule that an arrival keeps its scheduled tick however long it waits, and that arrivals go in order. Counting
//! those that are due and sending them are apart, so that the backlog is exact and takes no memory: one copy of the
//! schedule counts, the other one follows and tells when each arrival that is sent had been due. Knows no driver.

use super::Leftover;
use crate::clock::Clock;
use crate::plan::{Lane, Overload, Plan};
use crate::workload::{ArrivalTimes, stream_seed};

/// The open loop of one lane of one core.
#[derive(Debug)]
pub(super) struct OpenLoop {
    /// Number of its workload in the plan.
    pub workload: usize,
    /// The next arrival to come due.
    due: ArrivalTimes,
    /// The next arrival to be sent; behind `due` by the backlog.
    unsent: ArrivalTimes,
    backlog: u64,
    /// A backlog beyond this means that the target cannot follow.
    backlog_limit: u64,
    /// The backlog at the last edge of an interval.
    backlog_before: u64,
    /// Slots without an I/O.
    idle: Vec<u32>,
    /// Slots in all.
    slots: usize,
    /// Mean ticks between two arrivals, and the limit of the backlog, at each point.
    points: Vec<(f64, u64)>,
    offset: f64,
}

impl OpenLoop {
    /// That of `lane`, the `number`-th of the `core`-th core; none for a closed loop.
    pub(super) fn of(plan: &Plan, clock: &Clock, lane: &Lane, (core, number): (usize, usize)) -> Option<Self> {
        let arrivals = lane.arrivals.as_ref()?;
        let times = ArrivalTimes::new(arrivals.spread, stream_seed(!plan.seed, core, number));
        let point = |&rate_per_s: &f64| {
            // A second's arrivals, and more than one burst brings.
            let usual = (rate_per_s.ceil() as u64).max(2 * u64::from(arrivals.spread.at_once()));
            let limit = if plan.overload == Overload::Stop { usual } else { u64::MAX };
            (clock.ticks_per_s() / rate_per_s, limit)
        };
        Some(Self {
            workload: lane.workload,
            due: times.clone(),
            unsent: times,
            backlog: 0,
            backlog_limit: u64::MAX,
            backlog_before: 0,
            idle: Vec::with_capacity(lane.depths.iter().max().map_or(0, |&depth| depth as usize)),
            slots: 0,
            points: arrivals.rates_per_s.iter().map(point).collect(),
            offset: arrivals.offset,
        })
    }

    /// Begins a point at tick `start`, with these slots.
    pub(super) fn begin(&mut self, point: usize, start: u64, slots: impl Iterator<Item = u32>) {
        let (gap, limit) = self.points[point];
        self.due.start(gap, self.offset, start);
        self.unsent = self.due.clone();
        self.backlog = 0;
        self.backlog_limit = limit;
        self.backlog_before = 0;
        self.idle.clear();
        self.idle.extend(slots);
        self.slots = self.idle.len();
    }

    /// Tick of the next arrival to come due, or of the oldest that waits though a slot is idle: at the edge of an interval
    /// arrivals are counted before they are sent.
    #[inline(always)]
    pub(super) fn next_due(&self) -> u64 {
        if self.backlog > 0 && !self.idle.is_empty() { self.unsent.next() } else { self.due.next() }
    }

    /// Counts the arrivals that are due before `end`; how many there were, and how many wait now.
    #[inline(always)]
    pub(super) fn count_due(&mut self, end: u64) -> (u64, u64) {
        let mut count = 0;
        while self.due.next() < end {
            let _ = self.due.take();
            count += 1;
        }
        self.backlog += count;
        (count, self.backlog)
    }

    /// At the edge of an interval: whether the target cannot follow. It cannot when more than a second's arrivals wait and
    /// have become no fewer since the last edge: one long absence of the core, or one stall, is being worked off.
    pub(super) fn is_overloaded(&mut self) -> bool {
        let before = std::mem::replace(&mut self.backlog_before, self.backlog);
        self.backlog >= before && before > self.backlog_limit
    }

    /// The oldest waiting arrival and an idle slot for it, if there are both.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<(u64, u32)> {
        if self.backlog == 0 {
            return None;
        }
        let slot = self.idle.pop()?;
        self.backlog -= 1;
        Some((self.unsent.take(), slot))
    }

    /// A slot has become idle.
    #[inline(always)]
    pub(super) fn idle(&mut self, slot: u32) {
        self.idle.push(slot);
    }

    /// What it has left, when its point is over.
    pub(super) fn leftover(&self) -> Leftover {
        Leftover { waiting: self.backlog, unanswered: (self.slots - self.idle.len()) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrivals;

    /// Evenly spaced arrivals at ticks 10, 20, …, sent through slots 0 and 1.
    fn every_ten_ticks() -> OpenLoop {
        let times = ArrivalTimes::new(Arrivals::Constant, 1);
        let mut open_loop = OpenLoop {
            workload: 0,
            due: times.clone(),
            unsent: times,
            backlog: 0,
            backlog_limit: u64::MAX,
            backlog_before: 0,
            idle: Vec::new(),
            slots: 0,
            points: vec![(10.0, 3)],
            offset: 0.0,
        };
        open_loop.begin(0, 10, 0..2);
        open_loop
    }

    #[test]
    fn an_arrival_keeps_its_tick_while_it_waits() {
        let mut open_loop = every_ten_ticks();
        assert_eq!((open_loop.next_due(), open_loop.take()), (10, None));
        assert_eq!(open_loop.count_due(41), (4, 4));
        assert_eq!([open_loop.take(), open_loop.take(), open_loop.take()], [Some((10, 1)), Some((20, 0)), None]);
        open_loop.idle(0);
        assert_eq!(open_loop.take(), Some((30, 0)));
        assert_eq!(open_loop.leftover(), Leftover { waiting: 1, unanswered: 2 });
    }

    #[test]
    fn only_a_backlog_that_does_not_shrink_is_an_overload() {
        let mut open_loop = every_ten_ticks();
        let _ = open_loop.count_due(101);
        assert!(!open_loop.is_overloaded(), "it may be worked off");
        let _ = (open_loop.take(), open_loop.take());
        assert!(!open_loop.is_overloaded(), "it is being worked off");
        let _ = open_loop.count_due(111);
        assert!(open_loop.is_overloaded());
    }

    #[test]
    fn what_was_counted_at_an_edge_is_sent_before_the_next_arrival_comes_due() {
        let mut open_loop = every_ten_ticks();
        assert_eq!(open_loop.count_due(15), (1, 1));
        assert_eq!(open_loop.next_due(), 10, "it is due already");
        assert_eq!(open_loop.take(), Some((10, 1)));
        assert_eq!(open_loop.next_due(), 20);
        assert_eq!(open_loop.count_due(35), (2, 2));
        assert_eq!(open_loop.take(), Some((20, 0)));
        assert_eq!(open_loop.next_due(), 40, "nothing can be sent before a slot is idle");
    }
}
