//! The knee of a load curve: the load of greatest power, which is what is achieved for the latency it costs.
//!
//! Owns the definition and what makes a curve have none (`docs/method.md`, "Load curves"). Knows neither loads nor units.

/// Fewest loads of a curve that can have a knee.
pub const LOADS_MIN: usize = 4;
/// Loads whose power is at least this share of the greatest are told apart from the knee by nothing but chance.
pub const POWER_SHARE: f64 = 0.9;

/// Where a curve bends, as positions in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knee {
    /// The load of greatest power.
    pub at: usize,
    /// The first load whose power is within a tenth of the greatest.
    pub from: usize,
    /// The last one.
    pub to: usize,
}

/// Why a curve has no knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKnee {
    /// It has fewer than four loads.
    TooFew,
    /// The knee is at the least load, or below it.
    AtTheFirst,
    /// The knee is at the greatest load, or above it.
    AtTheLast,
    /// Nowhere does more load, or less, have clearly less power: there is no bend.
    NoBend,
    /// Power falls and rises again: there is more than one bend.
    Several,
}

/// The knee of a curve of what is achieved (a rate) and its mean latency at each load, the least load first.
///
/// # Errors
/// When it has none. Values that are not above zero have no power.
pub fn knee(curve: &[(f64, f64)]) -> Result<Knee, NoKnee> {
    if curve.len() < LOADS_MIN {
        return Err(NoKnee::TooFew);
    }
    let powers: Vec<f64> = curve.iter().map(|&(rate, latency)| power(rate, latency)).collect();
    let (at, greatest) =
        powers.iter().enumerate().fold((0, 0.0), |best, (n, &power)| if power > best.1 { (n, power) } else { best });
    let near = |power: f64| power >= greatest * POWER_SHARE;
    let last = powers.len() - 1;
    match (near(powers[0]), near(powers[last])) {
        (true, true) => return Err(NoKnee::NoBend),
        (true, false) => return Err(NoKnee::AtTheFirst),
        (false, true) => return Err(NoKnee::AtTheLast),
        (false, false) => {}
    }
    let beyond = |power: &f64| !near(*power);
    let from = powers[..at].iter().rposition(beyond).map_or(0, |outside| outside + 1);
    let to = powers[at..].iter().position(beyond).map_or(last, |outside| at + outside - 1);
    let elsewhere = powers[..from].iter().chain(&powers[to + 1..]).any(|&power| near(power));
    if elsewhere { Err(NoKnee::Several) } else { Ok(Knee { at, from, to }) }
}

fn power(rate: f64, latency: f64) -> f64 {
    let power = rate / latency;
    if rate > 0.0 && latency > 0.0 && power.is_finite() { power } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    /// M/M/c at these utilisations: throughput in units of what the servers can do, response in units of a service.
    fn mmc(servers: u32, utilisations: &[f64]) -> Vec<(f64, f64)> {
        let c = f64::from(servers);
        let response = |&utilisation: &f64| {
            let load = c * utilisation;
            let blocked = (1..=servers).fold(1.0, |b, n| load * b / (f64::from(n) + load * b));
            (utilisation, 1.0 + blocked / (1.0 - utilisation * (1.0 - blocked)) / (c * (1.0 - utilisation)))
        };
        utilisations.iter().map(response).collect()
    }

    fn per_cent(from: u32, to: u32) -> Vec<f64> {
        (from..=to).map(|n| f64::from(n) / 100.0).collect()
    }

    #[test]
    fn the_knee_of_m_m_1_is_at_half_its_capacity_however_far_the_load_goes() {
        for to in [75, 90, 99] {
            let loads = per_cent(5, to);
            let found = knee(&mmc(1, &loads)).unwrap();
            // Power is x (1 - x): within a tenth of its greatest between 0.5 ± sqrt(0.025).
            assert_eq!([found.from, found.at, found.to].map(|n| loads[n]), [0.35, 0.5, 0.65], "up to {to} %");
        }
    }

    #[test]
    fn the_knees_of_m_m_c_are_those_that_millsap_tells() {
        let told = [(1, 0.50), (2, 0.57), (4, 0.66), (8, 0.74), (16, 0.81), (32, 0.86), (64, 0.89)];
        let loads = per_cent(5, 99);
        for (servers, utilisation) in told {
            let found = loads[knee(&mmc(servers, &loads)).unwrap().at];
            assert!((found - utilisation).abs() <= 0.0101, "{servers} servers: {found}, not {utilisation}");
        }
    }

    #[test]
    fn a_closed_loop_bends_where_its_asymptotes_meet() {
        // 16 servers of 100 µs: 10,000 a second each, then no more.
        let closed = |depth: &u32| (f64::from((*depth).min(16)) * 1e4, 1e5 * (f64::from(*depth) / 16.0).max(1.0));
        let curve: Vec<_> = [1, 2, 4, 8, 16, 32, 64, 128].iter().map(closed).collect();
        assert_eq!(knee(&curve), Ok(Knee { at: 4, from: 4, to: 4 }));
        assert_eq!(knee(&curve[..4]), Err(NoKnee::AtTheLast));
        assert_eq!(knee(&curve[4..]), Err(NoKnee::AtTheFirst));
        assert_eq!(knee(&curve[3..6]), Err(NoKnee::TooFew));
    }

    #[test]
    fn a_straight_line_has_none() {
        let constant: Vec<_> = (1..=20).map(|n| (f64::from(n), 5.0)).collect();
        assert_eq!(knee(&constant), Err(NoKnee::AtTheLast));
        let rising: Vec<_> = (1..=20).map(|n| (f64::from(n), 1.0 + f64::from(n))).collect();
        assert_eq!(knee(&rising), Err(NoKnee::AtTheLast));
        assert_eq!(knee(&[(1.0, 1.0); 5]), Err(NoKnee::NoBend));
        assert_eq!(knee(&[(0.0, 0.0); 5]), Err(NoKnee::NoBend));
    }

    #[test]
    fn what_falls_and_rises_again_has_none() {
        let curve = [(1.0, 1.0), (4.0, 1.0), (2.0, 2.0), (4.0, 1.02), (4.0, 8.0)];
        assert_eq!(knee(&curve), Err(NoKnee::Several));
    }

    #[test]
    fn noise_moves_a_knee_no_further_than_its_range() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let loads: Vec<f64> = (1..=18).map(|n| f64::from(n) * 0.05).collect();
        let exact = mmc(1, &loads);
        let clear = knee(&exact).unwrap();
        for _ in 0..1_000 {
            let mut noise = || 1.0 + rng.random_range(-0.02..0.02);
            let noisy: Vec<_> = exact.iter().map(|&(rate, latency)| (rate * noise(), latency * noise())).collect();
            let found = knee(&noisy).unwrap();
            assert!((clear.from..=clear.to).contains(&found.at), "{found:?} for {clear:?}");
        }
    }
}
