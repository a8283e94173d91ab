//! How much a figure moved over the rounds of a window: range and slope, after SNIA's Solid State Storage Performance
//! Test Specification.
//!
//! Owns both measures and their limits. Knows neither what the figure is nor how the rounds came about.

/// Rounds that a window is cut into.
pub const ROUNDS: usize = 5;
/// Greatest range over the rounds of a steady figure, as a share of its mean.
pub const RANGE_MAX: f64 = 0.20;
/// Greatest rise or fall of the line through the rounds of a steady figure, from the first to the last, as a share of
/// its mean.
pub const SLOPE_MAX: f64 = 0.10;

/// How a figure moved over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Mean of the rounds, each counting the same.
    pub mean: f64,
    /// Greatest less least round, as a share of the mean.
    pub range_share: f64,
    /// What the least-squares line gains from the first round to the last, as a share of the mean; negative if it falls.
    pub slope_share: f64,
}

impl Trend {
    /// The trend of one value a round; none when their mean is not above zero.
    #[must_use]
    pub fn of(rounds: &[f64; ROUNDS]) -> Option<Self> {
        let mean = rounds.iter().sum::<f64>() / ROUNDS as f64;
        if mean.is_nan() || mean <= 0.0 {
            return None;
        }
        let (least, greatest) = rounds.iter().fold((f64::INFINITY, 0.0f64), |(l, g), &v| (l.min(v), g.max(v)));
        let middle = (ROUNDS - 1) as f64 / 2.0;
        let from_middle = || (0..ROUNDS).map(|round| round as f64 - middle);
        let squares: f64 = from_middle().map(|x| x * x).sum();
        let slope = from_middle().zip(rounds).map(|(x, value)| x * value).sum::<f64>() / squares;
        let gain = slope * (ROUNDS - 1) as f64;
        Some(Self { mean, range_share: (greatest - least) / mean, slope_share: gain / mean })
    }

    /// Whether both measures are within their limits.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.range_share <= RANGE_MAX && self.slope_share.abs() <= SLOPE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_trend(rounds: [f64; ROUNDS], mean: f64, range_share: f64, slope_share: f64) {
        let trend = Trend::of(&rounds).expect("a mean above zero");
        for (found, exact) in [(trend.mean, mean), (trend.range_share, range_share), (trend.slope_share, slope_share)] {
            assert!((found - exact).abs() < 1e-12, "{rounds:?}: {trend:?}");
        }
    }

    #[test]
    fn the_measures_are_those_of_the_closed_forms() {
        assert_trend([7.0; ROUNDS], 7.0, 0.0, 0.0);
        // A straight line: range and slope are both what it gains.
        assert_trend([96.0, 98.0, 100.0, 102.0, 104.0], 100.0, 0.08, 0.08);
        assert_trend([104.0, 102.0, 100.0, 98.0, 96.0], 100.0, 0.08, -0.08);
        // An even function about the middle has no slope.
        assert_trend([110.0, 95.0, 90.0, 95.0, 110.0], 100.0, 0.20, 0.0);
        // One round off: slope (x - 2) d / 10 a round for the round x.
        assert_trend([100.0, 100.0, 100.0, 100.0, 150.0], 110.0, 50.0 / 110.0, 4.0 * 2.0 * 50.0 / 10.0 / 110.0);
        assert_trend([0.0, 0.0, 0.0, 0.0, 5.0], 1.0, 5.0, 4.0);
    }

    #[test]
    fn each_limit_alone_makes_a_figure_unsteady() {
        let steady = |rounds| Trend::of(&rounds).is_some_and(|trend| trend.is_steady());
        assert!(steady([110.0, 95.0, 90.0, 95.0, 110.0]));
        assert!(!steady([110.5, 95.0, 89.5, 95.0, 110.0]), "the range is 21 %");
        assert!(steady([95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!steady([94.0, 97.0, 100.0, 103.0, 106.0]), "the slope is 12 %, the range too");
        assert!(!steady([106.0, 103.0, 100.0, 97.0, 94.0]), "falling counts as rising does");
    }

    #[test]
    fn nothing_at_all_has_no_trend() {
        assert_eq!(Trend::of(&[0.0; ROUNDS]), None);
        assert_eq!(Trend::of(&[f64::NAN; ROUNDS]), None);
    }
}
