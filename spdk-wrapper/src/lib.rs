//! Safe, owned types over SPDK 26.01; the only crate of Rigel's with `unsafe`.
//!
//! Owns the environment, DMA memory, NVMe controllers and queue pairs, bdevs and their channels, and SPDK's log. Knows
//! nothing of benchmarks: an I/O is a slot, an address and a length; what comes back is the slot and a [`Status`], handed to
//! a [`Sink`] from within SPDK's own callback, which may answer with the next I/O at once.
//!
//! # Threads
//! - [`env::Env`] is a token that the environment exists; it is made once per process and never unmade (DPDK cannot).
//! - [`control::Control`] is the one thread on which everything of the control plane runs; its handle goes anywhere.
//! - [`nvme::PollGroup`] and [`bdev::Worker`] belong to the thread that made them, and are not `Send`: a queue pair is polled and fed without a lock.
//!
//! # Ownership
//! A group of queues keeps its buffers and completion contexts and its controllers or bdevs alive, so that
//! nothing the device may still write to is freed before the queue that could name it.
//!
//! Without the feature `spdk` only [`tsc`], [`status`], [`io`] and [`outgoing`] remain, and no C is built.

#[cfg(feature = "spdk")]
pub mod bdev;
#[cfg(feature = "spdk")]
pub mod control;
#[cfg(feature = "spdk")]
pub mod dma;
#[cfg(feature = "spdk")]
pub mod env;
#[cfg(feature = "spdk")]
mod incoming;
pub mod io;
#[cfg(feature = "spdk")]
mod log;
#[cfg(feature = "spdk")]
pub mod nvme;
pub mod outgoing;
#[cfg(feature = "spdk")]
pub mod slots;
pub mod status;
pub mod tsc;

pub use io::{Full, Held, Io, Operation, Sink, Supported};
pub use status::Status;

/// Version of the SPDK this was built with, such as `26.01`; empty without the feature `spdk`.
pub const SPDK_VERSION: &str = env!("RIGEL_SPDK_VERSION");
