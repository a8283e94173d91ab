//! The SPDK (DPDK) environment: memory and, where asked, PCI. Owns its one initialisation per process.

use std::ffi::CString;
use std::sync::Mutex;

use spdk_sys as sys;

/// What the environment is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvOptions {
    /// Memory to take at the start, in MiB.
    pub memory_mib: u32,
    /// Take it from hugepages. Needed for PCIe and vfio-user; TCP, iSCSI and bdevs in memory work without.
    pub hugepages: bool,
    /// Scan the PCI bus.
    pub pci: bool,
}

/// Why there is no environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// Too few free hugepages.
    #[error(
        "{free_mib} MiB of hugepages are free and {needed_mib} MiB are needed; reserve them with: sudo sh -c 'echo {pages} > /proc/sys/vm/nr_hugepages'"
    )]
    Hugepages {
        /// Free, in MiB.
        free_mib: u64,
        /// Needed, in MiB.
        needed_mib: u64,
        /// Number of pages to reserve in all.
        pages: u64,
    },
    /// Hugepages, but no way to them.
    #[error(
        "no hugetlbfs is mounted, so hugepages cannot be used; mount it with: \
         sudo sh -c 'mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages'"
    )]
    NoHugetlbfs,
    /// DPDK refused.
    #[error("the SPDK environment could not be started ({0}); run with RUST_LOG=spdk=debug to see its messages")]
    Init(String),
    /// A second, different initialisation.
    #[error("the SPDK environment was already started with other options, and it can be started only once per process")]
    Differs,
}

/// Proof that the environment is up. It stays up until the process ends: DPDK cannot be started twice.
#[derive(Debug, Clone, Copy)]
pub struct Env(());

static STARTED: Mutex<Option<EnvOptions>> = Mutex::new(None);

impl Env {
    /// Starts the environment, or returns the running one when the options are the same. The calling thread keeps its
    /// affinity: DPDK would pin it to a core, which may be one that a worker is to have for itself.
    pub fn start(options: EnvOptions) -> Result<Self, EnvError> {
        let mut started = STARTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match *started {
            Some(running) if running == options => return Ok(Self(())),
            Some(_) => return Err(EnvError::Differs),
            None => {}
        }
        if options.hugepages {
            check_hugepages(u64::from(options.memory_mib))?;
        }
        crate::log::to_tracing();
        let this_thread = nix::unistd::Pid::from_raw(0);
        let affinity = nix::sched::sched_getaffinity(this_thread).ok();
        let core = affinity
            .as_ref()
            .and_then(|set| (0..nix::sched::CpuSet::count()).find(|&c| set.is_set(c).unwrap_or(false)));
        let core_mask = CString::new(format!("[{}]", core.unwrap_or(0))).unwrap_or_default();
        let env = sys::rigel_env {
            name: c"rigel".as_ptr(),
            core_mask: core_mask.as_ptr(),
            mem_mb: i32::try_from(options.memory_mib).unwrap_or(i32::MAX),
            no_huge: !options.hugepages,
            no_pci: !options.pci,
        };
        // SAFETY: both strings live across the call (SPDK copies what it keeps); the mutex held here makes this the
        // only initialisation; it has not succeeded before, or `started` would say so.
        let rc = unsafe { sys::rigel_env_init(&raw const env) };
        if let Some(affinity) = affinity {
            let _ = nix::sched::sched_setaffinity(this_thread, &affinity);
        }
        if rc != 0 {
            return Err(EnvError::Init(std::io::Error::from_raw_os_error(rc.abs()).to_string()));
        }
        *started = Some(options);
        Ok(Self(()))
    }
}

/// Whether that much hugepage memory could be had now.
#[must_use]
pub fn hugepages_at_hand(needed_mib: u64) -> bool {
    check_hugepages(needed_mib).is_ok()
}

fn has_hugetlbfs() -> bool {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    mounts.lines().any(|line| line.split_whitespace().nth(2) == Some("hugetlbfs"))
}

/// Free hugepages of the default size, in MiB, and the size of one in KiB; zeros where there are none.
fn free_hugepages_mib() -> (u64, u64) {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        meminfo
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|n| n.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let page_kib = field("Hugepagesize:");
    (field("HugePages_Free:") * page_kib / 1024, page_kib)
}

fn check_hugepages(needed_mib: u64) -> Result<(), EnvError> {
    let (free_mib, page_kib) = free_hugepages_mib();
    if free_mib >= needed_mib {
        return if has_hugetlbfs() { Ok(()) } else { Err(EnvError::NoHugetlbfs) };
    }
    let total = std::fs::read_to_string("/proc/sys/vm/nr_hugepages")
        .ok()
        .and_then(|t| t.trim().parse::<u64>().ok())
        .unwrap_or(0);
    let missing = (needed_mib - free_mib) * 1024 / page_kib.max(1);
    Err(EnvError::Hugepages { free_mib, needed_mib, pages: total + missing })
}
