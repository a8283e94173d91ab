//! Whether a host answers at all, before SPDK is asked to connect: its own attempts give neither a short limit nor a
//! reason. Owns the messages for hosts that cannot be named, do not answer, or refuse.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

/// How long a host may take to accept a connection.
const LIMIT: Duration = Duration::from_secs(3);
/// How long a target that has fallen silent may take to be asked for a connection.
const PROBE: Duration = Duration::from_millis(200);

/// Connects once and hangs up; the reason and the remedy if that does not work.
pub(super) fn check(host: &str, port: u16) -> Result<(), String> {
    connect_to(host, port).map(drop)
}

/// Connects once, exchanges the first PDU of NVMe/TCP (NVMe/TCP Transport Specification, ICReq and ICResp) and hangs up.
pub(super) fn check_nvme_tcp(host: &str, port: u16) -> Result<(), String> {
    const ICREQ_BYTES: usize = 128;
    let mut stream = connect_to(host, port)?;
    let mut request = [0; ICREQ_BYTES];
    // Common header: type ICReq (0), flags, header length, data offset, PDU length; the rest asks for the defaults.
    request[2] = ICREQ_BYTES as u8;
    request[4] = ICREQ_BYTES as u8;
    let mut header = [0; 8];
    let exchange = stream
        .set_read_timeout(Some(LIMIT))
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read_exact(&mut header));
    match exchange {
        Ok(()) if header[0] == 1 => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err(format!(
            "{host}:{port} accepts connections but does not answer (waited {} s); is that the right port, and is the target alive?",
            LIMIT.as_secs()
        )),
        _ => Err(format!(
            "{host}:{port} accepts connections but does not answer as an NVMe/TCP target; is that the right port?"
        )),
    }
}

fn connect_to(host: &str, port: u16) -> Result<TcpStream, String> {
    let addresses: Vec<_> = match (host, port).to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            return Err(format!("host `{host}` cannot be resolved ({error}); check the name or give an address"));
        }
    };
    let mut last = format!("host `{host}` has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, LIMIT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = reason(&error, address),
        }
    }
    Err(last)
}

/// Whether nothing listens there any more. No answer within [`PROBE`] is not that: a path may come back.
pub(super) fn refused(host: &str, port: u16) -> bool {
    let Ok(mut addresses) = (host, port).to_socket_addrs() else { return false };
    let kind = addresses.next().and_then(|a| TcpStream::connect_timeout(&a, PROBE).err()).map(|e| e.kind());
    kind == Some(ErrorKind::ConnectionRefused)
}

/// Whether a local socket has no listener any more. Never waits: a listener that takes one client at a time, as a
/// vfio-user target does, leaves others in a queue that soon is full.
pub(super) fn socket_is_dead(path: &Path) -> bool {
    let Ok(address) = UnixAddr::new(path) else { return false };
    let Ok(fd) = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_NONBLOCK, None) else { return false };
    matches!(connect(fd.as_raw_fd(), &address), Err(Errno::ECONNREFUSED | Errno::ENOENT))
}

fn reason(error: &std::io::Error, address: std::net::SocketAddr) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            format!("connection refused at {address}; nothing listens there: check the port, and that the target is up")
        }
        ErrorKind::TimedOut => {
            format!(
                "{address} does not answer (waited {} s); check the address, the network path and firewalls",
                LIMIT.as_secs()
            )
        }
        _ => format!("{address} cannot be reached ({error}); check the address and the network path"),
    }
}
