//! What an axis spans. Owns the rule by which a few outliers do not ruin it.

/// From the least to the greatest value of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// The least.
    pub low: f64,
    /// The greatest; above the least.
    pub high: f64,
}

/// How far beyond the bulk of the values a value must lie to be an outlier, as a multiple of the bulk's greatest.
const OUTLIER: f64 = 4.0;
/// The bulk: this share of the values.
const BULK: f64 = 0.9;

impl Extent {
    /// Of all finite values; 0 to 1 when there are none.
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) =
            values.filter(|v| v.is_finite()).fold(none, |(low, high), value| (low.min(value), high.max(value)));
        match (low, high) {
            (low, high) if low > high => Self { low: 0.0, high: 1.0 },
            // One value alone has an axis around it.
            (low, high) if low == high => Self { low: low.min(0.0), high: if high > 0.0 { high } else { 1.0 } },
            (low, high) => Self { low, high },
        }
    }

    /// Whether a value lies within.
    pub(super) fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// From zero up, unless it reaches below zero.
    pub(super) fn with_zero(self) -> Self {
        Self { low: self.low.min(0.0), high: self.high.max(0.0) }
    }

    /// With room above the greatest value.
    pub(super) fn with_head_room(self) -> Self {
        Self { high: self.high + (self.high - self.low) * 0.05, ..self }
    }
}

/// The extent without outliers, when there are some: values more than four times as large as 90 % of all. None when the
/// full extent is as good.
#[must_use]
pub fn robust(values: impl Iterator<Item = f64>) -> Option<Extent> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, greatest) = (*sorted.first()?, *sorted.last()?);
    let bulk = sorted[((sorted.len() as f64 * BULK) as usize).clamp(1, sorted.len()) - 1];
    if bulk <= 0.0 || greatest <= bulk * OUTLIER {
        return None;
    }
    let high = *sorted.iter().rev().find(|value| **value <= bulk * OUTLIER)?;
    Some(Extent { low, high: high.max(low + f64::EPSILON) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_ruin_an_axis() {
        let mut values: Vec<f64> = (0..100).map(|n| 100.0 + f64::from(n % 10)).collect();
        assert_eq!(robust(values.iter().copied()), None);
        values.push(50_000.0);
        assert_eq!(robust(values.iter().copied()), Some(Extent { low: 100.0, high: 109.0 }));
        assert_eq!(Extent::of(values.iter().copied()).high, 50_000.0);
    }

    #[test]
    fn a_rising_curve_has_no_outliers() {
        assert_eq!(robust([1.0, 2.0, 4.0, 8.0, 16.0].into_iter()), None);
        assert_eq!(robust([150.0, 151.0, 149.0, 1_900.0].into_iter()), Some(Extent { low: 149.0, high: 151.0 }));
        assert_eq!(robust(std::iter::empty()), None);
    }
}
