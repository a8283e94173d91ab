//! Targets through SPDK's bdev layer: its iSCSI initiator, memory with a delay in front, any bdev of a configuration.
//!
//! Owns the way from target URIs to open bdevs and, per core, one channel a target. Knows nothing of workloads.

use std::sync::Arc;
use std::time::Duration;

use spdk_wrapper::bdev::{Bdev, BdevIdentity, BdevLayer, Worker};
use spdk_wrapper::control::Control;
use spdk_wrapper::env::{EnvOptions, free_hugepages_mib};
use spdk_wrapper::slots::{Refused, Slots};

use super::{
    Backend, Completion, Completions, CoreOrder, Driver, DriverError, Full, Io, Status, bdev_config, guard, reach,
};
use crate::clock;
use crate::facts::DeviceFacts;
use crate::plan::Op;
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
            hugepages: free_hugepages_mib().0 >= memory,
            pci: false,
        };
        let config = bdev_config::make(uris)?;
        let control = Control::start(options).map_err(|error| DriverError::SetUp(error.to_string()))?;
        let layer =
            BdevLayer::start(&control, config.json, START_LIMIT).map_err(|error| bdev_config::explain(uris, &error))?;
        let open = |(uri, name): (&Uri, &String)| {
            Bdev::open(&layer, name, false).map_err(|error| DriverError::target(uri, error))
        };
        let bdevs = uris.iter().zip(&config.names).map(open).collect::<Result<_, _>>()?;
        Ok(Self { bdevs, uris: uris.to_vec(), layer })
    }
}

impl Backend for BdevBackend {
    type Core = BdevDriver;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.uris.iter().zip(&self.bdevs).map(|(uri, bdev)| facts(uri, bdev.identity())).collect()
    }

    fn missing(&self) -> Option<usize> {
        self.uris.iter().position(|uri| matches!(uri, Uri::Iscsi(lun) if reach::refused(&lun.host, lun.port)))
    }

    fn open(&self, order: &CoreOrder) -> Result<BdevDriver, DriverError> {
        let writable = guard::writable(order, &self.facts())?;
        let core = |error: &dyn ToString| DriverError::core(order.core, error.to_string());
        let slots = Slots::new(self.layer.control().env(), &order.slot_bytes).map_err(|e| core(&e))?;
        if writable.contains(&true) {
            super::order::fill_buffers(&slots, order);
        }
        let mut worker = Worker::new(&self.layer, order.core, slots).map_err(|e| core(&e))?;
        for (target, bdev) in self.bdevs.iter().enumerate() {
            let bdev = if writable[target] {
                Bdev::open(&self.layer, &bdev.identity().name, true)
                    .map_err(|e| DriverError::target(&self.uris[target], e))?
            } else {
                Arc::clone(bdev)
            };
            // Channels are numbered as they are opened: as the targets.
            worker.open(&bdev).map_err(|e| core(&e))?;
        }
        Ok(BdevDriver { worker, dead: Vec::with_capacity(order.slot_bytes.len()) })
    }
}

/// The channels of one core.
#[derive(Debug)]
pub struct BdevDriver {
    worker: Worker,
    /// I/Os that ended before they were sent, reported at the next poll.
    dead: Vec<Completion>,
}

impl Driver for BdevDriver {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> Result<(), Full> {
        let channel = io.target as usize;
        let sent = match io.op {
            Op::Read => self.worker.read(channel, io.slot, io.lba.0, io.blocks),
            Op::Write => self.worker.write(channel, io.slot, io.lba.0, io.blocks),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(Refused::Full) => Err(Full),
            Err(Refused::ReadOnly) => self.bury(io.slot, Status::WriteRefused),
            Err(Refused::Gone | Refused::BadSlot) => self.bury(io.slot, Status::TargetLost),
        }
    }

    #[inline(always)]
    fn poll(&mut self, out: &mut Completions) {
        if !self.dead.is_empty() {
            for completion in self.dead.drain(..) {
                out.push(completion);
            }
        }
        self.worker.poll(out);
    }
}

impl BdevDriver {
    #[cold]
    fn bury(&mut self, slot: u32, status: Status) -> Result<(), Full> {
        self.dead.push(Completion { slot, status });
        Ok(())
    }
}

fn facts(uri: &Uri, identity: &BdevIdentity) -> DeviceFacts {
    let (identities, volatile) = match uri {
        Uri::Malloc(_) => (Vec::new(), true),
        Uri::Iscsi(lun) => (vec![format!("{}/{}", lun.iqn, lun.lun), format!("{}:{}", lun.iqn, lun.lun)], false),
        _ => (vec![identity.name.clone()], matches!(identity.product.as_str(), "Malloc disk" | "Null disk")),
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
    }
}
