//! The presets of the array model: names for whole models.
//!
//! Owns their figures. They are models after published figures, to try methods and reports on; none is a measurement of an
//! array, by Rigel or by its vendor, and no vendor endorses them.

use std::time::Duration;

use super::sim_model::{Dist, SimModel, Slow};
use crate::units::Bytes;

/// Names of the presets. They are models to test methods with, not results of any array.
pub const PRESETS: [&str; 7] = [
    "powermax-read-miss",
    "powermax-read-hit",
    "3par-oltp",
    "eva-oltp",
    "ps6110-70-30",
    "ps6110-70-30-2tb",
    "constant-100us",
];

impl SimModel {
    /// The model of a preset, or `None` for an unknown name.
    ///
    /// - `powermax-read-miss`: reads from flash, log-normal, mean 340 µs; writes into cache, mean 220 µs; 64 servers.
    /// - `powermax-read-hit`: the same array with every read from cache, log-normal, mean 110 µs.
    /// - `3par-oltp`: a curve without surprises, latency from 10 to 32 ms over the loads of `orion -run oltp -num_disks 50`
    ///   (50 to 1,000 outstanding): log-normal, mean 10 ms; 313 servers.
    /// - `eva-oltp`: the same range, erratic: a wide distribution of mean 10 ms, 8 % from point to point, and one
    ///   point in twelve or so 8 times as slow, which throws a chart of latency out of proportion.
    /// - `ps6110-70-30`: at most 17,000 IOPS at 70 % reads, as published for 8 KB at random on 1 TB; 64 servers.
    /// - `ps6110-70-30-2tb`: the same with 2 TB in use: at most 10,230 IOPS.
    /// - `constant-100us`: exactly 100 µs for each I/O, 64 servers: every figure can be told beforehand.
    ///
    /// Each core drives a model of its own, so that figures for a whole array hold for runs on one core.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let us = Duration::from_micros;
        let log_normal = |mean_us, sigma| Dist::LogNormal { mean: us(mean_us), sigma };
        let base = Self { preset: Some(name.to_owned()), ..Self::constant(us(100)) };
        let powermax = Self {
            service: log_normal(340, 0.45),
            write_service: log_normal(220, 0.4),
            hit_service: log_normal(110, 0.3),
            ..base.clone()
        };
        // 1,000 outstanding wait for 313 at a time: 31.9 ms.
        let oltp = |sigma| Self {
            service: log_normal(10_000, sigma),
            write_service: log_normal(10_000, sigma),
            servers: 313,
            ..base.clone()
        };
        // 64 servers by the mean of a mix of 70 % reads is what they do at most.
        let mix = |read_us, write_us, bytes| Self {
            service: log_normal(read_us, 0.6),
            write_service: log_normal(write_us, 0.6),
            size: Bytes(bytes),
            ..base.clone()
        };
        match name {
            "powermax-read-miss" => Some(powermax),
            "powermax-read-hit" => Some(Self { hit_share: 1.0, ..powermax }),
            "3par-oltp" => Some(oltp(0.4)),
            "eva-oltp" => Some(Self { spread: 0.08, slow: Some(Slow { share: 0.08, factor: 8.0 }), ..oltp(0.9) }),
            "ps6110-70-30" => Some(mix(4_000, 3_216, 1_000_000_000_000)),
            "ps6110-70-30-2tb" => Some(mix(7_000, 4_520, 2_000_000_000_000)),
            "constant-100us" => Some(base),
            _ => None,
        }
    }
}
