//! How often a comparison is right: a thousand studies of pairs on the array model, whose runs differ by chance, once
//! without any change and once with one of 2.5 %.

#[path = "common/studies.rs"]
mod studies;

use rand::seq::index::sample;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rigel::compare::{Comparison, Design, Rules, Word, compare};
use rigel::result::RunResult;
use studies::{cell, result, side};

/// Pairs of the first look.
const PILOT: usize = 10;
/// Runs of each condition that studies draw theirs from.
const BANK: usize = 1_200;
/// Studies of each kind.
const STUDIES: usize = 1_000;

/// Runs of a model whose service takes `service` on average, with a spread of 2 % from run to run. Every bank has the same
/// seeds, so that the change between two banks as a whole is the one that was put in; which runs are a pair is drawn.
fn bank(service: &str) -> Vec<RunResult> {
    let run = |seed: usize| {
        result(&format!(
            r#"
            target = [{{ uri = "sim://?service=lognormal:{service}:0.3&spread=2%" }}]
            workload = [{{ queue_depth = 4 }}]
            run = {{ ramp = "1ms", time = "50ms", seed = {seed} }}
            "#
        ))
        .0
    };
    (0..BANK).map(run).collect()
}

/// A study as Rigel advises it: ten pairs, and where the IOPS cannot be told from these as many more as it asks for.
fn study(a: &[RunResult], b: &[RunResult], random: &mut Xoshiro256PlusPlus) -> Vec<Comparison> {
    let order = [sample(random, a.len(), a.len()).into_vec(), sample(random, b.len(), b.len()).into_vec()];
    let look = |pairs: usize, look: u32| {
        let (of_a, of_b) = (order[0][..pairs].iter().map(|&n| &a[n]), order[1][..pairs].iter().map(|&n| &b[n]));
        let rules = Rules { design: Design::Paired, look, ..Rules::default() };
        compare(&side("a", of_a), &[side("b", of_b)], &[], &rules).expect("can be compared")
    };
    let first = look(PILOT, 1);
    let Some(Word::CannotTell { more: Some(more) }) = cell(&first, "iops").word else { return vec![first] };
    let second = look(PILOT + more as usize, 2);
    vec![first, second]
}

fn any_change(comparison: &Comparison) -> bool {
    comparison.cells.iter().any(|cell| cell.word == Some(Word::Change))
}

#[test]
fn nothing_is_found_where_nothing_is_and_two_and_a_half_per_cent_are() {
    let (base, slower) = (bank("100us"), bank("102.5us"));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut false_alarms, mut false_alarms_of_iops, mut peace) = (0, 0, 0);
    for _ in 0..STUDIES {
        let looks = study(&base, &base, &mut random);
        false_alarms += usize::from(looks.iter().any(any_change));
        let of_iops = |word| looks.iter().any(|look| cell(look, "iops").word == Some(word));
        false_alarms_of_iops += usize::from(of_iops(Word::Change));
        peace += usize::from(of_iops(Word::NoChange));
    }
    let (mut found, mut false_peace, mut pairs) = (0, 0, 0);
    for _ in 0..STUDIES {
        let looks = study(&base, &slower, &mut random);
        let word = |of: &str, word| looks.iter().any(|look| cell(look, of).word == Some(word));
        found += usize::from(word("iops", Word::Change));
        false_peace += usize::from(
            ["iops", "mean read", "p50 read", "p99 read", "p99.9 read"]
                .iter()
                .any(|figure| word(figure, Word::NoChange)),
        );
        pairs += looks.last().map_or(0, |look| look.base.started_at.len());
    }
    let of = |count: usize| count as f64 / STUDIES as f64;
    println!(
        "no change: any false alarm {:.3}, of IOPS {:.3}, told none {:.3}; 2.5 %: found {:.3}, called none {:.3}, pairs {:.1}",
        of(false_alarms),
        of(false_alarms_of_iops),
        of(peace),
        of(found),
        of(false_peace),
        of(pairs)
    );
    assert!(of(false_alarms) <= 0.05);
    assert!(of(peace) >= 0.85);
    assert!(of(found) >= 0.9);
    assert_eq!(false_peace, 0);
}
