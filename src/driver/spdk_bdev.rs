//! Targets through SPDK's bdev layer: its iSCSI initiator, memory with a delay in front, any bdev of a configuration.
//!
//! Owns the way from target URIs to open bdevs and, per core, one channel a target. Knows nothing of workloads.

use std::sync::Arc;
use std::time::Duration;

use spdk_wrapper::bdev::{Bdev, BdevIdentity, BdevLayer, Mode, Worker};
use spdk_wrapper::control::Control;
use spdk_wrapper::dma::DmaBuffer;
use spdk_wrapper::env::{EnvOptions, hugepages_at_hand};
use spdk_wrapper::slots::Buffers;

use super::outgoing::{Payload, outgoing};
use super::{Backend, CoreOrder, Driver, DriverError, Full, Held, Io, Sink, bdev_config, guard, reach, supports};
use crate::clock;
use crate::facts::DeviceFacts;
use crate::spec::Uri;
use crate::units::Ticks;

/// Memory for SPDK's pools and our buffers, in MiB, beside that of malloc targets.
const MEMORY_MIB: u64 = 768;
/// How long a step of the bdev layer's start may take, an iSCSI login among them.
const START_LIMIT: Duration = Duration::from_secs(8);

/// Open bdevs.
#[derive(Debug)]
pub struct BdevBackend {
    // Before the layer, which closes them.
    bdevs: Vec<Arc<Bdev>>,
    uris: Vec<Uri>,
    layer: BdevLayer,
}

impl BdevBackend {
    /// Starts the bdev layer with a configuration made from the targets, and opens each for reading.
    pub fn connect(uris: &[Uri]) -> Result<Self, DriverError> {
        for uri in uris {
            if let Uri::Iscsi(lun) = uri {
                reach::check(&lun.host, lun.port).map_err(|reason| DriverError::target(uri, reason))?;
                if lun.sessions > 1 {
                    return Err(DriverError::target(
                        uri,
                        "this version opens one session per LUN; leave `sessions` out",
                    ));
                }
            }
        }
        let memory = MEMORY_MIB + bdev_config::memory_mib(uris);
        let options = EnvOptions {
            memory_mib: u32::try_from(memory).unwrap_or(u32::MAX),
            hugepages: hugepages_at_hand(memory),
            pci: false,
        };
        let config = bdev_config::make(uris)?;
        let control = Control::start(options).map_err(|error| DriverError::SetUp(error.to_string()))?;
        let layer =
            BdevLayer::start(&control, config.json, START_LIMIT).map_err(|error| bdev_config::explain(uris, &error))?;
        let open = |(uri, name): (&Uri, &String)| {
            Bdev::open(&layer, name, Mode::Read).map_err(|error| DriverError::target(uri, error))
        };
        let bdevs = uris.iter().zip(&config.names).map(open).collect::<Result<_, _>>()?;
        Ok(Self { bdevs, uris: uris.to_vec(), layer })
    }
}

impl Backend for BdevBackend {
    type Core<S: Sink> = BdevDriver<S>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.uris.iter().zip(&self.bdevs).map(|(uri, bdev)| facts(uri, bdev.identity())).collect()
    }

    fn is_missing(&self, target: usize) -> bool {
        matches!(self.uris.get(target), Some(Uri::Iscsi(lun)) if reach::refused(&lun.host, lun.port))
    }

    /// Memory and null bdevs are one poller each, which ends all it has; others do work of their own in between.
    fn completes_back_to_back(&self) -> bool {
        self.bdevs.iter().all(|bdev| in_memory(bdev.identity()))
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<BdevDriver<S>, DriverError> {
        let writable = guard::writable(order, &self.facts())?;
        let core = |error: &dyn ToString| DriverError::core(order.core, error.to_string());
        let env = self.layer.control().env();
        let outgoing = outgoing(order, |bytes| DmaBuffer::new(env, bytes as usize)).map_err(|e| core(&e))?;
        let buffers = Buffers::new(env, &order.incoming_bytes(), outgoing).map_err(|e| core(&e))?;
        let open = |(target, bdev): (usize, &Arc<Bdev>)| {
            let mode = match (writable[target], order.flushes[target]) {
                (false, false) => return Ok(Arc::clone(bdev)),
                (false, true) => Mode::Flush,
                (true, _) => Mode::Write,
            };
            let opened = Bdev::open(&self.layer, &bdev.identity().name, mode);
            opened.map_err(|error| DriverError::target(&self.uris[target], error))
        };
        let bdevs = self.bdevs.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(BdevDriver { worker: Worker::open(&self.layer, order.core, &bdevs, buffers).map_err(|e| core(&e))? })
    }
}

/// The channels of one core.
#[derive(Debug)]
pub struct BdevDriver<S: Sink> {
    worker: Worker<S, Payload>,
}

impl<S: Sink> Driver<S> for BdevDriver<S> {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        self.worker.submit(&io, tag)
    }

    fn held(&self, slot: u32, bytes: u32) -> Option<Held> {
        self.worker.held(slot, bytes)
    }

    #[inline(always)]
    fn poll(&mut self, sink: &mut S) {
        self.worker.poll(sink);
    }
}

fn facts(uri: &Uri, identity: &BdevIdentity) -> DeviceFacts {
    let (identities, volatile) = match uri {
        Uri::Malloc(_) => (Vec::new(), true),
        Uri::Iscsi(lun) => (vec![format!("{}/{}", lun.iqn, lun.lun), format!("{}:{}", lun.iqn, lun.lun)], false),
        _ => (vec![identity.name.clone()], in_memory(identity)),
    };
    DeviceFacts {
        uri: uri.to_string(),
        driver: "spdk_bdev".to_owned(),
        model: identity.product.clone(),
        serial: String::new(),
        firmware: String::new(),
        identities,
        block_size: identity.block_size,
        blocks: identity.blocks,
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: 0,
        volatile,
        supports: supports(identity.supports),
    }
}

/// Whether a bdev is memory of this process and nothing on top of it.
fn in_memory(identity: &BdevIdentity) -> bool {
    matches!(identity.product.as_str(), "Malloc disk" | "Null disk")
}
