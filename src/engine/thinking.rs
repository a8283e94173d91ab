//! A closed loop that pauses: which slots think, and when each of them sends again.
//!
//! Owns the rule that a slot's next submission is due a think time after its last completion. A slot that thinks is no I/O
//! outstanding. Knows no driver.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::Clock;
use crate::plan::{Lane, Plan};
use crate::workload::{ThinkTimes, stream_seed};

/// The thinking slots of one lane of one core.
#[derive(Debug)]
pub(super) struct Thinking {
    times: ThinkTimes,
    /// When each slot that thinks sends again, the earliest on top; room for every slot.
    due: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Thinking {
    /// Those of `lane`, the `number`-th of the `core`-th core; none where no slot thinks.
    pub(super) fn of(plan: &Plan, clock: &Clock, lane: &Lane, (core, number): (usize, usize)) -> Option<Self> {
        let think_time = plan.workloads[lane.workload].think_time.filter(|_| lane.arrivals.is_none())?;
        Some(Self {
            times: ThinkTimes::new(think_time, clock.ticks_per_s(), stream_seed(!plan.seed, core, number)),
            due: BinaryHeap::with_capacity(lane.depths.iter().max().map_or(0, |&depth| depth as usize)),
        })
    }

    /// Begins a point at tick `start`, with these slots: each at some moment of a think time, or they would go on together.
    pub(super) fn begin(&mut self, start: u64, slots: impl Iterator<Item = u32>) {
        self.due.clear();
        for slot in slots {
            self.due.push(Reverse((start.saturating_add(self.times.rest_of_one()), slot)));
        }
    }

    /// A slot's I/O has ended at `tick`.
    #[inline(always)]
    pub(super) fn think(&mut self, slot: u32, tick: u64) {
        self.due.push(Reverse((tick.saturating_add(self.times.draw()), slot)));
    }

    /// Tick at which the next slot sends again.
    #[inline(always)]
    pub(super) fn next_due(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |Reverse((due, _))| *due)
    }

    /// A slot that sends again at `now`, if there is one.
    #[inline(always)]
    pub(super) fn take(&mut self, now: u64) -> Option<u32> {
        if self.next_due() > now {
            return None;
        }
        self.due.pop().map(|Reverse((_, slot))| slot)
    }
}
