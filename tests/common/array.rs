//! A loopback array for one test: SPDK's own target in a temporary folder, stopped when the test ends, however it ends.
//!
//! Owns the target's process, the hugepages that vfio-user needs, the lock that keeps such tests apart, and the
//! target's own counts (`bdev_get_iostat`), which judge Rigel's.

#![allow(dead_code, reason = "each test uses its own part")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Hugepages for a vfio-user target and for Rigel, 512 MiB each and a little for what others take meanwhile.
const HUGEPAGES_MIB: u64 = 2 * 512 + 64;

/// The path to an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// NVMe/TCP on 127.0.0.1.
    Tcp,
    /// NVMe over a vfio-user socket.
    VfioUser,
    /// iSCSI on 127.0.0.1.
    Iscsi,
}

/// Every kind of array.
pub const KINDS: [Kind; 3] = [Kind::Tcp, Kind::Iscsi, Kind::VfioUser];

/// A running array.
#[derive(Debug)]
pub struct Array {
    /// One URI a namespace.
    pub uris: Vec<String>,
    pid: Pid,
    folder: TempDir,
    // Dropped in this order, after the array was stopped.
    _hugepages: Option<Hugepages>,
    lock: Exclusive,
}

impl Array {
    /// Starts an array with keys of `scripts/loopback-array.sh`, such as `backing=malloc`. `None` only where a vfio-user
    /// array cannot have its hugepages; that is said on stderr, past the capture of the test's output.
    #[track_caller]
    pub fn start(kind: Kind, keys: &[&str]) -> Option<Self> {
        let mut lock = Exclusive::take();
        let hugepages = match kind {
            Kind::VfioUser => Some(Hugepages::have(HUGEPAGES_MIB).map_err(|why| skip(&why)).ok()?),
            Kind::Tcp | Kind::Iscsi => None,
        };
        let folder = tempfile::tempdir().unwrap();
        lock.note(folder.path());
        // The pools of SPDK's iSCSI target do not fit into 512 MiB.
        let (name, memory) = match kind {
            Kind::Tcp => ("tcp", "mem_mib=512"),
            Kind::VfioUser => ("vfio-user", "mem_mib=512"),
            Kind::Iscsi => ("iscsi", "mem_mib=1024"),
        };
        let port = format!("port={}", free_port());
        let mut args = vec!["start", name, folder.path().to_str().unwrap(), &port, memory];
        args.extend(keys);
        let told = with_patience(|| script("loopback-array.sh", &args)).unwrap_or_else(|why| panic!("no array: {why}"));
        let of = |wanted: &str| -> Vec<String> {
            let pairs = told.lines().filter_map(|line| line.split_once('='));
            pairs.filter(|(key, _)| *key == wanted).map(|(_, value)| value.to_owned()).collect()
        };
        let (pid, uris) = (Pid::from_raw(of("pid")[0].parse().unwrap()), of("uri"));
        Some(Self { uris, pid, folder, _hugepages: hugepages, lock })
    }

    /// A TCP array.
    #[track_caller]
    pub fn tcp(keys: &[&str]) -> Self {
        Self::start(Kind::Tcp, keys).expect("a TCP array needs no hugepages")
    }

    /// The URI of its first namespace.
    pub fn uri(&self) -> &str {
        &self.uris[0]
    }

    /// What the target itself has counted on `bdev` since it was started.
    #[track_caller]
    pub fn counts(&self, bdev: &str) -> Counts {
        let stat = self.rpc("bdev_get_iostat", &json!({"name": bdev}));
        let of = |key: &str| stat["bdevs"][0][key].as_u64().unwrap_or_else(|| panic!("no {key} in {stat}"));
        Counts {
            reads: of("num_read_ops"),
            writes: of("num_write_ops"),
            bytes_read: of("bytes_read"),
            bytes_written: of("bytes_written"),
        }
    }

