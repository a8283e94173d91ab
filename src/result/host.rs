//! What the host did besides polling while a point's window was open.
//!
//! Owns these types and nothing else: plain data, read from the system by `cli`. Says nothing on what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of the host from about the opening of the window to about its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostUse {
    /// Time between the two readings, in seconds; longer or shorter than the window by some tens of milliseconds.
    pub sampled_s: f64,
    /// Share of the time of all processors in which any program ran, polled cores among them, 0 to 1.
    pub busy: f64,
    /// Share of the time of all processors that the hypervisor gave to others, 0 to 1.
    pub steal: f64,
    /// The polled cores, in the order of the plan.
    pub cores: Vec<CoreUse>,
    /// Their threads, in the order of the plan.
    pub workers: Vec<WorkerUse>,
}

/// Use of one polled core by all programs together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreUse {
    /// Its number, as the operating system counts.
    pub core: usize,
    /// Share of the time in which any program ran on it; close to 1, since it is polled.
    pub busy: f64,
    /// Share of the time that the hypervisor gave to others.
    pub steal: f64,
    /// Its neighbours: hardware threads of the same physical core; empty where it has none.
    pub siblings: Vec<SiblingUse>,
}

/// Use of a hardware thread that shares a physical core with a polled one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiblingUse {
    /// Its number, as the operating system counts.
    pub core: usize,
    /// Share of the time in which any program ran on it.
    pub busy: f64,
}

/// What became of the thread that polls a core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerUse {
    /// The core it polls.
    pub core: usize,
    /// How often it gave its core away.
    pub voluntary_switches: u64,
    /// How often its core was taken from it.
    pub involuntary_switches: u64,
    /// How often it was moved to another core; none where the system does not say.
    pub migrations: Option<u64>,
    /// How long it was ready to run and did not, in nanoseconds; none where the system does not say.
    pub waited_ns: Option<u64>,
}
