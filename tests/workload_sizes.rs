//! The sizes of I/Os, and how streams of several sizes, strides and several workloads go through a region.

#[path = "common/lanes.rs"]
mod lanes;

use std::collections::HashMap;

use lanes::{blocks, generator, plan, take, target, try_plan};
use rigel::plan::Op;

/// Shares of the sizes, in blocks, of one direction.
fn shares(workload: &str, op: Op) -> HashMap<u32, f64> {
    let plan = plan(workload, target(1 << 20, 4096), 1);
    let ios = take(&mut generator(&plan, 0, 4), 200_000);
    let ios: Vec<_> = ios.into_iter().filter(|io| io.op == op).collect();
    let mut counts = HashMap::new();
    ios.iter().for_each(|io| *counts.entry(io.blocks).or_insert(0.0) += 1.0 / ios.len() as f64);
    counts
}

#[test]
fn sizes_have_the_shares_asked_for() {
    for access in ["random", "sequential", "permutation", "zipf:0.99"] {
        let seen = shares(&format!("access = \"{access}\"\nblock_size = \"4k:60,64k:30,8k:10\""), Op::Read);
        assert_eq!(seen.len(), 3);
        for (blocks, share) in [(1, 0.6), (16, 0.3), (2, 0.1)] {
            assert!((seen[&blocks] - share).abs() < 0.005, "{access}: {seen:?}");
        }
    }
}

#[test]
fn reads_and_writes_have_sizes_of_their_own() {
    let workload = "read_percent = 30\nread_block_size = \"4k\"\nwrite_block_size = [{ size = \"8k\", share = 25 }, \
                    { size = 65536, share = \"75%\" }]";
    assert_eq!(
        shares(workload, Op::Read).into_iter().map(|(blocks, share)| (blocks, share.round())).collect::<Vec<_>>(),
        [(1, 1.0)]
    );
    let writes = shares(workload, Op::Write);
    assert!((writes[&2] - 0.25).abs() < 0.005 && (writes[&16] - 0.75).abs() < 0.005, "{writes:?}");
}

#[test]
fn ios_are_aligned_to_their_own_size_or_to_what_is_asked_for() {
    let own = plan("block_size = \"4k:50,64k:50\"", target(100_001, 4096), 1);
    assert!(take(&mut generator(&own, 0, 1), 10_000).iter().all(|io| io.lba.0 % u64::from(io.blocks) == 0));
    let fine = plan("block_size = \"4k:50,64k:50\"\nalign = \"8k\"", target(100_001, 4096), 1);
    let ios = take(&mut generator(&fine, 0, 1), 10_000);
    assert!(ios.iter().all(|io| io.lba.0 % 2 == 0));
    assert!(ios.iter().any(|io| io.blocks == 16 && io.lba.0 % 16 != 0));
    assert_eq!(ios.iter().map(|io| io.lba.0 + u64::from(io.blocks)).filter(|end| *end > 100_001).count(), 0);
}

#[test]
fn a_stream_of_several_sizes_leaves_no_more_than_the_alignment_out() {
    let plan = plan("access = \"sequential\"\nblock_size = \"4k:50,64k:50\"", target(4_096, 4096), 1);
    let mut end = 0;
    for io in take(&mut generator(&plan, 0, 1), 10_000) {
        let blocks = u64::from(io.blocks);
        let next = if io.lba.0 < end { 0 } else { end };
        assert!(io.lba.0 >= next && io.lba.0 < next + blocks, "{io:?} after {end}");
        end = io.lba.0 + blocks;
    }
}

#[test]
fn a_stride_leads_through_the_region_and_begins_again() {
    let workload = "access = { pattern = \"strided\", stride = \"64k\" }\nregion = \"8k-300k\"\nqueue_depth = 2";
    let one = plan(workload, target(1_000, 4096), 1);
    assert_eq!(blocks(&mut generator(&one, 0, 1), 7), [2, 18, 34, 50, 66, 2, 18]);
    let two = plan(workload, target(1_000, 4096), 2);
    assert_eq!(blocks(&mut generator(&two, 0, 1), 3), [2, 18, 2]);
    assert_eq!(blocks(&mut generator(&two, 1, 1), 4), [34, 50, 66, 34]);
}

#[test]
fn streams_of_several_workloads_begin_apart_unless_they_are_told_where() {
    let stream = "access = \"sequential\"\nblock_size = \"4k\"";
    let start = |workloads: &str| -> Vec<u64> {
        let plan = plan(workloads, target(9_000, 4096), 1);
        plan.cores[0].lanes.iter().map(|lane| rigel::workload::Generator::new(&plan, lane, 1).next_io().lba.0).collect()
    };
    assert_eq!(start(stream), [0]);
    assert_eq!(start(&format!("{stream}\n[[workload]]\n{stream}\n[[workload]]\n{stream}")), [0, 3_000, 6_000]);
    assert_eq!(start(&format!("{stream}\n[[workload]]\n{stream}\nstart = \"0\"")), [0, 0]);
    assert_eq!(start(&format!("{stream}\n[[workload]]\n{stream}\nstart = \"25%\"")), [0, 2_250]);
    let random = "[[workload]]\naccess = \"random\"";
    let plan = plan(&format!("{stream}\n{random}"), target(9_000, 4096), 1);
    assert_eq!(plan.workloads[0].start_percent, 0.0, "random access is no stream to keep away from");
}

#[test]
fn what_the_target_cannot_do_is_refused_with_field_and_remedy() {
    let refusal = |workload: &str| try_plan(workload, target(1_000, 4096), 1).unwrap_err().to_string();
    for (workload, words) in [
        ("block_size = \"4k:60,6k:40\"", &["`block_size` (--block-size) 6k", "null://1t", "--block-size 8k"][..]),
        ("align = \"2k\"", &["`align` 2k", "4096 bytes", "align = \"4k\""]),
        ("access = \"strided:6k\"", &["`stride` 6k", "LBA size", "stride = \"8k\""]),
        ("access = \"strided:20k\"\nblock_size = \"8k\"", &["`stride` 20k", "8k", "align"]),
        ("block_size = \"4k:60,8m:40\"", &["holds no whole I/O of 8m", "--block-size"]),
        (
            "access = { pattern = \"bands\", bands = [{ accesses = 100, region = \"0%-0.01%\" }] }",
            &["band 0", "holds no whole I/O of 4k", "widen"],
        ),
    ] {
        let text = refusal(workload);
        words.iter().for_each(|word| assert!(text.contains(word), "{word:?} is not in {text:?}"));
    }
}
