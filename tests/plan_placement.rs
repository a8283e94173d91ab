//! Placement: every unit of load lands on exactly one core, regions stay inside their targets, streams never overlap.

use proptest::prelude::*;
use rigel::facts::DeviceFacts;
use rigel::plan::{Access, Load, Plan, Region, describe, resolve};
use rigel::spec::{Job, parse};

/// A target of `blocks` blocks of 512 bytes that may be written to.
fn target(index: usize, blocks: u64) -> DeviceFacts {
    DeviceFacts {
        uri: format!("null://{blocks}?index={index}"),
        driver: "null".into(),
        model: "Rigel null".into(),
        serial: String::new(),
        firmware: String::new(),
        identities: Vec::new(),
        block_size: 512,
        blocks,
        max_io_bytes: 0,
        max_queue_depth: 0,
        queue_pair_depth: 0,
        volatile: true,
        supports: rigel::facts::Supports::ALL,
    }
}

fn targets(count: usize) -> Vec<DeviceFacts> {
    (0..count).map(|index| target(index, 1 << 21)).collect()
}

/// A job on as many targets as there are facts.
fn job(body: &str, count: usize) -> Job {
    let targets = "{ uri = \"null://1g\" }, ".repeat(count);
    parse(&format!("target = [{targets}]\n{body}"), "job.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn plan(body: &str, count: usize, cores: &[usize]) -> Plan {
    resolve(&job(body, count), &targets(count), cores).unwrap_or_else(|error| panic!("{error}"))
}

/// Core, target positions and depths of each lane, in the order of the plan.
fn lanes(plan: &Plan) -> Vec<(usize, Vec<usize>, Vec<u32>)> {
    let of_core = |core: &rigel::plan::CorePlan| {
        let number = core.core;
        core.lanes.clone().into_iter().map(move |lane| (number, lane.targets, lane.depths))
    };
    plan.cores.iter().flat_map(of_core).collect()
}

#[test]
fn one_target_runs_on_the_highest_core_unless_cores_are_named() {
    let plan = plan("", 1, &[0, 1, 2, 3]);
    assert_eq!(lanes(&plan), [(3, vec![0], vec![32])]);
    assert_eq!((plan.seed, plan.workloads[0].name.as_str()), (1, "workload-1"));
}

#[test]
fn targets_are_dealt_to_fewer_cores_in_turn() {
    let plan = plan("run.cores = \"1-2\"\nworkload = [{ queue_depth = 8 }]", 3, &[0, 1, 2, 3]);
    assert_eq!(lanes(&plan), [(1, vec![0], vec![8]), (1, vec![2], vec![8]), (2, vec![1], vec![8])]);
}

#[test]
fn several_cores_share_a_target_and_the_first_take_the_remainder() {
    let plan = plan("run.cores = \"0-3\"\n[sweep]\nqueue_depth = [1, 3, 10]", 1, &[0, 1, 2, 3]);
    let expected = [[1, 1, 3], [0, 1, 3], [0, 1, 2], [0, 0, 2]];
    assert_eq!(lanes(&plan), [0, 1, 2, 3].map(|core| (core, vec![0], expected[core].to_vec())));
    assert_eq!(plan.points.iter().map(|p| p.loads[0]).collect::<Vec<_>>(), [1, 3, 10].map(Load::QueueDepth));
}

#[test]
fn outstanding_is_divided_over_cores_that_reach_all_targets() {
    let plan = plan("run.cores = \"1-3\"\nworkload = [{ outstanding = 8 }]", 2, &[0, 1, 2, 3]);
    assert_eq!(lanes(&plan), [(1, vec![0, 1], vec![3]), (2, vec![0, 1], vec![3]), (3, vec![0, 1], vec![2])]);
}

#[test]
fn a_core_that_no_load_reaches_is_idle_and_takes_no_part_of_the_region() {
    let plan = plan("run.cores = \"0-2\"\nworkload = [{ access = \"sequential\", queue_depth = 2 }]", 1, &[0, 1, 2]);
    assert!(plan.cores[2].lanes.is_empty());
    assert_eq!(plan.cores[1].lanes[0].part, (1, 2));
    assert!(describe(&plan, &targets(1)).lines().any(|line| line == "core 2  idle"));
}

#[test]
fn workloads_run_on_the_targets_they_name() {
    let body = "[[workload]]\ntargets = [2, 0]\nqueue_depth = 4\n[[workload]]\ntargets = [1]\noutstanding = 6\n";
    let plan = plan(&format!("{body}[run]\ncores = \"1,2\""), 3, &[0, 1, 2]);
    assert_eq!(plan.workloads[0].targets, [0, 2]);
    assert_eq!(
        lanes(&plan),
        [(1, vec![0], vec![4]), (1, vec![0], vec![3]), (2, vec![1], vec![4]), (2, vec![0], vec![3])]
    );
}

#[test]
fn a_region_never_touches_bytes_outside_of_what_was_asked_for() {
    let region = |region: &str, block_size: &str| {
        let body = format!("workload = [{{ region = \"{region}\", block_size = \"{block_size}\" }}]");
        plan(&body, 1, &[0, 1]).workloads[0].regions[0]
    };
    assert_eq!(region("whole", "4k"), Region { first_block: 0, blocks: 1 << 21 });
    assert_eq!(region("1g", "4k"), Region { first_block: 0, blocks: 1 << 21 });
    assert_eq!(region("512m-1g", "8k"), Region { first_block: 1 << 20, blocks: 1 << 20 });
    assert_eq!(region("50%-100%", "8k"), Region { first_block: 1 << 20, blocks: 1 << 20 });
    // Start rounded up to 8k, end down to 64k.
    assert_eq!(region("512-65m", "64k"), Region { first_block: 128, blocks: 65 * 2048 - 128 });
    assert_eq!(region("7k-17k", "8k"), Region { first_block: 16, blocks: 16 });
}

#[test]
fn the_map_names_core_target_queue_pair_and_depth() {
    let body = "run.cores = \"1-2\"\nworkload = [{ name = \"oltp\", queue_depth = 32 }]";
    let plan = plan(body, 1, &[0, 1, 2]);
    assert_eq!(
        describe(&plan, &targets(1)),
        "target null://2097152?index=0: Rigel null, 1g, LBA 512\n\
         core 1  null://2097152?index=0  queue pair 1  depth 16 (oltp)\n\
         core 2  null://2097152?index=0  queue pair 2  depth 16 (oltp)\n"
    );
}

#[test]
fn the_map_of_a_sweep_gives_the_range_and_that_of_outstanding_the_targets() {
    let swept = plan("[sweep]\nqueue_depth = [1, 2, 64]", 1, &[0, 1]);
    assert!(describe(&swept, &targets(1)).ends_with("queue pair 1  depth 1 to 64 (workload-1)\n"));
    let shared = plan("workload = [{ outstanding = 9 }]", 3, &[0, 1]);
    let map = describe(&shared, &targets(3));
    assert_eq!(map.matches("depth 9 over 3 targets (workload-1)").count(), 3, "{map}");
}

#[test]
fn a_long_map_is_cut_and_counts_the_rest() {
    let map = describe(&plan("", 100, &[0, 1]), &targets(100));
    assert!(map.contains("… and 92 more\n") && map.ends_with("… and 70 more\n"), "{map}");
    assert!(map.lines().count() <= 40);
}

#[test]
fn a_plan_reads_back_from_the_result() {
    let plan = plan("[sweep]\noutstanding = [1, 2]", 2, &[0, 1, 2]);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    assert!(json.contains(r#""access":"random""#) && json.contains(r#"{"outstanding":1}"#), "{json}");
}

proptest! {
    #[test]
    fn every_unit_of_load_is_placed_exactly_once(
        target_count in 1usize..9,
        core_count in 1usize..9,
        depths in proptest::collection::vec(1u32..200, 1..6),
        over_all_targets in any::<bool>(),
    ) {
        let field = if over_all_targets { "outstanding" } else { "queue_depth" };
        let body = format!("run.cores = \"0-{}\"\nsweep.{field} = {depths:?}", core_count - 1);
        let plan = plan(&body, target_count, &(0..core_count).collect::<Vec<_>>());
        for (point, depth) in depths.iter().enumerate() {
            let at_point = |lane: &rigel::plan::Lane| lane.depths[point];
            if over_all_targets {
                let total: u32 = plan.cores.iter().flat_map(|core| &core.lanes).map(at_point).sum();
                prop_assert_eq!(total, *depth);
            } else {
                for position in 0..target_count {
                    let lanes = plan.cores.iter().flat_map(|core| &core.lanes);
                    let total: u32 = lanes.filter(|lane| lane.targets == [position]).map(at_point).sum();
                    prop_assert_eq!(total, *depth);
                }
            }
            let of_core = |core: &rigel::plan::CorePlan| core.lanes.iter().map(at_point).sum::<u32>();
            if over_all_targets || target_count == 1 {
                let loads: Vec<u32> = plan.cores.iter().map(of_core).collect();
                prop_assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1, "{:?}", loads);
                prop_assert!(loads.is_sorted_by(|a, b| a >= b), "{:?}", loads);
            }
        }
        prop_assert!(plan.cores.iter().flat_map(|core| &core.lanes).all(|lane| lane.depths.iter().any(|d| *d > 0)));
        prop_assert!(plan.cores.is_sorted_by_key(|core| core.core));
    }

    #[test]
    fn sequential_parts_tile_the_region_of_each_target(
        target_count in 1usize..5,
        core_count in 1usize..9,
        depth in 1u32..20,
        over_all_targets in any::<bool>(),
        io_kib in 1u64..64,
        percent in 1u32..=100,
    ) {
        let load = if over_all_targets { "outstanding" } else { "queue_depth" };
        let body = format!(
            "run.cores = \"0-{}\"\nworkload = [{{ access = \"sequential\", block_size = \"{io_kib}k\", \
             region = \"{percent}%\", {load} = {depth} }}]",
            core_count - 1
        );
        let plan = plan(&body, target_count, &(0..core_count).collect::<Vec<_>>());
        prop_assert_eq!(&plan.workloads[0].access, &Access::Sequential);
        for (position, region) in plan.workloads[0].regions.iter().enumerate() {
            let lanes = plan.cores.iter().flat_map(|core| &core.lanes);
            let touching = lanes.filter(|lane| lane.targets.contains(&position));
            let mut parts: Vec<Region> = touching.map(|lane| region.part(lane.part, io_kib * 2)).collect();
            parts.sort_by_key(|part| part.first_block);
            let mut next = region.first_block;
            for part in parts {
                prop_assert_eq!(part.first_block, next);
                prop_assert!(part.blocks > 0 && part.blocks % (io_kib * 2) == 0);
                next += part.blocks;
            }
            prop_assert_eq!(next, region.first_block + region.blocks);
        }
    }

    #[test]
    fn regions_stay_inside_the_request_and_the_target(
        blocks in 1u64..1 << 40,
        io_blocks in 1u64..1 << 12,
        shares in (0.0..100.0f64, 0.0..=100.0f64),
    ) {
        let (first, end) = shares;
        prop_assume!(first < end);
        let body = format!("workload = [{{ region = \"{first}%-{end}%\", block_size = {} }}]", io_blocks * 512);
        let facts = [target(0, blocks)];
        if let Ok(plan) = resolve(&job(&body, 1), &facts, &[0]) {
            let region = plan.workloads[0].regions[0];
            let (asked_first, asked_end) = (blocks as f64 * first / 100.0, blocks as f64 * end / 100.0);
            prop_assert!(region.first_block as f64 >= asked_first.floor() - 1.0);
            prop_assert!((region.first_block + region.blocks) as f64 <= asked_end + 1.0);
            prop_assert!(region.first_block + region.blocks <= blocks);
            prop_assert!(region.blocks > 0);
            prop_assert_eq!((region.first_block % io_blocks, region.blocks % io_blocks), (0, 0));
        } else {
            // Refused only where no aligned I/O fits between the two ends.
            let bytes = |share: f64| if share >= 100.0 { blocks * 512 } else { (blocks as f64 * 5.12 * share) as u64 };
            prop_assert!(bytes(end).saturating_sub(bytes(first)) < 2 * io_blocks * 512 + 2);
        }
    }

    #[test]
    fn neighbouring_regions_never_overlap(blocks in 1u64 << 12..1 << 40, middle in 1.0..99.0f64) {
        let part = |region: String| {
            let body = format!("workload = [{{ region = \"{region}\" }}]");
            resolve(&job(&body, 1), &[target(0, blocks)], &[0]).unwrap().workloads[0].regions[0]
        };
        let (low, high) = (part(format!("0%-{middle}%")), part(format!("{middle}%-100%")));
        prop_assert!(low.first_block + low.blocks <= high.first_block);
        prop_assert!(high.first_block - (low.first_block + low.blocks) <= 8, "more than one I/O is lost");
    }
}