    /// Calls a method of the target's JSON-RPC server.
    #[track_caller]
    pub fn rpc(&self, method: &str, params: &Value) -> Value {
        let mut socket = UnixStream::connect(self.folder.path().join("rpc.sock")).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        socket.write_all(request.to_string().as_bytes()).unwrap();
        let answer = serde_json::Deserializer::from_reader(socket).into_iter::<Value>().next();
        let answer = answer.expect("an answer").unwrap();
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// All that the first namespace of a TCP array holds, read by SPDK's own tool.
    #[track_caller]
    pub fn contents(&self) -> Vec<u8> {
        let rest = self.uri().strip_prefix("nvme-tcp://").expect("a TCP array");
        let (address, path) = rest.split_once('/').unwrap();
        let (host, port) = address.split_once(':').unwrap();
        let nqn = path.split_once('?').unwrap().0;
        let attach =
            json!({"name": "A", "trtype": "TCP", "adrfam": "IPv4", "traddr": host, "trsvcid": port, "subnqn": nqn});
        let method = json!({"method": "bdev_nvme_attach_controller", "params": attach});
        let config = json!({"subsystems": [{"subsystem": "bdev", "config": [method]}]});
        let [config_file, out] = ["dd.json", "dd.out"].map(|name| self.folder.path().join(name));
        fs::write(&config_file, config.to_string()).unwrap();
        let spdk = script("setup.sh", &["--where"]).unwrap();
        let mut dd = Command::new(Path::new(spdk.trim()).join("build/bin/spdk_dd"));
        dd.args([
            "-m",
            "[1]",
            "--disable-cpumask-locks",
            "--no-huge",
            "-s",
            "512",
            "--no-pci",
            "--ib=An1",
            "--bs=1048576",
        ]);
        dd.arg(format!("--of={}", out.display())).arg("-c").arg(&config_file);
        let ran = dd.output().unwrap();
        assert!(ran.status.success(), "spdk_dd: {}", String::from_utf8_lossy(&ran.stdout));
        fs::read(out).unwrap()
    }

    /// Its process.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Ends the target at once, as a crash would.
    pub fn crash(&self) {
        kill(self.pid, Signal::SIGKILL).unwrap();
    }

    /// Stops the target where it stands: it is there, and answers nothing any more.
    pub fn freeze(&self) {
        kill(self.pid, Signal::SIGSTOP).unwrap();
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SPDK takes seconds to come to its end by itself, and there is nothing to keep.
        let _ = kill(self.pid, Signal::SIGKILL);
        let stopped = script("loopback-array.sh", &["stop", self.folder.path().to_str().unwrap()]);
        // DPDK's file, and with it the pages, stays when the target does not end by itself.
        let _ = fs::remove_file(format!("/dev/hugepages/spdk_pid{}map_0", self.pid));
        self.lock.forget();
        if !std::thread::panicking() {
            stopped.unwrap_or_else(|error| panic!("the array could not be stopped: {error}"));
        }
    }
}

/// A target's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Read commands.
    pub reads: u64,
    /// Write commands.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl Counts {
    /// What was counted after `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            reads: self.reads - earlier.reads,
            writes: self.writes - earlier.writes,
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_written: self.bytes_written - earlier.bytes_written,
        }
    }
}

/// Holds off every other test that polls: they would share the cores. Of all test processes on the machine, one has it.
#[derive(Debug)]
pub struct Exclusive {
    file: Flock<File>,
}

impl Exclusive {
    /// Waits for it. An array that a killed test has left behind is stopped.
    pub fn take() -> Self {
        let path = std::env::temp_dir().join("rigel-loopback.lock");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        let mut file = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno).unwrap();
        let mut left = String::new();
        file.read_to_string(&mut left).unwrap();
        let mut lock = Self { file };
        if !left.is_empty() && runs_in(Path::new(&left)) {
            let _ = script("loopback-array.sh", &["stop", &left]);
        }
        lock.forget();
        lock
    }

    /// Notes the folder of the array that runs under this lock.
    fn note(&mut self, folder: &Path) {
        self.forget();
        self.file.write_all(folder.to_str().unwrap().as_bytes()).unwrap();
    }

    fn forget(&mut self) {
        self.file.set_len(0).unwrap();
        self.file.rewind().unwrap();
    }
}

/// Tries again while another SPDK target has the core: one polls it at a time, whosever it is.
fn with_patience(start: impl Fn() -> Result<String, String>) -> Result<String, String> {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        match start() {
            Err(why) if why.contains("Cannot create lock on core") && Instant::now() < end => {
                std::thread::sleep(Duration::from_secs(1));
            }
            other => return other,
        }
    }
}

/// Whether the process noted in an array's folder still is that array.
fn runs_in(folder: &Path) -> bool {
    let pid = fs::read_to_string(folder.join("pid")).unwrap_or_default();
    let command = fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    String::from_utf8_lossy(&command).contains(folder.to_str().unwrap())
}

/// Hugepages; those that were reserved for this are given back.
#[derive(Debug)]
pub struct Hugepages {
    before: Option<u64>,
}

impl Hugepages {
    /// Sees to it that `mib` MiB are free; or says why that cannot be.
    pub fn have(mib: u64) -> Result<Self, String> {
        let (free_mib, page_kib) = free_hugepages();
        if free_mib >= mib {
            return Ok(Self { before: None });
        }
        let before = reserved_pages();
        let total_mib = before * page_kib / 1024 + mib - free_mib;
        let guard = Self { before: Some(before) };
        script("setup.sh", &["--hugepages", &total_mib.to_string()])?;
        Ok(guard)
    }
}

impl Drop for Hugepages {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = fs::write(NR_HUGEPAGES, before.to_string());
        }
    }
}

const NR_HUGEPAGES: &str = "/proc/sys/vm/nr_hugepages";

/// How many hugepages the system has reserved.
pub fn reserved_pages() -> u64 {
    fs::read_to_string(NR_HUGEPAGES).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Free hugepages in MiB, and the size of one in KiB.
pub fn free_hugepages() -> (u64, u64) {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
    };
    let page_kib = field("Hugepagesize:");
    (field("HugePages_Free:") * page_kib / 1024, page_kib)
}

/// Says on stderr, past the test's captured output, that what follows was not tested.
pub fn skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "\nSKIPPED in {test}: {why}");
}

/// A TCP port on 127.0.0.1 that nothing listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Runs one of the project's scripts; what it printed, or what it complained of.
fn script(name: &str, args: &[&str]) -> Result<String, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
    let out = Command::new(&path).args(args).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&out.stderr).trim().to_owned())
    }
}
