//! How long a polled core was not this thread's: other programs, or the hypervisor, had it.
//!
//! Owns the comparison of ticks with the thread's processor time. A thread can only lose its core in a long gap between
//! two polls, so that only those are looked at, and the loop pays nothing in between. Knows no completions.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::clock::{self, Clock};
use crate::units::Ticks;

/// Gap between two polls from which on it is asked whether the thread ran; a change of threads is hardly shorter, and
/// asking takes less than a hundredth of it.
const SUSPICIOUS: Duration = Duration::from_micros(100);

/// The thread's processor time against the clock.
#[derive(Debug)]
pub(super) struct OffCore {
    suspicious: Ticks,
    clock: Clock,
    /// Tick and processor time of the last look.
    last: (Ticks, Duration),
}

impl OffCore {
    /// Watches the present thread from now on.
    pub(super) fn watch(clock: &Clock) -> Self {
        Self { suspicious: clock.ticks(SUSPICIOUS), clock: *clock, last: look() }
    }

    /// For a clock that passes only as it is polled: nothing takes time but what the driver makes up.
    pub(super) fn virtual_time() -> Self {
        Self { suspicious: Ticks(u64::MAX), clock: Clock::virtual_ns(), last: (Ticks(0), Duration::ZERO) }
    }

    /// Whether there is nothing to watch.
    pub(super) fn is_virtual(&self) -> bool {
        self.suspicious == Ticks(u64::MAX)
    }

    /// Gaps longer than this are to be asked about.
    #[inline(always)]
    pub(super) fn suspicious(&self) -> Ticks {
        self.suspicious
    }

    /// How much of the gap between two polls that has just ended the thread did not run.
    pub(super) fn within(&mut self, gap: Ticks) -> Ticks {
        let (tick, ran) = look();
        let (last_tick, last_ran) = std::mem::replace(&mut self.last, (tick, ran));
        let passed = tick.since(last_tick);
        // What was lost since the last look was lost in this gap, but for the error of the clock.
        passed.since(self.clock.ticks(ran.saturating_sub(last_ran))).min(gap)
    }
}

/// The present tick and how long this thread has run; zero where the system does not say.
fn look() -> (Ticks, Duration) {
    let ran = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default();
    (clock::now(), ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_time_off_the_core_and_work_is_not() {
        let clock = Clock::calibrate_anyway();
        let ms = |ticks: Ticks| clock.ns(ticks.0 as f64) / 1e6;
        let gap = clock.ticks(Duration::from_secs(3600));
        let mut watch = OffCore::watch(&clock);
        std::thread::sleep(Duration::from_millis(40));
        let slept = watch.within(gap);
        assert!(ms(slept) >= 39.0, "{} ms", ms(slept));
        // On a busy machine the thread is taken off while it works, so the least of several is looked at.
        let worked = (0..20).map(|_| {
            let start = clock::now();
            while ms(clock::now().since(start)) < 1.0 {}
            ms(watch.within(gap))
        });
        let least = worked.fold(f64::INFINITY, f64::min);
        assert!(least < 0.5, "{least} ms of 1 ms of work");
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(watch.within(Ticks(7)), Ticks(7), "no more than the gap");
    }
}
