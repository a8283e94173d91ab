//! The slots of one core: a DMA buffer and a completion context each, and the way of a completion to the sink and of the
//! sink's answer back to the device.
//!
//! Owns the rule that makes asynchronous I/O sound here: a slot is outstanding at most once; its buffer and context live
//! until every queue that could complete it is gone (the queues' owner holds the `Slots` and drops them last); no
//! reference to a buffer's bytes exists while its slot is outstanding (what a write sends is prepared just before); and the sink is borrowed exclusively for the length of a poll, within which
//! callbacks come one at a time on this thread. Knows no transport: that is the `Route`'s.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use crate::dma::{DmaBuffer, OutOfDmaMemory};
use crate::env::Env;
use crate::io::{Full, Held, Io, Operation, Sink};
use crate::outgoing::{Fill, Memory, Outgoing};
use crate::{Status, incoming, tsc};

/// Buffers for the slots of one core: what is read goes into one of each slot's, and what is written comes from others,
/// where there are others.
#[derive(Debug)]
pub struct Buffers<F> {
    incoming: Vec<DmaBuffer>,
    outgoing: Outgoing<DmaBuffer, F>,
}

impl<F: Fill> Buffers<F> {
    /// One buffer for each entry of `bytes`, of that many bytes, zeroed but for a mark that nothing was read into it yet,
    /// and what writes are sent from. A slot that has no buffer there sends from the one that it reads into.
    pub fn new(env: Env, bytes: &[u32], outgoing: Outgoing<DmaBuffer, F>) -> Result<Self, OutOfDmaMemory> {
        let marked = |&len: &u32| {
            let mut buffer = DmaBuffer::new(env, len as usize)?;
            incoming::mark(buffer.bytes_mut());
            Ok(buffer)
        };
        let incoming = bytes.iter().map(marked).collect::<Result<_, _>>()?;
        Ok(Self { incoming, outgoing })
    }
}

/// How I/Os reach the targets: what differs between transports.
pub(crate) trait Route {
    /// What leads to one I/O's target.
    type Way<'r>
    where
        Self: 'r;

    /// The way of an I/O and the bytes of a block there, or how the I/O ends without being sent.
    fn admit(&self, io: &Io) -> Result<(Self::Way<'_>, u32), Status>;

    /// Hands the I/O to SPDK, with the callback that reports to `Slots<S, Self, F>`. 0, or a negative errno and no callback.
    ///
    /// # Safety
    /// `way` is what `admit` gave for this I/O, `buffer` holds its blocks if it moves any, and both pointers stay valid until the callback.
    unsafe fn send<S: Sink, F: Fill>(way: Self::Way<'_>, io: &Io, buffer: *mut c_void, context: *mut c_void) -> c_int
    where
        Self: Sized;
}

/// The slots of one core. A cheap handle; not `Send`.
pub(crate) struct Slots<S: Sink, R, F> {
    shared: Rc<Shared<S, R, F>>,
}

struct Shared<S: Sink, R, F> {
    contexts: Box<[Context<S, R, F>]>,
    route: R,
    /// The sink during a poll; null outside.
    sink: Cell<*mut S>,
    /// Ends that came outside a poll, or without anything being sent: for the next one.
    strays: UnsafeCell<Vec<(u32, Status)>>,
    /// Touched in `send` only, by one slot after the other.
    outgoing: UnsafeCell<Outgoing<DmaBuffer, F>>,
    // After everything that points into them.
    _incoming: Vec<DmaBuffer>,
}

/// What a completion callback gets; a cache line each. Its address is stable: the boxed slice is never moved or resized.
#[repr(align(64))]
struct Context<S: Sink, R, F> {
    shared: Cell<*const Shared<S, R, F>>,
    buffer: *mut u8,
    buffer_len: u64,
    slot: u32,
    busy: Cell<bool>,
    tag: Cell<S::Tag>,
}

impl<S: Sink, R, F> std::fmt::Debug for Slots<S, R, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots")
            .field("slots", &self.shared.contexts.len())
            .field("outstanding", &self.outstanding())
            .finish()
    }
}

