//! What writes send: buffers of their own, apart from those that reads fill, and whoever prepares their bytes.
//!
//! Owns the rule which buffer a write gets: the slot's former one goes among the spare ones, and the spare one that has
//! been there longest becomes the slot's. Only buffers of idle slots and spare ones are ever touched, so that nothing is
//! written where a device may still read. Knows no transport and nothing of what the bytes are.

use crate::io::Io;

/// Prepares what writes send.
pub trait Fill {
    /// Fills a fresh, zeroed buffer, before it is used for the first time.
    fn prime(&mut self, bytes: &mut [u8]);

    /// Makes the bytes of a write, in a buffer that was primed and perhaps sent before. Called just before the write is
    /// sent, and again where it has to be sent again.
    fn fill(&mut self, io: &Io, bytes: &mut [u8]);
}

/// Memory that writes are sent from.
pub trait Memory {
    /// Its bytes, while nobody else has to do with them.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl Memory for Box<[u8]> {
    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// The buffers that the writes of one core are sent from.
#[derive(Debug)]
pub struct Outgoing<M, F> {
    stocks: Vec<Stock<M, F>>,
    /// By slot.
    places: Vec<Place>,
}

/// Where a slot's buffer is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Index into the stocks; beyond them for a slot without a buffer here.
    stock: u32,
    index: u32,
}

/// Buffers of one size that are filled in one way.
#[derive(Debug)]
struct Stock<M, F> {
    of_slots: Vec<M>,
    spare: Vec<M>,
    /// The spare one that is next.
    next: usize,
    fill: F,
}

impl<M, F> Default for Outgoing<M, F> {
    fn default() -> Self {
        Self { stocks: Vec::new(), places: Vec::new() }
    }
}

impl<M: Memory, F: Fill> Outgoing<M, F> {
    /// Adds a buffer for each of `slots` and `spare` more, all from `make`, primed.
    ///
    /// # Errors
    /// That of `make`.
    pub fn add<E>(
        &mut self,
        slots: &[u32],
        spare: u32,
        mut fill: F,
        mut make: impl FnMut() -> Result<M, E>,
    ) -> Result<(), E> {
        let mut primed = || {
            let mut buffer = make()?;
            fill.prime(buffer.bytes_mut());
            Ok(buffer)
        };
        let of_slots = slots.iter().map(|_| primed()).collect::<Result<Vec<_>, E>>()?;
        let spare = (0..spare).map(|_| primed()).collect::<Result<Vec<_>, E>>()?;
        let stock = self.stocks.len() as u32;
        for (index, &slot) in (0..).zip(slots) {
            let slot = slot as usize;
            if self.places.len() <= slot {
                self.places.resize(slot + 1, Place { stock: u32::MAX, index: 0 });
            }
            self.places[slot] = Place { stock, index };
        }
        self.stocks.push(Stock { of_slots, spare, next: 0, fill });
        Ok(())
    }

    /// The buffer of a write of `len` bytes, ready to be sent; none where its slot has none, or a shorter one. The slot is
    /// idle, and the buffer stays its own until its next write is prepared.
    #[inline(always)]
    pub fn prepare(&mut self, io: &Io, len: u64) -> Option<&mut M> {
        let place = self.places.get(io.slot as usize)?;
        let Stock { of_slots, spare, next, fill } = self.stocks.get_mut(place.stock as usize)?;
        let buffer = of_slots.get_mut(place.index as usize)?;
        if let Some(other) = spare.get_mut(*next) {
            std::mem::swap(buffer, other);
            *next = if *next + 1 == spare.len() { 0 } else { *next + 1 };
        }
        fill.fill(io, buffer.bytes_mut().get_mut(..len as usize)?);
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts primings and fillings in the first two bytes.
    #[derive(Default)]
    struct Counting(u8);

    impl Fill for Counting {
        fn prime(&mut self, bytes: &mut [u8]) {
            self.0 += 1;
            bytes[0] = self.0;
        }

        fn fill(&mut self, io: &Io, bytes: &mut [u8]) {
            bytes[1] = io.lba as u8;
        }
    }

    fn write(slot: u32, lba: u64) -> Io {
        Io { slot, target: 0, op: crate::io::Operation::Write, lba, blocks: 1 }
    }

    fn outgoing(slots: &[u32], spare: u32) -> Outgoing<Box<[u8]>, Counting> {
        let mut outgoing = Outgoing::default();
        outgoing.add(slots, spare, Counting::default(), || Ok::<_, ()>(vec![0; 8].into_boxed_slice())).expect("memory");
        outgoing
    }

    #[test]
    fn a_buffer_comes_back_only_after_all_spare_ones() {
        let mut outgoing = outgoing(&[0, 1], 3);
        let mut used = |slot| outgoing.prepare(&write(slot, 9), 8).map(|buffer| (buffer[0], buffer[1])).expect("one");
        let in_turn = [0, 0, 0, 0, 1, 0].map(&mut used);
        assert_eq!(in_turn, [(3, 9), (4, 9), (5, 9), (1, 9), (3, 9), (4, 9)]);
    }

    #[test]
    fn the_buffer_of_an_outstanding_slot_is_never_another_slots() {
        let mut outgoing = outgoing(&[0, 1], 1);
        let held = outgoing.prepare(&write(1, 1), 8).map(|buffer| buffer[0]);
        for _ in 0..5 {
            assert_ne!(outgoing.prepare(&write(0, 2), 8).map(|buffer| buffer[0]), held);
        }
    }

    #[test]
    fn a_slot_without_a_buffer_or_with_a_shorter_one_gets_none() {
        let mut outgoing = outgoing(&[1], 0);
        assert!(outgoing.prepare(&write(0, 0), 8).is_none());
        assert!(outgoing.prepare(&write(2, 0), 8).is_none());
        assert!(outgoing.prepare(&write(1, 0), 9).is_none());
        assert_eq!(outgoing.prepare(&write(1, 7), 8).map(|buffer| (buffer[0], buffer[1])), Some((1, 7)));
    }
}
