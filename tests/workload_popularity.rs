//! How often each block is touched by the uneven patterns, against what theory says of them.

#[path = "common/lanes.rs"]
mod lanes;

use lanes::{blocks, on_blocks};
use rigel::units::Ticks;

/// How often each of `count` blocks comes in `draws` I/Os.
fn frequencies(workload: &str, count: u64, draws: u32) -> Vec<u32> {
    let mut generator = on_blocks(workload, count);
    let mut seen = vec![0u32; count as usize];
    (0..draws).for_each(|_| seen[generator.next_io().lba.0 as usize] += 1);
    seen
}

/// Checks that an event of this probability was seen as often as it should: within 1 %, or within 4.5 standard deviations
/// of a binomial where 1 % is less than chance alone makes of so many draws.
#[track_caller]
fn assert_probable(seen: u32, probability: f64, draws: u32, what: &str) {
    let expected = probability * f64::from(draws);
    let by_chance = 4.5 * (expected * (1.0 - probability)).sqrt();
    let off = (f64::from(seen) - expected).abs();
    assert!(off <= (0.01 * expected).max(by_chance), "{what}: {seen} against {expected:.1}");
}

/// How many of the blocks are expected to be touched in so many draws.
fn expected_distinct(probabilities: &[f64], draws: u32) -> f64 {
    probabilities.iter().map(|p| -(f64::from(draws) * (-p).ln_1p()).exp_m1()).sum()
}