impl<S: Sink, R: Route, F: Fill> Slots<S, R, F> {
    /// A slot for each buffer.
    pub(crate) fn new(buffers: Buffers<F>, route: R) -> Self {
        let context = |(slot, buffer): (usize, &DmaBuffer)| Context {
            shared: Cell::new(ptr::null()),
            buffer: buffer.as_ptr(),
            buffer_len: buffer.len() as u64,
            slot: slot as u32,
            busy: Cell::new(false),
            tag: Cell::default(),
        };
        let Buffers { incoming, outgoing } = buffers;
        let shared = Rc::new(Shared {
            contexts: incoming.iter().enumerate().map(context).collect(),
            route,
            sink: Cell::new(ptr::null_mut()),
            strays: UnsafeCell::new(Vec::with_capacity(incoming.len())),
            outgoing: UnsafeCell::new(outgoing),
            _incoming: incoming,
        });
        for context in &shared.contexts {
            context.shared.set(Rc::as_ptr(&shared));
        }
        Self { shared }
    }

    /// The way to the targets.
    pub(crate) fn route(&self) -> &R {
        &self.shared.route
    }

    /// Sends one I/O.
    #[inline(always)]
    pub(crate) fn submit(&self, io: &Io, tag: S::Tag) -> Result<(), Full> {
        self.shared.submit(io, tag)
    }

    /// Runs `poll`, during which completions go to `sink` and its answers are sent; ends that came since the last poll
    /// go there first.
    #[inline(always)]
    pub(crate) fn poll_into(&self, sink: &mut S, poll: impl FnOnce()) {
        /// Takes the sink out again, even when it panics as it is handed a stray.
        struct Until<'s, S>(&'s Cell<*mut S>);
        impl<S> Drop for Until<'_, S> {
            fn drop(&mut self) {
                self.0.set(ptr::null_mut());
            }
        }
        self.shared.sink.set(ptr::from_mut(sink));
        let _until = Until(&self.shared.sink);
        // SAFETY: a shared look at the length; nobody holds a reference to the strays across calls.
        if unsafe { !(*self.shared.strays.get()).is_empty() } {
            self.shared.deliver_strays();
        }
        poll();
    }
}

impl<S: Sink, R, F> Slots<S, R, F> {
    /// I/Os that were submitted and have not completed.
    pub(crate) fn outstanding(&self) -> usize {
        self.shared.contexts.iter().filter(|context| context.busy.get()).count()
    }

    /// What the last read of an idle slot brought, going by its first `len` bytes; none while its I/O is outstanding, where
    /// nothing was read, or with no such length.
    pub(crate) fn held(&self, slot: u32, len: u32) -> Option<Held> {
        let context = self.shared.contexts.get(slot as usize).filter(|context| !context.busy.get())?;
        let words = (u64::from(len) <= context.buffer_len).then_some(len as usize / size_of::<u64>())?;
        // SAFETY: within the buffer, which is aligned to a page, initialised, and lives as long as the slots. No reference
        // to its bytes is made, and each read is volatile, so that even a device which still writes there, after its queue
        // has given the I/O up, changes no more than what is found.
        incoming::judge((0..words).map(|word| unsafe { context.buffer.cast::<u64>().add(word).read_volatile() }))
    }

    /// Gives the memory up for good: for I/Os that a device may still complete after their queue can no longer be asked.
    pub(crate) fn leak(&self) {
        std::mem::forget(Rc::clone(&self.shared));
    }
}

impl<S: Sink, R: Route, F: Fill> Shared<S, R, F> {
    #[inline(always)]
    fn submit(&self, io: &Io, tag: S::Tag) -> Result<(), Full> {
        let Some(context) = self.contexts.get(io.slot as usize) else { return Err(Full) };
        if context.busy.get() {
            return Err(Full);
        }
        self.send(context, io, tag)
    }

    /// Sends the I/O of an idle slot, whose context this is.
    #[inline(always)]
    fn send(&self, context: &Context<S, R, F>, io: &Io, tag: S::Tag) -> Result<(), Full> {
        context.tag.set(tag);
        let (way, block_size) = match self.route.admit(io) {
            Ok(admitted) => admitted,
            Err(status) => return self.bury(io.slot, status),
        };
        let len = u64::from(io.blocks) * u64::from(block_size);
        let prepared = if io.op == Operation::Write { self.prepare(io, len) } else { None };
        let buffer = match prepared {
            Some(buffer) if len > 0 => buffer,
            None if len > 0 && len <= context.buffer_len => context.buffer,
            None if !io.op.moves_blocks() => context.buffer,
            _ => return self.bury(io.slot, Status::BadLength),
        };
        context.busy.set(true);
        // SAFETY: admitted above; the buffer holds the blocks where any are moved, and context and buffer live until all queues are gone.
        let rc = unsafe { R::send::<S, F>(way, io, buffer.cast(), ptr::from_ref(context).cast_mut().cast()) };
        if rc == 0 { Ok(()) } else { self.refused(context, rc) }
    }

