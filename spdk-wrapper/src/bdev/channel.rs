//! I/O on bdevs from one core: the core's SPDK thread and its channels. Owns submission and completion; knows no
//! address pattern and no time.

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use spdk_sys as sys;

use super::{Bdev, BdevLayer};
use crate::control::poll_until;
use crate::slots::{Context, Refused, Slots};
use crate::{Completions, Status};

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

/// One core's SPDK thread with its channels. Not `Send`: bound to the OS thread that made it.
#[derive(Debug)]
pub struct Worker {
    thread: NonNull<sys::spdk_thread>,
    channels: Vec<Channel>,
    // After the channels: their buffers and contexts.
    slots: Slots,
    // The control thread serves messages that channels need to open and close.
    _layer: BdevLayer,
}

/// A channel to one bdev.
#[derive(Debug)]
struct Channel {
    descriptor: NonNull<sys::spdk_bdev_desc>,
    channel: NonNull<sys::spdk_io_channel>,
    block_size: u32,
    scsi: bool,
    // Keeps the descriptor open.
    bdev: Arc<Bdev>,
}

impl Worker {
    /// An SPDK thread for `core`, bound to the calling OS thread, completing into `slots`.
    pub fn new(layer: &BdevLayer, core: usize, slots: Slots) -> Result<Self, WorkerError> {
        let name = CString::new(format!("rigel-core-{core}")).unwrap_or_default();
        // SAFETY: the thread library is up (a layer exists); the string lives across the call.
        let thread = unsafe { sys::spdk_thread_create(name.as_ptr(), std::ptr::null()) };
        let thread = NonNull::new(thread).ok_or(WorkerError::NoThread(core))?;
        // SAFETY: binds the fresh thread to the calling OS thread.
        unsafe { sys::spdk_set_thread(thread.as_ptr()) };
        Ok(Self { thread, channels: Vec::new(), slots, _layer: layer.clone() })
    }

    /// Opens a channel to `bdev`; channels are numbered from 0 in the order they are opened.
    pub fn open(&mut self, bdev: &Arc<Bdev>) -> Result<usize, WorkerError> {
        // SAFETY: called on a bound SPDK thread, with an open descriptor.
        let channel = unsafe { sys::spdk_bdev_get_io_channel(bdev.descriptor.as_ptr()) };
        let identity = bdev.identity();
        let channel = NonNull::new(channel).ok_or_else(|| WorkerError::NoChannel(identity.name.clone()))?;
        let scsi = identity.product.contains("iSCSI");
        self.channels.push(Channel {
            descriptor: bdev.descriptor,
            channel,
            block_size: identity.block_size,
            scsi,
            bdev: Arc::clone(bdev),
        });
        Ok(self.channels.len() - 1)
    }

    /// Reads `blocks` from `lba` into the slot's buffer.
    #[inline(always)]
    pub fn read(&mut self, channel: usize, slot: u32, lba: u64, blocks: u32) -> Result<(), Refused> {
        let Some(c) = self.channels.get(channel) else { return Err(Refused::Gone) };
        let done = if c.scsi { done_scsi } else { done_nvme };
        self.slots.submit(slot, (blocks, c.block_size), |buffer, context| {
            // SAFETY: descriptor and channel are open and of the same bdev, the channel is this thread's; the buffer has
            // `blocks` blocks and, like the context, lives until the channel is closed (`submit`'s contract).
            unsafe {
                sys::spdk_bdev_read_blocks(
                    c.descriptor.as_ptr(),
                    c.channel.as_ptr(),
                    buffer,
                    lba,
                    blocks.into(),
                    Some(done),
                    context,
                )
            }
        })
    }

    /// Writes `blocks` from the slot's buffer to `lba`.
    #[inline(always)]
    pub fn write(&mut self, channel: usize, slot: u32, lba: u64, blocks: u32) -> Result<(), Refused> {
        let Some(c) = self.channels.get(channel) else { return Err(Refused::Gone) };
        if !c.bdev.writable {
            return Err(Refused::ReadOnly);
        }
        let done = if c.scsi { done_scsi } else { done_nvme };
        self.slots.submit(slot, (blocks, c.block_size), |buffer, context| {
            // SAFETY: as in `read`; the device only reads the buffer.
            unsafe {
                sys::spdk_bdev_write_blocks(
                    c.descriptor.as_ptr(),
                    c.channel.as_ptr(),
                    buffer,
                    lba,
                    blocks.into(),
                    Some(done),
                    context,
                )
            }
        })
    }

    /// Runs the core's SPDK thread once; appends what has completed to `out`.
    #[inline(always)]
    pub fn poll(&mut self, out: &mut Completions) {
        let thread = self.thread.as_ptr();
        self.slots.collect(out, || {
            // SAFETY: the thread is bound to this OS thread, as `Worker` is not `Send`.
            unsafe { sys::spdk_thread_poll(thread, 0, 0) };
        });
    }

    fn poll_quietly(&mut self) {
        let mut ignored = Completions::with_capacity(0);
        self.poll(&mut ignored);
    }
}

impl Drop for Worker {
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
            std::mem::forget(std::mem::take(&mut self.channels));
            std::mem::forget(self.slots.clone());
            return;
        }
        for channel in self.channels.drain(..) {
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

unsafe extern "C" fn done_nvme(io: *mut sys::spdk_bdev_io, success: bool, context: *mut c_void) {
    let status = if success {
        Status::Good
    } else {
        // SAFETY: SPDK passes a completed I/O, not freed yet.
        let packed = unsafe { sys::rigel_bdev_nvme_status(io) };
        Status::Nvme { sct: (packed >> 8) as u8, sc: packed as u8 }
    };
    // SAFETY: as SPDK asks, each completed I/O is freed once, by its callback; `context` came through `Slots::submit`,
    // and the worker that polls holds the slots.
    unsafe {
        sys::spdk_bdev_free_io(io);
        Context::of(context).finish(status);
    }
}

unsafe extern "C" fn done_scsi(io: *mut sys::spdk_bdev_io, success: bool, context: *mut c_void) {
    let status = if success {
        Status::Good
    } else {
        // SAFETY: SPDK passes a completed I/O, not freed yet.
        let [status, key, asc, ascq] = unsafe { sys::rigel_bdev_scsi_status(io) }.to_be_bytes();
        Status::Scsi { status, key, asc, ascq }
    };
    // SAFETY: as in `done_nvme`.
    unsafe {
        sys::spdk_bdev_free_io(io);
        Context::of(context).finish(status);
    }
}
