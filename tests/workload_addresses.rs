//! Which blocks a lane's generator touches, and in which direction.

use std::collections::HashSet;

use proptest::prelude::*;
use rigel::driver::{Backend, NullBackend};
use rigel::plan::{Op, Plan, resolve};
use rigel::spec;
use rigel::workload::{Generator, NextIo, stream_seed};

fn plan(workload: &str) -> Plan {
    let targets = "[[target]]\nuri = \"null://64m?block_size=512\"\n[run]\ncores = \"0\"\n";
    let job = spec::parse(&format!("{targets}[[workload]]\n{workload}"), "test").expect("a job");
    let backend = NullBackend::new(&["null://64m?block_size=512".parse().expect("a URI")]);
    resolve(&job, &backend.facts(), &[0]).expect("a plan")
}

fn generator(workload: &str, seed: u64) -> Generator {
    let plan = plan(workload);
    Generator::new(&plan, &plan.cores[0].lanes[0], stream_seed(seed, 0, 0))
}

fn take(generator: &mut Generator, count: usize) -> Vec<NextIo> {
    (0..count).map(|_| generator.next_io()).collect()
}

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

#[test]
fn random_addresses_are_uniform_over_the_region() {
    let mut generator = generator("block_size = \"1m\"\nregion = \"16m-48m\"\n", 7);
    let mut counts = [0u32; 64];
    let draws = 320_000;
    for io in take(&mut generator, draws) {
        assert_eq!((io.op, io.blocks, io.lba.0 % 2048), (Op::Read, 2048, 0));
        counts[(io.lba.0 / 2048) as usize] += 1;
    }
    let expected = draws as f64 / 32.0;
    let chi2: f64 = counts[16..48].iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    // 31 degrees of freedom; 99.9 % of all seeds stay below 61.1 (and this seed is one that is kept).
    assert!(chi2 < 61.1, "chi-square {chi2}");
    assert!(counts[..16].iter().chain(&counts[48..]).all(|&n| n == 0), "outside of the region");
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
