//! I/O on bdevs from one core: the core's SPDK thread and its channels. Owns submission and completion; knows no
//! address pattern and no time.

use std::ffi::{CString, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use spdk_sys as sys;

use super::{Bdev, BdevLayer};
use crate::Status;
use crate::control::poll_until;
use crate::io::{Full, Held, Io, Operation, Sink};
use crate::outgoing::Fill;
use crate::slots::{Buffers, Route, Slots, finish};

/// Why a worker or a channel could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// SPDK gave no thread.
    #[error("SPDK gave no thread for core {0}")]
    NoThread(usize),
    /// SPDK gave no channel.
    #[error("SPDK gave no channel to bdev `{0}`; use a smaller depth or fewer cores")]
    NoChannel(String),
}

/// One core's SPDK thread with its channels, completing into a sink of type `S`. Not `Send`: bound to the OS thread that
/// made it.
#[derive(Debug)]
pub struct Worker<S: Sink, F: Fill> {
    thread: NonNull<sys::spdk_thread>,
    slots: Slots<S, Channels, F>,
    // The control thread serves messages that channels need to open and close.
    _layer: BdevLayer,
}

/// The channels of one core, by number of target.
#[derive(Debug)]
struct Channels(Vec<Channel>);

#[derive(Debug)]
struct Channel {
    descriptor: NonNull<sys::spdk_bdev_desc>,
    channel: NonNull<sys::spdk_io_channel>,
    block_size: u32,
    blocks: u64,
    writable: bool,
    // Keeps the descriptor open.
    _bdev: Arc<Bdev>,
}

impl<S: Sink, F: Fill> Worker<S, F> {
    /// An SPDK thread for `core`, bound to the calling OS thread, with a channel to each bdev; targets are numbered as
    /// given.
    pub fn open(layer: &BdevLayer, core: usize, bdevs: &[Arc<Bdev>], buffers: Buffers<F>) -> Result<Self, WorkerError> {
        let name = CString::new(format!("rigel-core-{core}")).unwrap_or_default();
        // SAFETY: the thread library is up (a layer exists); the string lives across the call.
        let thread = unsafe { sys::spdk_thread_create(name.as_ptr(), std::ptr::null()) };
        let thread = NonNull::new(thread).ok_or(WorkerError::NoThread(core))?;
        // SAFETY: binds the fresh thread to the calling OS thread.
        unsafe { sys::spdk_set_thread(thread.as_ptr()) };
        let mut channels = Vec::with_capacity(bdevs.len());
        let mut failure = None;
        for bdev in bdevs {
            match Channel::open(bdev) {
                Ok(channel) => channels.push(channel),
                Err(error) => failure = Some(error),
            }
        }
        // Made even after a failure: dropping it closes what was opened.
        let worker = Self { thread, slots: Slots::new(buffers, Channels(channels)), _layer: layer.clone() };
        failure.map_or(Ok(worker), Err)
    }

    /// What the last read of an idle slot brought, going by its first `len` bytes; none while its I/O is outstanding, or
    /// where nothing was read.
    #[must_use]
    pub fn held(&self, slot: u32, len: u32) -> Option<Held> {
        self.slots.held(slot, len)
    }

    /// Sends one I/O. What cannot be sent for good ends at the next poll.
    #[inline(always)]
    pub fn submit(&mut self, io: &Io, tag: S::Tag) -> Result<(), Full> {
        self.slots.submit(io, tag)
    }

    /// Runs the core's SPDK thread once: hands what has completed to `sink`, and sends its answers.
    #[inline(always)]
    pub fn poll(&mut self, sink: &mut S) {
        let thread = self.thread.as_ptr();
        // SAFETY: the thread is bound to this OS thread, as `Worker` is not `Send`.
        self.slots.poll_into(sink, || unsafe {
            sys::spdk_thread_poll(thread, 0, 0);
        });
    }

    /// Runs the core's SPDK thread with nobody listening.
    fn poll_quietly(&mut self) {
        // SAFETY: as in `poll`; completions go to the strays.
        unsafe { sys::spdk_thread_poll(self.thread.as_ptr(), 0, 0) };
    }
}

impl Channel {
    fn open(bdev: &Arc<Bdev>) -> Result<Self, WorkerError> {
        // SAFETY: called on a bound SPDK thread, with an open descriptor.
        let channel = unsafe { sys::spdk_bdev_get_io_channel(bdev.descriptor.as_ptr()) };
        let identity = bdev.identity();
        Ok(Self {
            descriptor: bdev.descriptor,
            channel: NonNull::new(channel).ok_or_else(|| WorkerError::NoChannel(identity.name.clone()))?,
            block_size: identity.block_size,
            blocks: identity.blocks,
            writable: bdev.writable,
            _bdev: Arc::clone(bdev),
        })
    }
}

impl Route for Channels {
    type Way<'r> = &'r Channel;

