//! What writes send: buffers of their own, apart from those that reads fill, and whoever prepares their bytes.
//!
//! Owns the rule which buffer a write gets: the one of the number that the filler names, so that what is sent does not
//! depend on which I/O ended first; where another slot still has that one, the slot's own, made alike. Only buffers that no
//! outstanding slot has are ever written to, so that nothing changes where a device may still read. Knows no transport and
//! nothing of what the bytes are.

use crate::io::Io;

/// Prepares what writes send.
pub trait Fill {
    /// Lays the bytes of buffer `number`, in one that is zeroed.
    fn prime(&mut self, number: u64, bytes: &mut [u8]);

    /// Another write begins: the number of the buffer it is sent from.
    fn begin(&mut self, io: &Io) -> u64;

    /// Makes the bytes of that write, in a buffer that was primed and perhaps sent before. Called just before the write is
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
    /// By slot.
    own: Vec<M>,
    /// By number, a power of two of them, or none: then each slot has its own only.
    ring: Vec<M>,
    /// By number, whether a slot has it.
    taken: Vec<bool>,
    /// By slot, the number it has; none where it has its own.
    has: Vec<Option<u32>>,
    fill: F,
}

impl<M, F> Default for Outgoing<M, F> {
    fn default() -> Self {
        Self { stocks: Vec::new(), places: Vec::new() }
    }
}

impl<M: Memory, F: Fill> Outgoing<M, F> {
    /// Adds a buffer for each of `slots` and a ring of `ring` (a power of two, or 0) more, all from `make`, primed.
    ///
    /// # Errors
    /// That of `make`.
    ///
    /// # Panics
    /// With a ring whose length is no power of two.
    pub fn add<E>(
        &mut self,
        slots: &[u32],
        ring: u32,
        mut fill: F,
        mut make: impl FnMut() -> Result<M, E>,
    ) -> Result<(), E> {
        assert!(ring == 0 || ring.is_power_of_two(), "a ring of {ring}");
        let mut primed = |number: u64| {
            let mut buffer = make()?;
            fill.prime(number, buffer.bytes_mut());
            Ok(buffer)
        };
        // Each its own bytes: without a ring they are all that differs.
        let own = (0..slots.len() as u64).map(&mut primed).collect::<Result<Vec<_>, E>>()?;
        let ring = (0..u64::from(ring)).map(&mut primed).collect::<Result<Vec<_>, E>>()?;
        let stock = self.stocks.len() as u32;
        for (index, &slot) in (0..).zip(slots) {
            let slot = slot as usize;
            if self.places.len() <= slot {
                self.places.resize(slot + 1, Place { stock: u32::MAX, index: 0 });
            }
            self.places[slot] = Place { stock, index };
        }
        let (taken, has) = (vec![false; ring.len()], vec![None; slots.len()]);
        self.stocks.push(Stock { own, ring, taken, has, fill });
        Ok(())
    }

    /// The buffer of a write of `len` bytes, ready to be sent; none where its slot has none, or a shorter one. The slot is
    /// idle, and the buffer stays its own until its next write is prepared.
    #[inline(always)]
    pub fn prepare(&mut self, io: &Io, len: u64) -> Option<&mut M> {
        let place = self.places.get(io.slot as usize)?;
        let Stock { own, ring, taken, has, fill } = self.stocks.get_mut(place.stock as usize)?;
        let number = fill.begin(io);
        let has = has.get_mut(place.index as usize)?;
        if let Some(before) = has.take() {
            *taken.get_mut(before as usize)? = false;
        }
        let wrapped = number as usize & ring.len().wrapping_sub(1);
        let buffer = match taken.get_mut(wrapped) {
            Some(taken) if !*taken => {
                *taken = true;
                *has = Some(wrapped as u32);
                ring.get_mut(wrapped)?
            }
            other => {
                let alike = other.is_some();
                let buffer = own.get_mut(place.index as usize)?;
                if alike {
                    copy(ring.get_mut(wrapped)?, buffer);
                }
                buffer
            }
        };
        fill.fill(io, buffer.bytes_mut().get_mut(..len as usize)?);
        Some(buffer)
    }
}

/// Rare: an I/O takes longer than all of a ring. Its buffer is only read, here as by the device.
#[cold]
#[inline(never)]
fn copy<M: Memory>(from: &mut M, to: &mut M) {
    to.bytes_mut().copy_from_slice(from.bytes_mut());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts writes, and writes the number of the buffer and the address in the first two bytes.
    #[derive(Default)]
    struct Counting(u64);

    impl Fill for Counting {
        fn prime(&mut self, number: u64, bytes: &mut [u8]) {
            bytes[0] = number as u8;
        }

        fn begin(&mut self, _io: &Io) -> u64 {
            self.0 += 1;
            self.0 - 1
        }

        fn fill(&mut self, io: &Io, bytes: &mut [u8]) {
            bytes[1] = io.lba as u8;
        }
    }

    fn write(slot: u32, lba: u64) -> Io {
        Io { slot, target: 0, op: crate::io::Operation::Write, lba, blocks: 1 }
    }

    fn outgoing(slots: &[u32], ring: u32) -> Outgoing<Box<[u8]>, Counting> {
        let mut outgoing = Outgoing::default();
        outgoing.add(slots, ring, Counting::default(), || Ok::<_, ()>(vec![0; 8].into_boxed_slice())).expect("memory");
        outgoing
    }

    #[test]
    fn what_is_sent_depends_on_the_order_of_writes_and_not_on_the_slots() {
        for slots in [[0, 0, 0, 0, 1, 0, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1], [2, 2, 1, 1, 0, 0, 1, 2]] {
            let mut outgoing = outgoing(&[0, 1, 2], 4);
            let sent = slots.map(|slot| outgoing.prepare(&write(slot, 9), 8).map(|buffer| (buffer[0], buffer[1])));
            assert_eq!(sent.map(Option::unwrap), [0, 1, 2, 3, 0, 1, 2, 3].map(|number| (number, 9)), "{slots:?}");
        }
    }

    #[test]
    fn the_buffer_of_an_outstanding_slot_is_never_another_slots() {
        let mut outgoing = outgoing(&[0, 1], 2);
        let held = outgoing.prepare(&write(1, 1), 8).expect("one").as_ptr();
        for _ in 0..9 {
            assert_ne!(outgoing.prepare(&write(0, 2), 8).expect("one").as_ptr(), held);
        }
    }

    #[test]
    fn without_a_ring_each_slot_has_its_own() {
        let mut outgoing = outgoing(&[0, 1], 0);
        let first =
            outgoing.prepare(&write(0, 7), 8).map(|buffer| (buffer.as_ptr(), buffer[0], buffer[1])).expect("one");
        let other =
            outgoing.prepare(&write(1, 8), 8).map(|buffer| (buffer.as_ptr(), buffer[0], buffer[1])).expect("one");
        assert_eq!((first.1, first.2, other.1, other.2), (0, 7, 1, 8));
        assert_ne!(first.0, other.0);
        assert_eq!(outgoing.prepare(&write(0, 9), 8).map(|buffer| buffer.as_ptr()), Some(first.0));
    }

    #[test]
    fn a_slot_without_a_buffer_or_with_a_shorter_one_gets_none() {
        let mut outgoing = outgoing(&[1], 0);
        assert!(outgoing.prepare(&write(0, 0), 8).is_none());
        assert!(outgoing.prepare(&write(2, 0), 8).is_none());
        assert!(outgoing.prepare(&write(1, 0), 9).is_none());
        assert_eq!(outgoing.prepare(&write(1, 7), 8).map(|buffer| buffer[1]), Some(7));
    }
}
