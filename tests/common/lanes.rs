//! Plans and generators of made-up targets, for the tests of the workload.

#![allow(dead_code, reason = "each test uses its own part")]

use rigel::facts::DeviceFacts;
use rigel::plan::{Plan, PlanError, resolve};
use rigel::spec;
use rigel::workload::{Generator, NextIo, stream_seed};

/// A target in memory.
pub fn target(blocks: u64, lba_bytes: u32) -> DeviceFacts {
    DeviceFacts {
        uri: "null://1t".to_owned(),
        driver: "null".to_owned(),
        model: String::new(),
        serial: String::new(),
        firmware: String::new(),
        identities: Vec::new(),
        block_size: lba_bytes,
        blocks,
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: 0,
        volatile: true,
        supports: rigel::facts::Supports::ALL,
    }
}

/// The plan of the `[[workload]]` fields (several workloads: with their own headers in between) on one target.
pub fn try_plan(workload: &str, target: DeviceFacts, cores: usize) -> Result<Plan, PlanError> {
    let text =
        format!("[[target]]\nuri = \"null://1t\"\n[run]\ncores = \"0-{}\"\n[[workload]]\n{workload}\n", cores - 1);
    let job = spec::parse(&text, "test").unwrap_or_else(|error| panic!("{error}\n{text}"));
    resolve(&job, &[target], &(0..cores).collect::<Vec<_>>())
}

#[track_caller]
pub fn plan(workload: &str, target: DeviceFacts, cores: usize) -> Plan {
    try_plan(workload, target, cores).unwrap_or_else(|error| panic!("{error}\n{workload}"))
}

/// The generator of the first lane of a core.
pub fn generator(plan: &Plan, core: usize, seed: u64) -> Generator {
    Generator::new(plan, &plan.cores[core].lanes[0], stream_seed(seed, core, 0))
}

/// The generator of a workload on one core and a target of so many blocks of 4 KiB, which are its I/Os.
pub fn on_blocks(workload: &str, blocks: u64) -> Generator {
    generator(&plan(workload, target(blocks, 4096), 1), 0, 1)
}

pub fn take(generator: &mut Generator, count: usize) -> Vec<NextIo> {
    (0..count).map(|_| generator.next_io()).collect()
}

/// The blocks of the next I/Os.
pub fn blocks(generator: &mut Generator, count: usize) -> Vec<u64> {
    (0..count).map(|_| generator.next_io().lba.0).collect()
}

/// Pearson's chi-square of counts against equal ones.
pub fn chi_square(counts: &[u32]) -> f64 {
    let expected = counts.iter().map(|&n| f64::from(n)).sum::<f64>() / counts.len() as f64;
    counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum()
}
