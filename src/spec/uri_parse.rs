//! Reading a target URI.
//!
//! Owns the grammar of each scheme and the texts of its refusals. Looks nothing up: hosts, files, secrets stay names.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::nearest::{hint, list};
use super::query::{Query, check_capacity, parse_capacity};
use super::secret::Secret;
use super::sim_model::SimModel;
use super::uri::{Delay, Fabric, Iscsi, Malloc, SCHEMES, Uri};

const NVME_PORT: u16 = 4420;
const ISCSI_PORT: u16 = 3260;
/// Longest name of an NVMe subsystem or iSCSI target that the protocols allow, in bytes.
const NAME_MAX: usize = 223;

impl FromStr for Uri {
    type Err = String;

    /// Reads a URI; the error names the scheme, the part that is wrong and the remedy, and carries no secret.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('/') {
            return Ok(Self::Kernel { path: PathBuf::from(text) });
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(format!(
                "a target is SCHEME://… or a path that begins with `/`; known schemes: {}; such as \
                 nvme-tcp://127.0.0.1:4420/NQN?ns=1",
                list(SCHEMES)
            ));
        };
        let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
        let uri = match scheme {
            "nvme-pcie" => nvme_pcie(body, query),
            "nvme-tcp" => fabric(body, query).map(Self::NvmeTcp),
            "nvme-rdma" => fabric(body, query).map(Self::NvmeRdma),
            "nvme-vfio-user" => nvme_vfio_user(body, query),
            "iscsi" => iscsi(rest).map(Self::Iscsi),
            "bdev" => bdev(body, query),
            "malloc" => malloc(body, query).map(Self::Malloc),
            "null" => null(body, query),
            "sim" => SimModel::parse(body, query).map(Self::Sim),
            "file" => file(rest),
            _ => {
                let hint = hint(scheme, SCHEMES);
                return Err(format!("unknown scheme `{scheme}`{hint}; known schemes: {}", list(SCHEMES)));
            }
        };
        uri.map_err(|error| format!("{scheme}: {error}"))
    }
}

fn nvme_pcie(body: &str, query: &str) -> Result<Uri, String> {
    let address = pci_address(body).ok_or_else(|| {
        format!("`{body}` is not a PCI address; write one as lspci -D shows it, such as 0000:04:00.0")
    })?;
    Ok(Uri::NvmePcie { address, ns: Query::parse(query, &["ns"], &[])?.namespace()? })
}

/// The address with its domain, in lower case; `None` if it is not one.
fn pci_address(text: &str) -> Option<String> {
    let hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let (bus_path, function) = text.split_once('.')?;
    let (domain, bus, device) = match bus_path.split(':').collect::<Vec<_>>()[..] {
        [domain, bus, device] => (domain, bus, device),
        [bus, device] => ("0000", bus, device),
        _ => return None,
    };
    let well_formed = (4..=8).contains(&domain.len())
        && hex(domain, domain.len())
        && hex(bus, 2)
        && hex(device, 2)
        && matches!(function.as_bytes(), [b'0'..=b'7']);
    well_formed.then(|| format!("{domain}:{bus}:{device}.{function}").to_lowercase())
}

fn fabric(body: &str, query: &str) -> Result<Fabric, String> {
    let (authority, nqn) = body.split_once('/').unwrap_or((body, ""));
    let (host, port) = host_and_port(authority, NVME_PORT)?;
    let nqn = protocol_name(nqn, "NQN", "host:port/NQN?ns=1")?;
    Ok(Fabric { host, port, nqn, ns: Query::parse(query, &["ns"], &[])?.namespace()? })
}

fn nvme_vfio_user(body: &str, query: &str) -> Result<Uri, String> {
    let shape = "nvme-vfio-user:///FOLDER/NQN?ns=1, with the absolute path of the folder that holds the socket";
    let (folder, nqn) =
        body.rsplit_once('/').filter(|_| body.starts_with('/')).ok_or_else(|| format!("write {shape}"))?;
    if folder.is_empty() {
        return Err(format!("no folder before the NQN; write {shape}"));
    }
    let ns = Query::parse(query, &["ns"], &[])?.namespace()?;
    Ok(Uri::NvmeVfioUser { folder: PathBuf::from(folder), nqn: protocol_name(nqn, "NQN", "/FOLDER/NQN?ns=1")?, ns })
}

