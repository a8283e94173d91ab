//! What this machine is, read from the system. Owns the reading; the data type is `facts::HostFacts`.

use std::fs::read_to_string;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::clock::Clock;
use crate::facts::HostFacts;

/// Facts of this host; what cannot be read is empty or zero.
pub(super) fn facts(clock: &Clock, virtual_time: bool) -> HostFacts {
    let first = |path: &str| read_to_string(path).unwrap_or_default().trim().to_owned();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let memory = field(&first("/proc/meminfo"), "MemTotal");
    let memory_kib: u64 = memory.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0);
    HostFacts {
        hostname: nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default(),
        kernel: format!("{} {}", first("/proc/sys/kernel/ostype"), first("/proc/sys/kernel/osrelease")),
        cpu: field(&first("/proc/cpuinfo"), "model name"),
        cores: cores(),
        memory_bytes: memory_kib * 1024,
        clock: if virtual_time { "virtual" } else { "tsc" }.to_owned(),
        ticks_per_s: clock.ticks_per_s().round() as u64,
    }
}

/// The cores this process may run on, rising.
pub(super) fn cores() -> Vec<usize> {
    match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect(),
        Err(_) => (0..std::thread::available_parallelism().map_or(1, Into::into)).collect(),
    }
}
