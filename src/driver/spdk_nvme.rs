//! NVMe targets through SPDK's user-space NVMe driver: PCIe, TCP, RDMA, vfio-user.
//!
//! Owns the way from target URIs to controllers and, per core, one queue pair a target in one poll group. Knows nothing
//! of workloads.

use std::path::Path;
use std::sync::Arc;

use spdk_wrapper::control::Control;
use spdk_wrapper::env::{EnvOptions, free_hugepages_mib};
use spdk_wrapper::nvme::{ConnectError, Controller, Identity, PollGroup, QueueError, QueueId, Transport};
use spdk_wrapper::slots::{Refused, Slots};

use super::{Backend, Completion, Completions, CoreOrder, Driver, DriverError, Full, Io, Status, guard, reach};
use crate::clock;
use crate::facts::DeviceFacts;
use crate::plan::{Op, queue_pairs};
use crate::spec::Uri;
use crate::units::Ticks;

/// Memory for queues and buffers, in MiB.
const MEMORY_MIB: u32 = 512;

/// Attached NVMe namespaces.
#[derive(Debug)]
pub struct NvmeBackend {
    // Before the control thread's handle: controllers detach while it still serves.
    targets: Vec<(String, Arc<Controller>)>,
    transports: Vec<Transport>,
    control: Arc<Control>,
}

impl NvmeBackend {
    /// Attaches every target. `depth` is the most I/Os one queue pair will hold.
    pub fn connect(uris: &[Uri], depth: u32) -> Result<Self, DriverError> {
        let transports = uris.iter().map(transport).collect::<Result<Vec<_>, _>>()?;
        for (uri, (transport, _)) in uris.iter().zip(&transports) {
            if let Transport::Tcp { host, port, .. } = transport {
                reach::check(host, *port).map_err(|reason| DriverError::target(uri, reason))?;
            }
        }
        let needs_hugepages = transports.iter().any(|(transport, _)| transport.needs_hugepages());
        let options = EnvOptions {
            memory_mib: MEMORY_MIB,
            hugepages: needs_hugepages || free_hugepages_mib().0 >= u64::from(MEMORY_MIB),
            pci: transports.iter().any(|(transport, _)| matches!(transport, Transport::Pcie { .. })),
        };
        let control = Control::start(options).map_err(|error| match uris.first() {
            Some(uri) if needs_hugepages => DriverError::target(uri, format!("needs hugepages: {error}")),
            _ => DriverError::SetUp(error.to_string()),
        })?;
        let attach = |(uri, (transport, ns)): (&Uri, &(Transport, u32))| {
            let controller = Controller::connect(&control, transport, *ns, depth)
                .map_err(|error| DriverError::target(uri, explain(&control, transport, error)))?;
            Ok((uri.to_string(), controller))
        };
        let targets = uris.iter().zip(&transports).map(attach).collect::<Result<_, DriverError>>()?;
        Ok(Self { targets, transports: transports.into_iter().map(|(transport, _)| transport).collect(), control })
    }
}

impl Backend for NvmeBackend {
    type Core = NvmeDriver;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.targets.iter().map(|(uri, controller)| facts(uri, controller.identity())).collect()
    }

    fn missing(&self) -> Option<usize> {
        self.targets.iter().zip(&self.transports).position(|((_, controller), transport)| {
            controller.is_lost()
                || match transport {
                    Transport::Tcp { host, port, .. } => reach::refused(host, *port),
                    Transport::VfioUser { folder, .. } => reach::socket_is_dead(&Path::new(folder).join("cntrl")),
                    Transport::Pcie { .. } | Transport::Rdma { .. } => false,
                }
        })
    }

    fn open(&self, order: &CoreOrder) -> Result<NvmeDriver, DriverError> {
        let writable = guard::writable(order, &self.facts())?;
        let core = |error: &dyn ToString| DriverError::core(order.core, error.to_string());
        let slots = Slots::new(self.control.env(), &order.slot_bytes).map_err(|e| core(&e))?;
        if writable.contains(&true) {
            super::order::fill_buffers(&slots, order);
        }
        let mut group = PollGroup::new(slots).map_err(|e| core(&e))?;
        let mut queues = Vec::with_capacity(self.targets.len());
        for (target, (uri, controller)) in self.targets.iter().enumerate() {
            let of_slot = queues_of(&mut group, controller, order, target);
            queues.push(of_slot.map_err(|error| DriverError::target(uri, error))?);
        }
        Ok(NvmeDriver { group, queues, writable, dead: Vec::with_capacity(order.slot_bytes.len()) })
    }
}

/// The queue pairs of one core.
#[derive(Debug)]
pub struct NvmeDriver {
    group: PollGroup,
    /// By target and slot: the queue pair that carries the slot's I/Os there; empty for a target that is never used.
    queues: Vec<Box<[QueueId]>>,
    writable: Vec<bool>,
    /// I/Os that ended before they were sent, reported at the next poll.
    dead: Vec<Completion>,
}