    #[inline(always)]
    fn admit(&self, io: &Io) -> Result<(&Channel, u32), Status> {
        match self.0.get(io.target as usize) {
            Some(channel) if io.op.destroys() && !channel.writable => Err(Status::WriteRefused),
            Some(channel) => Ok((channel, channel.block_size)),
            None => Err(Status::TargetLost),
        }
    }

    #[inline(always)]
    unsafe fn send<S: Sink, F: Fill>(c: &Channel, io: &Io, buffer: *mut c_void, context: *mut c_void) -> c_int {
        let (descriptor, channel, blocks) = (c.descriptor.as_ptr(), c.channel.as_ptr(), u64::from(io.blocks));
        // SAFETY: descriptor and channel are open and of the same bdev, the channel is this thread's; buffer and context
        // are as the caller promises. (Two calls and no pointer to one of them: this is the hot path.)
        unsafe {
            if io.op == Operation::Write {
                sys::spdk_bdev_write_blocks(descriptor, channel, buffer, io.lba, blocks, Some(done::<S, F>), context)
            } else if io.op == Operation::Read {
                sys::spdk_bdev_read_blocks(descriptor, channel, buffer, io.lba, blocks, Some(done::<S, F>), context)
            } else {
                send_without_blocks::<S, F>(c, io, context)
            }
        }
    }
}

/// Sends what needs no buffer.
///
/// # Safety
/// As with [`Route::send`], but for the buffer.
#[inline(never)]
unsafe fn send_without_blocks<S: Sink, F: Fill>(c: &Channel, io: &Io, context: *mut c_void) -> c_int {
    let (descriptor, channel, blocks) = (c.descriptor.as_ptr(), c.channel.as_ptr(), u64::from(io.blocks));
    // SAFETY: descriptor and channel are open and of the same bdev, the channel is this thread's; the context is as the
    // caller promises.
    unsafe {
        match io.op {
            Operation::Trim => {
                sys::spdk_bdev_unmap_blocks(descriptor, channel, io.lba, blocks, Some(done::<S, F>), context)
            }
            Operation::WriteZeroes => {
                sys::spdk_bdev_write_zeroes_blocks(descriptor, channel, io.lba, blocks, Some(done::<S, F>), context)
            }
            Operation::Flush => {
                sys::spdk_bdev_flush_blocks(descriptor, channel, 0, c.blocks, Some(done::<S, F>), context)
            }
            Operation::Read | Operation::Write => -libc::EINVAL,
        }
    }
}

impl<S: Sink, F: Fill> Drop for Worker<S, F> {
    fn drop(&mut self) {
        let limit = Duration::from_secs(2);
        let idle = poll_until(limit, || {
            self.poll_quietly();
            (self.slots.outstanding() == 0).then_some(())
        });
        if idle.is_none() {
            // Closing a channel with I/O on it is not allowed, and freeing its buffers would let the device write into
            // freed memory: both stay until the process ends.
            tracing::warn!("{} I/Os never completed; their buffers are kept until the end", self.slots.outstanding());
            self.slots.leak();
            return;
        }
        for channel in &self.slots.route().0 {
            // SAFETY: got on this thread, put back once, idle.
            unsafe { sys::spdk_put_io_channel(channel.channel.as_ptr()) };
        }
        // SAFETY: bound to this OS thread; it has no channel any more.
        unsafe { sys::spdk_thread_exit(self.thread.as_ptr()) };
        let exited = poll_until(limit, || {
            self.poll_quietly();
            // SAFETY: the thread exists until `destroy`.
            unsafe { sys::spdk_thread_is_exited(self.thread.as_ptr()) }.then_some(())
        });
        if exited.is_some() {
            // SAFETY: exited; destroyed once. The OS thread is bound to none afterwards.
            unsafe {
                sys::spdk_thread_destroy(self.thread.as_ptr());
                sys::spdk_set_thread(std::ptr::null_mut());
            }
        }
    }
}

unsafe extern "C" fn done<S: Sink, F: Fill>(io: *mut sys::spdk_bdev_io, success: bool, context: *mut c_void) {
    // SAFETY: SPDK passes a completed I/O, not freed yet.
    let status = if success { Status::Good } else { unsafe { failure(io) } };
    // SAFETY: as SPDK asks, each completed I/O is freed once, by its callback; `context` went in through `send::<S, F>`
    // above, and the worker that polls holds the slots.
    unsafe {
        sys::spdk_bdev_free_io(io);
        finish::<S, Channels, F>(context, status);
    }
}

/// What went wrong, in the language of the device.
///
/// # Safety
/// `io` has completed and is not freed yet.
#[cold]
#[inline(never)]
unsafe fn failure(io: *const sys::spdk_bdev_io) -> Status {
    // SAFETY: by the contract, `io` may be looked at.
    unsafe {
        if sys::rigel_bdev_speaks_scsi(io) {
            let [status, key, asc, ascq] = sys::rigel_bdev_scsi_status(io).to_be_bytes();
            Status::Scsi { status, key, asc, ascq }
        } else {
            let packed = sys::rigel_bdev_nvme_status(io);
            Status::Nvme { sct: (packed >> 8) as u8, sc: packed as u8 }
        }
    }
}
