//! How popular each place is: the weights of the uneven patterns, and their cut into bands of nearly even weight.
//!
//! Owns the formulas (docs/method.md, "Workloads"). Draws nothing.

use crate::plan::{Access, band_places};

/// Ranks whose weights follow a formula are cut so that a band is this much narrower than its distance from rank 0, or from
/// the standard deviation: weights within a band then differ by a few per cent at most.
const FINENESS: u64 = 32;
/// Beyond this many standard deviations a normal distribution has less than 10^-15.
const NORMAL_REACH: f64 = 8.0;

/// The weight of each rank, up to a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Weight {
    /// All the same.
    Even,
    /// (k + 1)^-theta.
    Zipf { theta: f64 },
    /// (k + 1)^alpha - k^alpha.
    Pareto { alpha: f64 },
    /// The normal density at the middle of the place, by that of the place next to the mean, `least` deviations from it: it
    /// is 1 however narrow the distribution.
    Normal { mean: f64, deviation: f64, least: f64 },
}

/// Neighbouring ranks, whose weights rise or fall all the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub first: u64,
    /// At least 1.
    pub width: u64,
    /// Weight of all of it together.
    pub share: f64,
}

/// Ranks with their weights.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub weight: Weight,
    /// Those of weight [`Weight::Even`] bear their own share; the others' follows from the formula, and `share` is 0.
    pub stretches: Vec<Stretch>,
}

impl Weight {
    /// The weight of rank `k`.
    pub fn of(self, k: u64) -> f64 {
        let k = k as f64;
        match self {
            Self::Even => 1.0,
            Self::Zipf { theta } => (k + 1.0).powf(-theta),
            Self::Pareto { .. } if k == 0.0 => 1.0,
            // The difference of powers itself would cancel out where k is great.
            Self::Pareto { alpha } => k.powf(alpha) * (alpha * (1.0 / k).ln_1p()).exp_m1(),
            Self::Normal { mean, deviation, least } => {
                let off = (k + 0.5 - mean).abs() / deviation;
                (-0.5 * (off - least) * (off + least)).exp()
            }
        }
    }
}

impl Weight {
    /// By how much of the weight of rank `k` the next ranks' weights fall at most, a rank. Only for weights that fall ever
    /// more slowly, so that a straight line from rank `k` stays below all that follow.
    pub fn fall(self, k: u64) -> Option<f64> {
        match self {
            Self::Zipf { theta } => Some(theta / (k as f64 + 1.0)),
            Self::Pareto { alpha } if k > 0 => Some((1.0 - alpha) / k as f64),
            _ => None,
        }
    }
}

impl Shape {
    /// That of a pattern on `n` places; none for those that are no distribution, or an even one.
    pub fn of(access: &Access, n: u64) -> Option<Self> {
        match access {
            Access::Random | Access::Sequential | Access::Permutation | Access::Strided { .. } => None,
            Access::Zipf { theta, .. } => Some(Self::by_rank(Weight::Zipf { theta: *theta }, n)),
            Access::Pareto { share, .. } => {
                let alpha = (1.0 - share).ln() / share.ln();
                Some(Self::by_rank(Weight::Pareto { alpha }, n))
            }
            Access::Normal { deviation_percent } => Some(Self::normal(n as f64 * deviation_percent / 100.0, n)),
            Access::Hot { accesses_percent, .. } => {
                let hot = access.hot_places(n)?;
                Some(Self::even([(0..hot, *accesses_percent), (hot..n, 100.0 - accesses_percent)]))
            }
            Access::Bands(bands) => {
                let band = |b: &crate::plan::Band| (band_places(n, b.first_percent, b.end_percent), b.accesses_percent);
                Some(Self::even(bands.iter().map(band)))
            }
        }
    }

    fn even(bands: impl IntoIterator<Item = (std::ops::Range<u64>, f64)>) -> Self {
        let stretch = |(places, share): (std::ops::Range<u64>, f64)| Stretch {
            first: places.start,
            width: places.end - places.start,
            share,
        };
        let touched = |stretch: &Stretch| stretch.width > 0 && stretch.share > 0.0;
        Self { weight: Weight::Even, stretches: bands.into_iter().map(stretch).filter(touched).collect() }
    }

    /// Weights that fall with the rank, slowly where the rank is great.
    fn by_rank(weight: Weight, n: u64) -> Self {
        let mut stretches = Vec::new();
        let mut first = 0;
        while first < n {
            let width = ((first + 1) / FINENESS).max(1).min(n - first);
            stretches.push(Stretch { first, width, share: 0.0 });
            first += width;
        }
        Self { weight, stretches }
    }

    /// Weights that rise to the middle and fall from there.
    fn normal(deviation: f64, n: u64) -> Self {
        let middle = n / 2;
        let width = ((deviation / FINENESS as f64) as u64).max(1);
        let reach = ((deviation * NORMAL_REACH) as u64).clamp(1, middle.max(1));
        let (low, high) = (middle - reach.min(middle), middle.saturating_add(reach).min(n));
        let mut edges = vec![0];
        edges.extend((low..middle).step_by(width as usize));
        edges.extend((middle..high).step_by(width as usize));
        edges.extend([high, n]);
        edges.dedup();
        let stretch = |pair: &[u64]| Stretch { first: pair[0], width: pair[1] - pair[0], share: 0.0 };
        let least = if n % 2 == 0 { 0.5 / deviation } else { 0.0 };
        Self {
            weight: Weight::Normal { mean: n as f64 / 2.0, deviation, least },
            stretches: edges.windows(2).map(stretch).collect(),
        }
    }
}

impl Access {
    /// Places of the hot band, where there is one: at least one, and not all.
    pub(super) fn hot_places(&self, n: u64) -> Option<u64> {
        match self {
            Self::Hot { space_percent, .. } => {
                Some(((n as f64 * space_percent / 100.0).round() as u64).clamp(1, n.saturating_sub(1).max(1)))
            }
            _ => None,
        }
    }
}
