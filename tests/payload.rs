//! The payload of writes: what a target holds after being written in order and overwritten at random has the ratios that
//! the job asked for, by lz4 and zstd, in every size of chunk.
#![cfg(feature = "audit")]

#[path = "common/memory.rs"]
mod memory;
#[path = "common/runs.rs"]
mod runs;

use memory::{MemoryBackend, write_everything};
use proptest::prelude::*;
use rigel::plan::{PayloadPlan, ReductionPlan, Scope};
use rigel::units::Bytes;
use rigel::workload::payload::{Audit, CHUNK_BYTES, Filler, Recipe, audit};

/// How far a ratio may be from what was asked for.
const TOLERANCE: f64 = 0.03;

/// A job of writes with a payload, on `targets` targets.
fn job(targets: usize, workload: &str, seed: u64) -> String {
    let target = |n| format!("[[target]]\nuri = \"null://1g\"\nname = \"t{n}\"\n");
    let targets: String = (0..targets).map(target).collect();
    format!(
        "{targets}[[workload]]\nread_percent = 0\nqueue_depth = 32\n{workload}\n[run]\nseed = {seed}\ntime = \"200ms\"\n"
    )
}

/// What `targets` targets of `bytes` hold after everything was written once in order and as often again at random.
fn held(targets: usize, bytes: usize, workload: &str, seed: u64) -> Vec<u8> {
    let backend = MemoryBackend::new(targets, bytes);
    write_everything(&backend, &runs::plan(&backend, &job(targets, workload, seed)));
    backend.held()
}

#[track_caller]
fn assert_compresses(audit: &Audit, asked: f64, what: &str) {
    assert_eq!(audit.compression.len(), CHUNK_BYTES.len());
    for chunk in &audit.compression {
        for (name, found) in chunk.ratios() {
            let off = found / asked - 1.0;
            assert!(off.abs() <= TOLERANCE, "{what}: {name} in {} bytes: {found:.3} for {asked}", chunk.chunk_bytes);
        }
    }
}

#[track_caller]
fn assert_dedupes(audit: &Audit, asked: f64, what: &str) {
    let found = audit.dedupe;
    assert!((found / asked - 1.0).abs() <= TOLERANCE, "{what}: dedupes {found:.3} for {asked}");
}

#[test]
fn a_target_holds_what_compresses_by_the_ratio() {
    for ratio in [1.1, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0] {
        let what = format!("payload = {{ compression = {ratio} }}");
        let audit = audit(&held(1, 8 << 20, &what, 1), 4096);
        assert_compresses(&audit, ratio, &what);
        assert_dedupes(&audit, 1.0, &what);
    }
}

#[test]
fn a_target_holds_what_dedupes_by_the_ratio_however_often_it_is_overwritten() {
    for ratio in [1.2, 1.5, 2.0, 4.0, 10.0] {
        let what = format!("payload = {{ dedupe = {ratio} }}");
        let audit = audit(&held(1, 16 << 20, &what, 1), 4096);
        assert_dedupes(&audit, ratio, &what);
        assert_compresses(&audit, 1.0, &what);
    }
}

#[test]
fn both_ratios_hold_together() {
    for (sizes, unit) in [("block_size = 4096", 4096), ("block_size = \"8k\"", 8192), ("block_size = \"64k\"", 8192)] {
        let what = format!("{sizes}\npayload = {{ compression = 2.35, dedupe = 2.0, unit = {unit} }}");
        let audit = audit(&held(1, 16 << 20, &what, 3), unit);
        assert_compresses(&audit, 2.35, &what);
        assert_dedupes(&audit, 2.0, &what);
        assert!((audit.total / 4.7 - 1.0).abs() <= TOLERANCE, "{what}: {:.3} in total", audit.total);
    }
}

#[test]
fn the_default_can_be_reduced_by_less_than_a_hundredth() {
    for what in ["", "block_size = 512", "block_size = \"256k\"", "payload = { compression = 1, dedupe = 1 }"] {
        for unit in [512, 4096] {
            let audit = audit(&held(1, 8 << 20, what, 1), unit);
            if unit == 4096 {
                assert!(audit.total < 1.01, "{what}: {audit:?}");
                assert_eq!(audit.dedupe, 1.0, "{what}");
            }
        }
    }
}

