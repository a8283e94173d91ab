//! Volume sets: several targets as one address space, end to end or striped.

#[path = "common/lanes.rs"]
mod lanes;

use std::collections::{HashMap, HashSet};

use lanes::{generator, take, target};
use proptest::prelude::*;
use rigel::plan::{Op, Plan, PlanError, resolve};
use rigel::spec;
use rigel::workload::coverage;

/// The plan of a workload on targets of so many blocks of 512 bytes.
fn try_plan(workload: &str, sizes: &[u64], cores: usize) -> Result<Plan, PlanError> {
    let targets = "[[target]]\nuri = \"null://1t\"\n".repeat(sizes.len());
    let text = format!("{targets}[run]\ncores = \"0-{}\"\n[[workload]]\n{workload}\n", cores - 1);
    let job = spec::parse(&text, "test").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let facts: Vec<_> = sizes.iter().map(|blocks| target(*blocks, 512)).collect();
    resolve(&job, &facts, &(0..cores).collect::<Vec<_>>())
}

#[track_caller]
fn plan(workload: &str, sizes: &[u64], cores: usize) -> Plan {
    try_plan(workload, sizes, cores).unwrap_or_else(|error| panic!("{error}"))
}

/// Target and first block of the next I/Os.
fn places(plan: &Plan, core: usize, count: usize) -> Vec<(u32, u64)> {
    take(&mut generator(plan, core, 1), count).into_iter().map(|io| (io.target, io.lba.0)).collect()
}

#[test]
fn a_stripe_goes_over_the_targets_in_turn() {
    let plan =
        plan("access = \"sequential\"\nblock_size = \"1k\"\nvolume = \"stripe:2k\"\nqueue_depth = 1", &[8, 8, 8], 1);
    let expected: Vec<(u32, u64)> =
        [0, 4].iter().flat_map(|row| (0..3).flat_map(move |target| [(target, *row), (target, row + 2)])).collect();
    assert_eq!(places(&plan, 0, 12), expected);
    assert_eq!(places(&plan, 0, 13)[12], (0, 0), "and round again");
}

#[test]
fn end_to_end_is_one_target_after_the_other() {
    let plan =
        plan("access = \"sequential\"\nblock_size = \"1k\"\nvolume = \"concat\"\nqueue_depth = 1", &[4, 9, 2], 1);
    assert_eq!(places(&plan, 0, 7), [(0, 0), (0, 2), (1, 0), (1, 2), (1, 4), (1, 6), (2, 0)]);
}

#[test]
fn the_depth_of_a_set_is_that_of_its_targets_together() {
    let plan = plan("volume = \"stripe:1m\"\nqueue_depth = 8", &[1 << 20; 4], 2);
    let depths: u32 = plan.cores.iter().flat_map(|core| &core.lanes).map(|lane| lane.depths[0]).sum();
    assert_eq!(depths, 32);
}

#[test]
fn a_hot_band_of_a_set_lies_on_the_first_targets_end_to_end_and_on_all_striped() {
    let share = |volume: &str| {
        let hot = "access = { pattern = \"hot\", accesses = \"90%\", space = \"25%\" }";
        let plan = plan(&format!("{hot}\nvolume = \"{volume}\""), &[1 << 20; 4], 1);
        let first = places(&plan, 0, 20_000).iter().filter(|(target, _)| *target == 0).count();
        first as f64 / 20_000.0
    };
    assert!((share("concat") - 0.9).abs() < 0.01);
    assert!((share("stripe:64k") - 0.25).abs() < 0.02);
}

#[test]
fn each_target_of_a_set_is_flushed_as_often() {
    let plan = plan("mix = { read = 50, write = 30, flush = 20 }\nvolume = \"stripe:64k\"", &[1 << 16; 4], 1);
    let mut counts = HashMap::new();
    for io in take(&mut generator(&plan, 0, 1), 40_000) {
        *counts.entry((io.target, io.op)).or_insert(0u32) += 1;
        let position = plan.workloads[0].targets.iter().position(|&target| target as u32 == io.target).unwrap();
        assert_eq!(io.cell as usize, plan.cell(0, position, io.op), "figures go to the cell of the target");
    }
    for target in 0..4 {
        for (op, share) in [(Op::Read, 0.5), (Op::Write, 0.3), (Op::Flush, 0.2)] {
            let found = f64::from(counts[&(target, op)]) / 10_000.0;
            assert!((found - share).abs() < 0.03, "{op:?} of target {target}: {found}");
        }
    }
}

