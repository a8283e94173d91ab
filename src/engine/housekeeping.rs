//! Keeps the process's other threads off the cores that are polled, for the length of a run. Owns nothing but that.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// While it lives, the threads that existed when it was made run on cores that are not polled, where there are any.
#[derive(Debug)]
pub(super) struct Housekeeping {
    before: Vec<(Pid, CpuSet)>,
}

impl Housekeeping {
    /// Moves every thread of the process aside. A thread that cannot be moved stays; so do all when no core is left.
    pub(super) fn aside(polled: impl Iterator<Item = usize>) -> Self {
        let polled: Vec<_> = polled.collect();
        let mut before = Vec::new();
        for thread in threads() {
            let Ok(allowed) = sched_getaffinity(thread) else { continue };
            let mut rest = CpuSet::new();
            let free = (0..CpuSet::count()).filter(|c| allowed.is_set(*c).unwrap_or(false) && !polled.contains(c));
            let left = free.filter(|&core| rest.set(core).is_ok()).count();
            if left > 0 && sched_setaffinity(thread, &rest).is_ok() {
                before.push((thread, allowed));
            }
        }
        Self { before }
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        for (thread, allowed) in &self.before {
            // A thread that has ended meanwhile needs nothing.
            let _ = sched_setaffinity(*thread, allowed);
        }
    }
}

fn threads() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Pid::from_raw).collect()
}
