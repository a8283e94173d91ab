//! The clock of a run as the result keeps it: where ticks come from, and how well they agree with the system's time.
//!
//! Owns the type and what is said against a clock. Reads none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drift against the system clock from which on it is said, in parts per million.
const DRIFT_PPM: f64 = 200.0;
/// Shortest run whose drift is judged, in seconds: below, a single late reading would count.
const DRIFT_S: f64 = 1.0;

/// The clock of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockResult {
    /// `tsc` or `virtual`.
    pub source: String,
    /// Ticks a second, as calibrated.
    pub ticks_per_s: f64,
    /// How far two calibrations were apart, in parts per million; 0 for a virtual clock.
    pub calibration_error_ppm: f64,
    /// By how much it ran faster than the system's monotonic clock over the run, in parts per million; none for a
    /// virtual clock.
    pub drift_ppm: Option<f64>,
    /// Time over which the drift was measured, in seconds.
    pub checked_s: f64,
    /// Why it would have been refused, had it not been asked for all the same.
    pub doubt: Option<String>,
}

impl ClockResult {
    /// What stands against the figures of the whole run.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let doubt = self.doubt.as_ref().map(|doubt| format!("measured with trust_clock on a clock in doubt: {doubt}"));
        let drift = self.drift_ppm.filter(|drift| drift.abs() > DRIFT_PPM && self.checked_s > DRIFT_S).map(|drift| {
            format!(
                "the tick clock ran {drift:+.0} parts per million against the system clock over {:.1} s; every duration \
                 may be wrong by as much",
                self.checked_s
            )
        });
        doubt.into_iter().chain(drift).collect()
    }
}
