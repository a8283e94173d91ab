//! How a run, or a point of it, is ended before its time: why, and from which tick on, the same for all cores. Owns nothing else.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::units::Ticks;

/// Why a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Someone asked for it.
    Interrupted,
    /// A target is lost; one of its cells (`Plan::cell`).
    Lost(u32),
    /// I/Os were never answered.
    Abandoned,
    /// A workload's targets cannot follow its rate; ends the point only.
    Overloaded(u32),
}

/// Raised once, seen by all cores.
#[derive(Debug, Default)]
pub(super) struct Stop {
    /// 0 while the run goes on, then the first tick that no longer counts.
    at: AtomicU64,
    /// The reason, written before `at`.
    why: AtomicU64,
}

const INTERRUPTED: u64 = 1;
const ABANDONED: u64 = 2;
/// These two with a number above them.
const LOST: u64 = 3;
const OVERLOADED: u64 = 4;
const NUMBER: u32 = 8;

impl Stop {
    /// Ends the run, or a point of it; the first reason stands, but what ends the run outweighs what ends the point. `at`
    /// lies at or after the present tick.
    pub(super) fn raise(&self, reason: Reason, at: Ticks) {
        let why = match reason {
            Reason::Interrupted => INTERRUPTED,
            Reason::Abandoned => ABANDONED,
            Reason::Lost(cell) => LOST | u64::from(cell) << NUMBER,
            Reason::Overloaded(workload) => OVERLOADED | u64::from(workload) << NUMBER,
        };
        let ends_point = |why: u64| why & ((1 << NUMBER) - 1) == OVERLOADED;
        let outweighed = |known: u64| known == 0 || (ends_point(known) && !ends_point(why));
        let replaced =
            self.why.fetch_update(Ordering::AcqRel, Ordering::Acquire, |known| outweighed(known).then_some(why));
        if replaced.is_ok() {
            // A point that ends already goes on ending where it did.
            let _ = self.at.compare_exchange(0, at.0.max(1), Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// The first tick that no longer counts, once the run is to end.
    #[inline(always)]
    pub(super) fn at(&self) -> Option<Ticks> {
        match self.at.load(Ordering::Acquire) {
            0 => None,
            at => Some(Ticks(at)),
        }
    }

    /// Begins another point: what ended only the former one is forgotten. No core is in a point.
    pub(super) fn next_point(&self) {
        if matches!(self.reason(), Some(Reason::Overloaded(_))) {
            self.at.store(0, Ordering::Release);
            self.why.store(0, Ordering::Release);
        }
    }

    /// Whether no further point is to be run.
    pub(super) fn ends_run(&self) -> bool {
        !matches!(self.reason(), None | Some(Reason::Overloaded(_)))
    }

    /// Why the run or the point is to end, if it is.
    pub(super) fn reason(&self) -> Option<Reason> {
        match self.why.load(Ordering::Acquire) {
            0 => None,
            INTERRUPTED => Some(Reason::Interrupted),
            ABANDONED => Some(Reason::Abandoned),
            with_number => {
                let number = (with_number >> NUMBER) as u32;
                let lost = with_number & ((1 << NUMBER) - 1) == LOST;
                Some(if lost { Reason::Lost(number) } else { Reason::Overloaded(number) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stands() {
        let stop = Stop::default();
        assert_eq!((stop.at(), stop.reason()), (None, None));
        stop.raise(Reason::Lost(7), Ticks(100));
        stop.raise(Reason::Interrupted, Ticks(200));
        assert_eq!((stop.at(), stop.reason()), (Some(Ticks(100)), Some(Reason::Lost(7))));
        stop.next_point();
        assert_eq!(stop.reason(), Some(Reason::Lost(7)));
    }

    #[test]
    fn an_overload_ends_one_point_only() {
        let stop = Stop::default();
        stop.raise(Reason::Overloaded(3), Ticks(100));
        assert_eq!((stop.at(), stop.reason()), (Some(Ticks(100)), Some(Reason::Overloaded(3))));
        stop.next_point();
        assert_eq!((stop.at(), stop.reason()), (None, None));
    }

    #[test]
    fn what_ends_the_run_outweighs_an_overload() {
        for reason in [Reason::Interrupted, Reason::Abandoned, Reason::Lost(2)] {
            let stop = Stop::default();
            stop.raise(Reason::Overloaded(0), Ticks(100));
            stop.raise(reason, Ticks(200));
            stop.raise(Reason::Overloaded(0), Ticks(300));
            assert_eq!((stop.at(), stop.reason()), (Some(Ticks(100)), Some(reason)));
            stop.next_point();
            assert!(stop.ends_run());
        }
    }
}
