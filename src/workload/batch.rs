//! A generator's I/Os, drawn some at a time.
//!
//! Owns the store between generator and loop. Draws in a row do not wait for each other, and their code stays out of the
//! loop, so that patterns that take several steps an I/O cost the loop little more than the plainest one.

use super::{Generator, NextIo};
use crate::units::{Lba, Ticks};

/// I/Os drawn at a time.
const AHEAD: usize = 64;

/// The same I/Os as those of its generator, in the same order.
#[derive(Debug, Clone)]
pub struct Batch {
    blocks: [u64; AHEAD],
    kinds: [u32; AHEAD],
    taken: usize,
    generator: Generator,
}

/// A [`Batch`] of I/Os that differ in their address only: the same I/Os by a shorter way.
#[derive(Debug, Clone)]
pub struct SoleBatch {
    first: NextIo,
    batch: Batch,
}

impl Batch {
    /// Nothing is drawn yet.
    #[must_use]
    pub fn new(generator: Generator) -> Self {
        Self { generator, blocks: [0; AHEAD], kinds: [0; AHEAD], taken: AHEAD }
    }

    /// What it draws from.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The same I/Os by the shorter way, where that is possible.
    #[must_use]
    pub fn sole(&self) -> Option<SoleBatch> {
        self.generator.sole().map(|first| SoleBatch { first, batch: self.clone() })
    }

    /// A point begins at `start`; see [`Generator::begin_point`].
    pub fn begin_point(&mut self, start: Ticks) {
        self.generator.begin_point(start);
    }

    /// The next I/O; `now` counts when some more have to be drawn.
    #[inline(always)]
    pub fn next_io(&mut self, now: Ticks) -> NextIo {
        let taken = self.take(now);
        NextIo { lba: Lba(self.blocks[taken]), ..self.generator.kinds()[self.kinds[taken] as usize] }
    }

    #[inline(always)]
    fn take(&mut self, now: Ticks) -> usize {
        if self.taken >= AHEAD {
            self.draw(now);
        }
        let taken = self.taken % AHEAD;
        self.taken += 1;
        taken
    }

    #[inline(never)]
    fn draw(&mut self, now: Ticks) {
        self.generator.at(now);
        self.generator.fill(&mut self.blocks, &mut self.kinds);
        self.taken = 0;
    }
}

impl SoleBatch {
    /// A point begins at `start`; see [`Generator::begin_point`].
    pub fn begin_point(&mut self, start: Ticks) {
        self.batch.begin_point(start);
    }

    /// The next I/O; `now` counts when some more have to be drawn.
    #[inline(always)]
    pub fn next_io(&mut self, now: Ticks) -> NextIo {
        let taken = self.batch.take(now);
        NextIo { lba: Lba(self.batch.blocks[taken]), ..self.first }
    }
}
