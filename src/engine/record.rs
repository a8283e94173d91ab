//! What the engine hands on: figures of one core, one interval, one point, still in ticks.
//!
//! Owns these types and how they add up. Knows no driver and no result format. Figures of a phase or an interval are
//! kept by cell (`Plan::cell`: workload, target, direction).

use crate::stats::{ROUNDS, TickHistogram};
use crate::units::Ticks;

/// Latencies and errors of one cell.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
pub struct CellFigures {
    /// Service latency of every good completion; its count is the number of completions.
    pub service: TickHistogram,
    /// Response latency of the same completions; none in a closed loop, where nothing is scheduled.
    pub response: Option<TickHistogram>,
    /// Completions with an error status; never in the histogram.
    pub errors: u64,
    /// Blocks of the good completions; of use where sizes are mixed, and counted there at least (`Plan::cell_bytes`).
    pub blocks: u64,
}

impl CellFigures {
    /// Adds the figures of `other`.
    pub fn merge(&mut self, other: &Self) {
        let Self { service, response, errors, blocks } = other;
        self.service.merge(service);
        match (&mut self.response, response) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        self.errors += errors;
        self.blocks += blocks;
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.service.clear();
        self.response.iter_mut().for_each(TickHistogram::clear);
        self.errors = 0;
        self.blocks = 0;
    }
}

/// What became of the arrivals of one workload, an open loop.
#[derive(Debug, Clone, Default)]
pub struct ArrivalFigures {
    /// Arrivals that came due.
    pub offered: u64,
    /// Arrivals that were sent, whenever they had come due.
    pub sent: u64,
    /// From the scheduled arrival to the submission, of all that were sent: lateness of the loop and waiting for others
    /// to complete, where as many as may be are outstanding.
    pub slip: TickHistogram,
    /// Most arrivals that were due and not sent, at any moment; over several cores the sum of each one's most.
    pub backlog_max: u64,
}

impl ArrivalFigures {
    /// Adds what other cores did in the same span of time.
    pub fn merge(&mut self, other: &Self) {
        self.backlog_max += other.backlog_max;
        self.add(other);
    }

    /// Adds what came before or after.
    pub fn append(&mut self, other: &Self) {
        self.backlog_max = self.backlog_max.max(other.backlog_max);
        self.add(other);
    }

    fn add(&mut self, other: &Self) {
        let Self { offered, sent, slip, backlog_max: _ } = other;
        self.offered += offered;
        self.sent += sent;
        self.slip.merge(slip);
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.offered = 0;
        self.sent = 0;
        self.slip.clear();
        self.backlog_max = 0;
    }
}

/// What an open loop had left when its point was over, by books of its own: it counts what waits and which slots are
/// idle apart from [`ArrivalFigures`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftover {
    /// Arrivals that had come due and were not sent.
    pub waiting: u64,
    /// Arrivals that were sent and never ended: never answered, lost with their target, or refused by a full queue until
    /// the window was over.
    pub unanswered: u64,
}

impl Leftover {
    /// Adds what other cores had left.
    pub fn merge(&mut self, other: &Self) {
        let Self { waiting, unanswered } = other;
        self.waiting += waiting;
        self.unanswered += unanswered;
    }
}

/// One of the [`ROUNDS`] rounds of the window, by which it is judged whether the window was steady.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// Its length; zero when no interval fell into it.
    pub span: Ticks,
    /// Good completions by cell.
    pub cells: Vec<RoundCell>,
}

/// Sums over the good completions of one cell in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundCell {
    /// How many there were.
    pub completions: u64,
    /// Sum of their service latencies, in ticks.
    pub service_ticks: u128,
    /// Sum of their response latencies, in ticks; 0 in a closed loop.
    pub response_ticks: u128,
}

/// When a completion was seen, seen from the measuring window `[t0, t1)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before `t0`.
    Ramp,
    /// Within `[t0, t1)`.
    Window,
    /// From `t1` until nothing is outstanding.
    Drain,
}

