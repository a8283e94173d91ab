//! Which driver serves a job's targets. Owns the choice and the one `match` on it outside the engine's launch.

use super::{Backend, DriverError, NullBackend, SimBackend};
#[cfg(feature = "spdk")]
use super::{BdevBackend, NvmeBackend};
use crate::clock::{Clock, ClockError};
use crate::facts::DeviceFacts;
use crate::spec::Uri;

/// The backend of a run.
#[derive(Debug)]
pub enum AnyBackend {
    /// Rigel's null driver.
    Null(NullBackend),
    /// The array model.
    Sim(SimBackend),
    /// SPDK's NVMe driver.
    #[cfg(feature = "spdk")]
    Nvme(NvmeBackend),
    /// SPDK's bdev layer.
    #[cfg(feature = "spdk")]
    Bdev(BdevBackend),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Null,
    Sim,
    Nvme,
    Bdev,
    Kernel,
}

fn family(uri: &Uri) -> Family {
    match uri {
        Uri::Null { .. } => Family::Null,
        Uri::Sim(_) => Family::Sim,
        Uri::NvmePcie { .. } | Uri::NvmeTcp(_) | Uri::NvmeRdma(_) | Uri::NvmeVfioUser { .. } => Family::Nvme,
        Uri::Iscsi(_) | Uri::Bdev { .. } | Uri::Malloc(_) => Family::Bdev,
        Uri::Kernel { .. } => Family::Kernel,
    }
}

/// Finds and attaches the targets. `depth` is the most I/Os that the job will have outstanding on one of them.
pub fn select(uris: &[Uri], depth: u32) -> Result<AnyBackend, DriverError> {
    let Some(first) = uris.first() else {
        return Err(DriverError::SetUp("the job names no target; give one with --target URI".to_owned()));
    };
    let chosen = family(first);
    if let Some(other) = uris.iter().find(|uri| family(uri) != chosen) {
        return Err(DriverError::Mixed { first: first.to_string(), second: other.to_string() });
    }
    let not_built = |reason: &str| DriverError::NotBuilt { uri: first.to_string(), reason: reason.to_owned() };
    match chosen {
        Family::Null => Ok(AnyBackend::Null(NullBackend::new(uris))),
        Family::Sim => Ok(AnyBackend::Sim(SimBackend::new(uris))),
        #[cfg(feature = "spdk")]
        Family::Nvme => NvmeBackend::connect(uris, depth).map(AnyBackend::Nvme),
        #[cfg(feature = "spdk")]
        Family::Bdev => BdevBackend::connect(uris).map(AnyBackend::Bdev),
        #[cfg(not(feature = "spdk"))]
        Family::Nvme | Family::Bdev => {
            let _ = depth;
            Err(not_built(
                "this build has no SPDK in it; build with the default features (scripts/setup.sh brings SPDK)",
            ))
        }
        Family::Kernel => Err(not_built(
            "files and kernel block devices are not served by this version; use an nvme-*, iscsi, bdev, malloc, null or sim target",
        )),
    }
}

impl AnyBackend {
    /// What was found, one entry a target.
    #[must_use]
    pub fn facts(&self) -> Vec<DeviceFacts> {
        match self {
            Self::Null(b) => b.facts(),
            Self::Sim(b) => b.facts(),
            #[cfg(feature = "spdk")]
            Self::Nvme(b) => b.facts(),
            #[cfg(feature = "spdk")]
            Self::Bdev(b) => b.facts(),
        }
    }

    /// The clock of the run.
    pub fn clock(&self) -> Result<Clock, ClockError> {
        match self {
            Self::Null(b) => b.clock(),
            Self::Sim(b) => b.clock(),
            #[cfg(feature = "spdk")]
            Self::Nvme(b) => b.clock(),
            #[cfg(feature = "spdk")]
            Self::Bdev(b) => b.clock(),
        }
    }

    /// Whether time is virtual.
    #[must_use]
    pub fn virtual_time(&self) -> bool {
        matches!(self, Self::Sim(_))
    }
}
