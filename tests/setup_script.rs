//! `scripts/setup.sh` from outside: what it installs, fetches and builds, what it leaves when it is cut short, and what
//! it says when something is in the way.
//!
//! Nothing is installed or fetched: apt, dpkg, sudo, id and Rust are stand-ins in a `PATH` of the test's own, and SPDK is
//! a tree of four files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What the script may use of the machine; everything else is hidden from it.
const TOOLS: [&str; 30] = [
    "awk",
    "basename",
    "bash",
    "cat",
    "cp",
    "cut",
    "df",
    "dirname",
    "env",
    "flock",
    "grep",
    "gzip",
    "head",
    "kill",
    "ls",
    "make",
    "mkdir",
    "nproc",
    "python3",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "sync",
    "tail",
    "tar",
    "tr",
    "uname",
];

/// Stand-ins. Each notes its call in `$CALLS`.
const STAND_INS: [(&str, &str); 8] = [
    ("id", "case $1 in -u) echo ${AS_UID:-0};; *) echo tester;; esac"),
    ("sudo", "[ -n \"$SUDO_WORKS\" ] || exit 1; [ $1 != -n ] || shift; AS_UID=0 \"$@\""),
    (
        "dpkg-query",
        "shift 3; for p; do case \" $LACKS \" in *\" $p \"*) [ -e $CALLS.installed ] || continue;; esac; \
         echo installed $p; done",
    ),
    (
        "apt-get",
        "case \"$*\" in \
         indextargets*) echo ${MIRROR-http://mirror.invalid/debian};; \
         *print-uris*) echo \"'http://mirror.invalid/ceph_1.orig.tar.gz' ceph_1.orig.tar.gz 1 SHA256:0\";; \
         *install*) : >$CALLS.installed; exit ${APT_STATUS:-0};; esac",
    ),
    ("apt-helper", "while [ $1 != download-file ]; do shift; done; cp $ARCHIVE $3"),
    ("cargo", "echo cargo ${RUST:-1.85.0} from a test"),
    ("rustc", "echo rustc ${RUST:-1.85.0} from a test"),
    ("make", "mkdir -p build/lib/pkgconfig && : >build/lib/pkgconfig/spdk_nvme.pc"),
];

