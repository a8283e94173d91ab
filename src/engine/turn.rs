//! What happens to a completion: recorded, and answered with the slot's next I/O. The hot path of Rigel.
//!
//! Runs inside SPDK's completion callback, and owns all it touches: slots, generators, book. Per I/O it reads the clock
//! at most once (the tick of a completion is that of the submission which follows it), and allocates, locks, formats and
//! dispatches nothing. All that is rare is in functions of its own.

use super::book::Book;
use super::lane::{LaneState, SlotState};
use super::stop::{Reason, Stop};
use crate::driver::{Io, Sink, Status};
use crate::units::Ticks;

/// The engine's side of a core's queues.
#[derive(Debug)]
pub(super) struct Turn<'r> {
    pub book: Book,
    pub lanes: Vec<LaneState>,
    slots: Vec<SlotState>,
    /// I/Os that the driver had no room for.
    parked: Vec<Io>,
    outstanding: u32,
    /// The reading of the clock that the present completions share, and how many more may.
    tick: Ticks,
    share: u32,
    found: bool,
    /// Whether the run is to end; shared by all cores.
    stop: &'r Stop,
}

impl Sink for Turn<'_> {
    #[inline(always)]
    fn complete(&mut self, slot: u32, status: Status, now: impl FnOnce() -> u64) -> Option<Io> {
        if self.share == 0 {
            self.look_at_clock(Ticks(now()));
        }
        self.share -= 1;
        let state = &mut self.slots[slot as usize];
        if status.is_good() {
            self.book.record(state.cell, self.tick.0.wrapping_sub(state.submitted));
        } else if status == Status::TargetLost {
            // Never sent, so no error of the target's; the slot has nowhere to go any more.
            self.stop.raise(Reason::Lost(state.cell), self.tick);
            self.outstanding -= 1;
            return None;
        } else {
            self.book.fail(state.cell, status);
        }
        if self.book.draining() {
            self.outstanding -= 1;
            return None;
        }
        let (io, cell) = self.lanes[state.lane as usize].next(slot);
        state.cell = cell;
        state.submitted = self.tick.0;
        Some(io)
    }

    #[cold]
    fn refuse(&mut self, io: Io) {
        self.book.count_back_pressure();
        self.parked.push(io);
    }
}

impl<'r> Turn<'r> {
    pub(super) fn new(book: Book, lanes: Vec<LaneState>, point: usize, stop: &'r Stop) -> Self {
        let slots = LaneState::slots(&lanes, point);
        Self {
            book,
            lanes,
            parked: Vec::with_capacity(slots.len()),
            slots,
            outstanding: 0,
            tick: Ticks(0),
            share: 0,
            found: false,
            stop,
        }
    }

    /// Number of slots at this point.
    pub(super) fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// I/Os that were sent, or parked, and have not ended.
    #[inline(always)]
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Before a poll: whether the one before found something.
    #[inline(always)]
    pub(super) fn begin_poll(&mut self) -> bool {
        self.share = 0;
        std::mem::take(&mut self.found)
    }

    /// The first I/O of a slot, sent at `tick`.
    pub(super) fn first(&mut self, slot: u32, tick: Ticks) -> Io {
        let state = &mut self.slots[slot as usize];
        let (io, cell) = self.lanes[state.lane as usize].next(slot);
        state.cell = cell;
        state.submitted = tick.0;
        self.outstanding += 1;
        io
    }

    /// Whether some I/Os wait for room.
    #[inline(always)]
    pub(super) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Sends the parked I/Os again, oldest first, as far as `submit` takes them; an I/O's submission is when it is
    /// taken. In the drain they are dropped: they were never sent.
    #[cold]
    #[inline(never)]
    pub(super) fn retry(&mut self, mut submit: impl FnMut(Io) -> Option<Ticks>) {
        if self.book.draining() {
            self.outstanding -= self.parked.len() as u32;
            self.parked.clear();
            return;
        }
        let mut taken = 0;
        for io in &self.parked {
            let Some(tick) = submit(*io) else { break };
            self.slots[io.slot as usize].submitted = tick.0;
            taken += 1;
        }
        self.parked.drain(..taken);
    }

    /// Ends the window where the run is to end, if it is, but not before what has been recorded already.
    #[inline(always)]
    pub(super) fn heed_stop(&mut self, now: impl FnOnce() -> Ticks) {
        if let Some(at) = self.stop.at() {
            // One past it: what was seen at the present tick is in the window.
            self.book.cut(at.max(now().plus(Ticks(1))));
        }
    }

    #[inline(always)]
    fn look_at_clock(&mut self, now: Ticks) {
        self.found = true;
        self.tick = now;
        self.share = self.book.sharing();
        if now >= self.book.edge() {
            self.book.cross(now);
        }
    }
}
