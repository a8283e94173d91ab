//! Where a controller is: the transport id in SPDK's own spelling. Owns that spelling; connects nothing.

use std::fmt;

/// Address of an NVMe controller or subsystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A PCIe function bound to a user-space driver.
    Pcie {
        /// Domain, bus, device and function: `0000:04:00.0`.
        address: String,
    },
    /// NVMe over TCP.
    Tcp {
        /// Host name or address.
        host: String,
        /// Port, 4420 by convention.
        port: u16,
        /// Subsystem.
        nqn: String,
    },
    /// NVMe over RDMA.
    Rdma {
        /// Host name or address.
        host: String,
        /// Port, 4420 by convention.
        port: u16,
        /// Subsystem.
        nqn: String,
    },
    /// A local target over vfio-user.
    VfioUser {
        /// The folder that holds the target's `cntrl` socket.
        folder: String,
        /// Subsystem.
        nqn: String,
    },
}

impl Transport {
    /// Whether devices reach our memory by DMA (or share it), which takes hugepages.
    #[must_use]
    pub fn needs_hugepages(&self) -> bool {
        matches!(self, Self::Pcie { .. } | Self::Rdma { .. } | Self::VfioUser { .. })
    }

    /// The discovery service at the same address; none where there is no such thing.
    #[must_use]
    pub fn discovery(&self) -> Option<Self> {
        let nqn = "nqn.2014-08.org.nvmexpress.discovery".to_owned();
        match self {
            Self::Tcp { host, port, .. } => Some(Self::Tcp { host: host.clone(), port: *port, nqn }),
            Self::Rdma { host, port, .. } => Some(Self::Rdma { host: host.clone(), port: *port, nqn }),
            Self::Pcie { .. } | Self::VfioUser { .. } => None,
        }
    }
}

impl fmt::Display for Transport {
    /// As `spdk_nvme_transport_id_parse` reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fabric = |f: &mut fmt::Formatter<'_>, kind: &str, host: &str, port: u16, nqn: &str| {
            let family = if host.contains(':') { "IPv6" } else { "IPv4" };
            write!(f, "trtype:{kind} adrfam:{family} traddr:{host} trsvcid:{port} subnqn:{nqn}")
        };
        match self {
            Self::Pcie { address } => write!(f, "trtype:PCIe traddr:{address}"),
            Self::Tcp { host, port, nqn } => fabric(f, "TCP", host, *port, nqn),
            Self::Rdma { host, port, nqn } => fabric(f, "RDMA", host, *port, nqn),
            Self::VfioUser { folder, nqn } => write!(f, "trtype:VFIOUSER traddr:{folder} subnqn:{nqn}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_ids_are_spelt_as_spdk_reads_them() {
        let tcp = Transport::Tcp { host: "::1".into(), port: 4420, nqn: "nqn.x:y".into() };
        assert_eq!(tcp.to_string(), "trtype:TCP adrfam:IPv6 traddr:::1 trsvcid:4420 subnqn:nqn.x:y");
        assert!(!tcp.needs_hugepages());
        assert!(tcp.discovery().is_some());
        let local = Transport::VfioUser { folder: "/run/a".into(), nqn: "nqn.x:y".into() };
        assert_eq!(local.to_string(), "trtype:VFIOUSER traddr:/run/a subnqn:nqn.x:y");
        assert!(local.needs_hugepages() && local.discovery().is_none());
    }
}
