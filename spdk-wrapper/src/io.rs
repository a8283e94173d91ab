//! What goes to a queue and what comes back: one I/O, and the sink that takes its end and names the next.
//!
//! Owns the contract between a queue and its user; knows no transport and no benchmark.

use crate::Status;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Reads blocks into a buffer.
    Read,
    /// Writes blocks from a buffer.
    Write,
    /// Gives blocks back to the target (deallocate, unmap).
    Trim,
    /// Lets blocks be zeroes, without sending them.
    WriteZeroes,
    /// Lets the target put to its medium what it has been sent; of the whole target.
    Flush,
}

impl Operation {
    /// Whether it changes what the target holds.
    #[inline(always)]
    #[must_use]
    pub fn destroys(self) -> bool {
        !matches!(self, Self::Read | Self::Flush)
    }

    /// Whether blocks go to or from a buffer.
    #[inline(always)]
    #[must_use]
    pub fn moves_blocks(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// Which operations beside reading and writing a target knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Supported {
    /// [`Operation::Trim`].
    pub trim: bool,
    /// [`Operation::WriteZeroes`].
    pub write_zeroes: bool,
    /// [`Operation::Flush`].
    pub flush: bool,
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// The slot whose buffer it uses; idle until now.
    pub slot: u32,
    /// Which target it goes to, by number.
    pub target: u32,
    /// What it does.
    pub op: Operation,
    /// First block.
    pub lba: u64,
    /// Number of blocks, at least 1; of no meaning in a flush.
    pub blocks: u32,
}

/// The queue cannot take the I/O now, and nothing was sent. Poll, then try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// What the last read of a slot has left in its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nothing but bytes 00h, or nothing but FFh: as a block reads that was never written, or was deallocated.
    Blank,
    /// Anything else.
    Data,
}

/// Takes ended I/Os, and may answer each with the slot's next one, which is sent at once: nothing is written down
/// between the end of one and the start of the other. Neither call may block; a panic in one that SPDK's callback has
/// made ends the process.
pub trait Sink {
    /// What is kept of an I/O beside its slot, and given back untouched when it ends.
    type Tag: Copy + Default;

    /// The slot's I/O has ended. `now` reads the queue's clock; who needs no exact tick need not pay for it. The answer,
    /// if any, is sent in the same slot, whichever it names.
    fn complete(
        &mut self,
        slot: u32,
        tag: Self::Tag,
        status: Status,
        now: impl FnOnce() -> u64,
    ) -> Option<(Io, Self::Tag)>;

    /// The answer to a completion found no room. It is not sent; its slot is idle.
    fn refuse(&mut self, io: Io, tag: Self::Tag);
}
