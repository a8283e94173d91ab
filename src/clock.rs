//! The tick clock: the processor's invariant time stamp counter, calibrated against the system's monotonic clock.
//!
//! Owns the conversion between ticks and nanoseconds, the judgement on whether the counter can be trusted, and the
//! comparison of both clocks over a longer span ([`Since`]). Knows nothing of runs; a driver on a virtual clock brings
//! its own frequency ([`Clock::virtual_ns`]).

use std::time::{Duration, Instant};

use crate::units::Ticks;

/// Frequency of a tick clock and the conversions it allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    ticks_per_s: f64,
    error_ppm: f64,
}

/// Greatest difference between two calibrations that agree, in parts per million.
const AGREE_PPM: f64 = 200.0;
/// Length of one calibration.
const CALIBRATION: Duration = Duration::from_millis(30);

/// Why the processor's counter cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// The counter stops or changes its rate.
    #[error(
        "this processor's time stamp counter is not invariant (/proc/cpuinfo lacks {0}); run on a host or virtual machine that passes it through, use sim:// targets, or measure all the same with --trust-clock ([run] trust_clock = true): the result then says so"
    )]
    NotInvariant(&'static str),
    /// Two calibrations disagree.
    #[error(
        "the time stamp counter drifts against the system clock by {0} parts per million between two calibrations; the host's clock is unstable (busy hypervisor?): try again, use another host, or measure all the same with --trust-clock ([run] trust_clock = true): the result then says so"
    )]
    Unstable(u64),
}

impl Clock {
    /// A virtual clock whose tick is one nanosecond.
    #[must_use]
    pub fn virtual_ns() -> Self {
        Self { ticks_per_s: 1e9, error_ppm: 0.0 }
    }

    /// Calibrates the time stamp counter, in about 60 ms, twice; the two must agree within 200 parts per million.
    pub fn calibrate() -> Result<Self, ClockError> {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        if cfg!(target_arch = "x86_64") {
            check_invariant(&cpuinfo)?;
        }
        let mut worst: f64 = 0.0;
        for _ in 0..3 {
            let clock = Self::measured(CALIBRATION);
            if clock.error_ppm <= AGREE_PPM {
                return Ok(clock);
            }
            worst = worst.max(clock.error_ppm);
        }
        Err(ClockError::Unstable(worst as u64))
    }

    /// The same without any judgement, over a span ten times as long, for who measures on a clock that was refused.
    #[must_use]
    pub fn calibrate_anyway() -> Self {
        Self::measured(CALIBRATION * 10)
    }

    /// The mean of two calibrations; their difference is the error.
    fn measured(span: Duration) -> Self {
        let (first, second) = (measure(span), measure(span));
        Self { ticks_per_s: (first + second) / 2.0, error_ppm: (first - second).abs() / first * 1e6 }
    }

    /// How far two calibrations were apart, in parts per million.
    #[must_use]
    pub fn error_ppm(&self) -> f64 {
        self.error_ppm
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

/// Whether /proc/cpuinfo of an x86-64 processor says that its counter neither changes its rate nor stops.
fn check_invariant(cpuinfo: &str) -> Result<(), ClockError> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let lacking =
        ["constant_tsc", "nonstop_tsc"].into_iter().find(|flag| !flags.split_whitespace().any(|f| f == *flag));
    lacking.map_or(Ok(()), |flag| Err(ClockError::NotInvariant(flag)))
}

/// A moment on both clocks, from which on they are compared.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    system: Instant,
    ticks: Ticks,
}

impl Since {
    /// From now on.
    #[must_use]
    pub fn now() -> Self {
        let (system, ticks) = paired_reading();
        Self { system, ticks }
    }

    /// How long ago that is by the system clock, and by how many parts per million `clock` has run faster (negative:
    /// slower) than the system clock meanwhile.
    #[must_use]
    pub fn drift_ppm(&self, clock: &Clock) -> (Duration, f64) {
        let (system, ticks) = paired_reading();
        let span = system.duration_since(self.system);
        (span, drift_ppm(clock.ns(ticks.since(self.ticks).0 as f64), span.as_secs_f64() * 1e9))
    }
}

fn drift_ppm(ticks_ns: f64, system_ns: f64) -> f64 {
    if system_ns > 0.0 { (ticks_ns / system_ns - 1.0) * 1e6 } else { 0.0 }
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
    fn a_counter_that_is_not_invariant_is_named_with_the_way_round() {
        let cpu = |flags: &str| format!("processor\t: 0\nmodel name\t: A CPU nonstop_tsc\nflags\t\t: fpu {flags} ht\n");
        assert_eq!(check_invariant(&cpu("constant_tsc rep_good nonstop_tsc")), Ok(()));
        for (flags, lacks) in [
            ("tsc nonstop_tsc", "constant_tsc"),
            ("tsc constant_tsc", "nonstop_tsc"),
            ("not_constant_tsc nonstop_tsc", "constant_tsc"),
        ] {
            let message = check_invariant(&cpu(flags)).unwrap_err().to_string();
            assert!(message.contains(lacks) && message.contains("--trust-clock"), "{message}");
        }
        assert!(check_invariant("").is_err());
        assert!(ClockError::Unstable(731).to_string().contains("trust_clock = true"));
    }

    #[test]
    fn a_drift_is_told_with_its_sign() {
        assert!((drift_ppm(1_000_250_000.0, 1e9) - 250.0).abs() < 1e-6);
        assert!((drift_ppm(999_999_000.0, 1e9) + 1.0).abs() < 1e-6);
        assert_eq!(drift_ppm(5.0, 0.0), 0.0);
        let (clock, since) = (Clock::calibrate_anyway(), Since::now());
        std::thread::sleep(Duration::from_millis(100));
        let (span, drift) = since.drift_ppm(&clock);
        assert!(span >= Duration::from_millis(100) && drift.abs() < 10_000.0, "{drift} ppm over {span:?}");
    }

    #[test]
    fn virtual_ticks_are_nanoseconds() {
        let clock = Clock::virtual_ns();
        assert_eq!(clock.ticks(Duration::from_micros(7)), Ticks(7_000));
        assert_eq!(clock.ns(7_000.0), 7_000.0);
    }
}
