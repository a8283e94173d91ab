//! What happens to a completion: recorded, and answered with the slot's next I/O. The hot path of Rigel.
//!
//! Runs inside SPDK's completion callback, and owns all it touches: generators, book. Per I/O it reads the clock
//! at most once (the tick of a completion is that of the submission which follows it), and allocates, locks, formats and
//! dispatches nothing. All that is rare is in functions of its own.

use super::book::Book;
use super::lane::{Source, Tag};
use super::stop::{Reason, Stop};
use crate::driver::{Full, Io, Sink, Status, operation};
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
    /// By slot, the blocks of its I/O; empty where sizes are not mixed.
    blocks: Vec<u32>,
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
            if let Some(&blocks) = self.blocks.get(slot as usize).filter(|_| L::MIXED) {
                self.book.record_blocks(tag.cell, blocks);
            }
            if L::OPEN {
                self.book.record_response(tag.cell, self.tick.0.wrapping_sub(tag.arrival));
            }
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
            self.lanes.open_loop(tag.lane).into_iter().for_each(|open_loop| open_loop.idle(slot));
            return None;
        }
        if let Some(thinking) = self.lanes.thinking(tag.lane) {
            thinking.think(slot, self.tick.0);
            self.outstanding -= 1;
            return None;
        }
        let mut arrival = self.tick.0;
        if let Some(open_loop) = self.lanes.open_loop(tag.lane) {
            open_loop.idle(slot);
            let Some((due, _)) = open_loop.take() else {
                self.outstanding -= 1;
                return None;
            };
            self.book.send(open_loop.workload, arrival.saturating_sub(due));
            arrival = due;
        }
        if L::FINITE && !self.lanes.may_draw(tag.lane) {
            self.outstanding -= 1;
            return None;
        }
        Some(self.next(slot, tag.lane, self.tick, arrival))
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
            parked: Vec::with_capacity(slots as usize),
            outstanding: 0,
            blocks: vec![0; if L::MIXED && lanes.are_mixed() { slots as usize } else { 0 }],
            tick: Ticks(0),
            share: 0,
            found: false,
            stop,
            lanes,
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

    /// The first I/O of a slot, sent at `tick`; none of a lane that has come to its end.
    pub(super) fn first(&mut self, slot: u32, lane: u32, tick: Ticks) -> Option<(Io, Tag)> {
        if L::FINITE && !self.lanes.may_draw(lane) {
            return None;
        }
        self.outstanding += 1;
        Some(self.next(slot, lane, tick, tick.0))
    }

    /// Lanes that end: once nothing is outstanding nothing more will be sent, so the window ends.
    #[inline(always)]
    pub(super) fn heed_end(&mut self, now: Ticks) {
        if L::FINITE && self.outstanding == 0 {
            self.book.cut(now.plus(Ticks(1)));
        }
    }

    #[inline(always)]
    fn next(&mut self, slot: u32, lane: u32, tick: Ticks, arrival: u64) -> (Io, Tag) {
        let NextIo { target, cell, op, lba, blocks } = self.lanes.next_io(lane, tick);
        if let Some(kept) = self.blocks.get_mut(slot as usize).filter(|_| L::MIXED) {
            *kept = blocks;
        }
        let io = Io { slot, target, op: operation(op), lba: lba.0, blocks };
        (io, Tag { submitted: tick.0, arrival, cell, lane })
    }

    /// Tick at which there is something to send: past, if an arrival waits though a slot is idle; never, in a closed loop
    /// that does not pause or in the drain.
    #[inline(always)]
    pub(super) fn next_due(&mut self) -> Ticks {
        if self.book.draining() {
            return Ticks(u64::MAX);
        }
        let arrival = self.lanes.open_loops().map(|(_, open_loop)| open_loop.next_due()).min().unwrap_or(u64::MAX);
        let rested = self.lanes.all_thinking().map(|(_, thinking)| thinking.next_due()).min().unwrap_or(u64::MAX);
        Ticks(arrival.min(rested))
    }

    /// Counts the arrivals that are due at `now`.
    #[inline(always)]
    pub(super) fn arrive(&mut self, now: Ticks) {
        self.count_due(now.plus(Ticks(1)));
    }

    /// The next arrival that waits, if a slot is idle.
    #[inline(always)]
    pub(super) fn take_arrival(&mut self, now: impl FnOnce() -> Ticks) -> Option<(Io, Tag)> {
        let (lane, workload, (due, slot)) = self.lanes.open_loops().find_map(|(lane, open_loop)| {
            let workload = open_loop.workload;
            open_loop.take().map(|taken| (lane, workload, taken))
        })?;
        let tick = now();
        self.book.send(workload, tick.0.saturating_sub(due));
        self.found = true;
        self.outstanding += 1;
        Some(self.next(slot, lane, tick, due))
    }

    /// The next I/O of a slot that has thought long enough at `now`, if there is one.
    #[inline(always)]
    pub(super) fn take_rested(&mut self, now: Ticks) -> Option<(Io, Tag)> {
        let (lane, slot) =
            self.lanes.all_thinking().find_map(|(lane, thinking)| Some((lane, thinking.take(now.0)?)))?;
        self.found = true;
        self.first(slot, lane, now)
    }

    /// Past an edge, or several. False when the drain has taken too long.
    #[cold]
    #[inline(never)]
    pub(super) fn cross(&mut self, now: Ticks) -> bool {
        while now >= self.book.edge() {
            if !self.book.draining() {
                // Whatever was due in the interval belongs to it, noticed or not.
                self.count_due(self.book.edge());
            }
            if !self.book.cross(now) {
                return false;
            }
        }
        // Once, however many edges a long absence of the core lay across: nothing was sent between them.
        if !self.book.draining() {
            self.look_for_overload(now);
        }
        true
    }

    /// Counts the arrivals that are due before `end`.
    #[inline(always)]
    fn count_due(&mut self, end: Ticks) {
        for (_, open_loop) in self.lanes.open_loops() {
            let (count, backlog) = open_loop.count_due(end.0);
            if count > 0 {
                self.book.arrive(open_loop.workload, count, backlog);
            }
        }
    }

    fn look_for_overload(&mut self, now: Ticks) {
        for (_, open_loop) in self.lanes.open_loops() {
            if open_loop.is_overloaded() {
                self.stop.raise(Reason::Overloaded(open_loop.workload as u32), now);
            }
        }
    }

    /// Whether some I/Os wait for room.
    #[inline(always)]
    pub(super) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Sends the parked I/Os again, oldest first, as far as `submit` takes them; an I/O's submission is when it is
    /// taken. In the drain they are dropped: they were never sent. Lanes that end count them as sent, so theirs are sent.
    #[cold]
    #[inline(never)]
    pub(super) fn retry(&mut self, mut submit: impl FnMut(Io, Tag) -> Result<(), Full>) {
        if self.book.draining() && (!L::FINITE || matches!(self.stop.reason(), Some(Reason::Lost(_)))) {
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
            self.cross(now);
        }
    }
}