impl Driver for NvmeDriver {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> Result<(), Full> {
        let target = io.target as usize;
        let Some(&queue) = self.queues.get(target).and_then(|of_slot| of_slot.get(io.slot as usize)) else {
            return self.bury(io.slot, Status::TargetLost);
        };
        let sent = match io.op {
            Op::Read => self.group.read(queue, io.slot, io.lba.0, io.blocks),
            Op::Write if self.writable[target] => self.group.write(queue, io.slot, io.lba.0, io.blocks),
            Op::Write => return self.bury(io.slot, Status::WriteRefused),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(Refused::Full) => Err(Full),
            Err(Refused::Gone | Refused::BadSlot | Refused::ReadOnly) => self.bury(io.slot, Status::TargetLost),
        }
    }

    #[inline(always)]
    fn poll(&mut self, out: &mut Completions) {
        if !self.dead.is_empty() {
            for completion in self.dead.drain(..) {
                out.push(completion);
            }
        }
        self.group.poll(out);
    }
}

impl NvmeDriver {
    #[cold]
    fn bury(&mut self, slot: u32, status: Status) -> Result<(), Full> {
        self.dead.push(Completion { slot, status });
        Ok(())
    }
}

/// Connects a core's queue pairs to one target and deals them to its slots in turn, so that each carries its share of
/// the depth.
fn queues_of(
    group: &mut PollGroup,
    controller: &Arc<Controller>,
    order: &CoreOrder,
    target: usize,
) -> Result<Box<[QueueId]>, QueueError> {
    let depth = order.depths[target];
    let count = queue_pairs(depth, controller.identity().max_queue_depth);
    let pairs = (0..count).map(|_| group.connect(controller, depth.div_ceil(count)));
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let Some(&first) = pairs.first() else { return Ok(Box::default()) };
    let pair_of = |place: Option<u32>| place.map_or(first, |place| pairs[place as usize % pairs.len()]);
    Ok(order.places(target).into_iter().map(pair_of).collect())
}

fn transport(uri: &Uri) -> Result<(Transport, u32), DriverError> {
    Ok(match uri {
        Uri::NvmePcie { address, ns } => (Transport::Pcie { address: address.clone() }, *ns),
        Uri::NvmeTcp(f) => (Transport::Tcp { host: f.host.clone(), port: f.port, nqn: f.nqn.clone() }, f.ns),
        Uri::NvmeRdma(f) => (Transport::Rdma { host: f.host.clone(), port: f.port, nqn: f.nqn.clone() }, f.ns),
        Uri::NvmeVfioUser { folder, nqn, ns } => {
            if !folder.join("cntrl").exists() {
                let reason = format!(
                    "{} has no `cntrl` socket; is the target up, and does it listen in that folder?",
                    folder.display()
                );
                return Err(DriverError::target(uri, reason));
            }
            (Transport::VfioUser { folder: folder.display().to_string(), nqn: nqn.clone() }, *ns)
        }
        other => return Err(DriverError::target(other, "is no NVMe target")),
    })
}

fn explain(control: &Control, transport: &Transport, error: ConnectError) -> String {
    if matches!(error, ConnectError::NoNamespace { .. }) {
        return format!("{error}; choose one with ?ns=N");
    }
    match transport {
        Transport::Tcp { host, port, nqn } | Transport::Rdma { host, port, nqn } => {
            let offered = Controller::discover(control, transport);
            if offered.is_empty() {
                format!(
                    "{host}:{port} accepts connections but does not answer as an NVMe target (no discovery service either); is that the right port?"
                )
            } else if offered.contains(nqn) {
                format!(
                    "{host}:{port} offers `{nqn}` but refused the connection; is this host allowed to use it, and has it room for another controller?"
                )
            } else {
                format!("{host}:{port} does not offer `{nqn}`; it offers: {}", offered.join(", "))
            }
        }
        Transport::Pcie { address } => format!(
            "no NVMe controller at {address}, or it is not bound to a user-space driver; bind it with SPDK's scripts/setup.sh (that takes it away from the kernel), as root"
        ),
        Transport::VfioUser { folder, nqn } => {
            format!("no controller answered in {folder}; does the target listen there for `{nqn}`?")
        }
    }
}

fn facts(uri: &str, identity: &Identity) -> DeviceFacts {
    let identities = [Some(identity.serial.clone()), identity.nguid.clone(), identity.eui64.clone()];
    DeviceFacts {
        uri: uri.to_owned(),
        driver: "spdk_nvme".to_owned(),
        model: identity.model.clone(),
        serial: identity.serial.clone(),
        firmware: identity.firmware.clone(),
        identities: identities.into_iter().flatten().filter(|i| !i.is_empty()).collect(),
        block_size: identity.block_size,
        blocks: identity.blocks,
        // SPDK splits what is larger, so it is no limit.
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: identity.max_queue_depth,
        volatile: false,
    }
}
