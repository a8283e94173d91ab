//! Targets that cannot be driven, or not in the way that was asked for: each is refused within 10 s with a message that
//! names the target, the fault and the remedy, without any harm to the target.

#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/cli.rs"]
mod cli;

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use array::{Array, KINDS, Kind, free_port};
use cli::{Outcome, Running, rigel};

const IQN: &str = "iqn.2026-11.io.rigel:loopback";

#[test]
fn a_port_that_nothing_listens_on_is_told() {
    for rest in ["nqn.x", "iqn.x/0"] {
        let scheme = if rest == "nqn.x" { "nvme-tcp" } else { "iscsi" };
        let (port, address) = (free_port(), "127.0.0.1");
        let outcome = rigel(&format!("run -t {scheme}://{address}:{port}/{rest}"));
        let refused = format!("connection refused at {address}:{port}");
        outcome
            .refuses(3, &[&format!("target `{scheme}://{address}:{port}/{rest}"), &refused, "nothing listens there"]);
    }
}

#[test]
fn a_host_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let held = fill_backlog(address);
    for uri in [format!("nvme-tcp://{address}/nqn.x"), format!("iscsi://{address}/iqn.x/0")] {
        let outcome = rigel(&format!("run -t {uri}"));
        outcome.refuses(3, &[&uri, &format!("{address} does not answer"), "check the address", "firewalls"]);
    }
    drop(held);
}

/// Connects until the system answers no more: a listener whose backlog is full drops what comes.
fn fill_backlog(address: SocketAddr) -> Vec<TcpStream> {
    let mut held = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        held.push(stream);
        assert!(held.len() < 900, "the backlog does not fill up");
    }
    held
}

#[test]
fn a_host_that_accepts_and_never_speaks_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let outcome = rigel(&format!("run -t nvme-tcp://{address}/nqn.x"));
    outcome.refuses(3, &["nqn.x", &format!("{address} accepts connections but does not answer")]);
    let outcome = rigel(&format!("run -t iscsi://{address}/iqn.x/0"));
    outcome.refuses(3, &["iqn.x/0", &format!("{address} accepts connections but does not answer")]);
    drop(listener);
}

#[test]
fn a_wrong_nqn_is_told_with_those_that_are_offered() {
    let array = Array::tcp(&[]);
    let outcome = rigel(&format!("run -t {}", array.uri().replace("loopback", "other")));
    let parts = ["does not offer `nqn.2026-11.io.rigel:other`", "it offers: nqn.2026-11.io.rigel:loopback"];
    outcome.refuses(3, &parts);
}

#[test]
fn a_namespace_that_does_not_exist_is_told_with_those_that_do() {
    for kind in [Kind::Tcp, Kind::VfioUser] {
        let Some(array) = Array::start(kind, &["namespaces=3"]) else { continue };
        let outcome = rigel(&format!("run -t {}", array.uri().replace("ns=1", "ns=7")));
        outcome.refuses(3, &["?ns=7", "namespace 7 does not exist", "the subsystem has 1, 2, 3", "?ns=N"]);
    }
}

#[test]
fn an_iqn_or_a_lun_that_does_not_exist_is_told() {
    let array = Array::start(Kind::Iscsi, &[]).unwrap();
    let outcome = rigel(&format!("run -t {}", array.uri().replace("loopback", "other")));
    outcome.refuses(3, &["target `iscsi://127.0.0.1:", "`iqn.2026-11.io.rigel:other`", "check"]);
    let lun = array.uri().strip_suffix("/0").unwrap().to_owned() + "/5";
    rigel(&format!("run -t {lun}")).refuses(3, &["target `iscsi://127.0.0.1:", IQN, "LUN 5", "check"]);
}

#[test]
fn what_the_device_cannot_do_is_refused_before_the_first_io() {
    let array = Array::tcp(&["backing=malloc", "size_mib=64"]);
    let before = array.counts("Malloc0");
    let run = |flags: &str| rigel(&format!("run -t {} {flags}", array.uri()));
    run("-b 1000").refuses(2, &["--block-size", "1000", "LBA size", "512 bytes", "--block-size 1k"]);
    run("--region 32m-65m").refuses(2, &["--region", "32m-65m", "ends beyond", "64m (67108864 bytes)"]);
    assert_eq!(array.counts("Malloc0"), before);
}

