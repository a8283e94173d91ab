//! An attached NVMe controller and one of its namespaces. Owns attaching, identity, and detaching; does no I/O.

use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use spdk_sys as sys;

use super::Transport;
use crate::control::Control;
use crate::io::Supported;

/// How long a controller may take to let go when it is detached.
const DETACH_LIMIT_MS: u32 = 3_000;
/// Entries of a queue, at least: in a ring just large enough for a shallow load, controller and host wait for each other
/// at every turn.
const RING_MIN: u32 = 256;
/// Keep-alive time asked of the target; after that long without a sign of us it may drop the association.
const KEEP_ALIVE_MS: u32 = 10_000;

/// Who a namespace is and how large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Serial number of the controller.
    pub serial: String,
    /// Model number.
    pub model: String,
    /// Firmware revision.
    pub firmware: String,
    /// Namespace globally unique identifier as 32 hex digits, if it has one.
    pub nguid: Option<String>,
    /// IEEE extended unique identifier as 16 hex digits, if it has one.
    pub eui64: Option<String>,
    /// LBA size, in bytes (data only).
    pub block_size: u32,
    /// Capacity, in blocks.
    pub blocks: u64,
    /// Greatest transfer without splitting, in bytes.
    pub max_transfer: u32,
    /// Number of active namespaces that the controller shows us.
    pub namespaces: usize,
    /// Most commands a queue pair can hold (CAP.MQES, zero-based there and one less usable: the same number).
    pub max_queue_depth: u32,
    /// What it knows beside reading and writing.
    pub supports: Supported,
}

/// Why a namespace could not be attached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No controller at that address.
    #[error("no NVMe controller answered at {0}")]
    NoController(String),
    /// The subsystem has no active namespace of that number.
    #[error("namespace {asked} does not exist; the subsystem has {}", list(.found))]
    NoNamespace {
        /// What was asked for.
        asked: u32,
        /// What is there.
        found: Vec<u32>,
    },
    /// Blocks with metadata, which our buffers have no room for.
    #[error(
        "namespace {nsid} is formatted with {bytes} bytes of metadata a block, which Rigel does not handle; use a namespace formatted without"
    )]
    Metadata {
        /// The namespace.
        nsid: u32,
        /// Bytes of metadata to each block.
        bytes: u32,
    },
}

