//! Programs that are run and waited for. Owns that a study that is interrupted takes them with it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a program to its end. When `stop` is set it and all it has started in the foreground get SIGINT once, as from a
/// terminal, whoever stopped the study; for that they are a process group of their own.
pub(super) fn run(command: &mut Command, stop: &AtomicBool) -> io::Result<ExitStatus> {
    let mut child = command.process_group(0).spawn()?;
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut told, true) {
            signal(&child, Signal::SIGINT);
        }
        sleep(LOOK);
    }
}

/// Sends a signal to a child that leads a process group, and to its group.
pub(super) fn signal(child: &Child, signal: Signal) {
    let Ok(pid) = i32::try_from(child.id()) else { return };
    // It may have ended in this moment.
    let _ = kill(Pid::from_raw(-pid), signal);
}
