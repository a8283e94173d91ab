//! The queue pairs of one core, polled together. Owns their connection, submission and completion; knows no address
//! pattern and no histogram.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spdk_sys as sys;

use super::Controller;
use super::controller::ring_size;
use crate::Status;
use crate::io::{Full, Held, Io, Operation, Sink};
use crate::outgoing::Fill;
use crate::slots::{Buffers, Route, Slots, finish};

/// How long a device that reaches our memory may take for I/Os that are outstanding when its queues are given up.
const LAST_CALL: Duration = Duration::from_secs(1);
/// How long a queue pair may take to be connected.
const CONNECT_LIMIT: Duration = Duration::from_secs(4);
/// Most blocks of one command (NVM Command Set Specification, NLB, a zero-based 16-bit number).
const COMMAND_BLOCKS_MAX: u32 = 1 << 16;

/// Dataset management: deallocate (NVM Command Set Specification, AD, bit 2).
const DSM_DEALLOCATE: u32 = 1 << 2;

/// A range of dataset management (NVM Command Set Specification, "Range Definition").
#[repr(C)]
struct DsmRange {
    attributes: u32,
    blocks: u32,
    lba: u64,
}

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

/// What one core needs of one target.
#[derive(Debug, Clone)]
pub struct QueuePlan {
    /// The target.
    pub controller: Arc<Controller>,
    /// I/Os that each of its queue pairs on this core holds; none if it is not used.
    pub pairs: Vec<u32>,
    /// For each slot: which of the queue pairs carries its I/Os here.
    pub pair_of_slot: Vec<u32>,
    /// Whether writes are let through.
    pub writable: bool,
    /// The largest I/O that goes there, in bytes.
    pub io_bytes: u32,
}

/// The queue pairs of one core, completing into a sink of type `S`. Not `Send`: made, fed and polled by one thread.
#[derive(Debug)]
pub struct PollGroup<S: Sink, F: Fill> {
    slots: Slots<S, Queues, F>,
}

/// The group and its queue pairs.
#[derive(Debug)]
struct Queues {
    group: NonNull<sys::spdk_nvme_poll_group>,
    targets: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    namespace: NonNull<sys::spdk_nvme_ns>,
    block_size: u32,
    writable: bool,
    /// By slot; empty when the target is not used.
    of_slot: Box<[NonNull<sys::spdk_nvme_qpair>]>,
    /// All of them; taken out when they are freed.
    pairs: RefCell<Vec<NonNull<sys::spdk_nvme_qpair>>>,
    // Detaches when the last queue is gone.
    controller: Arc<Controller>,
}

impl<S: Sink, F: Fill> PollGroup<S, F> {
    /// Connects the queue pairs of every target; targets are numbered as given.
    pub fn connect(plans: &[QueuePlan], buffers: Buffers<F>) -> Result<Self, QueueError> {
        let mut queues = Queues::new()?;
        for plan in plans {
            queues.add(plan)?;
        }
        Ok(Self { slots: Slots::new(buffers, queues) })
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

    /// Hands what has completed to `sink`, and sends its answers.
    #[inline(always)]
    pub fn poll(&mut self, sink: &mut S) {
        let group = self.slots.route().group.as_ptr();
        self.slots.poll_into(sink, || {
            // SAFETY: a live group, polled by the thread that made it; 0 takes every completion there is; the callbacks'
            // contexts belong to `slots`. The result repeats what the callbacks said.
            unsafe { sys::spdk_nvme_poll_group_process_completions(group, 0, Some(disconnected)) };
        });
    }
}

impl Queues {
    fn new() -> Result<Self, QueueError> {
        // SAFETY: the environment is up (buffers exist, or nothing is ever polled); no context and no accelerator functions
        // are given.
        let group = unsafe { sys::spdk_nvme_poll_group_create(std::ptr::null_mut(), std::ptr::null_mut()) };
        let group = NonNull::new(group).ok_or(QueueError::NoGroup)?;
        Ok(Self { group, targets: Vec::new() })
    }

