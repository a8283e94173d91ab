//! Rigel's own null driver: completes everything at the next poll and moves nothing; what writes would carry is made all
//! the same. What the engine reaches on it is the engine's ceiling.

use super::outgoing::{Outgoing, outgoing};
use super::{Backend, CoreOrder, Driver, DriverError, Full, Io, Operation, Sink, Status};
use crate::clock;
use crate::facts::{DeviceFacts, Supports};
use crate::spec::Uri;
use crate::units::Ticks;

/// Null targets.
#[derive(Debug)]
pub struct NullBackend {
    facts: Vec<DeviceFacts>,
}

impl NullBackend {
    /// For targets of the form `null://1t?block_size=512`; other kinds are left out.
    #[must_use]
    pub fn new(uris: &[Uri]) -> Self {
        let facts = uris.iter().filter_map(|uri| match uri {
            Uri::Null { size, block_size } => Some(DeviceFacts {
                uri: uri.to_string(),
                driver: "null".to_owned(),
                model: "Rigel null".to_owned(),
                serial: String::new(),
                firmware: String::new(),
                identities: Vec::new(),
                block_size: *block_size,
                blocks: size.0 / u64::from(*block_size),
                max_io_bytes: 0,
                max_queue_depth: 0,
                queue_pair_depth: 0,
                volatile: true,
                supports: Supports::ALL,
            }),
            _ => None,
        });
        Self { facts: facts.collect() }
    }
}

impl NullBackend {
    /// Targets of the size and blocks of others, in whose place they complete everything at once.
    #[must_use]
    pub fn in_place_of(targets: &[DeviceFacts]) -> Self {
        let null = |target: &DeviceFacts| DeviceFacts {
            driver: "null".to_owned(),
            max_io_bytes: 0,
            max_queue_depth: 0,
            queue_pair_depth: 0,
            supports: Supports::ALL,
            ..target.clone()
        };
        Self { facts: targets.iter().map(null).collect() }
    }
}

impl Backend for NullBackend {
    type Core<S: Sink> = NullDriver<S::Tag>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.facts.clone()
    }

    fn completes_back_to_back(&self) -> bool {
        true
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<NullDriver<S::Tag>, DriverError> {
        let slots = order.slot_bytes.len();
        let memory = |bytes| Ok::<_, DriverError>(vec![0; bytes as usize].into_boxed_slice());
        Ok(NullDriver {
            ended: Vec::with_capacity(slots),
            ending: Vec::with_capacity(slots),
            outgoing: outgoing(order, memory)?,
            lba_bytes: self.facts.iter().map(|target| target.block_size).collect(),
        })
    }
}

/// The null data plane.
#[derive(Debug)]
pub struct NullDriver<T> {
    /// Slots, with their tags, whose I/O ends at the next poll.
    ended: Vec<(u32, T)>,
    /// The list being worked off in a poll; empty outside.
    ending: Vec<(u32, T)>,
    outgoing: Outgoing<Box<[u8]>>,
    /// By target.
    lba_bytes: Vec<u32>,
}

impl<T> NullDriver<T> {
    /// Makes what a write would carry.
    #[inline(always)]
    fn prepare(&mut self, io: &Io) {
        if io.op == Operation::Write {
            let lba_bytes = self.lba_bytes.get(io.target as usize).copied().unwrap_or(0);
            self.outgoing.prepare(io, u64::from(io.blocks) * u64::from(lba_bytes));
        }
    }
}

impl<S: Sink> Driver<S> for NullDriver<S::Tag> {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        if self.ended.len() == self.ended.capacity() {
            return Err(Full);
        }
        self.prepare(&io);
        self.ended.push((io.slot, tag));
        Ok(())
    }

    #[inline(always)]
    fn poll(&mut self, sink: &mut S) {
        std::mem::swap(&mut self.ended, &mut self.ending);
        for index in 0..self.ending.len() {
            let (slot, tag) = self.ending[index];
            if let Some((io, tag)) = sink.complete(slot, tag, Status::Good, || clock::now().0) {
                if self.ended.len() < self.ended.capacity() {
                    self.prepare(&Io { slot, ..io });
                    self.ended.push((slot, tag));
                } else {
                    sink.refuse(Io { slot, ..io }, tag);
                }
            }
        }
        self.ending.clear();
    }
}
