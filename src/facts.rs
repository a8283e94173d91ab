//! What is known of devices and of the host before a run: plain data that the plan reads and the result keeps.
//!
//! Owns the data types only. Who finds them out: the drivers for devices, `cli/host.rs` for the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One target as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// The target's URI as the job names it, without any secret.
    pub uri: String,
    /// Which driver serves it: `spdk_nvme`, `spdk_bdev`, `sim`, `null`.
    pub driver: String,
    /// Model as the device reports it; empty if it has none.
    pub model: String,
    /// Serial number as the device reports it; empty if it has none.
    pub serial: String,
    /// Firmware revision as the device reports it; empty if it has none.
    pub firmware: String,
    /// What a user types to allow writing: serial, NGUID, or `IQN:LUN`; the first one is shown in refusals.
    pub identities: Vec<String>,
    /// LBA size, in bytes.
    pub block_size: u32,
    /// Capacity, in blocks of `block_size`.
    pub blocks: u64,
    /// Greatest I/O that the target takes at once, in bytes; 0 means no limit is known.
    pub max_io_bytes: u64,
    /// Most I/Os that one core may keep outstanding on it; 0 means no limit is known.
    pub max_queue_depth: u32,
    /// Most I/Os that one queue pair holds; a deeper load takes several queue pairs. 0 means no limit is known.
    pub queue_pair_depth: u32,
    /// Whether it is memory made for this run (malloc, null, sim), so that writing to it destroys nothing.
    pub volatile: bool,
    /// Which operations beside reading and writing it supports; none in results of earlier versions.
    #[serde(default)]
    pub supports: Supports,
}

/// Which operations beside reading and writing a target supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Supports {
    /// Giving blocks back.
    pub trim: bool,
    /// Letting blocks be zeroes.
    pub write_zeroes: bool,
    /// Putting to the medium what was sent.
    pub flush: bool,
}

impl Supports {
    /// All of them.
    pub const ALL: Self = Self { trim: true, write_zeroes: true, flush: true };
}

/// The machine that generated the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Host name.
    pub hostname: String,
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Cores this process may run on, by number, rising.
    pub cores: Vec<usize>,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
    /// Where ticks come from: `tsc` or `virtual`.
    pub clock: String,
    /// Calibrated frequency of the tick clock, in ticks a second.
    pub ticks_per_s: u64,
}
