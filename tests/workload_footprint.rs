//! The footprint: what it says a pattern touches, against a count of what the generator's I/Os touch.

#[path = "common/lanes.rs"]
mod lanes;

use std::collections::HashSet;

use lanes::{generator, plan, target};
use rigel::plan::Op;
use rigel::units::Ticks;
use rigel::workload::coverage;

/// Draws `draws` I/Os over `time_s` on `count` blocks and compares what they touch with what is told.
#[track_caller]
fn assert_told(workload: &str, count: u64, draws: u64, time_s: f64) {
    let size = if workload.contains("block_size") { "" } else { "\nblock_size = \"512\"" };
    let plan = plan(&format!("{workload}{size}"), target(count, 512), 1);
    let mut generator = generator(&plan, 0, 1).on_clock(1e9);
    generator.begin_point(Ticks(0));
    let (mut places, mut touched, mut first, mut ops) =
        (HashSet::new(), vec![false; count as usize], 0u64, [(Op::Read, 0), (Op::Write, 0)]);
    for number in 0..draws {
        generator.at(Ticks((time_s * 1e9 * number as f64 / draws as f64) as u64));
        let io = generator.next_io();
        first += u64::from(places.insert((io.lba, io.blocks)));
        ops[usize::from(io.op == Op::Write)].1 += 1;
        let begin = io.lba.0 as usize;
        touched[begin..begin + io.blocks as usize].fill(true);
    }
    let told = coverage(&plan, 0, 0, &ops, time_s);
    let counted = touched.iter().filter(|touched| **touched).count() as f64;
    // Sizes are drawn too, so that few I/Os touch more or less by chance.
    let by_chance = 2.0 / (draws as f64).sqrt();
    let close = |told: f64, counted: f64| (told - counted).abs() <= 0.02f64.max(by_chance) * counted + 3.0;
    let what = format!("{workload}, {draws} draws on {count}: told {told:?}, counted {first} first, {counted} touched");
    assert!(close(told.first_ios, first as f64) && close(told.touched_blocks, counted), "{what}");
    assert_eq!(told.region_blocks, count);
}

#[test]
fn every_pattern_touches_what_is_told_of_it() {
    for workload in [
        "access = \"random\"",
        "access = \"sequential\"",
        "access = \"permutation\"",
        "access = { pattern = \"strided\", stride = \"2k\" }",
        "access = { pattern = \"zipf\", theta = 0.99 }",
        "access = { pattern = \"zipf\", theta = 1.5 }",
        "access = { pattern = \"pareto\", share = 0.2 }",
        "access = { pattern = \"normal\", deviation = \"10%\" }",
        "access = { pattern = \"hot\", accesses = \"80%\", space = \"20%\" }",
        "access = { pattern = \"bands\", bands = [{ accesses = \"50%\", region = \"0%-5%\" }, { accesses = \"50%\", region = \"50%-100%\" }] }",
    ] {
        for draws in [1_000, 30_000, 300_000] {
            assert_told(workload, 50_001, draws, 1.0);
        }
    }
}

#[test]
fn a_hot_band_that_moves_touches_more() {
    let hot = "access = { pattern = \"hot\", accesses = \"90%\", space = \"10%\", moves = \"1s\" }";
    for time_s in [0.5, 4.0, 10.0, 25.0] {
        assert_told(hot, 50_000, 60_000, time_s);
    }
}

#[test]
fn mixed_sizes_lie_over_each_other() {
    // A stream of mixed sizes that goes round meets its places with other sizes; it is told up to there.
    for (access, most) in [("random", 40_000), ("sequential", 20_000)] {
        for draws in [1_000, 10_000, most] {
            let mix = "read_percent = 60\nread_block_size = \"512:50,2k:50\"\nwrite_block_size = \"1k\"";
            assert_told(&format!("access = \"{access}\"\n{mix}"), 65_536, draws, 1.0);
        }
    }
    assert_told("access = \"random\"\nblock_size = \"4k\"\nalign = \"512\"", 65_536, 8_000, 1.0);
}
