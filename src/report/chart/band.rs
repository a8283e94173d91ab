//! The range in which repeats of a curve lie, from the least to the greatest at each place.
//!
//! Owns its outline. Knows no colours but by their number.

use std::fmt::Write as _;

use super::Scale;
use super::draw::{COLOURS, Frame};

/// A shaded range along a curve.
#[derive(Debug, Clone, Default)]
pub struct Band {
    /// Number of its colour: that of the line it belongs to.
    pub colour: usize,
    /// Left to right: place, least, greatest. What is not finite is left out.
    pub points: Vec<(f64, f64, f64)>,
}

/// Draws a band; how many of its greatest values lie beyond the upper edge.
pub(super) fn draw(out: &mut String, frame: &Frame<'_>, band: &Band) -> usize {
    let shown = |scale: Scale, value: f64| value.is_finite() && (scale != Scale::Log || value > 0.0);
    let (x_scale, y_scale) = (frame.chart.x.scale, frame.chart.y.scale);
    let drawable =
        |(x, low, high): &&(f64, f64, f64)| shown(x_scale, *x) && shown(y_scale, *low) && shown(y_scale, *high);
    let points: Vec<_> = band.points.iter().filter(drawable).collect();
    let upper = points.iter().map(|(x, _, high)| (x, high));
    let lower = points.iter().rev().map(|(x, low, _)| (x, low));
    let mut path = String::new();
    for (index, (&x, &y)) in upper.chain(lower).enumerate() {
        let (x, y) = (frame.px(x), frame.clamp(frame.py(y)));
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    if points.len() > 1 {
        let _ = write!(out, "<path class=\"band k{}\" d=\"{path}z\"/>", band.colour % COLOURS);
    } else if let Some((x, low, high)) = points.first() {
        let (x, low, high) = (frame.px(*x), frame.clamp(frame.py(*low)), frame.clamp(frame.py(*high)));
        let _ = write!(out, "<path class=\"line k{}\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>", band.colour % COLOURS);
    }
    // The line through the middle counts its own.
    points.iter().filter(|(_, low, high)| *high > frame.y.high && *low <= frame.y.high).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, Chart, Layer, Unit, svg};

    fn chart(points: Vec<(f64, f64, f64)>) -> Chart {
        Chart {
            x: Axis::linear("x", Unit::Count),
            y: Axis::linear("y", Unit::Latency),
            layers: vec![Layer::Band(Band { colour: 9, points })],
            ..Chart::default()
        }
    }

    #[test]
    fn a_band_goes_there_above_and_back_below() {
        let drawn = svg(&chart(vec![(0.0, 1.0, 2.0), (1.0, f64::NAN, 2.0), (2.0, 3.0, 4.0)]), true, false);
        let path =
            drawn.split("class=\"band k1\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a band");
        assert_eq!((path.matches(['M', 'L']).count(), path.ends_with('z')), (4, true), "{path}");
        assert!(!drawn.contains("NaN"));
        let one = svg(&chart(vec![(1.0, 1.0, 2.0)]), true, false);
        assert!(
            !one.contains("class=\"band") && one.contains("class=\"line k1\""),
            "an upright line at a single place"
        );
    }

    #[test]
    fn an_outlier_among_repeats_is_left_out_and_told() {
        let mut points: Vec<_> = (0..20).map(|n| (f64::from(n), 90.0, 110.0)).collect();
        points[7].2 = 1e6;
        let chart = chart(points);
        assert!(chart.has_outliers() && !chart.is_empty());
        assert!(svg(&chart, false, false).contains("▲ 1 value above"));
    }
}
