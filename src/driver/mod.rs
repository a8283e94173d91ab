//! What the engine knows of the devices: a control plane to find and open them, a data plane of two calls and a sink.
//!
//! Owns the contract and the drivers behind it; knows no workload, no phase and no histogram. A driver owns one buffer a
//! slot; the engine names slots, never pointers. A full queue is back-pressure, not an error. `tests/driver_conformance.rs`
//! holds every driver to what stands here.

#[cfg(feature = "spdk")]
mod bdev_config;
mod error;
#[cfg(feature = "spdk")]
mod guard;
mod null;
mod order;
mod outgoing;
#[cfg(feature = "spdk")]
mod reach;
mod select;
mod sim;
#[cfg(feature = "spdk")]
mod spdk_bdev;
#[cfg(feature = "spdk")]
mod spdk_nvme;

pub use error::DriverError;
pub use null::{NullBackend, NullDriver};
pub use order::{CoreOrder, StockOrder};
pub use outgoing::{Outgoing, Payload, outgoing};
pub use select::{AnyBackend, select};
pub use sim::{SimBackend, SimDriver};
#[cfg(feature = "spdk")]
pub use spdk_bdev::{BdevBackend, BdevDriver};
#[cfg(feature = "spdk")]
pub use spdk_nvme::{NvmeBackend, NvmeDriver};
pub use spdk_wrapper::{Full, Held, Io, Operation, Sink, Status};

use crate::clock::{Clock, ClockError};
use crate::facts::DeviceFacts;
use crate::plan::Op;
use crate::units::Ticks;

/// What a driver is told to do.
#[inline(always)]
#[must_use]
pub fn operation(op: Op) -> Operation {
    match op {
        Op::Read => Operation::Read,
        Op::Write => Operation::Write,
        Op::Trim => Operation::Trim,
        Op::WriteZeroes => Operation::WriteZeroes,
        Op::Flush => Operation::Flush,
    }
}

/// What a target supports, as the plan asks for it.
#[cfg(feature = "spdk")]
fn supports(found: spdk_wrapper::Supported) -> crate::facts::Supports {
    let spdk_wrapper::Supported { trim, write_zeroes, flush } = found;
    crate::facts::Supports { trim, write_zeroes, flush }
}

/// Control plane: the devices of one run, found and opened. Shared by all cores.
pub trait Backend: Sync {
    /// The data plane of one core, completing into a sink.
    type Core<S: Sink>: Driver<S>;

    /// What was found, one entry a target, in the order of the job.
    fn facts(&self) -> Vec<DeviceFacts>;

    /// Opens queues and buffers for one core and one point. Called on that core's thread, between points. Refuses to open
    /// a target for writing when the order does not name its identity, whatever the plan said.
    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<Self::Core<S>, DriverError>;

    /// Whether a target is known not to be there any more. Asked only when a core has completed nothing for a while, and
    /// answered within a fraction of a second; a target that merely does not answer is not missing.
    fn is_missing(&self, _target: usize) -> bool {
        false
    }

    /// Whether the completions that one poll finds come one right after the other, with no other work between them, so
    /// that several may share a reading of the clock (docs/method.md, "Ticks").
    fn completes_back_to_back(&self) -> bool {
        false
    }

    /// The clock whose ticks [`Driver::now`] counts.
    fn clock(&self) -> Result<Clock, ClockError> {
        Clock::calibrate()
    }

    /// Whether time is the driver's own invention and passes only as it is polled.
    fn virtual_time(&self) -> bool {
        false
    }
}

/// Data plane of one core. No call allocates, locks, formats or logs. A completion goes to the sink from where it is
/// found, and the sink's answer is sent from there: measured against a list of completions that the caller works off after
/// the poll, this is about a tenth faster on a null bdev, and each slot's next I/O starts where the last one ended.
pub trait Driver<S: Sink> {
    /// The present tick.
    fn now(&self) -> Ticks;

    /// Sends one I/O. A driver that knows at once how it ends (a lost queue, a refused write) tells the sink of a later
    /// poll. `tag` comes back with its end.
    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full>;

    /// Says that nothing is to be sent, and no interval ends, before this tick. Only a driver on a virtual clock needs to
    /// know: it must not pass the tick by.
    #[inline(always)]
    fn expect(&mut self, _tick: Ticks) {}

    /// What the last read of an idle slot brought, going by its first `bytes`: no more than its smallest read, since that
    /// leaves the tail of a longer one before it. None where nothing was read or is moved. For between points.
    fn held(&self, _slot: u32, _bytes: u32) -> Option<Held> {
        None
    }

    /// Hands everything that has completed to `sink`, and sends its answers. An answer may complete no sooner than the
    /// next poll.
    fn poll(&mut self, sink: &mut S);
}