#[test]
fn the_footprint_of_a_set_is_that_of_the_whole() {
    let plan = plan("access = \"permutation\"\nvolume = \"stripe:64k\"", &[1 << 13; 4], 1);
    let told = coverage(&plan, 0, 0, &[(Op::Read, 2_048)], 1.0);
    assert_eq!((told.first_ios, told.touched_blocks, told.region_blocks), (2_048.0, 16_384.0, 1 << 15));
}

#[test]
fn what_cannot_be_one_address_space_is_refused_with_the_remedy() {
    let refused = |workload: &str, sizes: &[u64], says: &str| {
        let message = try_plan(workload, sizes, 1).unwrap_err().to_string();
        assert!(message.contains(says), "{workload}: {message}");
    };
    refused("volume = \"concat\"", &[1_000], "name several");
    refused("volume = \"stripe:6k\"", &[1_000, 1_000], "write a stripe that every size divides");
    refused("volume = \"stripe:64k\"\nalign = \"512\"", &[1_000, 1_000], "leave `align` out");
    refused("volume = \"stripe:1m\"", &[1_000, 1_000], "holds no 1m");
    let mut facts = vec![target(1_000, 512), target(1_000, 4096)];
    facts[1].uri = "null://2t".to_owned();
    let text = "[[target]]\nuri = \"null://1t\"\n[[target]]\nuri = \"null://2t\"\n[[workload]]\nvolume = \"concat\"\n";
    let error = resolve(&spec::parse(text, "test").unwrap(), &facts, &[0]).unwrap_err().to_string();
    assert!(error.contains("use targets of one LBA size"), "{error}");
    let error = spec::parse("[[workload]]\nvolume = \"raid5\"\n", "job.toml").unwrap_err().to_string();
    assert!(error.contains("job.toml:2:10") && error.contains("stripe:1m"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_permutation_of_a_set_touches_each_of_its_places_once_and_nothing_else(
        sizes in prop::collection::vec(70u64..400, 2..5),
        stripe in prop::sample::select(vec!["concat", "stripe:2k", "stripe:6k", "stripe:16k"]),
        first in 0u64..3,
        cores in 1usize..3,
    ) {
        let region = format!("region = \"{}k-100%\"", first).replace("0k-100%", "whole");
        let region = if first == 0 { region } else { format!("region = \"{first}k-30k\"") };
        let workload = format!("access = \"permutation\"\nblock_size = \"1k\"\nvolume = \"{stripe}\"\n{region}\nqueue_depth = 2");
        let Ok(plan) = try_plan(&workload, &sizes, cores) else { return Ok(()) };
        let unit = plan.workloads[0].volume_unit().unwrap().0 / 512;
        let units: Vec<u64> =
            plan.workloads[0].regions.iter().map(|region| plan.workloads[0].volume_units(region, 512).unwrap()).collect();
        let least = *units.iter().min().unwrap();
        let places_of = |target: usize| if stripe == "concat" { units[target] } else { least } * unit / 2;
        let all: u64 = (0..sizes.len()).map(places_of).sum();
        let mut seen: HashMap<(u32, u64), u32> = HashMap::new();
        let mut drawn = 0;
        for core in 0..plan.cores.len() {
            let lane = &plan.cores[core].lanes[0];
            let mine = all * u64::from(lane.part.0 + 1) / u64::from(lane.part.1) - all * u64::from(lane.part.0) / u64::from(lane.part.1);
            drawn += mine;
            for place in places(&plan, core, mine as usize) {
                *seen.entry(place).or_default() += 1;
            }
        }
        prop_assert_eq!(drawn, all);
        prop_assert!(seen.values().all(|times| *times == 1));
        for (target, block) in seen.keys() {
            let region = plan.workloads[0].regions[*target as usize];
            prop_assert!(*block >= region.first_block && block + 2 <= region.first_block + region.blocks);
        }
        let targets: HashSet<u32> = seen.keys().map(|(target, _)| *target).collect();
        prop_assert_eq!(targets.len(), sizes.len());
    }
}
