//! The mean of a series whose values depend on the ones before, and how far it can be off.
//!
//! Owns the estimate of the long-run variance: that of a first-order autoregressive process (Box, Jenkins, Reinsel,
//! "Time Series Analysis", 2.1), its coefficient corrected for the bias of short series (Marriott and Pope, Biometrika
//! 41, 1954). A long series is first cut into batches, whose means depend on each other the less the longer they are
//! (Tafazzoli and Wilson, "Skart", IIE Transactions 43, 2011). Knows nothing of what the values are.

/// Values that are taken as they are; a longer series is cut into as many batches or nearly so.
const VALUES_MAX: usize = 2_048;
/// Deviations up to this share of the mean are those of the arithmetic.
const ROUNDING: f64 = 1e-12;
/// Fewest values from which dependence can be judged.
const VALUES_MIN: usize = 8;

/// How far the mean of a series can be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanError {
    /// Standard error, in the unit of the values.
    pub se: f64,
    /// Degrees of freedom of that error, at least 1; infinite when it is 0.
    pub df: f64,
}

/// The error of the mean of `values`, which stand in the order of time; none with fewer than eight.
#[must_use]
pub fn mean_error(values: &[f64]) -> Option<MeanError> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let batch = values.len().div_ceil(VALUES_MAX);
    // What is left over at the end is left out: it would be a batch of another length.
    let means: Vec<f64> = values.chunks_exact(batch).map(|part| part.iter().sum::<f64>() / batch as f64).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let deviations: Vec<f64> = means.iter().map(|value| value - mean).collect();
    let squares: f64 = deviations.iter().map(|d| d * d).sum();
    if squares <= n * (mean * ROUNDING).powi(2) {
        return Some(MeanError { se: 0.0, df: f64::INFINITY });
    }
    let lagged: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Values that alternate would make the error smaller; that is not relied on.
    let phi = ((n * lagged / squares + 1.0) / (n - 4.0)).clamp(0.0, 1.0 - 2.0 / n);
    let inflation = (1.0 + phi) / (1.0 - phi);
    let in_this_length = inflation - 2.0 * phi * (1.0 - phi.powf(n)) / (n * (1.0 - phi).powi(2));
    // The deviations are from the series' own mean, which takes a part of the variance with it.
    let variance = squares / n / (1.0 - (in_this_length / n).min(0.9));
    let df = (n / (2.0 * inflation + 1.0)).max(1.0);
    Some(MeanError { se: (variance * in_this_length / n).sqrt(), df })
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::stats::student::quantile;

    /// The share of `studies` series of `n` values whose 95 % interval holds the true mean.
    fn coverage(phi: f64, n: usize, studies: u64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
        let held = (0..studies).filter(|_| {
            let mut value = draw() / (1.0 - phi * phi).sqrt();
            let series: Vec<f64> = (0..n)
                .map(|_| {
                    value = phi * value + draw();
                    value
                })
                .collect();
            let error = mean_error(&series).expect("enough values");
            (series.iter().sum::<f64>() / n as f64).abs() <= quantile(0.975, error.df) * error.se
        });
        held.count() as f64 / studies as f64
    }

    #[test]
    fn the_interval_of_dependent_values_holds_the_truth_as_often_as_it_says() {
        for (phi, n) in [(0.8, 60), (0.8, 120), (0.8, 300), (0.8, 600), (0.5, 60), (0.3, 300), (0.0, 300)] {
            let coverage = coverage(phi, n, 2_000);
            assert!((0.93..=0.97).contains(&coverage), "AR(1) of {phi}, {n} values: {coverage}");
        }
        // Few independent values: the price of not knowing that they are.
        assert!((0.93..=0.985).contains(&coverage(0.0, 30, 2_000)));
        // Longer than a batch.
        assert!((0.93..=0.985).contains(&coverage(0.8, 3_000, 500)));
    }

    #[test]
    fn a_constant_has_no_error_and_few_values_none_that_is_known() {
        assert_eq!(mean_error(&[3.7; 30]), Some(MeanError { se: 0.0, df: f64::INFINITY }));
        assert_eq!(mean_error(&[0.0; 30]), Some(MeanError { se: 0.0, df: f64::INFINITY }));
        assert_eq!(mean_error(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0]), None);
    }
}