/// SPDK as far as the script is concerned.
const CONFIGURE: &str = "#!/bin/sh
echo $$ >$CALLS.configure
[ -z \"$BUILD_FAILS\" ] || { echo 'error: the compiler has gone home'; exit 1; }
sleep ${BUILD_SECONDS:-0}
printf 'all:\\n\\tmkdir -p build/lib/pkgconfig && : >build/lib/pkgconfig/spdk_nvme.pc\\n' >Makefile
";

/// A machine with a home, a mirror and nothing built.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        let bin = machine.path("bin");
        for folder in ["bin", "home"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        for tool in TOOLS {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            if let Some(found) = found.iter().find(|path| path.exists()) {
                symlink(found, bin.join(tool)).unwrap();
            }
        }
        for (name, body) in STAND_INS {
            if !bin.join(name).exists() {
                script(&bin.join(name), &format!("#!/bin/sh\necho \"{name} $*\" >>$CALLS\n{body}\n"));
            }
        }
        let tree = machine.tree("ceph-1/src/nvmeof/gateway/spdk");
        let (parent, archive) = (machine.folder.path(), machine.path("ceph.tar.gz"));
        let tar = Command::new("tar").arg("-C").arg(parent).arg("-czf").arg(&archive).arg("ceph-1").status().unwrap();
        assert!(tar.success() && tree.exists());
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A source tree of SPDK's.
    fn tree(&self, name: &str) -> PathBuf {
        let tree = self.path(name);
        fs::create_dir_all(tree.join("dpdk")).unwrap();
        fs::write(tree.join("dpdk/meson.build"), "").unwrap();
        fs::write(tree.join("VERSION"), "26.01\n").unwrap();
        script(&tree.join("configure"), CONFIGURE);
        tree
    }

    fn hide(&self, tool: &str) {
        fs::remove_file(self.path("bin").join(tool)).unwrap();
    }

    fn setup(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/bash"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/setup.sh")).args(arguments).env_clear();
        command.env("PATH", self.path("bin")).env("HOME", self.path("home")).env("CALLS", self.path("calls"));
        command.env("ARCHIVE", self.path("ceph.tar.gz")).envs(environment.iter().copied());
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
        self.setup(environment, arguments).output().unwrap()
    }

    /// What a refused call says.
    fn refused(&self, environment: &[(&str, &str)], arguments: &[&str]) -> String {
        let output = self.run(environment, arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{environment:?} {arguments:?}: {text}");
        assert!(output.stdout.is_empty());
        text
    }

    /// Starts a build that takes long, and waits until it is under way.
    fn begin(&self, environment: &[(&str, &str)]) -> Child {
        let _ = fs::remove_file(self.path("calls.configure"));
        let child = self.setup(environment, &[]).env("BUILD_SECONDS", "60").stderr(Stdio::null()).spawn().unwrap();
        wait_for("the build to begin", || self.builder().is_some());
        child
    }

    /// The process that builds, once it has begun.
    fn builder(&self) -> Option<u32> {
        fs::read_to_string(self.path("calls.configure")).ok()?.trim().parse().ok()
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap_or_default()
    }

    /// Names in the cache that are neither log nor lock.
    fn kept(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("home/.cache/rigel")).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "lock" && !name.ends_with(".log")).collect()
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "waited 20 s for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_first_call_fetches_and_builds_and_the_second_ends_at_once() {
    let machine = Machine::new();
    assert!(machine.refused(&[], &["--where"]).contains("Run scripts/setup.sh"));
    let first = machine.run(&[], &[]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert_eq!(machine.kept().len(), 1, "the build and nothing else: {:?}", machine.kept());
    let place = String::from_utf8(machine.run(&[], &["--where"]).stdout).unwrap();
    assert_eq!(Path::new(place.trim()), machine.path("home/.cache/rigel").join(&machine.kept()[0]));
    let calls = machine.calls();
    assert!(calls.contains("download-file http://mirror.invalid/ceph_1.orig.tar.gz"), "{calls}");

    fs::write(machine.path("calls"), "").unwrap();
    let begun = Instant::now();
    assert!(machine.run(&[], &[]).status.success());
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(!machine.calls().contains("apt"), "{}", machine.calls());
}

#[test]
fn a_call_that_is_cut_short_leaves_nothing_half_built() {
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let machine = Machine::new();
        let mut child = machine.begin(&[]);
        let builder = machine.builder().unwrap();
        let sent = Command::new("bash").arg("-c").arg(format!("kill -{signal} {}", child.id())).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), code, "{signal}");
        wait_for("the build to end", || !alive(builder));
        wait_for("the cache to be cleaned", || machine.kept().is_empty());
        assert!(machine.refused(&[], &["--where"]).contains("not built"));
        assert!(machine.run(&[], &[]).status.success(), "a new call after {signal}");
    }
}

#[test]
fn a_tree_of_the_users_own_that_was_half_built_is_not_taken_for_finished() {
    let machine = Machine::new();
    let tree = machine.tree("spdk");
    let source = [("SPDK_SRC", text(&tree))];
    let mut child = machine.begin(&source);
    child.kill().unwrap();
    child.wait().unwrap();
    let builder = machine.builder().unwrap();
    wait_for("the build to end", || !alive(builder));
    assert!(machine.refused(&source, &["--where"]).contains("not built yet in SPDK_SRC="));
    assert!(machine.run(&source, &[]).status.success());
    assert_eq!(machine.run(&source, &["--where"]).stdout, format!("{}\n", tree.display()).into_bytes());
    assert!(!machine.calls().contains("ceph") && machine.kept().is_empty(), "nothing is fetched");
}

