//! The tick clock: the processor's invariant time stamp counter, calibrated against the system's monotonic clock.
//!
//! Owns the conversion between ticks and nanoseconds. Knows nothing of runs; a driver on a virtual clock brings its own
//! frequency ([`Clock::virtual_ns`]).

use std::time::{Duration, Instant};

use crate::units::Ticks;

/// Frequency of a tick clock and the conversions it allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    ticks_per_s: f64,
}

/// Why the processor's counter cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// The counter stops or changes its rate.
    #[error(
        "this processor's time stamp counter is not invariant (/proc/cpuinfo lacks {0}); run on a host or virtual machine that passes it through, or use sim:// targets"
    )]
    NotInvariant(&'static str),
    /// Two calibrations disagree.
    #[error(
        "the time stamp counter drifts against the system clock by {0} parts per million between two calibrations; the host's clock is unstable (busy hypervisor?), try again or use another host"
    )]
    Unstable(u64),
}

impl Clock {
    /// A virtual clock whose tick is one nanosecond.
    #[must_use]
    pub fn virtual_ns() -> Self {
        Self { ticks_per_s: 1e9 }
    }

    /// Calibrates the time stamp counter, in about 60 ms, twice; the two must agree within 200 parts per million.
    pub fn calibrate() -> Result<Self, ClockError> {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        if cfg!(target_arch = "x86_64") {
            for flag in ["constant_tsc", "nonstop_tsc"] {
                if !cpuinfo.contains(flag) {
                    return Err(ClockError::NotInvariant(flag));
                }
            }
        }
        let span = Duration::from_millis(30);
        let mut worst = 0;
        for _ in 0..3 {
            let (first, second) = (measure(span), measure(span));
            let ppm = ((first - second).abs() / first * 1e6) as u64;
            if ppm <= 200 {
                return Ok(Self { ticks_per_s: (first + second) / 2.0 });
            }
            worst = worst.max(ppm);
        }
        Err(ClockError::Unstable(worst))
    }

    /// Ticks a second.
    #[must_use]
    pub fn ticks_per_s(&self) -> f64 {
        self.ticks_per_s
    }

    /// A span of ticks in nanoseconds.
    #[must_use]
    pub fn ns(&self, ticks: f64) -> f64 {
        ticks * 1e9 / self.ticks_per_s
    }

    /// A duration in ticks, rounded.
    #[must_use]
    pub fn ticks(&self, duration: Duration) -> Ticks {
        Ticks((duration.as_secs_f64() * self.ticks_per_s).round() as u64)
    }
}

/// The counter's present value.
#[inline(always)]
#[must_use]
pub fn now() -> Ticks {
    Ticks(spdk_wrapper::tsc::now())
}

/// Ticks a second over `span`. Each end is taken as the tightest of several (system, counter, system) readings, so
/// that being descheduled between two reads does not count.
fn measure(span: Duration) -> f64 {
    let (start, start_ticks) = paired_reading();
    std::thread::sleep(span);
    let (end, end_ticks) = paired_reading();
    end_ticks.since(start_ticks).0 as f64 / end.duration_since(start).as_secs_f64()
}

fn paired_reading() -> (Instant, Ticks) {
    let read = || {
        let before = Instant::now();
        let ticks = now();
        let gap = before.elapsed();
        (gap, before + gap / 2, ticks)
    };
    let best = (0..16).map(|_| read()).min_by_key(|(gap, ..)| *gap);
    best.map_or_else(|| (Instant::now(), now()), |(_, at, ticks)| (at, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibrated_clock_tells_how_long_a_sleep_took() {
        let clock = Clock::calibrate().unwrap();
        let (start, wall) = (now(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let (ticks, wall) = (now().since(start), wall.elapsed());
        let ns = clock.ns(ticks.0 as f64);
        assert!((ns / wall.as_nanos() as f64 - 1.0).abs() < 0.01, "{ns} ns against {wall:?}");
    }

    #[test]
    fn virtual_ticks_are_nanoseconds() {
        let clock = Clock::virtual_ns();
        assert_eq!(clock.ticks(Duration::from_micros(7)), Ticks(7_000));
        assert_eq!(clock.ns(7_000.0), 7_000.0);
    }
}