fn list(found: &[u32]) -> String {
    match found {
        [] => "none".to_owned(),
        some => some.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// An attached controller with one chosen namespace. Detached when the last queue and handle are gone.
#[derive(Debug)]
pub struct Controller {
    pub(super) controller: NonNull<sys::spdk_nvme_ctrlr>,
    pub(super) namespace: NonNull<sys::spdk_nvme_ns>,
    identity: Identity,
    shares_memory: bool,
    lost: AtomicBool,
}

// SAFETY: the calls made through a shared `Controller` (allocating, connecting and freeing queue pairs, processing
// admin completions) take the controller's own robust mutex inside SPDK; namespace data is read when attaching, and one
// word of it on the control thread, which is also where SPDK changes it. SPDK documents a controller as usable from any thread, a queue pair from one at a time.
unsafe impl Send for Controller {}
// SAFETY: as above.
unsafe impl Sync for Controller {}

impl Controller {
    /// Attaches to the controller at `transport` and picks namespace `nsid` (1 or higher). `queue_depth` is the most
    /// I/Os that one queue pair will hold. Runs on the control thread, which looks after it from then on.
    pub fn connect(
        control: &Control,
        transport: &Transport,
        nsid: u32,
        queue_depth: u32,
    ) -> Result<Arc<Self>, ConnectError> {
        let shares_memory = transport.needs_hugepages();
        let transport = transport.to_string();
        control.run(move |plane| {
            let controller = Self::attach(&transport, nsid, queue_depth, shares_memory).map(Arc::new)?;
            plane.watched.push(Arc::downgrade(&controller));
            Ok(controller)
        })
    }

    fn attach(transport: &str, nsid: u32, queue_depth: u32, shares_memory: bool) -> Result<Self, ConnectError> {
        let missing = || ConnectError::NoController(transport.to_owned());
        let text = CString::new(transport).map_err(|_| missing())?;
        // SAFETY: the environment is up (this is its thread), and the string lives across the call.
        let controller = unsafe { sys::rigel_nvme_connect(text.as_ptr(), ring_size(queue_depth), KEEP_ALIVE_MS) };
        let controller = NonNull::new(controller).ok_or_else(missing)?;
        let ctrlr = controller.as_ptr();
        // SAFETY: the controller is attached; the namespace pointer belongs to it and lives as long.
        let namespace = unsafe { sys::spdk_nvme_ctrlr_get_ns(ctrlr, nsid) };
        // SAFETY: a non-null namespace of an attached controller.
        let active = |ns: *mut sys::spdk_nvme_ns| unsafe { sys::spdk_nvme_ns_is_active(ns) };
        let Some(namespace) = NonNull::new(namespace).filter(|ns| active(ns.as_ptr())) else {
            let found = active_namespaces(controller);
            detach(controller);
            return Err(ConnectError::NoNamespace { asked: nsid, found });
        };
        // SAFETY: plain reads of an active namespace of an attached controller.
        let (metadata, extended, data) = unsafe {
            let ns = namespace.as_ptr();
            let extended = sys::spdk_nvme_ns_get_extended_sector_size(ns);
            (sys::spdk_nvme_ns_get_md_size(ns), extended, sys::spdk_nvme_ns_get_sector_size(ns))
        };
        if metadata != 0 || extended != data {
            detach(controller);
            return Err(ConnectError::Metadata { nsid, bytes: metadata });
        }
        let identity = read_identity(controller, namespace);
        Ok(Self { controller, namespace, identity, shares_memory, lost: AtomicBool::new(false) })
    }

    /// Whether the device reaches our memory itself (PCIe, RDMA, vfio-user).
    pub(super) fn shares_memory(&self) -> bool {
        self.shares_memory
    }

    /// Who it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether the driver has given it up.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Takes admin completions, sends keep-alives, notices a dead controller. Called by the control thread.
    pub(crate) fn tend(&self) {
        let ctrlr = self.controller.as_ptr();
        // SAFETY: attached until drop; the call takes the controller's lock.
        let rc = unsafe { sys::spdk_nvme_ctrlr_process_admin_completions(ctrlr) };
        // SAFETY: as above; reads one flag.
        let failed = unsafe { sys::rigel_nvme_is_failed(ctrlr) };
        // SAFETY: as above. A namespace that was formatted anew under us has blocks that our buffers do not fit.
        let block_size = unsafe { sys::spdk_nvme_ns_get_sector_size(self.namespace.as_ptr()) };
        if rc < 0 || failed || block_size != self.identity.block_size {
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// The subsystems that the discovery service beside `transport` offers; empty when there is none.
    #[must_use]
    pub fn discover(control: &Control, transport: &Transport) -> Vec<String> {
        let Some(discovery) = transport.discovery().and_then(|t| CString::new(t.to_string()).ok()) else {
            return Vec::new();
        };
        control.run(move |_| {
            let mut text = vec![0u8; 16 * 1024];
            // SAFETY: environment up, string alive, the buffer is as long as said; the shim terminates what it writes.
            let found = unsafe { sys::rigel_nvme_discover(discovery.as_ptr(), text.as_mut_ptr().cast(), text.len()) };
            let text = CStr::from_bytes_until_nul(&text).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default();
            if found > 0 { text.lines().map(str::to_owned).collect() } else { Vec::new() }
        })
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // Every queue pair holds an `Arc` of this and is freed by now.
        detach(self.controller);
    }
}

/// Entries of a ring for `depth` I/Os; one entry always stays free.
pub(super) fn ring_size(depth: u32) -> u32 {
    depth.saturating_add(1).max(RING_MIN)
}

/// Lets a controller go that nothing refers to; one that does not answer is left to the end of the process.
fn detach(controller: NonNull<sys::spdk_nvme_ctrlr>) {
    // SAFETY: attached, and by the caller's word used by nobody any more.
    if !unsafe { sys::rigel_nvme_detach(controller.as_ptr(), DETACH_LIMIT_MS) } {
        tracing::warn!("a controller did not let go within {DETACH_LIMIT_MS} ms; the process ends without it");
    }
}

fn active_namespaces(controller: NonNull<sys::spdk_nvme_ctrlr>) -> Vec<u32> {
    // SAFETY: the controller is attached; both calls read its namespace table.
    let first = unsafe { sys::spdk_nvme_ctrlr_get_first_active_ns(controller.as_ptr()) };
    // SAFETY: as above.
    let next = |&nsid: &u32| unsafe { sys::spdk_nvme_ctrlr_get_next_active_ns(controller.as_ptr(), nsid) };
    std::iter::successors(Some(first), |nsid| Some(next(nsid))).take_while(|&nsid| nsid != 0).collect()
}

fn read_identity(controller: NonNull<sys::spdk_nvme_ctrlr>, namespace: NonNull<sys::spdk_nvme_ns>) -> Identity {
    let ns = namespace.as_ptr();
    let mut raw = std::mem::MaybeUninit::<sys::rigel_nvme_identity>::zeroed();
    // SAFETY: both are attached; the shim fills the whole struct.
    let raw = unsafe {
        sys::rigel_nvme_identity(controller.as_ptr(), ns, raw.as_mut_ptr());
        raw.assume_init()
    };
    // SAFETY: plain reads of an attached namespace's data.
    let (block_size, blocks, max_transfer, flags) = unsafe {
        (
            sys::spdk_nvme_ns_get_sector_size(ns),
            sys::spdk_nvme_ns_get_num_sectors(ns),
            sys::spdk_nvme_ns_get_max_io_xfer_size(ns),
            sys::spdk_nvme_ns_get_flags(ns),
        )
    };
    let hex = |bytes: &[u8]| {
        bytes.iter().any(|&b| b != 0).then(|| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())
    };
    Identity {
        serial: text(&raw.serial),
        model: text(&raw.model),
        firmware: text(&raw.firmware),
        nguid: hex(&raw.nguid),
        eui64: hex(&raw.eui64),
        block_size,
        blocks,
        max_transfer,
        namespaces: active_namespaces(controller).len(),
        max_queue_depth: raw.max_queue_depth,
        supports: Supported {
            trim: flags & sys::SPDK_NVME_NS_DEALLOCATE_SUPPORTED != 0,
            write_zeroes: flags & sys::SPDK_NVME_NS_WRITE_ZEROES_SUPPORTED != 0,
            // Mandatory, whether there is a cache or not.
            flush: true,
        },
    }
}

fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
