//! What happens to a completion: recorded, and answered with the slot's next I/O. The hot path of Rigel.
//!
//! Runs inside SPDK's completion callback, and owns all it touches: generators, book. Per I/O it reads the clock
//! at most once (the tick of a completion is that of the submission which follows it), and allocates, locks, formats and
//! dispatches nothing. All that is rare is in functions of its own.

use super::book::Book;
use super::lane::{Source, Tag};
use super::stop::{Reason, Stop};
use crate::driver::{Full, Io, Sink, Status};
use crate::plan::Op;
use crate::units::Ticks;
use crate::workload::NextIo;

/// The engine's side of a core's queues.
#[derive(Debug)]
pub(super) struct Turn<'r, L> {
    pub book: Book,
    pub lanes: L,
    /// I/Os that the driver had no room for.
    parked: Vec<(Io, Tag)>,
    outstanding: u32,
    /// The reading of the clock that the present completions share, and how many more may.
    tick: Ticks,
    share: u32,
    found: bool,
    /// Whether the run is to end; shared by all cores.
    stop: &'r Stop,
}

impl<L: Source> Sink for Turn<'_, L> {
    type Tag = Tag;

    #[inline(always)]
    fn complete(&mut self, slot: u32, tag: Tag, status: Status, now: impl FnOnce() -> u64) -> Option<(Io, Tag)> {
        if self.share == 0 {
            self.look_at_clock(Ticks(now()));
        }
        self.share -= 1;
        if status.is_good() {
            self.book.record(tag.cell, self.tick.0.wrapping_sub(tag.submitted));
        } else if status == Status::TargetLost {
            // Never sent, so no error of the target's; the slot has nowhere to go any more.
            self.stop.raise(Reason::Lost(tag.cell), self.tick);
            self.outstanding -= 1;
            return None;
        } else {
            self.book.fail(tag.cell, status);
        }
        if self.book.draining() {
            self.outstanding -= 1;
            return None;
        }
        Some(self.next(slot, tag.lane, self.tick))
    }

    #[cold]
    fn refuse(&mut self, io: Io, tag: Tag) {
        self.book.count_back_pressure();
        self.parked.push((io, tag));
    }
}

impl<'r, L: Source> Turn<'r, L> {
    pub(super) fn new(book: Book, lanes: L, point: usize, stop: &'r Stop) -> Self {
        let slots: u32 = lanes.depths(point).iter().sum();
        Self {
            book,
            lanes,
            parked: Vec::with_capacity(slots as usize),
            outstanding: 0,
            tick: Ticks(0),
            share: 0,
            found: false,
            stop,
        }
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
    pub(super) fn first(&mut self, slot: u32, lane: u32, tick: Ticks) -> (Io, Tag) {
        self.outstanding += 1;
        self.next(slot, lane, tick)
    }

    #[inline(always)]
    fn next(&mut self, slot: u32, lane: u32, tick: Ticks) -> (Io, Tag) {
        let NextIo { target, cell, op, lba, blocks } = self.lanes.next_io(lane);
        let io = Io { slot, target, write: op == Op::Write, lba: lba.0, blocks };
        (io, Tag { submitted: tick.0, cell, lane })
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
    pub(super) fn retry(&mut self, mut submit: impl FnMut(Io, Tag) -> Result<(), Full>) {
        if self.book.draining() {
            self.outstanding -= self.parked.len() as u32;
            self.parked.clear();
            return;
        }
        let taken = self.parked.iter().take_while(|&&(io, tag)| submit(io, tag).is_ok()).count();
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
