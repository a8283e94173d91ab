//! The `rigel` binary run as a user runs it: in a folder of its own, with a limit on its time, never left behind.
//!
//! Owns processes of `rigel` and what they leave: exit code, output, result folder.

#![allow(dead_code, reason = "each test uses its own part")]

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rigel::result::{RunResult, from_json};
use tempfile::TempDir;

/// A run that takes longer hangs; none of the tests asks for more than a few seconds of I/O.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs `rigel` with the words of `line` as arguments and waits for its end.
#[track_caller]
pub fn rigel(line: &str) -> Outcome {
    Running::start(line).wait()
}

/// A `rigel` at work; killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    folder: TempDir,
    started: Instant,
}

impl Running {
    /// Starts `rigel` with the words of `line` as arguments, in an empty folder.
    #[track_caller]
    pub fn start(line: &str) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), line)
    }

    /// The same in a folder that has been prepared.
    #[track_caller]
    pub fn start_in(folder: TempDir, line: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
        command.args(line.split_whitespace());
        Self::spawn(folder, command)
    }

    /// The same with any command that ends in `rigel`.
    #[track_caller]
    pub fn spawn(folder: TempDir, mut command: Command) -> Self {
        let file = |name: &str| File::create(folder.path().join(name)).unwrap();
        command.current_dir(folder.path()).env_remove("RUST_LOG").stdin(Stdio::null());
        command.stdout(file("stdout")).stderr(file("stderr"));
        let started = Instant::now();
        Self { child: command.spawn().unwrap(), folder, started }
    }

    /// Waits until `text` stands on stderr.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + LIMIT;
        while !self.stderr().contains(text) {
            assert!(self.child.try_wait().unwrap().is_none(), "ended before `{text}` came: {}", self.stderr());
            assert!(Instant::now() < end, "`{text}` did not come within {LIMIT:?}: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Waits for the end.
    #[track_caller]
    pub fn wait(mut self) -> Outcome {
        let end = Instant::now() + LIMIT;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                None => panic!("not at its end after {LIMIT:?}: {}", self.stderr()),
            }
        };
        let took = self.started.elapsed();
        assert_eq!(status.signal(), None, "ended by a signal: {}", self.stderr());
        let text = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap();
        let (stdout, stderr) = (text("stdout"), text("stderr"));
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        Outcome { code: status.code(), stdout, stderr, took, folder }
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a `rigel` ended, and what it left behind.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit code.
    pub code: Option<i32>,
    /// All it wrote to stdout.
    pub stdout: String,
    /// All it wrote to stderr.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
    folder: TempDir,
}

impl Outcome {
    /// Checks the exit code; shows what was said if it is another one.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Checks a refusal: exit code, every part of the message, within 10 s, no result, nothing on stdout after the map.
    #[track_caller]
    pub fn refuses(&self, code: i32, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing in: {}", self.stderr);
        }
        assert_eq!(self.code, Some(code), "\n{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains("rigel: "), "the message does not say who speaks: {}", self.stderr);
        assert!(self.took < Duration::from_secs(10), "took {:?}: {}", self.took, self.stderr);
        assert!(!self.stdout.contains("Result: "), "a refused run tells of a result: {}", self.stdout);
        assert_eq!(self.result_folders(), Vec::<PathBuf>::new(), "a refused run left a folder");
    }

    /// Checks what the argument parser refuses: exit code 2, and every part of the message.
    #[track_caller]
    pub fn refuses_usage(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing in: {}", self.stderr);
        }
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
    }

    /// The result it saved.
    #[track_caller]
    pub fn result(&self) -> RunResult {
        from_json(&self.result_text()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The text of the only `result.json` it saved.
    #[track_caller]
    pub fn result_text(&self) -> String {
        let folders = self.result_folders();
        assert_eq!(folders.len(), 1, "results: {folders:?}\n{}{}", self.stdout, self.stderr);
        fs::read_to_string(folders[0].join("result.json")).unwrap()
    }

    fn result_folders(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.folder.path().join("rigel-results")).into_iter().flatten();
        folders.map(|folder| folder.unwrap().path()).collect()
    }

    /// The folder it ran in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
