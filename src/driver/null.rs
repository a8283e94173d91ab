//! Rigel's own null driver: completes everything at the next poll and moves nothing. What the engine reaches on it is
//! the engine's ceiling.

use super::{Backend, Completion, Completions, CoreOrder, Driver, DriverError, Full, Io, Status};
use crate::clock;
use crate::facts::DeviceFacts;
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
            }),
            _ => None,
        });
        Self { facts: facts.collect() }
    }
}

impl Backend for NullBackend {
    type Core = NullDriver;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.facts.clone()
    }

    fn open(&self, order: &CoreOrder) -> Result<NullDriver, DriverError> {
        Ok(NullDriver { finished: Vec::with_capacity(order.slot_bytes.len()) })
    }
}

/// The null data plane.
#[derive(Debug)]
pub struct NullDriver {
    finished: Vec<u32>,
}

impl Driver for NullDriver {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> Result<(), Full> {
        if self.finished.len() == self.finished.capacity() {
            return Err(Full);
        }
        self.finished.push(io.slot);
        Ok(())
    }

    #[inline(always)]
    fn poll(&mut self, out: &mut Completions) {
        for slot in self.finished.drain(..) {
            out.push(Completion { slot, status: Status::Good });
        }
    }
}
