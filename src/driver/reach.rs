//! Whether a host answers at all, before SPDK is asked to connect: its own attempts give neither a short limit nor a
//! reason. Owns the messages for hosts that cannot be named, do not answer, or refuse.

use std::io::ErrorKind;
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
    let addresses: Vec<_> = match (host, port).to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            return Err(format!("host `{host}` cannot be resolved ({error}); check the name or give an address"));
        }
    };
    let mut last = format!("host `{host}` has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, LIMIT) {
            Ok(_) => return Ok(()),
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
