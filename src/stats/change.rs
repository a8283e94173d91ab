//! The change of a positive quantity between two conditions, from runs of each.
//!
//! Owns the estimates (paired, unpaired, single runs) and the number of runs that a resolution takes. All of it is done
//! on natural logarithms, so that a rise and the fall that undoes it weigh the same, and changes are shares in the end.
//! Knows neither figures nor words.

use super::student::{quantile, upper_tail};

/// A change with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Logarithm of the ratio of the new condition to the base.
    pub log_ratio: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of that error; infinite where it is assumed and not measured.
    pub df: f64,
}

impl Change {
    /// From pairs of runs: the mean of the pairs' own changes. None with fewer than two.
    #[must_use]
    pub fn paired(base: &[f64], new: &[f64]) -> Option<Self> {
        let changes: Vec<f64> = base.iter().zip(new).map(|(base, new)| (new / base).ln()).collect();
        let (mean, variance) = moments(&changes)?;
        Some(Self { log_ratio: mean, se: (variance / changes.len() as f64).sqrt(), df: changes.len() as f64 - 1.0 })
    }

    /// From independent runs: Welch's estimate, or with a single run on one side the other's spread for both. None with
    /// a single run on both sides.
    #[must_use]
    pub fn unpaired(base: &[f64], new: &[f64]) -> Option<Self> {
        let [base, new] = [base, new].map(|runs| runs.iter().map(|value| value.ln()).collect::<Vec<f64>>());
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let log_ratio = mean(&new) - mean(&base);
        let (count_base, count_new) = (base.len() as f64, new.len() as f64);
        let (se, df) = match (moments(&base), moments(&new)) {
            (Some((_, of_base)), Some((_, of_new))) => {
                let (a, b) = (of_base / count_base, of_new / count_new);
                let df = (a + b).powi(2) / (a * a / (count_base - 1.0) + b * b / (count_new - 1.0));
                ((a + b).sqrt(), if df.is_finite() { df } else { count_base + count_new - 2.0 })
            }
            (Some((_, one)), None) => ((one / count_base + one).sqrt(), count_base - 1.0),
            (None, Some((_, one))) => ((one / count_new + one).sqrt(), count_new - 1.0),
            (None, None) => return None,
        };
        Some(Self { log_ratio, se, df })
    }

    /// From one run each, whose errors `(se, df)` within the run are known, and a spread from run to run that is
    /// assumed. The degrees of freedom are Satterthwaite's.
    #[must_use]
    pub fn single(base: f64, new: f64, within: [Option<(f64, f64)>; 2], spread: f64) -> Self {
        let mut variance = 2.0 * spread * spread;
        let mut of_variance = 0.0;
        for (se, df) in within.into_iter().flatten() {
            variance += se * se;
            of_variance += se.powi(4) / df;
        }
        let df = if of_variance > 0.0 { variance * variance / of_variance } else { f64::INFINITY };
        Self { log_ratio: (new / base).ln(), se: variance.sqrt(), df }
    }

    /// The change as a share: 0.05 is five per cent more.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.log_ratio.exp_m1()
    }

    /// The interval that holds the true change, as a share, with this confidence (0.95).
    #[must_use]
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let half = if self.se > 0.0 { quantile(0.5 + confidence / 2.0, self.df) * self.se } else { 0.0 };
        ((self.log_ratio - half).exp_m1(), (self.log_ratio + half).exp_m1())
    }

    /// The probability of an estimate as far from no change as this one, or farther, if there is none.
    #[must_use]
    pub fn p_none(&self) -> f64 {
        if self.log_ratio == 0.0 { 1.0 } else { 2.0 * self.p_below(self.log_ratio.abs(), 0.0) }
    }

    /// The probability of an estimate as high as this one, or higher, if the true change is the share `limit` at most.
    #[must_use]
    pub fn p_not_above(&self, limit: f64) -> f64 {
        self.p_below(self.log_ratio, limit.ln_1p())
    }

    /// The same for an estimate as low as this one, if the true change is `limit` at least.
    #[must_use]
    pub fn p_not_below(&self, limit: f64) -> f64 {
        self.p_below(-self.log_ratio, -limit.ln_1p())
    }

    fn p_below(&self, found: f64, truth: f64) -> f64 {
        let distance = found - truth;
        let t = match (self.se > 0.0, distance > 0.0) {
            (true, _) => distance / self.se,
            (false, true) => f64::INFINITY,
            (false, false) => f64::NEG_INFINITY,
        };
        upper_tail(t, self.df)
    }
}

/// Mean and variance; none with fewer than two values.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0)))
}

/// What a study is to be able to tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The least change that matters, as the logarithm of a ratio.
    pub resolution: f64,
    /// Probability of calling it a change where there is none, both directions together.
    pub false_alarm: f64,
    /// Probability of calling it none where it is as great as the resolution.
    pub false_peace: f64,
    /// Probability of a word where there is none to be missed: of finding a change as great as the resolution, and of
    /// calling none what is none.
    pub power: f64,
}

/// Most runs that are ever asked for.
const RUNS_MAX: u32 = 100_000;

impl Demand {
    /// The number of pairs, or of runs on each side, for which `se_of` (standard error and degrees of freedom of that
    /// many) suffices; none when no number up to 100,000 does.
    #[must_use]
    pub fn runs(&self, se_of: impl Fn(u32) -> (f64, f64)) -> Option<u32> {
        let suffices = |runs: u32| {
            let (se, df) = se_of(runs);
            let found = quantile(1.0 - self.false_alarm / 2.0, df) + quantile(self.power, df);
            // Both ends of the interval have to lie within the resolution.
            let none = quantile(1.0 - self.false_peace, df) + quantile(0.5 + self.power / 2.0, df);
            found.max(none) * se <= self.resolution
        };
        // More runs never tell less.
        let (mut low, mut high) = (1, 2);
        while !suffices(high) {
            (low, high) = (high, high * 2);
            if high > RUNS_MAX {
                return None;
            }
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if suffices(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}
