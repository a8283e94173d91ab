//! A generator's I/Os, drawn some at a time.
//!
//! Owns the store between generator and loop. Draws in a row do not wait for each other, and their code stays out of the
//! loop, so that patterns that take several steps an I/O cost the loop little more than the plainest one.

use super::{Generator, NextIo};
use crate::plan::Op;
use crate::units::{Lba, Ticks};

/// I/Os drawn at a time.
const AHEAD: usize = 64;

/// The same I/Os as those of its generator, in the same order.
#[derive(Debug, Clone)]
pub struct Batch {
    generator: Generator,
    drawn: [NextIo; AHEAD],
    taken: usize,
}

impl Batch {
    /// Nothing is drawn yet.
    #[must_use]
    pub fn new(generator: Generator) -> Self {
        let none = NextIo { target: 0, cell: 0, op: Op::Read, lba: Lba(0), blocks: 0 };
        Self { generator, drawn: [none; AHEAD], taken: AHEAD }
    }

    /// What it draws from.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// A point begins at `start`; see [`Generator::begin_point`].
    pub fn begin_point(&mut self, start: Ticks) {
        self.generator.begin_point(start);
    }

    /// The next I/O; `now` counts when some more have to be drawn.
    #[inline(always)]
    pub fn next_io(&mut self, now: Ticks) -> NextIo {
        if self.taken >= AHEAD {
            self.draw(now);
        }
        let io = self.drawn[self.taken];
        self.taken += 1;
        io
    }

    #[inline(never)]
    fn draw(&mut self, now: Ticks) {
        self.generator.at(now);
        for io in &mut self.drawn {
            *io = self.generator.next_io();
        }
        self.taken = 0;
    }
}
