//! The book one core keeps of a point: which phase and interval it is, what went into it, when to hand it over.
//!
//! Owns schedule, packet and accounts. Recording a completion is hot; everything else here is done at edges of intervals
//! or on errors, in functions kept out of line. Knows no driver.

use super::handover::{Packet, PointEnd, Sender, Tally};
use super::off_core::OffCore;
use super::schedule::Schedule;
use super::{BlankReads, CoreFigures, Leftover, Phase};
use crate::driver::Status;
use crate::units::Ticks;

/// Most completions that share one reading of the clock.
const SHARING_MAX: u64 = 8;

/// What a core records of one point.
#[derive(Debug)]
pub(super) struct Book {
    schedule: Schedule,
    sender: Sender,
    packet: Box<Packet>,
    /// The packet's tally while it is being filled.
    tally: Tally,
    /// Good completions since the packet was begun, counted apart from the histograms.
    completions: u64,
    errors: Vec<(u32, Status, u64)>,
    figures: CoreFigures,
    /// The window's time in polls: with completions, without, and with the core taken away.
    spent: Spent,
    /// Completions of a poll that share a reading of the clock, at least 1; see [`Book::close_accounts`].
    sharing: u32,
    /// How far the tick of a completion may lie before the moment it was handled; zero: not at all.
    tick_error: Ticks,
    /// Every interval must be handed over at its edge: time stands still meanwhile.
    patient: bool,
    /// Good completions of all packets so far.
    total: u64,
    // Since the packet was begun:
    polls: u64,
    poll_gap_max: Ticks,
    now_spent: Spent,
    off_core: OffCore,
    /// The part of a long gap that lies past the edge that is about to be crossed, and the whole gap.
    carried: Option<(Spent, Ticks)>,
}

/// Where a core's time went.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    busy: u64,
    idle: u64,
    off: u64,
}

impl Spent {
    /// Counts time that the core had.
    #[inline(always)]
    fn add(&mut self, time: Ticks, found: bool) {
        *(if found { &mut self.busy } else { &mut self.idle }) += time.0;
    }

    /// Counts what came after.
    fn append(&mut self, later: Self) {
        let Self { busy, idle, off } = later;
        self.busy += busy;
        self.idle += idle;
        self.off += off;
    }
}

/// The ends of a core's hand-over, which it keeps from point to point.
#[derive(Debug)]
pub(super) struct Pages {
    pub sender: Sender,
    pub packet: Box<Packet>,
    /// Good completions of all points so far.
    pub total: u64,
}

impl Book {
    pub(super) fn open(core: usize, pages: Pages, schedule: Schedule, tick_error: Ticks, off_core: OffCore) -> Self {
        let Pages { sender, mut packet, total } = pages;
        packet.phase = schedule.phase();
        packet.begin = Ticks(0);
        packet.end = Ticks(0);
        Self {
            schedule,
            sender,
            tally: std::mem::take(&mut packet.tally),
            packet,
            completions: 0,
            errors: Vec::new(),
            figures: CoreFigures { core, ..CoreFigures::default() },
            spent: Spent::default(),
            sharing: 1,
            tick_error,
            patient: off_core.is_virtual(),
            total,
            polls: 0,
            poll_gap_max: Ticks(0),
            now_spent: Spent::default(),
            off_core,
            carried: None,
        }
    }

    /// Counts one good completion that took `ticks`.
    #[inline(always)]
    pub(super) fn record(&mut self, cell: u32, ticks: u64) {
        self.tally.cells[cell as usize].service.record(ticks);
        self.completions += 1;
    }

    /// Counts the blocks of a completion that [`Book::record`] has counted.
    #[inline(always)]
    pub(super) fn record_blocks(&mut self, cell: u32, blocks: u32) {
        self.tally.cells[cell as usize].blocks += u64::from(blocks);
    }

    /// Counts the response latency of a completion that [`Book::record`] has counted.
    #[inline(always)]
    pub(super) fn record_response(&mut self, cell: u32, ticks: u64) {
        if let Some(response) = &mut self.tally.cells[cell as usize].response {
            response.record(ticks);
        }
    }

    /// Counts `count` arrivals of a workload that have come due, `backlog` of them waiting together with older ones.
    #[inline(always)]
    pub(super) fn arrive(&mut self, workload: usize, count: u64, backlog: u64) {
        if let Some(arrivals) = &mut self.tally.arrivals[workload] {
            arrivals.offered += count;
            arrivals.backlog_max = arrivals.backlog_max.max(backlog);
        }
    }

    /// Counts an arrival that was sent `slip` ticks after it was due.
    #[inline(always)]
    pub(super) fn send(&mut self, workload: usize, slip: u64) {
        if let Some(arrivals) = &mut self.tally.arrivals[workload] {
            arrivals.sent += 1;
            arrivals.slip.record(slip);
        }
    }

    /// First tick after the present interval.
    #[inline(always)]
    pub(super) fn edge(&self) -> Ticks {
        self.schedule.edge()
    }

    /// First tick of the point.
    pub(super) fn start(&self) -> Ticks {
        self.schedule.start()
    }

    /// Whether the window is over, and nothing more is to be sent.
    #[inline(always)]
    pub(super) fn draining(&self) -> bool {
        self.schedule.phase() == Phase::Drain
    }

    /// Completions that may share a reading of the clock.
    #[inline(always)]
    pub(super) fn sharing(&self) -> u32 {
        self.sharing
    }

    /// Good completions of all points so far.
    pub(super) fn total(&self) -> u64 {
        self.total + self.completions
    }

