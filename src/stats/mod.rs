//! Pure numbers: histograms and what is computed from them. No I/O, no clock, no formats of results.

mod histogram;

pub use histogram::{BUCKETS, MAX_TICKS, Reading, TickHistogram};
