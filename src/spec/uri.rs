//! Where a target is: its URI as typed data.
//!
//! Owns the kinds of target and how each prints. A printed URI never carries a secret. Opens nothing.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::scalar::Text;
use super::secret::Secret;
use super::sim_model::SimModel;
use crate::units::{Bytes, format_duration};

/// The schemes of target URIs.
pub const SCHEMES: [&str; 10] =
    ["nvme-pcie", "nvme-tcp", "nvme-rdma", "nvme-vfio-user", "iscsi", "bdev", "malloc", "null", "sim", "file"];

/// A target's URI. Read with [`str::parse`]; the errors name what is wrong and what is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Uri {
    /// `nvme-pcie://0000:04:00.0?ns=1`: a local NVMe controller.
    NvmePcie {
        /// PCI address with its domain, as `0000:04:00.0`.
        address: String,
        /// Namespace, from 1.
        ns: u32,
    },
    /// `nvme-tcp://host:port/nqn?ns=1`: NVMe over TCP.
    NvmeTcp(Fabric),
    /// `nvme-rdma://host:port/nqn?ns=1`: NVMe over RDMA.
    NvmeRdma(Fabric),
    /// `nvme-vfio-user:///folder/nqn?ns=1`: NVMe over a vfio-user socket.
    NvmeVfioUser {
        /// Absolute path of the folder that holds the socket.
        folder: PathBuf,
        /// Name of the subsystem.
        nqn: String,
        /// Namespace, from 1.
        ns: u32,
    },
    /// `iscsi://[user%secret@]host:port/iqn/lun?sessions=1`: an iSCSI logical unit.
    Iscsi(Iscsi),
    /// `bdev://name?config=file.json`: any block device of an SPDK configuration.
    Bdev {
        /// Name of the block device.
        name: String,
        /// File with SPDK's JSON configuration.
        config: PathBuf,
    },
    /// `malloc://1g?read_latency=100us`: memory of this process, with a delay in front of it if asked.
    Malloc(Malloc),
    /// `null://1t`: Rigel's own null driver, which completes everything and moves nothing.
    Null {
        /// Capacity, in bytes; a multiple of `block_size`.
        size: Bytes,
        /// LBA size, in bytes: 512 or 4096.
        block_size: u32,
    },
    /// `sim://preset` or `sim://?service=100us`: an array model on a virtual clock.
    Sim(SimModel),
    /// `file:///path` or `/dev/…`: a block device or file through the kernel.
    Kernel {
        /// Absolute path.
        path: PathBuf,
    },
}

/// An NVMe subsystem behind a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fabric {
    /// Host name or address; an IPv6 address stands without its brackets.
    pub host: String,
    /// Port, 4420 unless given.
    pub port: u16,
    /// Name of the subsystem.
    pub nqn: String,
    /// Namespace, from 1.
    pub ns: u32,
}

/// An iSCSI logical unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iscsi {
    /// CHAP user.
    pub user: Option<String>,
    /// CHAP secret; present only with a user.
    pub secret: Option<Secret>,
    /// Host name or address; an IPv6 address stands without its brackets.
    pub host: String,
    /// Port, 3260 unless given.
    pub port: u16,
    /// Name of the target.
    pub iqn: String,
    /// Logical unit number, 0 to 16383.
    pub lun: u32,
    /// Sessions to open, 1 to 64.
    pub sessions: u32,
}

/// Memory that acts as a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malloc {
    /// Capacity, in bytes; a multiple of `block_size`.
    pub size: Bytes,
    /// LBA size, in bytes: 512 or 4096.
    pub block_size: u32,
    /// Delay added to reads.
    pub read: Delay,
    /// Delay added to writes.
    pub write: Delay,
}

/// A delay added to each I/O of one direction; zero for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delay {
    /// Mean delay.
    pub mean: Duration,
    /// Delay of the slowest hundredth; at least `mean`.
    pub p99: Duration,
}

impl Uri {
    /// The scheme, as one of [`SCHEMES`].
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::NvmePcie { .. } => "nvme-pcie",
            Self::NvmeTcp(_) => "nvme-tcp",
            Self::NvmeRdma(_) => "nvme-rdma",
            Self::NvmeVfioUser { .. } => "nvme-vfio-user",
            Self::Iscsi(_) => "iscsi",
            Self::Bdev { .. } => "bdev",
            Self::Malloc(_) => "malloc",
            Self::Null { .. } => "null",
            Self::Sim(_) => "sim",
            Self::Kernel { .. } => "file",
        }
    }

    /// The URI with its secret, for reading it again within this process; never for printing.
    pub(super) fn reveal(&self) -> String {
        match self {
            Self::Iscsi(iscsi) => iscsi.print(iscsi.secret.as_ref().map(Secret::reveal)),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Uri {
    /// The URI with defaults spelled out and without any secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Iscsi(iscsi) = self {
            return f.write_str(&iscsi.print(None));
        }
        write!(f, "{}://", self.scheme())?;
        match self {
            Self::NvmePcie { address, ns } => write!(f, "{address}?ns={ns}"),
            Self::NvmeTcp(fabric) | Self::NvmeRdma(fabric) => {
                let Fabric { host, port, nqn, ns } = fabric;
                write!(f, "{}:{port}/{nqn}?ns={ns}", bracketed(host))
            }
            Self::NvmeVfioUser { folder, nqn, ns } => write!(f, "{}?ns={ns}", folder.join(nqn).display()),
            Self::Bdev { name, config } => write!(f, "{name}?config={}", config.display()),
            Self::Malloc(malloc) => malloc.fmt(f),
            Self::Null { size, block_size } => write!(f, "{size}?block_size={block_size}"),
            Self::Sim(model) => model.fmt(f),
            Self::Kernel { path } => write!(f, "{}", path.display()),
            Self::Iscsi(_) => Ok(()),
        }
    }
}

impl Iscsi {
    fn print(&self, secret: Option<String>) -> String {
        let login = match (&self.user, secret) {
            (Some(user), Some(secret)) => format!("{user}%{secret}@"),
            (Some(user), None) => format!("{user}@"),
            (None, _) => String::new(),
        };
        let Self { host, port, iqn, lun, sessions, .. } = self;
        format!("iscsi://{login}{}:{port}/{iqn}/{lun}?sessions={sessions}", bracketed(host))
    }
}

impl Malloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}?block_size={}", self.size, self.block_size)?;
        for (name, delay) in [("read", self.read), ("write", self.write)] {
            if !delay.mean.is_zero() {
                write!(f, "&{name}_latency={}", format_duration(delay.mean))?;
            }
            if delay.p99 != delay.mean {
                write!(f, "&p99_{name}_latency={}", format_duration(delay.p99))?;
            }
        }
        Ok(())
    }
}

impl Serialize for Uri {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uri {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let expecting = "a target URI, such as \"nvme-tcp://127.0.0.1:4420/nqn?ns=1\" or \"sim://powermax-read-miss\"";
        d.deserialize_str(Text { expecting, parse: str::parse })
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}