    /// Counts a poll: the time since the one before, and whether that one had found something.
    #[inline(always)]
    pub(super) fn account(&mut self, now: Ticks, gap: Ticks, found: bool) {
        self.polls += 1;
        if gap > self.off_core.suspicious() {
            self.account_long(now, gap, found);
            return;
        }
        self.poll_gap_max = self.poll_gap_max.max(gap);
        self.now_spent.add(gap, found);
    }

    /// The same for a gap so long that the core may have been taken away in it: that part is nobody's work. What of it lies
    /// past the edge of the interval counts on its other side.
    #[cold]
    #[inline(never)]
    fn account_long(&mut self, now: Ticks, gap: Ticks, found: bool) {
        let off = self.off_core.within(gap);
        let past = now.since(self.schedule.edge()).min(gap);
        let share = past.0 as f64 / gap.0 as f64;
        let off_past = (off.0 as f64 * share) as u64;
        let mut later = Spent { off: off_past, ..Spent::default() };
        later.add(past.since(Ticks(off_past)), found);
        self.now_spent.off += off.0 - off_past;
        self.now_spent.add(gap.since(off).since(past.since(Ticks(off_past))), found);
        self.poll_gap_max = self.poll_gap_max.max(gap);
        self.carried = (past.0 > 0).then_some((later, gap));
    }

    /// Counts a submission that the driver had no room for.
    pub(super) fn count_back_pressure(&mut self) {
        self.figures.back_pressure += 1;
    }

    /// Past an edge: hands the interval over and moves on, past this edge if not past more. False when the drain has
    /// taken too long.
    pub(super) fn cross(&mut self, tick: Ticks) -> bool {
        if self.draining() {
            return false;
        }
        let mut next = self.schedule;
        next.advance(tick);
        let new_phase = next.phase() != self.schedule.phase();
        let end = self.schedule.edge();
        // What is not handed over goes on in the same packet, whose interval becomes longer.
        let fresh = self.hand_over(end, new_phase || self.patient);
        self.schedule = next;
        self.packet.phase = next.phase();
        if fresh {
            self.packet.begin = next.begin().since(next.start());
        }
        true
    }

    /// Ends the window (and the ramp, if still in it) at `tick`.
    #[cold]
    #[inline(never)]
    pub(super) fn cut(&mut self, tick: Ticks) {
        self.schedule.cut(tick);
    }

    /// What lanes that end have still to send.
    pub(super) fn leave(&mut self, left: Vec<u64>) {
        self.figures.left = left;
    }

    /// What the last reads of each lane have brought.
    pub(super) fn look(&mut self, blank_reads: Vec<BlankReads>) {
        self.figures.blank_reads = blank_reads;
    }

    /// Sends the last packet of the point. `abandoned` I/Os never completed; `leftovers` are those of the open loops, each
    /// with its workload.
    pub(super) fn close(mut self, now: Ticks, abandoned: u32, leftovers: Vec<(usize, Leftover)>) -> Pages {
        let window = self.schedule.t1().since(self.schedule.t0());
        // Gaps reach over the window's edges, so it is by their own sum that they are shares.
        let Spent { busy, idle, off } = self.spent;
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        self.figures.busy = share(busy, busy + idle);
        self.figures.off_core = share(off, busy + idle + off);
        let (figures, errors) = (self.figures.clone(), std::mem::take(&mut self.errors));
        self.packet.last = Some(PointEnd { figures, window, errors, abandoned, leftovers });
        self.hand_over(now, true);
        self.packet.tally = self.tally;
        Pages { sender: self.sender, packet: self.packet, total: self.total }
    }

    /// True when the packet went; otherwise it goes on being filled.
    fn hand_over(&mut self, end: Ticks, must: bool) -> bool {
        self.close_accounts();
        self.packet.completions += self.completions;
        self.total += self.completions;
        self.completions = 0;
        self.packet.end = end.since(self.schedule.start());
        std::mem::swap(&mut self.packet.tally, &mut self.tally);
        let gone = self.sender.hand_over(&mut self.packet, must);
        std::mem::swap(&mut self.packet.tally, &mut self.tally);
        gone
    }

    /// At the end of an interval: adds its polls to the window's, and decides how many completions of one poll may share
    /// a reading of the clock in the next: as many as are handled, going by this interval, within `tick_error`. Where an
    /// I/O takes longer than that to handle, as on any network, each has a reading of its own.
    fn close_accounts(&mut self) {
        if self.completions > 0 && self.tick_error.0 > 0 {
            let handling = (self.now_spent.busy / self.completions).max(1);
            self.sharing = (self.tick_error.0 / handling + 1).min(SHARING_MAX) as u32;
        }
        if self.schedule.phase() == Phase::Window {
            self.figures.polls += self.polls;
            self.figures.poll_gap_max = self.figures.poll_gap_max.max(self.poll_gap_max);
            self.spent.append(self.now_spent);
            self.figures.completions_per_tick = self.figures.completions_per_tick.max(self.sharing);
        }
        self.polls = 0;
        (self.now_spent, self.poll_gap_max) = self.carried.take().unwrap_or_default();
    }

    /// Counts one completion with an error.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, cell: u32, status: Status) {
        self.tally.cells[cell as usize].errors += 1;
        match self.errors.iter_mut().find(|(c, s, _)| (*c, *s) == (cell, status)) {
            Some((.., count)) => *count += 1,
            None => self.errors.push((cell, status, 1)),
        }
    }
}