#[test]
fn a_write_without_the_identity_is_refused_and_harms_nothing() {
    for kind in KINDS {
        let Some(array) = Array::start(kind, &["backing=malloc", "size_mib=64"]) else { continue };
        let identity = if kind == Kind::Iscsi { format!("{IQN}/0") } else { "RIGEL-LOOPBACK-1".to_owned() };
        let refused = |flags: &str| -> Outcome {
            let outcome = rigel(&format!("run -t {} --read-percent 99.9 {flags}", array.uri()));
            let found = [format!("identities found: {identity}"), format!("--destroy {identity}")];
            outcome.refuses(2, &["writes to a target that may hold data", &found[0], &found[1], "--read-percent 100"]);
            outcome
        };
        refused("");
        for wrong in ["S1", "rigel-loopback-1", "RIGEL", IQN] {
            let outcome = refused(&format!("--destroy {wrong}"));
            assert!(outcome.stderr.contains(&format!("typed: {wrong}; found: {identity}")), "{}", outcome.stderr);
        }
        assert_eq!(array.counts("Malloc0").writes, 0, "{kind:?}");
    }
}

#[test]
fn a_serial_number_is_no_identity_where_it_is_that_of_several_namespaces() {
    let array = Array::tcp(&["backing=malloc", "size_mib=16", "namespaces=2"]);
    let line = format!("run -t {} --read-percent 0 --destroy RIGEL-LOOPBACK-1", array.uri());
    let outcome = rigel(&line);
    outcome.refuses(2, &["writes to a target that may hold data", "typed: RIGEL-LOOPBACK-1; found: "]);
    assert!(!outcome.stderr.contains("found: RIGEL-LOOPBACK-1"), "{}", outcome.stderr);
    assert_eq!((array.counts("Malloc0").writes, array.counts("Malloc1").writes), (0, 0));
}

#[test]
fn memory_of_ones_own_is_written_to_without_asking() {
    let _alone = array::Exclusive::take();
    let outcome = rigel("run -t malloc://64m -q 4 --read-percent 0 --ramp 0s --time 200ms --quiet").ends_with(0);
    assert!(outcome.result().points[0].total.write.completions > 0);
}

#[test]
fn a_vfio_user_target_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("nvme-vfio-user://{}/nqn.x", folder.path().display());
    rigel(&format!("run -t {uri}")).refuses(3, &[&uri, "has no `cntrl` socket", "is the target up"]);
}

#[test]
fn missing_hugepages_are_told_with_the_command_that_reserves_them() {
    let folder = tempfile::tempdir().unwrap();
    let _socket = UnixListener::bind(folder.path().join("cntrl")).unwrap();
    let line = format!("run -t nvme-vfio-user://{}/nqn.x", folder.path().display());
    let Some(outcome) = without_hugepages(&line) else { return };
    outcome.refuses(3, &["needs hugepages", "0 MiB of hugepages are free", "512 MiB are needed"]);
    let command = "sudo sh -c 'echo ";
    let (_, rest) = outcome.stderr.split_once(command).unwrap_or_else(|| panic!("no command: {}", outcome.stderr));
    let (pages, rest) = rest.split_once(' ').unwrap();
    let needed = array::reserved_pages() + 512 * 1024 / array::free_hugepages().1;
    assert_eq!(pages.parse::<u64>().unwrap(), needed);
    assert!(rest.starts_with("> /proc/sys/vm/nr_hugepages'"), "{rest}");
}

/// Runs `rigel` where no hugepage is free: as the machine is, or else in a mount namespace of its own in which the
/// system says so, since others on the machine may be about to use those that are.
fn without_hugepages(line: &str) -> Option<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    if array::free_hugepages().0 == 0 {
        return Some(Running::start_in(folder, line).wait());
    }
    let told = fs::read_to_string("/proc/meminfo").unwrap();
    let none =
        |line: &str| if line.starts_with("HugePages_Free:") { "HugePages_Free: 0".into() } else { line.to_owned() };
    let told: Vec<String> = told.lines().map(none).collect();
    fs::write(folder.path().join("meminfo"), told.join("\n")).unwrap();
    let mount = "mount --bind meminfo /proc/meminfo";
    let allowed = Command::new("unshare").args(["-m", "sh", "-c", mount]).current_dir(folder.path()).output();
    if !allowed.is_ok_and(|out| out.status.success()) {
        array::skip("hugepages are free here, and without root they cannot be hidden from the program");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mount} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_rigel")]);
    command.args(line.split_whitespace());
    Some(Running::spawn(folder, command).wait())
}

#[test]
fn a_bdev_of_a_configuration_that_is_wrong_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty.json", r#"{"subsystems": []}"#), ("text.json", "hello"), ("list.json", "[1]")] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |name: &str| rigel(&format!("run -t bdev://x?config={}", folder.path().join(name).display()));
    run("nowhere.json").refuses(3, &["bdev://x?", "nowhere.json cannot be read", "No such file"]);
    run("text.json").refuses(3, &["text.json is not JSON"]);
    run("list.json").refuses(3, &["list.json has no `subsystems` list"]);
    run("empty.json").refuses(3, &["bdev `x` cannot be opened", "no bdev of that name"]);
}
