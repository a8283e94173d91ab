//! The queue pairs of one core, polled together. Owns their connection, submission and completion; knows no address
//! pattern and no time.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use spdk_sys as sys;

use super::Controller;
use crate::slots::{Context, Refused, Slots};
use crate::{Completions, Status};

/// Why a queue pair could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// The controller gave none.
    #[error("the controller has no free queue pair of depth {depth}; use a smaller depth or fewer cores")]
    NoQueue {
        /// Depth that was asked for.
        depth: u32,
    },
    /// It could not be connected.
    #[error("the queue pair could not be connected: {0}")]
    Connect(std::io::ErrorKind),
    /// No memory for the group.
    #[error("no memory for a poll group")]
    NoGroup,
}

/// Names a queue pair within its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueId(usize);

/// The queue pairs of one core. Not `Send`: it is made, fed and polled by one thread.
#[derive(Debug)]
pub struct PollGroup {
    group: NonNull<sys::spdk_nvme_poll_group>,
    queues: Vec<Queue>,
    /// Raised by the disconnect callback; a cell of its own so that the callback touches nothing borrowed.
    disconnected: Box<Cell<bool>>,
    // After the queues: their buffers and contexts.
    slots: Slots,
}

#[derive(Debug)]
struct Queue {
    qpair: NonNull<sys::spdk_nvme_qpair>,
    namespace: NonNull<sys::spdk_nvme_ns>,
    block_size: u32,
    // Detaches when the last queue is gone.
    controller: Arc<Controller>,
}

impl PollGroup {
    /// An empty group whose queues complete into `slots`.
    pub fn new(slots: Slots) -> Result<Self, QueueError> {
        let disconnected = Box::new(Cell::new(false));
        // SAFETY: the environment is up (slots exist); the context is the boxed cell, which outlives the group; no
        // accelerator functions are given.
        let group = unsafe {
            sys::spdk_nvme_poll_group_create((&raw const *disconnected).cast_mut().cast(), std::ptr::null_mut())
        };
        let group = NonNull::new(group).ok_or(QueueError::NoGroup)?;
        Ok(Self { group, queues: Vec::new(), disconnected, slots })
    }

    /// Adds a queue pair to `controller` that can hold `depth` I/Os.
    pub fn connect(&mut self, controller: &Arc<Controller>, depth: u32) -> Result<QueueId, QueueError> {
        let depth = depth.max(1);
        let ctrlr = controller.controller.as_ptr();
        // A ring holds one less than its size; twice the requests leaves room for I/Os that SPDK splits.
        // SAFETY: the controller is attached; the numbers are plain.
        let qpair = unsafe { sys::rigel_nvme_alloc_qpair(ctrlr, depth + 1, depth * 2) };
        let qpair = NonNull::new(qpair).ok_or(QueueError::NoQueue { depth })?;
        // SAFETY: a fresh, unconnected queue pair and a live group, as `add` demands.
        let mut rc = unsafe { sys::spdk_nvme_poll_group_add(self.group.as_ptr(), qpair.as_ptr()) };
        if rc == 0 {
            // SAFETY: allocated from this controller with `create_only`, in a group, not connected yet.
            rc = unsafe { sys::spdk_nvme_ctrlr_connect_io_qpair(ctrlr, qpair.as_ptr()) };
        }
        if rc != 0 {
            // SAFETY: allocated above, no I/O was sent; freeing takes it out of the group.
            unsafe { sys::spdk_nvme_ctrlr_free_io_qpair(qpair.as_ptr()) };
            return Err(QueueError::Connect(std::io::Error::from_raw_os_error(rc.abs()).kind()));
        }
        let block_size = controller.identity().block_size;
        self.queues.push(Queue {
            qpair,
            namespace: controller.namespace,
            block_size,
            controller: Arc::clone(controller),
        });
        Ok(QueueId(self.queues.len() - 1))
    }

    /// Reads `blocks` from `lba` into the slot's buffer.
    #[inline(always)]
    pub fn read(&mut self, queue: QueueId, slot: u32, lba: u64, blocks: u32) -> Result<(), Refused> {
        let Some(q) = self.queues.get(queue.0) else { return Err(Refused::Gone) };
        self.slots.submit(slot, (blocks, q.block_size), |buffer, context| {
            // SAFETY: namespace and queue pair are of the same attached controller and used by this thread only; the
            // buffer holds `blocks` and, like the context, lives until the queue is freed (`submit`'s contract).
            unsafe {
                sys::spdk_nvme_ns_cmd_read(
                    q.namespace.as_ptr(),
                    q.qpair.as_ptr(),
                    buffer,
                    lba,
                    blocks,
                    Some(done),
                    context,
                    0,
                )
            }
        })
    }

    /// Writes `blocks` from the slot's buffer to `lba`.
    #[inline(always)]
    pub fn write(&mut self, queue: QueueId, slot: u32, lba: u64, blocks: u32) -> Result<(), Refused> {
        let Some(q) = self.queues.get(queue.0) else { return Err(Refused::Gone) };
        self.slots.submit(slot, (blocks, q.block_size), |buffer, context| {
            // SAFETY: as in `read`; the device only reads the buffer.
            unsafe {
                sys::spdk_nvme_ns_cmd_write(
                    q.namespace.as_ptr(),
                    q.qpair.as_ptr(),
                    buffer,
                    lba,
                    blocks,
                    Some(done),
                    context,
                    0,
                )
            }
        })
    }

    /// Appends what has completed to `out`.
    #[inline(always)]
    pub fn poll(&mut self, out: &mut Completions) {
        let group = self.group.as_ptr();
        self.slots.collect(out, || {
            // SAFETY: a live group, polled by the thread that made it; 0 takes every completion there is; callbacks
            // get contexts of `slots`, which this group holds. The result repeats what the callbacks said.
            unsafe { sys::spdk_nvme_poll_group_process_completions(group, 0, Some(disconnected)) };
        });
    }

    /// Whether a queue pair has lost its connection, or a controller was given up, since the group was made.
    #[must_use]
    pub fn has_lost_a_queue(&self) -> bool {
        self.disconnected.get() || self.queues.iter().any(|q| q.controller.is_lost())
    }
}

impl Drop for PollGroup {
    fn drop(&mut self) {
        for queue in self.queues.drain(..) {
            // SAFETY: connected in `connect`, freed once. Outstanding I/Os are aborted here, through their callbacks,
            // into `slots`, which is still held.
            unsafe { sys::spdk_nvme_ctrlr_free_io_qpair(queue.qpair.as_ptr()) };
        }
        // SAFETY: the group is empty now.
        unsafe { sys::spdk_nvme_poll_group_destroy(self.group.as_ptr()) };
    }
}

unsafe extern "C" fn done(context: *mut c_void, completion: *const sys::spdk_nvme_cpl) {
    // SAFETY: SPDK passes the completion entry for the length of this call; the status field is its last two bytes
    // (asserted in the shim), read as one so that the bit-fields of C need no counterpart.
    let field = unsafe { completion.cast::<u16>().add(7).read() };
    // SAFETY: the context went in through `Slots::submit`, and the group that polls holds the slots.
    unsafe { Context::of(context) }.finish(Status::from_nvme(field));
}

unsafe extern "C" fn disconnected(_qpair: *mut sys::spdk_nvme_qpair, context: *mut c_void) {
    // SAFETY: the boxed cell given to `poll_group_create`, alive as long as the group; only this thread touches it.
    unsafe { &*context.cast_const().cast::<Cell<bool>>() }.set(true);
}
