//! Which blocks a lane's generator touches, and in which direction: what holds for every pattern, and the plain ones.

#[path = "common/lanes.rs"]
mod lanes;

use std::collections::HashSet;

use lanes::{blocks, chi_square, on_blocks, take, target};
use proptest::prelude::*;
use rigel::plan::{Op, Plan};
use rigel::workload::{Batch, Generator};

fn plan(workload: &str) -> Plan {
    lanes::plan(workload, target(131_072, 512), 1)
}

fn generator(workload: &str, seed: u64) -> Generator {
    lanes::generator(&plan(workload), 0, seed)
}

/// Every pattern, and sizes of its own.
const PATTERNS: [&str; 12] = [
    "access = \"random\"",
    "access = \"sequential\"",
    "access = \"permutation\"",
    "access = { pattern = \"strided\", stride = \"192k\" }",
    "access = \"zipf:0.5\"",
    "access = { pattern = \"zipf\", theta = 1.2, scatter = false }",
    "access = \"pareto:0.1\"",
    "access = \"normal:10%\"",
    "access = \"normal:0.001%\"",
    "access = \"hot:80/20\"",
    "access = { pattern = \"hot\", accesses = 90, space = 0.1, moves = \"1s\" }",
    "access = { pattern = \"bands\", bands = [{ accesses = 30, region = \"40%-60%\" }, { accesses = 70, region = \"99%-100%\" }] }",
];

const SIZES: [&str; 6] = [
    "",
    "block_size = \"12k\"",
    "block_size = \"4k:60,64k:40\"",
    "block_size = \"4k:60,64k:40\"\nalign = \"4k\"",
    "read_percent = 50\nread_block_size = \"4k\"\nwrite_block_size = \"16k:50,64k:50\"",
    "align = \"64k\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The short way of the commonest lane is the same stream, number for number.
    #[test]
    fn the_short_way_makes_the_same_ios(
        seed: u64, kib in prop_oneof![Just(4u64), Just(8), Just(12), Just(64)], skip in 0u64..32, reads: bool,
    ) {
        let percent = if reads { 100 } else { 0 };
        let workload = format!("block_size = \"{kib}k\"\nread_percent = {percent}\nregion = \"{skip}m-64m\"\n");
        let mut long = generator(&workload, seed);
        let mut short = long.uniform().expect("one target, one direction, random");
        for _ in 0..2_000 {
            prop_assert_eq!(short.next_io(), long.next_io());
        }
    }
}

