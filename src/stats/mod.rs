//! Pure numbers: histograms and what is computed from them. No I/O, no clock, no formats of results.

mod histogram;
mod trend;

pub use histogram::{BUCKETS, MAX_TICKS, Reading, TickHistogram};
pub use trend::{RANGE_MAX, ROUNDS, SLOPE_MAX, Trend};