    fn add(&mut self, plan: &QueuePlan) -> Result<(), QueueError> {
        let controller = &plan.controller;
        let mut target = Target {
            namespace: controller.namespace,
            block_size: controller.identity().block_size,
            writable: plan.writable,
            of_slot: Box::default(),
            pairs: RefCell::default(),
            controller: Arc::clone(controller),
        };
        let mut failure = None;
        let mut connected = Vec::with_capacity(plan.pairs.len());
        for &depth in &plan.pairs {
            match self.connect(controller, depth.max(1), plan.io_bytes) {
                Ok(pair) => connected.push(pair),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        target.of_slot = plan.pair_of_slot.iter().map_while(|&pair| connected.get(pair as usize).copied()).collect();
        target.pairs = RefCell::new(connected);
        // Kept even after a failure: what was connected must be freed.
        self.targets.push(target);
        failure.map_or(Ok(()), Err)
    }

    /// Polls until the queue pair is connected; 0, or a negative errno.
    fn await_connection(&self, controller: &Controller, qpair: NonNull<sys::spdk_nvme_qpair>) -> c_int {
        let end = Instant::now() + CONNECT_LIMIT;
        loop {
            // SAFETY: reads the state of a live queue pair of this thread's.
            if unsafe { sys::spdk_nvme_qpair_is_connected(qpair.as_ptr()) } {
                return 0;
            }
            let rc = if controller.shares_memory() {
                // SAFETY: a live queue pair of this thread's; what it waits for are admin completions, which it takes too.
                i64::from(unsafe { sys::spdk_nvme_qpair_process_completions(qpair.as_ptr(), 0) })
            } else {
                // SAFETY: a live group of this thread's; none of its queue pairs has I/O yet.
                unsafe { sys::spdk_nvme_poll_group_process_completions(self.group.as_ptr(), 0, Some(disconnected)) }
            };
            if rc < 0 {
                return -libc::ECONNREFUSED;
            }
            if Instant::now() >= end {
                return -libc::ETIMEDOUT;
            }
        }
    }

    /// Frees every queue pair; I/Os that are outstanding are aborted through their callbacks.
    fn disconnect(&self) {
        for pair in self.targets.iter().flat_map(|target| target.pairs.take()) {
            // SAFETY: connected in `connect`, freed once, as it is taken out of the list.
            unsafe { sys::spdk_nvme_ctrlr_free_io_qpair(pair.as_ptr()) };
        }
    }

    fn connect(
        &self,
        controller: &Controller,
        depth: u32,
        io_bytes: u32,
    ) -> Result<NonNull<sys::spdk_nvme_qpair>, QueueError> {
        let ctrlr = controller.controller.as_ptr();
        // An I/O beyond the controller's largest transfer is split: a request for each
        // part, one for the whole, and one more where it crosses a boundary the namespace prefers.
        let parts = io_bytes.div_ceil(controller.identity().max_transfer.max(1));
        let size = ring_size(depth).min(controller.identity().max_queue_depth.saturating_add(1));
        let requests = depth.saturating_mul(parts + 2).max(size);
        // SAFETY: the controller is attached; the numbers are plain.
        let qpair = unsafe { sys::rigel_nvme_alloc_qpair(ctrlr, size, requests) };
        let qpair = NonNull::new(qpair).ok_or(QueueError::NoQueue { depth })?;
        // SAFETY: a fresh, unconnected queue pair and a live group, as `add` demands.
        let mut rc = unsafe { sys::spdk_nvme_poll_group_add(self.group.as_ptr(), qpair.as_ptr()) };
        if rc == 0 {
            // SAFETY: allocated from this controller with `create_only`, in a group, not connected yet.
            rc = unsafe { sys::spdk_nvme_ctrlr_connect_io_qpair(ctrlr, qpair.as_ptr()) };
        }
        if rc == 0 {
            rc = self.await_connection(controller, qpair);
        }
        if rc != 0 {
            // SAFETY: allocated above, no I/O was sent; freeing takes it out of the group.
            unsafe { sys::spdk_nvme_ctrlr_free_io_qpair(qpair.as_ptr()) };
            return Err(QueueError::Connect(std::io::Error::from_raw_os_error(rc.abs()).kind()));
        }
        Ok(qpair)
    }
}

impl Route for Queues {
    type Way<'r> = (&'r Target, NonNull<sys::spdk_nvme_qpair>);

    #[inline(always)]
    fn admit(&self, io: &Io) -> Result<(Self::Way<'_>, u32), Status> {
        let Some(target) = self.targets.get(io.target as usize) else { return Err(Status::TargetLost) };
        let Some(&pair) = target.of_slot.get(io.slot as usize) else { return Err(Status::TargetLost) };
        if io.op.destroys() && !target.writable {
            return Err(Status::WriteRefused);
        }
        if io.blocks > COMMAND_BLOCKS_MAX {
            return Err(Status::BadLength);
        }
        Ok(((target, pair), target.block_size))
    }

    #[inline(always)]
    unsafe fn send<S: Sink, F: Fill>(way: Self::Way<'_>, io: &Io, buffer: *mut c_void, context: *mut c_void) -> c_int {
        let (ns, qpair) = (way.0.namespace.as_ptr(), way.1.as_ptr());
        // SAFETY: namespace and queue pair are of the same attached controller, connected, and used by this thread only;
        // buffer and context are as the caller promises.
        unsafe {
            if io.op == Operation::Write {
                sys::spdk_nvme_ns_cmd_write(ns, qpair, buffer, io.lba, io.blocks, Some(done::<S, F>), context, 0)
            } else if io.op == Operation::Read {
                sys::spdk_nvme_ns_cmd_read(ns, qpair, buffer, io.lba, io.blocks, Some(done::<S, F>), context, 0)
            } else {
                send_without_blocks::<S, F>(ns, qpair, io, context)
            }
        }
    }
}

/// Sends what needs no buffer.
///
/// # Safety
/// As with [`Route::send`], but for the buffer.
#[inline(never)]
unsafe fn send_without_blocks<S: Sink, F: Fill>(
    ns: *mut sys::spdk_nvme_ns,
    qpair: *mut sys::spdk_nvme_qpair,
    io: &Io,
    context: *mut c_void,
) -> c_int {
    let done = Some(done::<S, F> as unsafe extern "C" fn(_, _));
    // SAFETY: namespace, queue pair and context are as the caller promises; SPDK copies the range before it returns.
    unsafe {
        match io.op {
            Operation::Trim => {
                let range = DsmRange { attributes: 0, blocks: io.blocks, lba: io.lba };
                let range = (&raw const range).cast();
                sys::spdk_nvme_ns_cmd_dataset_management(ns, qpair, DSM_DEALLOCATE, range, 1, done, context)
            }
            Operation::WriteZeroes => {
                sys::spdk_nvme_ns_cmd_write_zeroes(ns, qpair, io.lba, io.blocks, done, context, 0)
            }
            Operation::Flush => sys::spdk_nvme_ns_cmd_flush(ns, qpair, done, context),
            Operation::Read | Operation::Write => -libc::EINVAL,
        }
    }
}

impl<S: Sink, F: Fill> Drop for PollGroup<S, F> {
    fn drop(&mut self) {
        let shares_memory = self.slots.route().targets.iter().any(|target| target.controller.shares_memory());
        let end = Instant::now() + LAST_CALL;
        while shares_memory && self.slots.outstanding() > 0 && Instant::now() < end {
            // SAFETY: as in `poll`; completions go to the strays.
            unsafe {
                let group = self.slots.route().group.as_ptr();
                sys::spdk_nvme_poll_group_process_completions(group, 0, Some(disconnected));
            }
        }
        if shares_memory && self.slots.outstanding() > 0 {
            // A device that reaches our memory may still write to it, however the queue is taken down.
            tracing::warn!("{} I/Os never completed; their buffers are kept until the end", self.slots.outstanding());
            self.slots.leak();
            return;
        }
        // While the slots are whole: the callbacks of aborted I/Os go there.
        self.slots.route().disconnect();
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        // Left only where connecting failed half-way: no I/O was ever sent.
        self.disconnect();
        // SAFETY: the group is empty now.
        unsafe { sys::spdk_nvme_poll_group_destroy(self.group.as_ptr()) };
    }
}

unsafe extern "C" fn done<S: Sink, F: Fill>(context: *mut c_void, completion: *const sys::spdk_nvme_cpl) {
    // SAFETY: SPDK passes the completion entry for the length of this call; the status field is its last two bytes
    // (asserted in the shim), read as one so that the bit-fields of C need no counterpart.
    let field = unsafe { completion.cast::<u16>().add(7).read() };
    // SAFETY: the context went in through `send::<S, F>` above, and the group that polls or frees its queues holds the slots.
    unsafe { finish::<S, Queues, F>(context, Status::from_nvme(field)) };
}

/// SPDK asks for this call; that a queue pair is gone shows in its I/Os, which are aborted, and refused from then on.
unsafe extern "C" fn disconnected(_qpair: *mut sys::spdk_nvme_qpair, _context: *mut c_void) {}
