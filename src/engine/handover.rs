//! How a core's figures reach the collector: packets that go round two lock-free single-producer single-consumer rings.
//!
//! Owns the rule that a core never waits in mid-window: when no empty packet has come back yet it goes on filling the one
//! it has, and the interval becomes longer; only a change of phase, whose figures must not mix, insists on a fresh one.

use rtrb::{Consumer, Producer, RingBuffer};

use super::{ArrivalFigures, CellFigures, CoreFigures, Leftover, Phase};
use crate::driver::Status;
use crate::plan::Plan;
use crate::stats::TickHistogram;
use crate::units::Ticks;

/// Packets of one core: one being filled, the others on their way or spare.
const PACKETS: usize = 4;

/// Figures of one core over one interval.
#[derive(Debug)]
pub(super) struct Packet {
    pub phase: Phase,
    /// From the start of the point.
    pub begin: Ticks,
    /// From the start of the point.
    pub end: Ticks,
    pub tally: Tally,
    /// Good completions as the loop counted them, independently of the histograms.
    pub completions: u64,
    /// Set in the last packet of a point.
    pub last: Option<PointEnd>,
}

/// What is counted of an interval.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// By cell.
    pub cells: Vec<CellFigures>,
    /// By workload; none for a closed loop.
    pub arrivals: Vec<Option<ArrivalFigures>>,
}

impl Tally {
    /// An empty one for the cells and open loops of a plan; all that is ever allocated.
    pub fn of(plan: &Plan) -> Self {
        let cells = plan.workloads.iter().enumerate().flat_map(|(number, workload)| {
            let response = plan.is_open(number).then(TickHistogram::new);
            let cell = CellFigures { response, ..CellFigures::default() };
            std::iter::repeat_n(cell, workload.cells())
        });
        let open = |number| plan.is_open(number).then(ArrivalFigures::default);
        Self { cells: cells.collect(), arrivals: (0..plan.workloads.len()).map(open).collect() }
    }

    /// Adds what other cores counted in the same span of time.
    pub fn merge(&mut self, other: &Self) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(sum, part)| sum.merge(part));
        for (sum, part) in self.arrivals.iter_mut().zip(&other.arrivals) {
            if let (Some(sum), Some(part)) = (sum, part) {
                sum.merge(part);
            }
        }
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.cells.iter_mut().for_each(CellFigures::clear);
        self.arrivals.iter_mut().flatten().for_each(ArrivalFigures::clear);
    }
}

/// What a core adds when a point is over.
#[derive(Debug, Clone)]
pub(super) struct PointEnd {
    pub figures: CoreFigures,
    pub window: Ticks,
    /// Errors by cell and status over the whole point.
    pub errors: Vec<(u32, Status, u64)>,
    /// I/Os that never completed.
    pub abandoned: u32,
    /// What its open loops had left, each with its workload.
    pub leftovers: Vec<(usize, Leftover)>,
}

/// The core's end of the rings.
#[derive(Debug)]
pub(super) struct Sender {
    full: Producer<Box<Packet>>,
    spare: Consumer<Box<Packet>>,
}

/// The collector's end.
#[derive(Debug)]
pub(super) struct Receiver {
    full: Consumer<Box<Packet>>,
    spare: Producer<Box<Packet>>,
}

/// Both ends, and the first packet to fill.
pub(super) fn pair(plan: &Plan) -> (Sender, Receiver, Box<Packet>) {
    let (full_in, full_out) = RingBuffer::new(PACKETS);
    let (mut spare_in, spare_out) = RingBuffer::new(PACKETS);
    let packet = || {
        Box::new(Packet {
            phase: Phase::Ramp,
            begin: Ticks(0),
            end: Ticks(0),
            tally: Tally::of(plan),
            completions: 0,
            last: None,
        })
    };
    for _ in 1..PACKETS {
        let fits = spare_in.push(packet());
        debug_assert!(fits.is_ok(), "the ring holds all packets");
    }
    (Sender { full: full_in, spare: spare_out }, Receiver { full: full_out, spare: spare_in }, packet())
}

impl Sender {
    /// Swaps the filled packet for an empty one and sends it. False, and nothing done, when only the last spare is left
    /// and `must` is not set; with `must` it waits for one.
    pub(super) fn hand_over(&mut self, filled: &mut Box<Packet>, must: bool) -> bool {
        if !must && self.spare.slots() < 2 {
            return false;
        }
        let empty = loop {
            match self.spare.pop() {
                Ok(empty) => break empty,
                // Nobody will send one back: the run is over, and what is in the packet with it.
                Err(_) if self.spare.is_abandoned() => return false,
                Err(_) => std::thread::yield_now(),
            }
        };
        let filled = std::mem::replace(filled, empty);
        let fits = self.full.push(filled);
        debug_assert!(fits.is_ok(), "the ring holds all packets");
        true
    }
}

impl Receiver {
    /// The next packet, if one has come.
    pub(super) fn receive(&mut self) -> Option<Box<Packet>> {
        self.full.pop().ok()
    }

    /// Whether the core's thread is gone and nothing more will come.
    pub(super) fn is_abandoned(&self) -> bool {
        self.full.is_abandoned() && self.full.is_empty()
    }

    /// Empties a packet and sends it back.
    pub(super) fn give_back(&mut self, mut packet: Box<Packet>) {
        packet.tally.clear();
        packet.completions = 0;
        packet.last = None;
        let fits = self.spare.push(packet);
        debug_assert!(fits.is_ok(), "the ring holds all packets");
    }
}
