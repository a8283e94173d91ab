//! NVMe targets through SPDK's user-space NVMe driver: PCIe, TCP, RDMA, vfio-user.
//!
//! Owns the way from target URIs to controllers and, per core, one queue pair a target in one poll group. Knows nothing
//! of workloads.

use std::path::Path;
use std::sync::Arc;

use spdk_wrapper::control::Control;
use spdk_wrapper::dma::DmaBuffer;
use spdk_wrapper::env::{EnvOptions, hugepages_at_hand};
use spdk_wrapper::nvme::{ConnectError, Controller, Identity, PollGroup, QueuePlan, Transport};
use spdk_wrapper::slots::Buffers;

use super::outgoing::{Payload, outgoing};
use super::{Backend, CoreOrder, Driver, DriverError, Full, Held, Io, Sink, guard, reach, supports};
use crate::clock;
use crate::facts::DeviceFacts;
use crate::plan::queue_pairs;
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
                reach::check_nvme_tcp(host, *port).map_err(|reason| DriverError::target(uri, reason))?;
            }
        }
        let needs_hugepages = transports.iter().any(|(transport, _)| transport.needs_hugepages());
        let options = EnvOptions {
            memory_mib: MEMORY_MIB,
            hugepages: needs_hugepages || hugepages_at_hand(u64::from(MEMORY_MIB)),
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
    type Core<S: Sink> = NvmeDriver<S>;

    fn facts(&self) -> Vec<DeviceFacts> {
        self.targets.iter().map(|(uri, controller)| facts(uri, controller.identity())).collect()
    }

    fn is_missing(&self, target: usize) -> bool {
        let lost = self.targets.get(target).is_some_and(|(_, controller)| controller.is_lost());
        lost || match self.transports.get(target) {
            Some(Transport::Tcp { host, port, .. }) => reach::refused(host, *port),
            Some(Transport::VfioUser { folder, .. }) => reach::socket_is_dead(&Path::new(folder).join("cntrl")),
            _ => false,
        }
    }

    /// Completion queues in memory are read entry after entry; sockets are not.
    fn completes_back_to_back(&self) -> bool {
        self.transports.iter().all(|t| matches!(t, Transport::Pcie { .. } | Transport::VfioUser { .. }))
    }

    fn open<S: Sink>(&self, order: &CoreOrder) -> Result<NvmeDriver<S>, DriverError> {
        let writable = guard::writable(order, &self.facts())?;
        let core = |error: &dyn ToString| DriverError::core(order.core, error.to_string());
        let env = self.control.env();
        let outgoing = outgoing(order, |bytes| DmaBuffer::new(env, bytes as usize)).map_err(|e| core(&e))?;
        let buffers = Buffers::new(env, &order.incoming_bytes(), outgoing).map_err(|e| core(&e))?;
        let plans: Vec<_> =
            self.targets.iter().enumerate().map(|(t, (_, c))| queue_plan(c, order, t, writable[t])).collect();
        Ok(NvmeDriver { group: PollGroup::connect(&plans, buffers).map_err(|e| core(&e))? })
    }
}

/// The queue pairs of one core.
#[derive(Debug)]
pub struct NvmeDriver<S: Sink> {
    group: PollGroup<S, Payload>,
}

impl<S: Sink> Driver<S> for NvmeDriver<S> {
    #[inline(always)]
    fn now(&self) -> Ticks {
        clock::now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io, tag: S::Tag) -> Result<(), Full> {
        self.group.submit(&io, tag)
    }

    fn held(&self, slot: u32, bytes: u32) -> Option<Held> {
        self.group.held(slot, bytes)
    }

    #[inline(always)]
    fn poll(&mut self, sink: &mut S) {
        self.group.poll(sink);
    }
}

/// A core's queue pairs to one target, dealt to its slots in turn, so that each carries its share of the depth.
fn queue_plan(controller: &Arc<Controller>, order: &CoreOrder, target: usize, writable: bool) -> QueuePlan {
    let depth = order.depths[target];
    let count = queue_pairs(depth, controller.identity().max_queue_depth);
    let pair_of = |place: Option<u32>| place.map_or(0, |place| place % count.max(1));
    QueuePlan {
        controller: Arc::clone(controller),
        pairs: vec![depth.div_ceil(count.max(1)); count as usize],
        pair_of_slot: order.places(target).into_iter().map(pair_of).collect(),
        writable,
        io_bytes: order.slot_bytes.iter().copied().max().unwrap_or(0),
    }
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
    // The serial number is the subsystem's: it names this namespace only where there is no other.
    let serial = (identity.namespaces == 1).then(|| identity.serial.clone());
    let identities = [serial, identity.nguid.clone(), identity.eui64.clone()];
    DeviceFacts {
        uri: uri.to_owned(),
        driver: "spdk_nvme".to_owned(),
        model: identity.model.clone(),
        serial: identity.serial.clone(),
        firmware: identity.firmware.clone(),
        identities: identities.into_iter().flatten().filter(|i| !i.is_empty()).collect(),
        block_size: identity.block_size,
        blocks: identity.blocks,
        // What exceeds the controller's largest transfer is split, so that is no limit; a command's own length is.
        max_io_bytes: u64::from(identity.block_size) << 16,
        max_queue_depth: 0,
        queue_pair_depth: identity.max_queue_depth,
        volatile: false,
        supports: supports(identity.supports),
    }
}
