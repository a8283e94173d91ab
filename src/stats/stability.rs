//! How erratic a curve is: how much its repeats differ, and how far it is from one that never turns back.
//!
//! Owns both measures (`docs/method.md`, "Load curves"). Knows neither loads nor figures.

/// How much the repeats of a curve differ, over its loads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variation {
    /// Median over the loads of the coefficients of variation: deviation as a share of the mean.
    pub median: f64,
    /// The greatest of them.
    pub worst: f64,
}

impl Variation {
    /// Of the repeats at each load. Loads with a single value, or without a mean above zero, count for nothing; none when
    /// all are such.
    #[must_use]
    pub fn of(loads: &[Vec<f64>]) -> Option<Self> {
        let mut all: Vec<f64> = loads.iter().filter_map(|repeats| coefficient(repeats)).collect();
        all.sort_unstable_by(f64::total_cmp);
        let worst = *all.last()?;
        Some(Self { median: median_of_sorted(&all), worst })
    }
}

/// The median of values; none without any.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// Deviation (of a sample) as a share of the mean; none with fewer than two values or no mean above zero.
fn coefficient(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 || mean.is_nan() || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt() / mean)
}

/// Fewest loads that a curve's roughness is told of.
pub const ROUGHNESS_MIN: usize = 3;

/// How far a curve is from one that never falls, the least load first: the mean distance from the closest such curve, as a
/// share. All of it is done on logarithms, so that each load counts the same however far the values reach. None with
/// fewer than three values, or with one that is not above zero.
#[must_use]
pub fn roughness(curve: &[f64]) -> Option<f64> {
    if curve.len() < ROUGHNESS_MIN || !curve.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return None;
    }
    let logs: Vec<f64> = curve.iter().map(|value| value.ln()).collect();
    let distance: f64 = logs.iter().zip(rising(&logs)).map(|(value, fitted)| (value - fitted).abs()).sum();
    Some((distance / logs.len() as f64).exp_m1())
}

/// The closest sequence, by least squares, that never falls: neighbours that do are pooled to their mean.
fn rising(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(mean, count)) = pools.last().filter(|(mean, _)| *mean > pool.0) {
            pools.pop();
            let both = count + pool.1;
            pool = ((mean * count as f64 + pool.0 * pool.1 as f64) / both as f64, both);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(found: Option<f64>, exact: f64) {
        assert!(found.is_some_and(|found| (found - exact).abs() < 1e-12), "{found:?} for {exact}");
    }

    #[test]
    fn repeats_vary_as_the_closed_forms_say() {
        // Two values m ± d deviate by d times the root of two.
        let loads = [vec![99.0, 101.0], vec![190.0, 210.0], vec![300.0], vec![400.0, 400.0, 400.0], vec![0.0, 0.0]];
        let found = Variation::of(&loads).unwrap();
        assert_close(Some(found.median), 0.01 * 2f64.sqrt());
        assert_close(Some(found.worst), 0.05 * 2f64.sqrt());
        let even = Variation::of(&loads[..2]).unwrap();
        assert_close(Some(even.median), 0.03 * 2f64.sqrt());
        assert_eq!(Variation::of(&[vec![1.0], vec![2.0]]), None);
    }

    #[test]
    fn a_curve_that_never_falls_has_no_roughness() {
        assert_eq!(roughness(&[1.0, 1.0, 5.0, 900.0]), Some(0.0));
        assert_eq!(roughness(&[1.0, 2.0]), None);
        assert_eq!(roughness(&[1.0, 0.0, 2.0]), None);
    }

    #[test]
    fn a_dip_is_as_rough_wherever_on_the_curve_it_stands() {
        // 200 and 150 are pooled to their geometric mean; each is ln(4/3)/2 away, half of the loads.
        let exact = ((4f64 / 3.0).ln() / 4.0).exp_m1();
        assert_close(roughness(&[100.0, 200.0, 150.0, 400.0]), exact);
        assert_close(roughness(&[1.0, 200.0, 150.0, 40_000.0]), exact);
        assert_close(roughness(&[2.0, 1.5, 4_000.0, 40_000.0]), exact);
        // Falling all the way: everything is one pool.
        assert_close(roughness(&[4.0, 2.0, 1.0]), (2.0 * 2f64.ln() / 3.0).exp_m1());
    }

    #[test]
    fn a_late_fall_pools_all_that_stood_above_it() {
        assert_eq!(rising(&[1.0, 3.0, 4.0, 2.0, 6.0]), [1.0, 3.0, 3.0, 3.0, 6.0]);
        assert_eq!(rising(&[3.0, 2.0, 1.0]), [2.0; 3]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!((median(&[3.0, 1.0]), median(&[9.0, 1.0, 2.0]), median(&[])), (Some(2.0), Some(2.0), None));
    }
}
