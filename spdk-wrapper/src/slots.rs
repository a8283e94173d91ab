//! The slots of one core: a DMA buffer and a completion context each, and where completions go.
//!
//! Owns the rule that makes asynchronous I/O sound here: a slot is outstanding at most once, its buffer and context
//! live until every queue that could complete it is gone (each queue holds a clone of [`Slots`]), and no reference to
//! a buffer's bytes exists. Knows no transport.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use crate::dma::{DmaBuffer, OutOfDmaMemory};
use crate::env::Env;
use crate::{Completion, Completions, Status};

/// Why an I/O was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The queue is full, or the slot is still outstanding: try again after a poll.
    Full,
    /// The queue is gone for good, or never was.
    Gone,
    /// A write to what was not opened for writing.
    ReadOnly,
    /// The slot does not exist, or its buffer is smaller than the I/O.
    BadSlot,
}

/// The slots of one core. A cheap handle; not `Send`.
#[derive(Clone)]
pub struct Slots {
    shared: Rc<Shared>,
}

struct Shared {
    contexts: Box<[Context]>,
    /// Where completions go during a poll; null outside.
    sink: Cell<*mut Completions>,
    /// Completions that came outside a poll (a queue that fails requests as it is fed, or is torn down).
    strays: UnsafeCell<Completions>,
    // Dropped after everything that points into it, and only when no queue holds a clone of the slots.
    _buffers: Vec<DmaBuffer>,
}

/// What a completion callback gets; a cache line each. Its address is stable: the boxed slice is never moved or resized.
#[repr(align(64))]
pub(crate) struct Context {
    shared: Cell<*const Shared>,
    buffer: *mut u8,
    buffer_len: u64,
    slot: u32,
    busy: Cell<bool>,
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots")
            .field("slots", &self.shared.contexts.len())
            .field("outstanding", &self.outstanding())
            .finish()
    }
}

impl Slots {
    /// One slot for each entry of `buffer_bytes`, with a zeroed buffer of that many bytes.
    pub fn new(env: Env, buffer_bytes: &[u32]) -> Result<Self, OutOfDmaMemory> {
        let buffers =
            buffer_bytes.iter().map(|&len| DmaBuffer::new(env, len as usize)).collect::<Result<Vec<_>, _>>()?;
        let context = |(slot, buffer): (usize, &DmaBuffer)| Context {
            shared: Cell::new(ptr::null()),
            buffer: buffer.as_ptr(),
            buffer_len: u64::from(buffer_bytes[slot]),
            slot: slot as u32,
            busy: Cell::new(false),
        };
        let shared = Rc::new(Shared {
            contexts: buffers.iter().enumerate().map(context).collect(),
            sink: Cell::new(ptr::null_mut()),
            strays: UnsafeCell::new(Completions::with_capacity(buffer_bytes.len())),
            _buffers: buffers,
        });
        for context in &shared.contexts {
            context.shared.set(Rc::as_ptr(&shared));
        }
        Ok(Self { shared })
    }

    /// Fills the buffer of an idle slot; false when the slot is outstanding or does not exist.
    pub fn fill(&self, slot: u32, mut byte_at: impl FnMut(usize) -> u8) -> bool {
        let Some(context) = self.shared.contexts.get(slot as usize).filter(|c| !c.busy.get()) else {
            return false;
        };
        for at in 0..context.buffer_len as usize {
            // SAFETY: the buffer has `buffer_len` bytes and is kept by `_buffers`; the slot is idle, so no device
            // accesses it, and this type is not `Send`, so no other thread does.
            unsafe { context.buffer.add(at).write(byte_at(at)) };
        }
        true
    }

    /// I/Os that were submitted and have not completed.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.shared.contexts.iter().filter(|context| context.busy.get()).count()
    }

    /// Marks a slot outstanding for `blocks` of `block_size` bytes and calls `submit` with its buffer and the argument for
    /// the completion callback; `submit` returns 0 or a negative errno.
    #[inline(always)]
    pub(crate) fn submit(
        &self,
        slot: u32,
        (blocks, block_size): (u32, u32),
        submit: impl FnOnce(*mut c_void, *mut c_void) -> i32,
    ) -> Result<(), Refused> {
        let Some(context) = self.shared.contexts.get(slot as usize) else { return Err(Refused::BadSlot) };
        if u64::from(blocks) * u64::from(block_size) > context.buffer_len {
            return Err(Refused::BadSlot);
        }
        if context.busy.replace(true) {
            return Err(Refused::Full);
        }
        let argument = ptr::from_ref(context).cast_mut().cast();
        match submit(context.buffer.cast(), argument) {
            0 => Ok(()),
            rc => {
                context.busy.set(false);
                Err(if rc == -libc::ENOMEM || rc == -libc::EAGAIN { Refused::Full } else { Refused::Gone })
            }
        }
    }

    /// Runs `poll`, during which completion callbacks append to `out`; completions that came since the last poll are
    /// there first.
    #[inline(always)]
    pub(crate) fn collect<R>(&self, out: &mut Completions, poll: impl FnOnce() -> R) -> R {
        // SAFETY: no callback runs now, and this is the only place that makes a reference to the strays; it ends with
        // this statement.
        let strays = unsafe { &mut *self.shared.strays.get() };
        if !strays.is_empty() {
            for &completion in strays.as_slice() {
                out.push(completion);
            }
            strays.clear();
        }
        self.shared.sink.set(out);
        let result = poll();
        self.shared.sink.set(ptr::null_mut());
        result
    }
}

impl Context {
    /// The context behind a callback's argument.
    ///
    /// # Safety
    /// `argument` must be one that [`Slots::submit`] handed out, and the queue it went to must still hold its slots.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(argument: *mut c_void) -> &'a Self {
        // SAFETY: by the contract above it points to a context in a boxed slice that the queue's slots keep alive;
        // contexts are only ever shared, all that changes in them is in cells.
        unsafe { &*argument.cast_const().cast() }
    }

    /// Reports the slot's I/O as ended and the slot as idle.
    #[inline(always)]
    pub(crate) fn finish(&self, status: Status) {
        // SAFETY: set in `Slots::new` to the allocation that holds this very context.
        let shared = unsafe { &*self.shared.get() };
        self.busy.set(false);
        let completion = Completion { slot: self.slot, status };
        let sink = shared.sink.get();
        let target = if sink.is_null() { shared.strays.get() } else { sink };
        // SAFETY: `sink` is only set while `collect` holds the caller's exclusive borrow of it and does not use it;
        // the strays are only referred to in `collect`, never while a callback runs. Callbacks run on this thread,
        // one at a time. Neither can overflow: a slot is outstanding at most once.
        unsafe { (*target).push(completion) };
    }
}
