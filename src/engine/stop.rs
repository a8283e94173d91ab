//! How a run is ended before its time: why, and from which tick on, the same for all cores. Owns nothing else.

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
const LOST: u64 = 3;

impl Stop {
    /// Ends the run; the first reason stands. `at` lies at or after the present tick.
    pub(super) fn raise(&self, reason: Reason, at: Ticks) {
        let why = match reason {
            Reason::Interrupted => INTERRUPTED,
            Reason::Abandoned => ABANDONED,
            Reason::Lost(cell) => LOST + u64::from(cell),
        };
        if self.why.compare_exchange(0, why, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.at.store(at.0.max(1), Ordering::Release);
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

    /// Why the run is to end, if it is.
    pub(super) fn reason(&self) -> Option<Reason> {
        match self.why.load(Ordering::Acquire) {
            0 => None,
            INTERRUPTED => Some(Reason::Interrupted),
            ABANDONED => Some(Reason::Abandoned),
            lost => Some(Reason::Lost(u32::try_from(lost - LOST).unwrap_or(u32::MAX))),
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
    }
}