#[test]
fn of_two_calls_at_once_one_builds_and_the_other_waits() {
    let machine = Machine::new();
    let slow = |wait: &str| {
        let mut command = machine.setup(&[("BUILD_SECONDS", wait)], &[]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = slow("2");
    wait_for("the first to begin", || machine.builder().is_some());
    let second = slow("0");
    let outputs = [first, second].map(|child| child.wait_with_output().unwrap());
    assert!(outputs.iter().all(|output| output.status.success()));
    let said = String::from_utf8_lossy(&outputs[1].stderr).into_owned();
    assert!(said.contains("another setup is at work") && !said.contains("building"), "{said}");
    assert_eq!(machine.calls().matches("download-file").count(), 1);
}

#[test]
fn a_build_that_fails_tells_why_and_leaves_nothing() {
    let machine = Machine::new();
    let said = machine.refused(&[("BUILD_FAILS", "1")], &[]);
    for part in ["the compiler has gone home", "build.log", "call scripts/setup.sh again"] {
        assert!(said.contains(part), "{said}");
    }
    fs::write(machine.path("ceph.tar.gz"), "no archive").unwrap();
    assert!(machine.refused(&[], &[]).contains("empty or damaged"));
    assert!(machine.refused(&[("MIRROR", "")], &[]).contains("/etc/apt/sources.list"));
    assert!(machine.kept().is_empty(), "{:?}", machine.kept());
}

#[test]
fn a_disk_without_room_is_told_before_anything_is_fetched() {
    let machine = Machine::new();
    machine.hide("df");
    script(&machine.path("bin/df"), "#!/bin/sh\nprintf ' Avail\\n   99\\n'\n");
    let said = machine.refused(&[], &[]);
    assert!(said.contains("has 99 MiB free") && said.contains("XDG_CACHE_HOME"), "{said}");
    assert!(!machine.calls().contains("download"));
}

#[test]
fn missing_packages_are_installed_by_root_and_by_sudo() {
    for (user, sudo) in [("0", ""), ("1000", "yes")] {
        let machine = Machine::new();
        let environment = [("AS_UID", user), ("SUDO_WORKS", sudo), ("LACKS", "nasm meson")];
        assert!(machine.run(&environment, &[]).status.success());
        let calls = machine.calls();
        let installed = calls.lines().find(|line| line.starts_with("apt-get") && line.contains(" install ")).unwrap();
        assert!(installed.ends_with("--no-install-recommends nasm meson"), "{calls}");
        assert!(installed.contains("--no-remove"), "what someone else chose stays: {calls}");
    }
    let said = Machine::new().refused(&[("LACKS", "nasm"), ("APT_STATUS", "100")], &[]);
    assert!(said.contains("apt-get failed") && said.contains("apt.log"), "{said}");
}

#[test]
fn without_root_the_exact_command_is_told() {
    let machine = Machine::new();
    let said = machine.refused(&[("AS_UID", "1000"), ("LACKS", "nasm meson")], &[]);
    let command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends nasm meson\n";
    assert!(said.contains(command), "{said}");
    assert!(!machine.calls().contains("apt-get"), "{}", machine.calls());
    assert!(machine.run(&[("AS_UID", "1000")], &[]).status.success(), "no root once the packages are there");
}

#[test]
fn rust_comes_from_debian_where_there_is_none_and_is_never_replaced() {
    let machine = Machine::new();
    let said = machine.refused(&[("RUST", "1.84.9")], &[]);
    for part in ["1.85 or newer", "cargo 1.84.9", "rustup update stable", "cargo-web"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!machine.calls().contains("apt-get"));
    for newer in ["1.85.1", "1.100.0", "2.0.0"] {
        assert!(machine.run(&[("RUST", newer)], &[]).status.success(), "{newer}");
    }
    machine.hide("cargo");
    let said = machine.refused(&[("AS_UID", "1000"), ("LACKS", "cargo cargo-web rustc rustc-web")], &[]);
    let bookworm = fs::read_to_string("/etc/os-release").unwrap_or_default().contains("VERSION_CODENAME=bookworm");
    assert!(said.contains(if bookworm { " cargo-web rustc-web" } else { " cargo rustc" }), "{said}");
    // rustup's folder counts though no login shell has put it into PATH.
    fs::create_dir_all(machine.path("home/.cargo/bin")).unwrap();
    script(&machine.path("home/.cargo/bin/cargo"), "#!/bin/sh\necho cargo 1.90.0\n");
    assert!(machine.run(&[("AS_UID", "1000")], &[]).status.success());
}

#[test]
fn elsewhere_than_on_debian_what_is_missing_is_named() {
    let machine = Machine::new();
    for tool in ["apt-get", "dpkg-query", "cargo"] {
        machine.hide(tool);
    }
    let said = machine.refused(&[], &[]);
    let parts =
        ["missing: nasm\n", "missing: ninja\n", "missing: cargo and rustc 1.85", "not a Debian system", "SPDK_SRC="];
    for part in parts {
        assert!(said.contains(part), "{said}");
    }
    // With a built tree, what only SPDK's own build takes is not asked for.
    let prefix = machine.path("prefix");
    fs::create_dir_all(prefix.join("lib/pkgconfig")).unwrap();
    fs::write(prefix.join("lib/pkgconfig/spdk_nvme.pc"), "").unwrap();
    let said = machine.refused(&[("SPDK_DIR", text(&prefix))], &[]);
    assert!(said.contains("missing: cargo") && !said.contains("missing: nasm"), "{said}");
    assert!(machine.calls().is_empty(), "{}", machine.calls());
}

#[test]
fn spdk_dir_is_used_as_it_is() {
    let machine = Machine::new();
    let prefix = machine.path("prefix");
    fs::create_dir_all(prefix.join("lib/pkgconfig")).unwrap();
    fs::write(prefix.join("lib/pkgconfig/spdk_nvme.pc"), "").unwrap();
    let environment = [("SPDK_DIR", text(&prefix)), ("LACKS", "nasm meson")];
    assert!(machine.run(&environment, &[]).status.success());
    assert_eq!(machine.run(&environment, &["--where"]).stdout, format!("{}\n", prefix.display()).into_bytes());
    assert!(!machine.calls().contains("apt"), "what only SPDK's own build takes is not installed: {}", machine.calls());
    assert!(machine.kept().is_empty());
}

#[test]
fn wrong_values_are_refused_with_the_remedy_before_anything_is_done() {
    let machine = Machine::new();
    let empty = machine.path("home");
    let bare = machine.tree("bare");
    fs::remove_file(bare.join("dpdk/meson.build")).unwrap();
    for (name, value, part) in [
        ("SPDK_DIR", "/nonexistent", "unset it and run scripts/setup.sh"),
        ("SPDK_DIR", text(&empty), "holds no built SPDK"),
        ("SPDK_DIR", "../spdk", "is not an absolute path"),
        ("SPDK_SRC", "/nonexistent", "unset it and run scripts/setup.sh"),
        ("SPDK_SRC", text(&empty), "no configure script"),
        ("SPDK_SRC", text(&bare), "submodule update --init"),
        ("SPDK_SRC", "/a tree", "has a blank"),
        ("SPDK_JOBS", "many", "SPDK_JOBS=4"),
        ("XDG_CACHE_HOME", "cache", "is not an absolute path"),
        ("HOME", "/home/a b", "has a blank"),
        ("HOME", "", "neither HOME nor XDG_CACHE_HOME"),
    ] {
        for arguments in [&[][..], &["--where"]] {
            let said = machine.refused(&[(name, value)], arguments);
            assert!(said.contains(part), "{name}={value}: {said}");
        }
    }
    assert!(machine.calls().is_empty() && machine.kept().is_empty(), "{}", machine.calls());
    let said = machine.refused(&[("XDG_CACHE_HOME", text(&machine.path("ceph.tar.gz")))], &[]);
    assert!(said.contains("cannot be written") && said.contains("Set XDG_CACHE_HOME"), "{said}");
}

#[test]
fn arguments_are_explained() {
    let machine = Machine::new();
    let help = machine.run(&[], &["--help"]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("SPDK_SRC=<folder>"));
    assert_eq!(machine.run(&[], &["--wehre"]).status.code(), Some(2));
    assert!(machine.refused(&[], &["--hugepages", "some"]).contains("a number of MiB, not 'some'"));
}
