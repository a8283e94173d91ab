//! What the next I/O of a lane is: direction, target and address; in an open loop also when it arrives. Owns the
//! generators; knows no driver and reads no clock.
//!
//! A generator belongs to one lane of one core. Its stream of I/Os depends on the plan and its seed only.

mod addresses;
mod arrivals;
mod batch;
mod coverage;
mod number;
pub mod payload;
mod permutation;
mod pick;
mod places;
mod scatter;
mod shape;
mod stream;
mod table;
mod think_times;
mod volume;

pub use addresses::{Generator, NextIo, Uniform};
pub use arrivals::ArrivalTimes;
pub use batch::{Batch, SoleBatch};
pub use coverage::{Coverage, coverage};
pub use think_times::ThinkTimes;

/// The seed of the generator of `lane` on the `core`-th core of the plan: both are mixed into the plan's seed by
/// SplitMix64 steps, so that streams of different lanes have nothing in common.
#[must_use]
pub fn stream_seed(seed: u64, core: usize, lane: usize) -> u64 {
    let mix = |state: u64| {
        let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(mix(mix(seed) ^ core as u64) ^ lane as u64)
}
