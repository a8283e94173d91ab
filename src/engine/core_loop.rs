//! The loop of one core: poll, record, submit again. The hot path of Rigel.
//!
//! Owns everything it touches: driver, slots, generators, histograms. Per I/O it reads the clock once (the tick of a
//! completion is that of the submission which follows it), and allocates, locks, formats and dispatches nothing. All
//! that is rare (edges of intervals and phases, errors, back-pressure) is in functions of its own.

use super::handover::{Packet, PointEnd, Sender};
use super::lane::{LaneState, SlotState};
use super::schedule::Schedule;
use super::{CellFigures, CoreFigures, Phase};
use crate::driver::{Completion, Completions, Driver, Io, Status};
use crate::units::Ticks;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why the run is to end, shared by all cores; zero while it goes on.
pub(super) const GOING: u64 = 0;
/// Someone asked for it.
pub(super) const INTERRUPTED: u64 = 1;
/// Target number `value - LOST` is lost.
pub(super) const LOST: u64 = 2;

/// Loops between two looks of the outside at a core's progress; a power of two.
const PUBLISH_EVERY: u64 = 256;
/// Most completions that share one reading of the clock.
const SHARING_MAX: usize = 8;

/// What a core shares with the others and with the collector.
#[derive(Debug)]
pub(super) struct Shared<'r> {
    /// Why the run is to end.
    pub stop: &'r AtomicU64,
    /// Good completions so far, stored now and then.
    pub progress: &'r AtomicU64,
    /// Whether time is virtual, so that waiting costs nothing.
    pub virtual_time: bool,
    /// How far the tick of a completion may lie before the moment it was handled; see [`CoreLoop::share_ticks`].
    pub tick_error: Ticks,
}

/// One core's loop.
#[derive(Debug)]
pub(super) struct CoreLoop<'r, D> {
    driver: D,
    completed: Completions,
    lanes: Vec<LaneState>,
    slots: Vec<SlotState>,
    /// I/Os that the driver had no room for.
    parked: Vec<Io>,
    sender: Sender,
    packet: Box<Packet>,
    /// The packet's cells while they are being filled.
    cells: Vec<CellFigures>,
    /// Completions that share one reading of the clock; see [`CoreLoop::share_ticks`].
    sharing: usize,
    shared: Shared<'r>,
    schedule: Schedule,
    /// Good completions since the packet was begun, counted apart from the histograms.
    completions: u64,
    total: u64,
    outstanding: u32,
    errors: Vec<(u32, Status, u64)>,
    figures: CoreFigures,
    window_busy: Ticks,
    // Since the packet was begun:
    polls: u64,
    poll_gap_max: Ticks,
    busy: Ticks,
}

/// What a core keeps from point to point.
#[derive(Debug)]
pub(super) struct Kept {
    pub lanes: Vec<LaneState>,
    pub sender: Sender,
    pub packet: Box<Packet>,
    /// Good completions of all points so far.
    pub total: u64,
}

impl<'r, D: Driver> CoreLoop<'r, D> {
    pub(super) fn new(
        core: usize,
        driver: D,
        kept: Kept,
        shared: Shared<'r>,
        point: usize,
        schedule: Schedule,
    ) -> Self {
        let Kept { lanes, sender, mut packet, total } = kept;
        let slots = LaneState::slots(&lanes, point);
        packet.phase = schedule.phase();
        packet.begin = Ticks(0);
        packet.end = Ticks(0);
        Self {
            completed: Completions::with_capacity(slots.len()),
            parked: Vec::with_capacity(slots.len()),
            driver,
            lanes,
            slots,
            sender,
            cells: std::mem::take(&mut packet.cells),
            packet,
            sharing: 1,
            shared,
            schedule,
            completions: 0,
            total,
            outstanding: 0,
            errors: Vec::new(),
            figures: CoreFigures { core, ..CoreFigures::default() },
            window_busy: Ticks(0),
            polls: 0,
            poll_gap_max: Ticks(0),
            busy: Ticks(0),
        }
    }