/// What one core did at one point.
#[derive(Debug, Clone, Default)]
pub struct CoreFigures {
    /// The core's number.
    pub core: usize,
    /// Share of the time for which the core ran this loop in the window that was spent in polls that found completions
    /// (and in handling them), 0 to 1.
    pub busy: f64,
    /// Share of the window for which something else had the core: other programs, the hypervisor; 0 to 1.
    pub off_core: f64,
    /// Longest time between two polls within the window.
    pub poll_gap_max: Ticks,
    /// Number of polls in the window.
    pub polls: u64,
    /// Most completions of one poll that shared a reading of the clock; 1 where each had its own.
    pub completions_per_tick: u32,
    /// Submissions that the driver refused because a queue was full (retried; not errors).
    pub back_pressure: u64,
    /// By lane: I/Os of its budget that it has still to send after the point; empty where lanes have no end.
    pub left: Vec<u64>,
    /// By lane: what the last reads of its slots brought, seen when the point was over.
    pub blank_reads: Vec<BlankReads>,
}

/// What reads have brought, by a sample of them: the last one of each slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlankReads {
    /// Reads that were looked at.
    pub samples: u64,
    /// Those that brought nothing but bytes 00h, or nothing but FFh.
    pub blank: u64,
}

impl BlankReads {
    /// Adds other samples.
    pub fn merge(&mut self, other: &Self) {
        let Self { samples, blank } = other;
        self.samples += samples;
        self.blank += blank;
    }
}

/// One error status that was seen, how often, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCount {
    /// Cell of the I/O.
    pub cell: usize,
    /// The status in words.
    pub status: String,
    /// How often, over ramp, window and drain.
    pub count: u64,
}

/// The figures of all cores over one interval of the window (or of the ramp).
#[derive(Debug, Clone)]
pub struct IntervalFigures {
    /// Start, from the start of the point (ramp included).
    pub start: Ticks,
    /// End, likewise.
    pub end: Ticks,
    /// Ramp or window.
    pub phase: Phase,
    /// Completions and errors by cell, merged over cores.
    pub cells: Vec<CellFigures>,
    /// By workload, merged over cores; none for a closed loop.
    pub arrivals: Vec<Option<ArrivalFigures>>,
    /// By workload: arrivals that were due and not sent when it ended; 0 for a closed loop.
    pub backlog: Vec<u64>,
}

/// Everything that one point measured, merged over cores.
#[derive(Debug, Clone)]
pub struct PointFigures {
    /// Index of the point in the plan.
    pub point: usize,
    /// Length of the window that was really measured (shorter when interrupted).
    pub window: Ticks,
    /// Completions by cell in the ramp.
    pub ramp: Vec<CellFigures>,
    /// By cell in the window.
    pub cells: Vec<CellFigures>,
    /// By cell in the drain.
    pub drain: Vec<CellFigures>,
    /// By workload in the ramp; none for a closed loop.
    pub ramp_arrivals: Vec<Option<ArrivalFigures>>,
    /// By workload in the window; none for a closed loop.
    pub arrivals: Vec<Option<ArrivalFigures>>,
    /// By workload at the end; none for a closed loop.
    pub leftovers: Vec<Option<Leftover>>,
    /// The window in rounds of equal length, as far as its intervals allow.
    pub rounds: [Round; ROUNDS],
    /// By core.
    pub cores: Vec<CoreFigures>,
    /// Errors by status.
    pub errors: Vec<ErrorCount>,
    /// Number of intervals in the window, and the sum of their completions (conservation check).
    pub intervals: usize,
    /// Sum of the completions of all intervals of the window.
    pub interval_completions: u64,
    /// Why it ended early, if it did: `interrupted`, the target that was lost, the rate that could not be followed.
    pub ended_early: Option<String>,
    /// Whether that is because the targets could not follow.
    pub overloaded: bool,
}