    /// Where a write of an idle slot is sent from, its bytes made; none where the slot has no such buffer.
    #[inline(always)]
    fn prepare(&self, io: &Io, len: u64) -> Option<*mut u8> {
        // SAFETY: no other reference to what writes are sent from is alive: this is the only place that makes one, whoever
        // fills knows nothing of the slots, and the pointer that is left is to memory that does not move. As the slot is
        // idle, no device reads its former buffer, nor a spare one.
        unsafe { (*self.outgoing.get()).prepare(io, len).map(|buffer| buffer.as_ptr()) }
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, context: &Context<S, R, F>, rc: c_int) -> Result<(), Full> {
        context.busy.set(false);
        match -rc {
            libc::ENOMEM | libc::EAGAIN => Err(Full),
            libc::ENXIO | libc::ENODEV => self.bury(context.slot, Status::TargetLost),
            errno => self.bury(context.slot, Status::NotTaken { errno }),
        }
    }

    /// Ends an I/O that was not sent, at the next poll.
    #[cold]
    #[inline(never)]
    fn bury(&self, slot: u32, status: Status) -> Result<(), Full> {
        // SAFETY: callbacks and calls come one at a time on this thread, and no reference to the strays outlives the
        // expression that makes it.
        unsafe { (*self.strays.get()).push((slot, status)) };
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn deliver_strays(&self) {
        // SAFETY: as in `bury`. What the answers add meanwhile goes into the fresh list, for the next poll.
        let strays = unsafe { std::mem::take(&mut *self.strays.get()) };
        for (slot, status) in strays {
            if let Some(context) = self.contexts.get(slot as usize) {
                // SAFETY: within a poll; see `hand`.
                unsafe { self.hand(self.sink.get(), context, status) };
            }
        }
    }

    /// Hands an end to the sink and sends its answer.
    ///
    /// # Safety
    /// `sink` is the one that `poll_into` has set, and its poll is still on.
    #[inline(always)]
    unsafe fn hand(&self, sink: *mut S, context: &Context<S, R, F>, status: Status) {
        // SAFETY: `poll_into` holds the exclusive borrow and does not use it; the reference made here ends with the
        // statement, before anything is sent, so that a completion that comes from within `submit` finds none alive.
        let answer = unsafe { (*sink).complete(context.slot, context.tag.get(), status, tsc::now) };
        if let Some((io, tag)) = answer {
            let io = Io { slot: context.slot, ..io };
            if self.send(context, &io, tag).is_err() {
                // SAFETY: as above.
                unsafe { (*sink).refuse(io, tag) };
            }
        }
    }
}

/// Called by completion callbacks: reports the end of a slot's I/O.
///
/// # Safety
/// `context` came from a `Slots<S, R, F>` through [`Route::send`] of this very `S`, `R` and `F`, its I/O has just ended, and the
/// slots still exist.
#[inline(always)]
pub(crate) unsafe fn finish<S: Sink, R: Route, F: Fill>(context: *mut c_void, status: Status) {
    // SAFETY: by the contract it points to a context in a boxed slice that is alive; contexts are only ever shared, and
    // what changes in them is in cells.
    let context = unsafe { &*context.cast_const().cast::<Context<S, R, F>>() };
    // SAFETY: set in `Slots::new` to the allocation that holds this very context.
    let shared = unsafe { &*context.shared.get() };
    context.busy.set(false);
    let sink = shared.sink.get();
    if sink.is_null() {
        // Outside a poll: a queue that fails requests as it is fed, or is torn down.
        let _ = shared.bury(context.slot, status);
    } else {
        // SAFETY: not null, so within `poll_into`.
        unsafe { shared.hand(sink, context, status) };
    }
}
