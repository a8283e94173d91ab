//! Axes: from a value to a place, which values get a tick, and how they are written.
//!
//! Owns scales and units. Knows no drawing.

use super::Extent;

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithm; values must be above 0.
    Log,
    /// Shares of 0 to below 1 by the number of their nines, so that 90 %, 99 % and 99.9 % are evenly apart.
    Nines,
}

/// What values are, and so how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Numbers, with k, M, G.
    #[default]
    Count,
    /// Nanoseconds, with a unit that suits.
    Latency,
    /// Seconds, as such or as minutes and hours.
    Time,
    /// Shares, in per cent.
    Share,
}

/// One axis.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// What it tells.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
    /// What they are.
    pub unit: Unit,
    /// What it spans; none: what the values demand.
    pub extent: Option<Extent>,
    /// The values with a tick; empty: round ones.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: &str, unit: Unit) -> Self {
        Self { label: label.to_owned(), unit, ..Self::default() }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: &str, unit: Unit) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label, unit) }
    }
}

impl Axis {
    /// The values with a tick, at most about `most` where they may be chosen.
    pub(super) fn ticks(&self, extent: Extent, most: usize) -> Vec<f64> {
        if self.ticks.is_empty() { self.scale.ticks(extent, self.unit, most) } else { self.ticks.clone() }
    }
}

impl Scale {
    /// Where a value lies in an extent, 0 to 1 within it.
    pub(super) fn place(self, extent: Extent, value: f64) -> f64 {
        let (low, high, value) = (self.bend(extent.low), self.bend(extent.high), self.bend(value));
        if high > low { (value - low) / (high - low) } else { 0.5 }
    }

    fn bend(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.max(f64::MIN_POSITIVE).log10(),
            Self::Nines => -(1.0 - value.min(1.0 - 1e-12)).log10(),
        }
    }

    /// Values with a tick, at most about `most`.
    fn ticks(self, extent: Extent, unit: Unit, most: usize) -> Vec<f64> {
        match self {
            Self::Linear => linear_ticks(extent, unit, most),
            Self::Log => log_ticks(extent, most),
            Self::Nines => {
                let all = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999, 0.999_999_9];
                all.into_iter().filter(|share| (extent.low..=extent.high).contains(share)).collect()
            }
        }
    }
}

fn linear_ticks(extent: Extent, unit: Unit, most: usize) -> Vec<f64> {
    let rough = (extent.high - extent.low) / most.max(1) as f64;
    if rough <= 0.0 || !rough.is_finite() {
        return vec![extent.low];
    }
    let step = match unit {
        // Minutes and hours have steps of their own.
        Unit::Time if rough > 10.0 => {
            [15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 21_600.0]
                .into_iter()
                .find(|step| *step >= rough)
                .unwrap_or_else(|| (rough / 86_400.0).ceil() * 86_400.0)
        }
        _ => {
            let power = 10f64.powf(rough.log10().floor());
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough).unwrap_or(power * 10.0)
        }
    };
    let first = (extent.low / step).ceil() as i64;
    let last = (extent.high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

fn log_ticks(extent: Extent, most: usize) -> Vec<f64> {
    let (low, high) = (extent.low.max(f64::MIN_POSITIVE).log10(), extent.high.max(f64::MIN_POSITIVE).log10());
    let decades = (high - low).max(0.0);
    let within = |value: &f64| *value >= extent.low * 0.999_999 && *value <= extent.high * 1.000_001;
    let of = |digits: &[f64], every: usize| {
        let powers = (low.floor() as i32..=high.ceil() as i32).step_by(every.max(1));
        powers.flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power))).filter(within).collect::<Vec<_>>()
    };
    let choices = [of(&[1.0, 2.0, 3.0, 5.0, 7.0], 1), of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1), of(&[1.0], 1)];
    let fits = choices.into_iter().find(|ticks| ticks.len() <= most);
    fits.unwrap_or_else(|| of(&[1.0], (decades / most.max(1) as f64).ceil() as usize))
}

impl Unit {
    /// A value at a tick or in a tip.
    #[must_use]
    pub fn write(self, value: f64) -> String {
        match self {
            Self::Count => scaled(value, &[(1e9, " G"), (1e6, " M"), (1e3, " k")], ""),
            Self::Latency => scaled(value, &[(1e9, " s"), (1e6, " ms"), (1e3, " µs")], " ns"),
            Self::Share if value > 0.999_95 => format!("{} %", short(value * 100.0, 7)),
            Self::Share => format!("{} %", short(value * 100.0, 3)),
            Self::Time if value < 120.0 => format!("{} s", short(value, 3)),
            Self::Time => {
                let s = value.round() as u64;
                let (h, m, s) = (s / 3_600, s / 60 % 60, s % 60);
                if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02} min") }
            }
        }
    }
}

fn scaled(value: f64, units: &[(f64, &str)], plain: &str) -> String {
    match units.iter().find(|(size, _)| value.abs() >= *size) {
        Some((size, unit)) => format!("{}{unit}", short(value / size, 3)),
        None => format!("{}{plain}", short(value, 3)),
    }
}

/// At most `decimals` decimals, without idle zeros.
fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn extent(low: f64, high: f64) -> Extent {
        Extent { low, high }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale::Linear.ticks(extent(0.0, 104.0), Unit::Count, 6), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(
            Scale::Linear.ticks(extent(0.0, 3_600.0), Unit::Time, 6),
            [0.0, 600.0, 1_200.0, 1_800.0, 2_400.0, 3_000.0, 3_600.0]
        );
        assert_eq!(Scale::Log.ticks(extent(1e3, 1e6), Unit::Latency, 8), [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6]);
        assert!(Scale::Log.ticks(extent(1.0, 1e12), Unit::Count, 5).len() <= 6);
    }

    #[test]
    fn values_are_written_with_their_unit() {
        assert_eq!(Unit::Latency.write(350_000.0), "350 µs");
        assert_eq!(Unit::Latency.write(1_250_000.0), "1.25 ms");
        assert_eq!(Unit::Count.write(208_138.0), "208.138 k");
        assert_eq!(Unit::Share.write(0.999), "99.9 %");
        assert_eq!(Unit::Share.write(0.999_99), "99.999 %");
        assert_eq!(Unit::Time.write(5_400.0), "1:30:00");
    }

    #[test]
    fn nines_are_evenly_apart() {
        let place = |share| Scale::Nines.place(extent(0.0, 0.999), share);
        assert!((place(0.9) - 1.0 / 3.0).abs() < 1e-9 && (place(0.99) - 2.0 / 3.0).abs() < 1e-9);
    }
}
