//! The loop of one core: poll, and look at the clock. What a poll finds is handled by [`Turn`], from within the poll.
//!
//! Owns driver and turn for the length of a point.

use std::sync::atomic::{AtomicU64, Ordering};

use super::blank;
use super::book::Pages;
use super::lane::Source;
use super::turn::Turn;
use crate::driver::{Driver, Sink};
use crate::plan::{CorePlan, Plan};
use crate::units::Ticks;

/// Polls between two looks at whether the run is to end, and shows of progress; a power of two.
const LOOK_AROUND_EVERY: u64 = 64;

/// One core's loop at one point.
#[derive(Debug)]
pub(super) struct CoreLoop<'r, D, L> {
    driver: D,
    turn: Turn<'r, L>,
    /// Good completions so far, for the thread that watches for silence.
    progress: &'r Progress,
}

/// Good completions of one core so far, stored now and then; a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Progress(pub AtomicU64);

impl<'r, L: Source, D: Driver<Turn<'r, L>>> CoreLoop<'r, D, L> {
    pub(super) fn new(driver: D, turn: Turn<'r, L>, progress: &'r Progress) -> Self {
        Self { driver, turn, progress }
    }

    /// Runs a point of the plan on this core from the first submission to the last completion; gives back what the next
    /// point needs.
    pub(super) fn run(mut self, plan: &Plan, core: &CorePlan, point: usize) -> (L, Pages) {
        while self.driver.now() < self.turn.book.start() {
            // The cores start together.
            std::hint::spin_loop();
        }
        self.begin(point);
        self.poll();
        let now = self.driver.now();
        let abandoned = self.turn.outstanding();
        self.turn.book.look(blank::look(&self.driver, plan, core, point));
        let Turn { mut book, mut lanes, .. } = self.turn;
        if L::FINITE {
            book.leave(lanes.left());
        }
        let leftovers = lanes.open_loops().map(|(_, open_loop)| (open_loop.workload, open_loop.leftover())).collect();
        self.progress.0.store(book.total(), Ordering::Relaxed);
        (lanes, book.close(now, abandoned, leftovers))
    }

    /// Closed loops: sends one I/O in every slot. Open loops begin with all slots idle, those that pause with a pause.
    fn begin(&mut self, point: usize) {
        let start = self.turn.book.start().0;
        self.turn.lanes.begin_point(Ticks(start));
        let mut slots = 0..;
        for (lane, depth) in (0..).zip(self.turn.lanes.depths(point)) {
            let own = slots.by_ref().take(depth as usize);
            if let Some(open_loop) = self.turn.lanes.open_loop(lane) {
                open_loop.begin(point, start, own);
                continue;
            }
            if let Some(thinking) = self.turn.lanes.thinking(lane) {
                thinking.begin(start, own);
                continue;
            }
            for slot in own {
                let Some((io, tag)) = self.turn.first(slot, lane, self.driver.now()) else { continue };
                if self.driver.submit(io, tag).is_err() {
                    self.turn.refuse(io, tag);
                }
            }
        }
    }

    /// Sends what has arrived, and what slots have thought about long enough.
    #[inline(never)]
    fn arrive(&mut self, now: Ticks) {
        self.turn.arrive(now);
        while let Some((io, tag)) = self.turn.take_arrival(|| self.driver.now()) {
            if self.driver.submit(io, tag).is_err() {
                self.turn.refuse(io, tag);
            }
        }
        if L::THINK {
            self.send_rested();
        }
    }

    fn send_rested(&mut self) {
        loop {
            let now = self.driver.now();
            let Some((io, tag)) = self.turn.take_rested(now) else { break };
            if self.driver.submit(io, tag).is_err() {
                self.turn.refuse(io, tag);
            }
        }
    }

    /// Polls until the window is over and nothing is outstanding.
    fn poll(&mut self) {
        let mut last = self.driver.now();
        let mut polls = 0u64;
        while self.turn.outstanding() > 0 || !self.turn.book.draining() {
            let now = self.driver.now();
            let found = self.turn.begin_poll();
            self.turn.book.account(now, now.since(last), found);
            last = now;
            self.turn.heed_end(now);
            if now >= self.turn.book.edge() && !self.turn.cross(now) {
                break;
            }
            if L::OPEN && self.turn.next_due() <= now {
                self.arrive(now);
            }
            if L::OPEN {
                self.driver.expect(self.turn.next_due().min(self.turn.book.edge()));
            }
            self.driver.poll(&mut self.turn);
            if self.turn.has_parked() {
                let driver = &mut self.driver;
                self.turn.retry(|io, mut tag| {
                    tag.submitted = driver.now().0;
                    driver.submit(io, tag)
                });
            }
            polls += 1;
            if polls % LOOK_AROUND_EVERY == 0 {
                self.progress.0.store(self.turn.book.total(), Ordering::Relaxed);
                self.turn.heed_stop(|| self.driver.now());
            }
        }
    }
}
