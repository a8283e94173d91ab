//! When a point's phases and intervals begin and end, in ticks. Owns the rule that a completion belongs to the phase
//! and interval in which it is seen: `[start, t0)` ramp, `[t0, t1)` window, from `t1` drain. Knows no figures.

use super::Phase;
use crate::units::Ticks;

/// How long after `t1` (or an interruption) outstanding I/Os are waited for, in seconds.
pub(super) const DRAIN_LIMIT_S: u64 = 5;

/// The phases of one point on one core, and where in them it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    start: u64,
    t0: u64,
    t1: u64,
    interval: u64,
    drain: u64,
    phase: Phase,
    begin: u64,
    edge: u64,
}

impl Schedule {
    /// A point that starts at `start`. `interval` is at least one tick.
    pub(super) fn new(start: Ticks, ramp: Ticks, time: Ticks, interval: Ticks, drain: Ticks) -> Self {
        let t0 = start.plus(ramp).0;
        let t1 = Ticks(t0).plus(time).0;
        let interval = interval.0.max(1);
        let mut schedule = Self {
            start: start.0,
            t0,
            t1,
            interval,
            drain: drain.0,
            phase: Phase::Ramp,
            begin: start.0,
            edge: start.0,
        };
        schedule.enter(if ramp.0 == 0 { Phase::Window } else { Phase::Ramp }, start.0);
        schedule
    }

    /// The phase it is in.
    #[inline(always)]
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// First tick of the present interval.
    pub(super) fn begin(&self) -> Ticks {
        Ticks(self.begin)
    }

    /// First tick after the present interval.
    #[inline(always)]
    pub(super) fn edge(&self) -> Ticks {
        Ticks(self.edge)
    }

    /// First tick of the point.
    pub(super) fn start(&self) -> Ticks {
        Ticks(self.start)
    }

    /// First tick of the window.
    pub(super) fn t0(&self) -> Ticks {
        Ticks(self.t0)
    }

    /// First tick after the window.
    pub(super) fn t1(&self) -> Ticks {
        Ticks(self.t1)
    }

    /// Moves on to the interval that holds `tick`, which is at or past the edge, but not past the end of the phase:
    /// at most to the first interval of the next one.
    pub(super) fn advance(&mut self, tick: Ticks) {
        let phase_end = self.phase_end();
        if self.edge >= phase_end {
            let next = if self.phase == Phase::Ramp { Phase::Window } else { Phase::Drain };
            self.enter(next, phase_end);
            if next == Phase::Drain {
                // Its time runs from when it is entered: a core that comes back late still finds what has completed.
                self.edge = self.edge.max(tick.0.saturating_add(self.drain));
            }
        } else {
            // Intervals that passed without a look at the clock are empty: skipped, not handed over one by one.
            let at = tick.0.min(phase_end - 1);
            self.begin += (at - self.begin) / self.interval * self.interval;
            self.edge = (self.begin + self.interval).min(phase_end);
        }
    }

    /// Ends the window (and the ramp, if still in it) at `tick`.
    pub(super) fn cut(&mut self, tick: Ticks) {
        if self.phase != Phase::Drain {
            self.t0 = self.t0.min(tick.0);
            self.t1 = self.t1.min(tick.0);
            self.edge = self.edge.min(tick.0);
        }
    }

    fn enter(&mut self, phase: Phase, at: u64) {
        self.phase = phase;
        self.begin = at;
        self.edge = match phase {
            Phase::Drain => at.saturating_add(self.drain),
            Phase::Ramp | Phase::Window => (at + self.interval).min(self.phase_end()),
        };
    }

    fn phase_end(&self) -> u64 {
        match self.phase {
            Phase::Ramp => self.t0,
            Phase::Window => self.t1,
            Phase::Drain => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        Schedule::new(Ticks(100), Ticks(25), Ticks(50), Ticks(20), Ticks(1000))
    }

    #[test]
    fn phases_and_intervals_tile_the_point() {
        let mut s = schedule();
        let mut seen = vec![(s.phase(), s.begin().0, s.edge().0)];
        while s.phase() != Phase::Drain {
            let edge = s.edge();
            s.advance(edge);
            seen.push((s.phase(), s.begin().0, s.edge().0));
        }
        let expected = [
            (Phase::Ramp, 100, 120),
            (Phase::Ramp, 120, 125),
            (Phase::Window, 125, 145),
            (Phase::Window, 145, 165),
            (Phase::Window, 165, 175),
            (Phase::Drain, 175, 1175),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_long_silence_skips_intervals_but_no_phase() {
        let mut s = schedule();
        s.advance(Ticks(10_000));
        assert_eq!((s.phase(), s.begin().0), (Phase::Ramp, 120));
        s.advance(Ticks(10_000));
        assert_eq!((s.phase(), s.begin().0), (Phase::Window, 125));
        s.advance(Ticks(10_000));
        assert_eq!((s.phase(), s.begin().0, s.edge().0), (Phase::Window, 165, 175));
        s.advance(Ticks(10_000));
        assert_eq!((s.phase(), s.begin().0), (Phase::Drain, 175));
    }

    #[test]
    fn an_interruption_ends_the_window_where_it_happens() {
        let mut s = schedule();
        s.advance(Ticks(121));
        s.advance(Ticks(126));
        s.cut(Ticks(130));
        assert_eq!((s.edge().0, s.t1().0), (130, 130));
        s.advance(Ticks(130));
        assert_eq!(s.phase(), Phase::Drain);
        // In the ramp: no window at all.
        let mut s = schedule();
        s.cut(Ticks(110));
        s.advance(Ticks(110));
        s.advance(Ticks(110));
        assert_eq!((s.phase(), s.t1().0 - s.t0().0), (Phase::Drain, 0));
    }
}
