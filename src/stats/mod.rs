//! Pure numbers: histograms and what is computed from them. No I/O, no clock, no formats of results.

mod change;
mod correlated;
mod histogram;
mod knee;
mod stability;
pub mod student;
mod trend;

pub use change::{Change, Demand};
pub use correlated::{MeanError, mean_error};
pub use histogram::{BUCKETS, MAX_TICKS, Reading, TickHistogram};
pub use knee::{Knee, NoKnee, knee};
pub use stability::{Variation, median, roughness};
pub use trend::{RANGE_MAX, ROUNDS, SLOPE_MAX, Trend};
