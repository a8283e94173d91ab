//! The loop of one core: poll, and look at the clock. What a poll finds is handled by [`Turn`], from within the poll.
//!
//! Owns driver and turn for the length of a point.

use std::sync::atomic::{AtomicU64, Ordering};

use super::book::Pages;
use super::lane::LaneState;
use super::turn::Turn;
use crate::driver::{Driver, Sink};

/// Polls between two looks at whether the run is to end, and shows of progress; a power of two.
const LOOK_AROUND_EVERY: u64 = 64;

/// One core's loop at one point.
#[derive(Debug)]
pub(super) struct CoreLoop<'r, D> {
    driver: D,
    turn: Turn<'r>,
    /// Good completions so far, for the thread that watches for silence.
    progress: &'r Progress,
}

/// Good completions of one core so far, stored now and then; a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Progress(pub AtomicU64);

impl<'r, D: Driver<Turn<'r>>> CoreLoop<'r, D> {
    pub(super) fn new(driver: D, turn: Turn<'r>, progress: &'r Progress) -> Self {
        Self { driver, turn, progress }
    }

    /// Runs the point from the first submission to the last completion; gives back what the next point needs.
    pub(super) fn run(mut self) -> (Vec<LaneState>, Pages) {
        while self.driver.now() < self.turn.book.start() {
            // The cores start together.
            std::hint::spin_loop();
        }
        self.fill();
        self.poll();
        let now = self.driver.now();
        let abandoned = self.turn.outstanding();
        let Turn { book, lanes, .. } = self.turn;
        self.progress.0.store(book.total(), Ordering::Relaxed);
        (lanes, book.close(now, abandoned))
    }

    /// Sends one I/O in every slot.
    fn fill(&mut self) {
        for slot in 0..self.turn.slots() {
            let io = self.turn.first(slot, self.driver.now());
            if self.driver.submit(io).is_err() {
                self.turn.refuse(io);
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
            self.turn.book.account(now.since(last), found);
            last = now;
            if now >= self.turn.book.edge() && !self.turn.book.cross(now) {
                break;
            }
            self.driver.poll(&mut self.turn);
            if self.turn.has_parked() {
                let driver = &mut self.driver;
                self.turn.retry(|io| {
                    let tick = driver.now();
                    driver.submit(io).is_ok().then_some(tick)
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