fn normalised(weight: impl Fn(u64) -> f64, count: u64) -> Vec<f64> {
    let weights: Vec<f64> = (0..count).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[test]
fn zipf_ranks_come_as_often_as_theory_says_and_cover_as_many_blocks() {
    let draws = 10_000_000;
    for (theta, count) in [(0.99, 1_000_003), (1.2, 65_536)] {
        let access = format!("access = {{ pattern = \"zipf\", theta = {theta}, scatter = false }}");
        let seen = frequencies(&access, count, draws);
        let probabilities = normalised(|k| (k as f64 + 1.0).powf(-theta), count);
        for rank in 0..100 {
            assert_probable(seen[rank], probabilities[rank], draws, &format!("rank {rank} of theta {theta}"));
        }
        // The tail too, where a rank by itself is rare: by decades.
        for decade in [100, 1_000, 10_000] {
            let whole = decade..(decade * 10).min(count as usize);
            let probability: f64 = probabilities[whole.clone()].iter().sum();
            assert_probable(
                seen[whole].iter().sum(),
                probability,
                draws,
                &format!("from rank {decade}, theta {theta}"),
            );
        }
        let distinct = seen.iter().filter(|&&times| times > 0).count() as f64;
        let expected = expected_distinct(&probabilities, draws);
        assert!((distinct / expected - 1.0).abs() < 0.01, "{distinct} blocks touched, {expected} expected");
    }
}

#[test]
fn scattering_moves_ranks_and_keeps_their_frequencies() {
    let (count, draws) = (10_007, 1_000_000);
    let mut scattered = frequencies("access = \"zipf:0.99\"", count, draws);
    let hottest = (0..scattered.len()).max_by_key(|&block| scattered[block]).unwrap();
    let second = (0..scattered.len()).filter(|&b| b != hottest).max_by_key(|&block| scattered[block]).unwrap();
    assert!(hottest.abs_diff(second) > 1_000, "the most popular blocks, {hottest} and {second}, lie side by side");
    scattered.sort_unstable_by(|a, b| b.cmp(a));
    let probabilities = normalised(|k| (k as f64 + 1.0).powf(-0.99), count);
    for rank in 0..10 {
        assert_probable(scattered[rank], probabilities[rank], draws, &format!("rank {rank}"));
    }
}

#[test]
fn all_cores_have_their_popular_blocks_in_common() {
    let plan = lanes::plan("access = \"zipf:1.1\"\nqueue_depth = 4", lanes::target(99_991, 4096), 2);
    let hottest = |core| {
        let mut seen = std::collections::HashMap::new();
        for block in blocks(&mut lanes::generator(&plan, core, 3), 50_000) {
            *seen.entry(block).or_insert(0) += 1;
        }
        seen.into_iter().max_by_key(|(_, times)| *times).unwrap().0
    };
    assert_eq!(hottest(0), hottest(1));
}

#[test]
fn pareto_gives_the_share_of_the_blocks_the_rest_of_the_accesses() {
    let (count, draws) = (100_003, 2_000_000);
    let share = 0.2f64;
    let seen = frequencies("access = { pattern = \"pareto\", share = 0.2, scatter = false }", count, draws);
    // fio's: the place is count x U^p with p = ln(share) / ln(1 - share).
    let below = |places: usize| (places as f64 / count as f64).powf((1.0 - share).ln() / share.ln());
    for places in [1, 10, 100, 4_000, 20_001, 50_000, 90_000] {
        assert_probable(seen[..places].iter().sum(), below(places), draws, &format!("the first {places}"));
    }
}

#[test]
fn normal_accesses_have_its_moments_and_are_not_piled_up_at_the_ends() {
    let (count, draws) = (1_000_001u64, 1_000_000);
    let mut generator = on_blocks("access = \"normal:10%\"", count);
    let places: Vec<f64> = blocks(&mut generator, draws).into_iter().map(|b| (b as f64 + 0.5) / count as f64).collect();
    let mean = places.iter().sum::<f64>() / draws as f64;
    let moment = |power| places.iter().map(|p| (p - mean).powi(power)).sum::<f64>() / draws as f64;
    let deviation = moment(2).sqrt();
    assert!((mean - 0.5).abs() < 0.0005, "mean {mean}");
    assert!((deviation / 0.1 - 1.0).abs() < 0.005, "deviation {deviation}");
    assert!((moment(3) / deviation.powi(3)).abs() < 0.015, "skewness");
    assert!((moment(4) / deviation.powi(4) - 3.0).abs() < 0.03, "kurtosis");
    // As wide as the region itself, what would fall outside is drawn again: nearly even, and no heap at the ends.
    let seen = frequencies("access = \"normal:100%\"", 1_000, 1_000_000);
    let probabilities = normalised(|k| (-0.5 * ((k as f64 + 0.5 - 500.0) / 1_000.0).powi(2)).exp(), 1_000);
    for place in [0, 1, 250, 499, 500, 998, 999] {
        assert_probable(seen[place], probabilities[place], 1_000_000, &format!("place {place}"));
    }
}

#[test]
fn a_hot_band_gets_its_share_and_is_even_within() {
    let (count, draws) = (100_000, 1_000_000);
    let seen = frequencies("access = { pattern = \"hot\", accesses = \"80%\", space = \"20%\" }", count, draws);
    let hot: u32 = seen[..20_000].iter().sum();
    assert!((f64::from(hot) / f64::from(draws) - 0.8).abs() < 0.005, "{hot}");
    let bins = |blocks: &[u32]| blocks.chunks(blocks.len() / 100).map(|bin| bin.iter().sum()).collect::<Vec<u32>>();
    for part in [&seen[..20_000], &seen[20_000..]] {
        // 99 degrees of freedom; 99.9 % of all seeds stay below 148.2.
        let chi2 = lanes::chi_square(&bins(part));
        assert!(chi2 < 148.2, "chi-square {chi2}");
    }
}

#[test]
fn a_hot_band_that_moves_goes_on_by_its_length_and_round_the_region() {
    let access = "access = { pattern = \"hot\", accesses = 100, space = 30, moves = \"2s\" }";
    let mut generator = on_blocks(access, 1_000).on_clock(1_000.0);
    let mut range = |tick| {
        generator.at(Ticks(tick));
        let blocks = blocks(&mut generator, 5_000);
        assert!(blocks.iter().max().unwrap() - blocks.iter().min().unwrap() >= 290);
        (*blocks.iter().min().unwrap(), *blocks.iter().max().unwrap())
    };
    assert_eq!([range(0), range(1_999), range(2_000), range(5_000)], [(0, 299), (0, 299), (300, 599), (600, 899)]);
    // 900 to 999 and 0 to 199.
    assert_eq!(range(6_000), (0, 999));
    assert_eq!(range(20_000), (0, 299), "ten moves by 300 of 1,000");
    let mut generator = on_blocks(access, 1_000).on_clock(1_000.0);
    generator.begin_point(Ticks(3_000));
    assert!(blocks(&mut generator, 100).into_iter().all(|block| block < 300), "a point begins at the start");
}

#[test]
fn bands_get_their_shares_and_what_lies_in_none_is_not_touched() {
    let (count, draws) = (10_000, 1_000_000);
    let bands = "{ accesses = \"50%\", region = \"0%-5%\" }, { accesses = 20, region = \"60%-100%\" }, \
                 { accesses = 30, region = \"10%-30%\" }";
    let seen = frequencies(&format!("access = {{ pattern = \"bands\", bands = [{bands}] }}"), count, draws);
    let share = |places: std::ops::Range<usize>| f64::from(seen[places].iter().sum::<u32>()) / f64::from(draws);
    for (places, expected) in
        [(0..500, 0.5), (500..1_000, 0.0), (1_000..3_000, 0.3), (3_000..6_000, 0.0), (6_000..10_000, 0.2)]
    {
        assert!((share(places.clone()) - expected).abs() < 0.002, "{places:?}");
    }
}