    /// Runs the point from the first submission to the last completion.
    pub(super) fn run(mut self) -> Kept {
        while self.driver.now() < self.schedule.start() {
            // The cores start together.
            std::hint::spin_loop();
        }
        self.fill();
        self.turn();
        self.finish();
        self.packet.cells = self.cells;
        Kept { lanes: self.lanes, sender: self.sender, packet: self.packet, total: self.total }
    }

    /// Submits one I/O in every slot.
    fn fill(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            let tick = self.driver.now();
            self.outstanding += 1;
            self.launch(slot, tick);
        }
    }

    /// The loop itself, until nothing is outstanding.
    fn turn(&mut self) {
        let mut last = self.driver.now();
        let mut found = false;
        let mut turns = 0u64;
        while self.outstanding > 0 || self.schedule.phase() != Phase::Drain {
            let now = self.driver.now();
            self.account(now.since(last), found);
            last = now;
            if now >= self.schedule.edge() && !self.cross(now) {
                break;
            }
            self.driver.poll(&mut self.completed);
            let count = self.completed.len();
            found = count > 0;
            self.take(count);
            if !self.parked.is_empty() {
                self.retry();
            }
            turns += 1;
            if turns % PUBLISH_EVERY == 0 {
                self.look_around();
            }
        }
    }

    /// Handles what a poll has found, a reading of the clock for every `sharing` completions.
    #[inline(always)]
    fn take(&mut self, count: usize) {
        // Out of `self`, so that nothing done for one completion makes the compiler look for the list anew.
        let mut completed = std::mem::take(&mut self.completed);
        for group in completed.as_slice()[..count].chunks(self.sharing) {
            let tick = self.driver.now();
            if tick >= self.schedule.edge() {
                self.cross(tick);
            }
            self.completions += group.len() as u64;
            if self.schedule.phase() == Phase::Drain {
                group.iter().for_each(|&completion| self.put_away(completion, tick));
            } else {
                group.iter().for_each(|&completion| self.turn_around(completion, tick));
            }
        }
        completed.clear();
        self.completed = completed;
    }

    /// Records one completion, seen at `tick`, and submits the slot's next I/O.
    #[inline(always)]
    fn turn_around(&mut self, completion: Completion, tick: Ticks) {
        self.record(completion, tick);
        self.launch(completion.slot, tick);
    }

    /// Records one completion, seen at `tick`; its slot stays idle.
    #[cold]
    #[inline(never)]
    fn put_away(&mut self, completion: Completion, tick: Ticks) {
        self.record(completion, tick);
        self.outstanding -= 1;
    }

    #[inline(always)]
    fn record(&mut self, completion: Completion, tick: Ticks) {
        let slot = self.slots[completion.slot as usize];
        if completion.status.is_good() {
            self.cells[slot.cell as usize].service.record(tick.0.wrapping_sub(slot.submitted));
        } else {
            self.fail(slot.cell, completion.status);
        }
    }

    /// Submits a slot's next I/O at `tick`.
    #[inline(always)]
    fn launch(&mut self, slot: u32, tick: Ticks) {
        let state = &mut self.slots[slot as usize];
        let (io, cell) = self.lanes[state.lane as usize].next(slot);
        state.cell = cell;
        state.submitted = tick.0;
        if self.driver.submit(io).is_err() {
            self.park(io);
        }
    }

    /// Time since the last poll, by whether that poll found something.
    #[inline(always)]
    fn account(&mut self, gap: Ticks, found: bool) {
        self.polls += 1;
        self.poll_gap_max = self.poll_gap_max.max(gap);
        if found {
            self.busy.0 += gap.0;
        }
    }

    /// At the end of an interval: adds its polls to the window's, and decides how many completions of one poll may share
    /// a reading of the clock in the next: as many as are handled, going by this interval, within `tick_error`. Where an
    /// I/O takes longer than that to handle, as on any network, each has a reading of its own.
    fn close_accounts(&mut self) {
        if self.completions > 0 && self.shared.tick_error.0 > 0 {
            let handling = (self.busy.0 / self.completions).max(1);
            self.sharing = ((self.shared.tick_error.0 / handling + 1) as usize).min(SHARING_MAX);
        }
        if self.schedule.phase() == Phase::Window {
            self.figures.polls += self.polls;
            self.figures.poll_gap_max = self.figures.poll_gap_max.max(self.poll_gap_max);
            self.window_busy.0 += self.busy.0;
            self.figures.completions_per_tick = self.figures.completions_per_tick.max(self.sharing as u32);
        }
        self.polls = 0;
        self.poll_gap_max = Ticks(0);
        self.busy = Ticks(0);
    }

    /// Past an edge: hands the interval over and moves on. False when the drain has taken too long.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, tick: Ticks) -> bool {
        while tick >= self.schedule.edge() {
            if self.schedule.phase() == Phase::Drain {
                return false;
            }
            let mut next = self.schedule;
            next.advance(tick);
            let new_phase = next.phase() != self.schedule.phase();
            let end = self.schedule.edge();
            // What is not handed over goes on in the same packet, whose interval becomes longer.
            self.hand_over(end, new_phase || self.shared.virtual_time);
            self.schedule = next;
            self.packet.phase = next.phase();
            if self.packet.completions == 0 && self.packet.end == Ticks(0) {
                self.packet.begin = next.begin().since(next.start());
            }
        }
        true
    }

    fn hand_over(&mut self, end: Ticks, must: bool) {
        self.close_accounts();
        self.packet.completions += self.completions;
        self.total += self.completions;
        self.completions = 0;
        self.packet.end = end.since(self.schedule.start());
        std::mem::swap(&mut self.packet.cells, &mut self.cells);
        if self.sender.hand_over(&mut self.packet, must) {
            self.packet.end = Ticks(0);
        }
        std::mem::swap(&mut self.packet.cells, &mut self.cells);
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, cell: u32, status: Status) {
        self.completions -= 1;
        self.cells[cell as usize].errors += 1;
        match self.errors.iter_mut().find(|(c, s, _)| (*c, *s) == (cell, status)) {
            Some((.., count)) => *count += 1,
            None => self.errors.push((cell, status, 1)),
        }
        if status == Status::TargetLost {
            let _ =
                self.shared.stop.compare_exchange(GOING, LOST + u64::from(cell), Ordering::Relaxed, Ordering::Relaxed);
            self.look_around();
        }
    }

    #[cold]
    #[inline(never)]
    fn park(&mut self, io: Io) {
        self.figures.back_pressure += 1;
        self.parked.push(io);
    }

    /// Tries the parked I/Os again, oldest first; their submission is when the driver takes them.
    #[cold]
    #[inline(never)]
    fn retry(&mut self) {
        if self.schedule.phase() == Phase::Drain {
            self.outstanding -= self.parked.len() as u32;
            self.parked.clear();
            return;
        }
        let mut taken = 0;
        for &io in &self.parked {
            self.slots[io.slot as usize].submitted = self.driver.now().0;
            if self.driver.submit(io).is_err() {
                break;
            }
            taken += 1;
        }
        self.parked.drain(..taken);
    }

    /// Publishes progress, and ends the window where the run was told to stop.
    #[cold]
    #[inline(never)]
    fn look_around(&mut self) {
        self.shared.progress.store(self.total + self.completions, Ordering::Relaxed);
        if self.shared.stop.load(Ordering::Relaxed) != GOING {
            let now = self.driver.now();
            self.schedule.cut(now);
        }
    }

    /// Sends the last packet of the point.
    fn finish(&mut self) {
        let window = self.schedule.t1().since(self.schedule.t0());
        self.figures.busy = if window.0 > 0 { (self.window_busy.0 as f64 / window.0 as f64).min(1.0) } else { 0.0 };
        let abandoned = self.outstanding;
        self.outstanding = 0;
        self.parked.clear();
        let (figures, errors) = (self.figures.clone(), self.errors.clone());
        self.packet.last = Some(PointEnd { figures, window, errors, abandoned });
        let now = self.driver.now();
        self.hand_over(now, true);
        self.shared.progress.store(self.total, Ordering::Relaxed);
    }
}