#[test]
fn other_lanes_have_no_short_way() {
    for workload in ["read_percent = 70", "access = \"sequential\""] {
        assert!(generator(workload, 1).uniform().is_none(), "{workload}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the capacity, odd or great, and whatever the part of it: no I/O lies outside of its region, and each is
    /// aligned.
    #[test]
    fn no_io_lies_outside_of_its_region(
        blocks in prop_oneof![30_000u64..40_000, (1u64 << 48) - 100..=1 << 48, 1u64 << 20..1 << 48],
        pattern in 0..PATTERNS.len(), sizes in 0..SIZES.len(), wide in any::<bool>(), cores in 1usize..4, lba in prop_oneof![Just(512u32), Just(4096)],
        seed: u64,
    ) {
        let region = if wide { "" } else { "region = \"33.3%-77.7%\"" };
        let workload = format!("{}\n{}\n{region}", PATTERNS[pattern], SIZES[sizes]);
        let blocks = blocks - blocks % 2 + seed % 2;
        // A stride that does not suit the sizes is refused, and so are bands too narrow for an I/O.
        let Ok(plan) = lanes::try_plan(&workload, target(blocks, lba), cores) else { return Ok(()) };
        let region = plan.workloads[0].regions[0];
        prop_assert!(region.first_block + region.blocks <= blocks);
        for core in 0..cores {
            let mut generator = lanes::generator(&plan, core, seed);
            for io in take(&mut generator, 300) {
                let end = io.lba.0 + u64::from(io.blocks);
                prop_assert!(io.lba.0 >= region.first_block && end <= region.first_block + region.blocks, "{io:?}");
                let size = rigel::units::Bytes(u64::from(io.blocks) * u64::from(lba));
                prop_assert!(plan.workloads[0].all_sizes().contains(&size), "{io:?}");
                let align = plan.workloads[0].align_of(size).0 / u64::from(lba);
                prop_assert_eq!(io.lba.0 % align, 0, "{:?}", io);
            }
        }
    }
}

#[test]
fn the_last_block_is_touched_and_none_beyond() {
    for workload in
        ["access = \"random\"", "access = \"sequential\"", "access = \"permutation\"", "access = \"zipf:0.1\""]
    {
        // 1,001 blocks of 512 bytes hold 125 I/Os of 4 KiB and one block more, which no I/O fills.
        let plan = lanes::plan(workload, target(1_001, 512), 1);
        let most = blocks(&mut lanes::generator(&plan, 0, 3), 20_000).into_iter().max();
        assert_eq!(most, Some(124 * 8), "{workload}");
    }
}

#[test]
fn what_is_drawn_ahead_is_the_same_stream() {
    for pattern in PATTERNS {
        for sizes in ["", "read_percent = 40", "block_size = \"4k:60,64k:40\""] {
            let mut one_by_one = generator(&format!("{pattern}\n{sizes}"), 5);
            let mut batch = Batch::new(one_by_one.clone());
            let mut sole = batch.sole();
            assert_eq!(sole.is_some(), sizes.is_empty());
            for _ in 0..300 {
                let io = one_by_one.next_io();
                assert_eq!(batch.next_io(rigel::units::Ticks(0)), io, "{pattern} {sizes}");
                assert!(sole.as_mut().is_none_or(|sole| sole.next_io(rigel::units::Ticks(0)) == io));
            }
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_stream_and_another_one_another() {
    for pattern in PATTERNS {
        let stream = |seed: u64| {
            let mut plan = plan(pattern);
            plan.seed = seed;
            blocks(&mut lanes::generator(&plan, 0, seed), 500)
        };
        assert_eq!(stream(1), stream(1), "{pattern}");
        let streams = pattern.contains("sequential") || pattern.contains("strided");
        assert_eq!(stream(1) == stream(2), streams, "{pattern}");
    }
}

#[test]
fn random_addresses_are_uniform_over_the_region() {
    // 999 degrees of freedom; 99.9 % of all seeds stay below 1,143 (and this seed is one that is kept).
    for workload in ["access = \"random\"", "access = \"permutation\""] {
        let count = 7_777_001;
        let mut bins = vec![0u32; 1_000];
        for block in blocks(&mut on_blocks(workload, count), 1_000_000) {
            bins[(block * 1_000 / count) as usize] += 1;
        }
        let chi2 = chi_square(&bins);
        assert!(chi2 < 1_143.0, "{workload}: chi-square {chi2}");
    }
    let mut generator = generator("block_size = \"1m\"\nregion = \"16m-48m\"\n", 7);
    for io in take(&mut generator, 10_000) {
        assert_eq!((io.op, io.blocks, io.lba.0 % 2048), (Op::Read, 2048, 0));
        assert!((16 * 2048..48 * 2048).contains(&io.lba.0));
    }
}

#[test]
fn neighbours_in_a_permutation_lie_anywhere() {
    // Two independent uniform places are a third of the region apart on average, with a deviation of 0.236 of it.
    for count in [20_011u64, 1 << 20, (1 << 33) + 12_345] {
        let places = blocks(&mut on_blocks("access = \"permutation\"", count), 20_000);
        let apart = places.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as f64 / count as f64);
        let mean = apart.sum::<f64>() / 19_999.0;
        assert!((mean - 1.0 / 3.0).abs() < 5.0 * 0.236 / 20_000f64.sqrt() * 1.5, "{count}: {mean}");
    }
}

#[test]
fn a_permutation_touches_each_block_once_a_period_over_all_cores() {
    for (count, cores) in [(1, 1), (2, 1), (7, 3), (1_000, 1), (4_099, 2), (50_001, 3), (65_537, 4)] {
        let plan = lanes::plan("no_repeat = true\nqueue_depth = 4", target(count, 4096), cores);
        let mut seen = vec![0u32; count as usize];
        for core in 0..cores {
            let mut generator = lanes::generator(&plan, core, 9);
            let first = generator.next_io().lba.0;
            seen[first as usize] += 1;
            loop {
                let block = generator.next_io().lba.0;
                if block == first {
                    break;
                }
                seen[block as usize] += 1;
            }
        }
        assert!(seen.iter().all(|&times| times == 1), "{count} blocks on {cores} cores");
    }
}

#[test]
fn sequential_addresses_tile_the_region_and_begin_again() {
    let mut generator = generator("access = \"sequential\"\nblock_size = \"64k\"\nregion = \"8m-10m\"\n", 1);
    let ios = take(&mut generator, 64);
    let places: Vec<_> = ios.iter().map(|io| io.lba.0 * 512 / 65_536).collect();
    let expected: Vec<_> = (128..160).chain(128..160).collect();
    assert_eq!(places, expected);
}

#[test]
fn the_read_share_is_the_one_asked_for() {
    let mut generator = generator("read_percent = 70\n", 3);
    let reads = take(&mut generator, 100_000).iter().filter(|io| io.op == Op::Read).count();
    // Four standard deviations of a binomial of 100,000 draws are 580.
    assert!((69_420..=70_580).contains(&reads), "{reads}");
}

#[test]
fn lanes_of_different_seeds_have_different_streams() {
    let stream = |seed| take(&mut generator("block_size = \"4k\"", seed), 1_000).iter().map(|io| io.lba.0).collect();
    let (one, two): (Vec<u64>, Vec<u64>) = (stream(1), stream(2));
    assert_ne!(one, two);
    let distinct: HashSet<_> = one.iter().collect();
    assert!(distinct.len() > 900, "{} of 1,000 addresses are distinct", distinct.len());
}
