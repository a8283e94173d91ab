//! What writes send, made to order: buffers for the slots, with a filler of the workload's payload behind them.
//!
//! Owns the way from an order to such buffers; knows neither what the bytes are nor how they are sent.

use spdk_wrapper::outgoing::{Fill, Memory};

use super::{CoreOrder, Io};
use crate::workload::payload::Filler;

/// The buffers that the writes of one core are sent from.
pub type Outgoing<M> = spdk_wrapper::outgoing::Outgoing<M, Payload>;

/// Fills buffers with the payload of one workload.
#[derive(Debug)]
pub struct Payload(Filler);

impl Fill for Payload {
    fn prime(&mut self, number: u64, bytes: &mut [u8]) {
        self.0.prime(number, bytes);
    }

    #[inline(always)]
    fn begin(&mut self, io: &Io) -> u64 {
        self.0.begin(io.target)
    }

    #[inline(always)]
    fn fill(&mut self, io: &Io, bytes: &mut [u8]) {
        self.0.fill(io.target, io.lba, bytes);
    }
}

/// The buffers that `order` asks for, each from `make`, which is told its bytes.
///
/// # Errors
/// That of `make`.
pub fn outgoing<M: Memory, E>(order: &CoreOrder, mut make: impl FnMut(u32) -> Result<M, E>) -> Result<Outgoing<M>, E> {
    let mut outgoing = Outgoing::default();
    for stock in &order.outgoing {
        let filler = Payload(Filler::new(&stock.recipe, stock.seed));
        outgoing.add(&stock.slots, stock.ring, filler, || make(stock.bytes))?;
    }
    Ok(outgoing)
}
