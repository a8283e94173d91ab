//! Student's t distribution, the normal one that it becomes with many degrees of freedom, and chi-square.
//!
//! Owns nothing but the calls: the numbers are those of `statrs`.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom from which on the normal distribution differs by less than one in a million.
const NORMAL_DF: f64 = 1e6;

/// The value that a share `p` (0 to 1) of the distribution lies below; `df` above 0, may be infinite.
#[must_use]
pub fn quantile(p: f64, df: f64) -> f64 {
    if df >= NORMAL_DF {
        return Normal::standard().inverse_cdf(p);
    }
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.inverse_cdf(p))
}

/// The share of the distribution above `t`.
#[must_use]
pub fn upper_tail(t: f64, df: f64) -> f64 {
    match t {
        f64::INFINITY => 0.0,
        f64::NEG_INFINITY => 1.0,
        // The tail below the mirror image keeps its digits where one less the share would lose them.
        t if df >= NORMAL_DF => Normal::standard().cdf(-t),
        t => StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.cdf(-t)),
    }
}

/// The value that a share `p` of the chi-square distribution lies below; `df` above 0.
#[must_use]
pub fn chi_square_quantile(p: f64, df: f64) -> f64 {
    ChiSquared::new(df).map_or(f64::NAN, |chi_square| chi_square.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, df, table) in [
            (0.975, 1.0, 12.7062),
            (0.975, 4.0, 2.776_45),
            (0.95, 9.0, 1.833_11),
            (0.995, 5.0, 4.032_14),
            (0.999, 10.0, 4.143_70),
            (0.9995, 30.0, 3.645_96),
            (0.9999, 20.0, 4.538_5),
            (0.975, f64::INFINITY, 1.959_96),
        ] {
            let found = quantile(p, df);
            assert!((found / table - 1.0).abs() < 2e-4, "{p} at {df}: {found} for {table}");
            assert!((quantile(1.0 - p, df) / -table - 1.0).abs() < 2e-4, "the distribution is symmetric");
            assert!((upper_tail(found, df) / (1.0 - p) - 1.0).abs() < 1e-3, "{p} at {df}");
        }
    }

    #[test]
    fn chi_square_is_that_of_the_tables() {
        for (p, df, table) in [(0.2, 5.0, 2.3425), (0.2, 9.0, 5.3801), (0.95, 1.0, 3.8415)] {
            assert!((chi_square_quantile(p, df) / table - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn what_is_beyond_all_bounds_has_no_tail() {
        assert_eq!(upper_tail(f64::INFINITY, 3.0), 0.0);
        assert_eq!(upper_tail(f64::NEG_INFINITY, 3.0), 1.0);
    }
}