fn iscsi(rest: &str) -> Result<Iscsi, String> {
    // The login comes off first: a secret, or the path of its file, may hold any character that separates the rest.
    let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
    let (user, secret) = match login {
        None if rest.contains('%') => return Err("`%` but no `@`; a login is written user%secret@host".to_owned()),
        None => (None, None),
        Some(login) => {
            let (user, secret) = login.split_once('%').map_or((login, None), |(user, secret)| (user, Some(secret)));
            if user.is_empty() {
                return Err(
                    "no user before `@`; a login is written user%secret@host, the secret best as env:NAME".to_owned()
                );
            }
            (Some(user.to_owned()), secret.map(Secret::parse).transpose()?)
        }
    };
    let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
    let query = Query::parse(query, &["sessions"], &[])?;
    let (authority, path) = body.split_once('/').unwrap_or((body, ""));
    let (host, port) = host_and_port(authority, ISCSI_PORT)?;
    let (iqn, lun) = path.rsplit_once('/').ok_or("no logical unit; write host:port/IQN/LUN, such as …/0")?;
    let lun = lun.parse().ok().filter(|lun| *lun < 16_384);
    Ok(Iscsi {
        user,
        secret,
        host,
        port,
        iqn: protocol_name(iqn, "IQN", "host:port/IQN/LUN")?,
        lun: lun.ok_or("the logical unit is not a number of 0 to 16383; write host:port/IQN/LUN, such as …/0")?,
        sessions: query.whole("sessions", 1..=64)?.unwrap_or(1),
    })
}

fn bdev(name: &str, query: &str) -> Result<Uri, String> {
    let query = Query::parse(query, &["config"], &[])?;
    let config = query.all("config").next().filter(|path| !path.is_empty());
    match (name, config) {
        ("", _) => Err("no name; write bdev://NAME?config=FILE".to_owned()),
        (_, None) => Err(format!("no configuration; write bdev://{name}?config=FILE with SPDK's JSON configuration")),
        (name, Some(config)) => Ok(Uri::Bdev { name: name.to_owned(), config: PathBuf::from(config) }),
    }
}

fn malloc(size: &str, query: &str) -> Result<Malloc, String> {
    let keys = ["read_latency", "write_latency", "p99_read_latency", "p99_write_latency", "block_size"];
    let query = Query::parse(query, &keys, &[])?;
    let delay = |name: &str| {
        let mean = query.duration(&format!("{name}_latency"))?.unwrap_or(Duration::ZERO);
        let p99 = query.duration(&format!("p99_{name}_latency"))?.unwrap_or(mean);
        if p99 < mean {
            return Err(format!(
                "p99_{name}_latency is less than {name}_latency; the slowest hundredth cannot be faster"
            ));
        }
        Ok(Delay { mean, p99 })
    };
    let (size, block_size) = capacity(size, &query)?;
    Ok(Malloc { size, block_size, read: delay("read")?, write: delay("write")? })
}

fn null(size: &str, query: &str) -> Result<Uri, String> {
    let (size, block_size) = capacity(size, &Query::parse(query, &["block_size"], &[])?)?;
    Ok(Uri::Null { size, block_size })
}

fn capacity(size: &str, query: &Query<'_>) -> Result<(crate::units::Bytes, u32), String> {
    let size = parse_capacity(size)?;
    let block_size = query.block_size()?.unwrap_or(512);
    check_capacity(size, block_size)?;
    Ok((size, block_size))
}

fn file(path: &str) -> Result<Uri, String> {
    if !Path::new(path).is_absolute() {
        return Err("write the absolute path, as file:///data/disk.img".to_owned());
    }
    Ok(Uri::Kernel { path: PathBuf::from(path) })
}

/// Host without brackets, and port.
fn host_and_port(authority: &str, default_port: u16) -> Result<(String, u16), String> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the IPv6 address lacks its closing `]`")?;
        let address = host.split_once('%').map_or(host, |(address, _zone)| address);
        address.parse::<Ipv6Addr>().map_err(|_| format!("`{host}` is not an IPv6 address"))?;
        match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => return Err(format!("`{after}` behind the address; write [{host}]:{default_port}")),
        }
    } else {
        match authority.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("more than one `:`; an IPv6 address stands in brackets, such as [::1]:4420".to_owned());
            }
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(format!("no host; write host:{default_port}/…"));
    }
    let port = match port {
        None => default_port,
        Some(port) => {
            port.parse().ok().filter(|port| *port > 0).ok_or_else(|| format!("`{port}` is not a port, 1 to 65535"))?
        }
    };
    Ok((host.to_owned(), port))
}