#[test]
fn duplicates_are_shared_over_targets_only_where_the_scope_says_so() {
    let bytes = 8 << 20;
    let of = |scope| held(2, bytes, &format!("payload = {{ dedupe = 4, scope = \"{scope}\" }}"), 1);
    for scope in ["global", "target"] {
        assert_dedupes(&audit(&of(scope), 4096), 4.0, scope);
    }
    let shared = |held: &[u8]| {
        let (one, other) = held.split_at(bytes);
        let (one, other): (std::collections::HashSet<_>, _) = (one.chunks(4096).collect(), other.chunks(4096));
        other.filter(|unit| one.contains(unit)).count()
    };
    assert!(shared(&of("global")) > 1_000);
    assert_eq!(shared(&of("target")), 0);
}

#[test]
fn units_of_a_sector_are_all_different_too() {
    let audit = audit(&held(1, 4 << 20, "payload = { compression = 2, unit = 512 }", 1), 512);
    assert_eq!(audit.dedupe, 1.0);
}

#[test]
fn zeroes_are_written_only_where_they_are_asked_for() {
    assert!(held(1, 1 << 20, "payload = \"zeroes\"", 1).iter().all(|byte| *byte == 0));
    let mixed = held(1, 1 << 20, "payload = { compression = 2 }", 1);
    assert!(mixed.chunks(4096).all(|unit| unit.iter().any(|byte| *byte != 0)));
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_one_others() {
    for what in ["", "payload = { compression = 2, dedupe = 2 }"] {
        let [one, again, other] = [5, 5, 6].map(|seed| held(1, 4 << 20, what, seed));
        assert!(one == again, "{what}");
        let units = |held: &[u8]| held.chunks(4096).map(<[u8]>::to_vec).collect::<std::collections::HashSet<_>>();
        assert!(units(&one).is_disjoint(&units(&other)), "{what}");
    }
}

#[test]
fn what_the_engine_writes_has_the_ratios() {
    let backend = MemoryBackend::new(1, 8 << 20);
    for access in ["sequential", "random"] {
        let job = job(1, &format!("access = \"{access}\"\npayload = {{ compression = 2, dedupe = 1.5 }}"), 1);
        runs::figures(&backend, &job.replace("[run]", "[run]\nramp = \"0s\"\ninterval = \"200ms\""));
    }
    let audit = audit(&backend.held(), 4096);
    assert_dedupes(&audit, 1.5, "engine");
    assert_compresses(&audit, 2.0, "engine");
}

fn recipe(seed: u64, compression: f64, dedupe: f64, unit: u64, lba_bytes: u32) -> Recipe {
    let made = ReductionPlan { compression, dedupe, unit: Bytes(unit), scope: Scope::Global };
    Recipe::new(PayloadPlan::Made(made), seed, 64 << 20, 1, &[lba_bytes])
}

proptest! {
    #[test]
    fn any_unit_and_block_size_is_filled_whole_and_the_same_again(
        sectors in 1u64..40, units in 1u64..9, compression in 1.0f64..20.0, dedupe in 1.0f64..20.0, lba in 0u64..1_000_000,
    ) {
        let unit = sectors * 512;
        let fill = |seed| {
            let recipe = recipe(seed, compression, dedupe, unit, 512);
            let mut filler = Filler::new(&recipe, seed);
            let mut bytes = vec![0; (unit * units) as usize];
            filler.prime(0, &mut bytes);
            let _ = filler.begin(0);
            filler.fill(0, lba * sectors, &mut bytes);
            bytes
        };
        let bytes = fill(1);
        prop_assert_eq!(&bytes, &fill(1));
        prop_assert_ne!(&bytes, &fill(2));
        // Every sector of an incompressible unit, and every granule's end of any, holds something.
        prop_assert!(bytes.chunks(unit as usize).all(|unit| unit[unit.len() - 16..].iter().any(|byte| *byte != 0)));
        if compression == 1.0 {
            prop_assert!(bytes.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0)));
        }
    }
}