fn protocol_name(name: &str, what: &str, shape: &str) -> Result<String, String> {
    match name.len() {
        0 => Err(format!("no {what}; write {shape}")),
        1..=NAME_MAX => Ok(name.to_owned()),
        length => Err(format!("the {what} has {length} bytes; the protocol allows {NAME_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_prints_with_its_defaults_spelled_out_and_reads_back() {
        for (text, printed) in [
            ("nvme-pcie://04:00.0", "nvme-pcie://0000:04:00.0?ns=1"),
            ("nvme-tcp://10.0.0.1/nqn.x:a", "nvme-tcp://10.0.0.1:4420/nqn.x:a?ns=1"),
            ("nvme-rdma://[fe80::1]:44/nqn.x?ns=3", "nvme-rdma://[fe80::1]:44/nqn.x?ns=3"),
            ("nvme-vfio-user:///var/run/a/nqn.x", "nvme-vfio-user:///var/run/a/nqn.x?ns=1"),
            ("iscsi://h/iqn.x/0", "iscsi://h:3260/iqn.x/0?sessions=1"),
            ("iscsi://me@h/iqn.x/0?sessions=4", "iscsi://me@h:3260/iqn.x/0?sessions=4"),
            ("bdev://Nvme0n1?config=a/b.json", "bdev://Nvme0n1?config=a/b.json"),
            ("malloc://1GiB", "malloc://1g?block_size=512"),
            (
                "malloc://64m?read_latency=100us&p99_read_latency=1ms&block_size=4k",
                "malloc://64m?block_size=4096&read_latency=100us&p99_read_latency=1ms",
            ),
            ("null://1TiB?block_size=4096", "null://1t?block_size=4096"),
            ("sim://powermax-read-miss", "sim://powermax-read-miss"),
            ("sim://?service=100us&servers=4", "sim://?service=100us&servers=4"),
            ("file:///data/x", "file:///data/x"),
            ("/dev/nvme0n1", "file:///dev/nvme0n1"),
        ] {
            let uri: Uri = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(uri.to_string(), printed);
            assert_eq!(printed.parse::<Uri>(), Ok(uri.clone()), "{printed}");
            assert!(printed.starts_with(&format!("{}://", uri.scheme())));
        }
    }

    #[test]
    fn faults_are_named_with_their_remedy() {
        for (text, part) in [
            ("nvme-tpc://h/nqn", "unknown scheme `nvme-tpc` (did you mean `nvme-tcp`?)"),
            ("http://h", "known schemes: nvme-pcie, nvme-tcp"),
            ("disk.img", "begins with `/`"),
            ("nvme-pcie://4:0.0", "not a PCI address"),
            ("nvme-tcp://h:4420?ns=1", "no NQN"),
            ("nvme-tcp:///nqn", "no host"),
            ("nvme-tcp://h:0/nqn", "not a port"),
            ("nvme-tcp://::1/nqn", "in brackets"),
            ("nvme-tcp://[::1/nqn", "closing"),
            ("nvme-tcp://[x]/nqn", "not an IPv6 address"),
            ("nvme-tcp://h/nqn?ns=0", "count from 1"),
            ("nvme-tcp://h/nqn?nsid=1", "did you mean `ns`?"),
            ("nvme-vfio-user://a/nqn", "absolute path"),
            ("nvme-vfio-user:///nqn", "no folder"),
            ("iscsi://h/iqn.x", "no logical unit"),
            ("iscsi://h/iqn.x/zero", "0 to 16383"),
            ("iscsi://h/iqn.x/0?sessions=0", "1 to 64"),
            ("iscsi://%x@h/iqn.x/0", "no user"),
            ("iscsi://me%@h/iqn.x/0", "empty"),
            ("bdev://x", "?config=FILE"),
            ("malloc://big", "not a size"),
            ("malloc://0", "holds nothing"),
            ("malloc://1000", "multiple of the block size"),
            ("malloc://1g?read_latency=1ms&p99_read_latency=1us", "cannot be faster"),
            ("null://1g?block_size=1000", "512 or 4096"),
            ("sim://powermax", "did you mean `powermax-read-"),
            ("sim://", "name a preset"),
            ("file://x", "absolute path"),
        ] {
            let error = text.parse::<Uri>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_secret_is_read_but_never_printed() {
        for (secret, kept) in [
            ("pa@ss/w?rd", Secret::Inline("pa@ss/w?rd".into())),
            ("env:CHAP_SECRET", Secret::Env("CHAP_SECRET".into())),
            ("file:/etc/rigel/chap", Secret::File("/etc/rigel/chap".into())),
        ] {
            let text = format!("iscsi://me%{secret}@[::1]:3261/iqn.2026-11.io.rigel:a/2?sessions=4");
            let uri: Uri = text.parse().unwrap();
            assert_eq!(uri.reveal(), text);
            assert_eq!(uri.to_string(), "iscsi://me@[::1]:3261/iqn.2026-11.io.rigel:a/2?sessions=4");
            for printed in [uri.to_string(), format!("{uri:?}"), serde_json::to_string(&uri).unwrap()] {
                assert!(!printed.contains(secret), "{printed}");
            }
            assert!(matches!(uri, Uri::Iscsi(Iscsi { secret: Some(read), lun: 2, .. }) if read == kept));
        }
        for text in
            ["iscsi://me%s3cret", "iscsi://me%s3cret@h/iqn/x", "iscsi://me%s3cret@:1/iqn/0", "iscsii://me%s3cret@h"]
        {
            let error = text.parse::<Uri>().unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
