//! Load curves: the points of a result by load, their knee and how erratic they are.
//!
//! Owns which points are one load and which loads one curve, and what a result tells of it; the measures themselves are
//! those of `stats`. Draws nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::point::{PointLoad, PointResult};
use super::step::Place;
use crate::plan::{Load, Op};
use crate::stats::{NoKnee, Variation, knee, median, roughness};

/// Points of one series by load, the least load first.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve<'a> {
    /// What tells it from other curves of the same result; empty where it is the only one.
    pub series: String,
    /// Its loads, rising.
    pub loads: Vec<AtLoad<'a>>,
}

/// One load of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct AtLoad<'a> {
    /// The load.
    pub load: PointLoad,
    /// Where it stands on the curve.
    pub place: Place,
    /// The points that had it, in the order they were run; at least one.
    pub points: Vec<&'a PointResult>,
}

/// The curves of some points: one for each label that `series` gives, in the order in which they first occur.
#[must_use]
pub fn curves<'a>(
    points: impl IntoIterator<Item = &'a PointResult>,
    series: impl Fn(&PointResult) -> String,
) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve<'a>> = Vec::new();
    for point in points {
        let label = series(point);
        let known = curves.iter().position(|curve| curve.series == label).unwrap_or_else(|| {
            curves.push(Curve { series: label, loads: Vec::new() });
            curves.len() - 1
        });
        let curve = &mut curves[known];
        match curve.loads.iter_mut().find(|at| at.is_of(point)) {
            Some(at) => at.points.push(point),
            None => curve.loads.push(AtLoad { load: point.load, place: point.place(), points: vec![point] }),
        }
    }
    for curve in &mut curves {
        curve.loads.sort_by(|a, b| a.place.value.total_cmp(&b.place.value));
    }
    curves
}

impl AtLoad<'_> {
    /// Whether a point has this load: of each workload, since the sum of several may be the same by chance.
    fn is_of(&self, point: &PointResult) -> bool {
        let loads = |point: &PointResult| point.workloads.iter().map(|workload| workload.load).collect::<Vec<Load>>();
        let same_place = self.place == point.place();
        same_place && (self.place.field.is_some() || self.load == point.load && loads(self.points[0]) == loads(point))
    }

    /// The values of a figure at this load, one for each point that has it.
    pub fn values(&self, figure: impl Fn(&PointResult) -> Option<f64>) -> Vec<f64> {
        self.points.iter().filter_map(|point| figure(point)).collect()
    }
}

/// What a curve tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveResult {
    /// What tells it from other curves of the same result; absent where it is the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub series: String,
    /// The field that it is over; absent where that is the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Number of different loads, at least 2.
    pub loads: usize,
    /// Number of points, repeats among them.
    pub points: usize,
    /// Where it bends; none where it does not, or it cannot be told.
    pub knee: Option<KneeResult>,
    /// Why there is no knee, in words; none when there is one.
    pub no_knee: Option<String>,
    /// How erratic it is, figure by figure; those that there is nothing to tell of are absent.
    pub stability: Vec<StabilityFigure>,
}

/// The load of greatest power: of most IOPS for the mean latency that they cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeResult {
    /// The load.
    pub load: PointLoad,
    /// IOPS there; of several repeats the median.
    pub iops: f64,
    /// Mean latency there of all operations, in nanoseconds; of the response in open loops; of several repeats the median.
    pub mean_ns: f64,
    /// The least load whose power is within a tenth of the greatest.
    pub from: PointLoad,
    /// The greatest such load.
    pub to: PointLoad,
}

/// How erratic a figure is along a curve; all values are shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StabilityFigure {
    /// The operation; none: all together.
    pub op: Option<Op>,
    /// The figure.
    pub figure: CurveFigure,
    /// Coefficient of variation of repeats, the median over the loads that have some; none without.
    pub variation: Option<f64>,
    /// The greatest of them.
    pub variation_worst: Option<f64>,
    /// Mean distance from the closest curve that never falls; none with fewer than three loads.
    pub roughness: Option<f64>,
}

/// A figure whose stability is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurveFigure {
    /// Completions a second.
    Iops,
    /// Mean latency; of the response in open loops.
    MeanNs,
    /// 99th percentile of the latency; of the response in open loops.
    P99Ns,
}

/// What the curves of some points tell; nothing of those with a single load.
pub(super) fn judge(points: &[PointResult], series: impl Fn(&PointResult) -> String) -> Vec<CurveResult> {
    let counts = |point: &&PointResult| {
        point.is_of_curve() && point.total.completions > 0 && (point.ended_early.is_none() || point.overloaded)
    };
    curves(points.iter().filter(counts), series).into_iter().filter_map(judge_curve).collect()
}

fn judge_curve(curve: Curve<'_>) -> Option<CurveResult> {
    // Different loads at one place (a rate swept beside a constant depth, say) have no order.
    let ordered = curve.loads.windows(2).all(|pair| pair[0].place.value < pair[1].place.value);
    if curve.loads.len() < 2 || !ordered {
        return None;
    }
    let field = curve.loads[0].place.field.clone();
    let found = if field.is_none() { knee_of(&curve) } else { Err(NoKnee::NoBend) };
    let why = |none| if field.is_none() { why_none(none) } else { "it is no curve over the load" };
    Some(CurveResult {
        loads: curve.loads.len(),
        points: curve.loads.iter().map(|at| at.points.len()).sum(),
        knee: found.ok(),
        no_knee: found.err().map(|none| why(none).to_owned()),
        stability: stability(&curve),
        series: curve.series,
        field,
    })
}

fn knee_of(curve: &Curve<'_>) -> Result<KneeResult, NoKnee> {
    let of_load = |at: &AtLoad<'_>| {
        let middle = |figure: fn(&PointResult) -> Option<f64>| median(&at.values(figure)).unwrap_or_default();
        (middle(|point| Some(point.total.iops)), middle(|point| point.total.mean_ns()))
    };
    let values: Vec<(f64, f64)> = curve.loads.iter().map(of_load).collect();
    let found = knee(&values)?;
    let [from, load, to] = [found.from, found.at, found.to].map(|n| curve.loads[n].load);
    let (iops, mean_ns) = values[found.at];
    Ok(KneeResult { load, iops, mean_ns, from, to })
}

fn why_none(none: NoKnee) -> &'static str {
    match none {
        NoKnee::TooFew => "there are fewer than four loads",
        NoKnee::AtTheFirst => "it is at the least load or below; lower loads would show it",
        NoKnee::AtTheLast => "it was not reached; higher loads would show it",
        NoKnee::NoBend => "no load is clearly better than the least and the greatest",
        NoKnee::Several => "the curve is erratic or bends more than once",
    }
}

fn stability(curve: &Curve<'_>) -> Vec<StabilityFigure> {
    let mut figures = vec![stability_of(curve, None, CurveFigure::Iops)];
    for op in Op::ALL {
        figures.extend([CurveFigure::MeanNs, CurveFigure::P99Ns].map(|figure| stability_of(curve, Some(op), figure)));
    }
    figures.retain(|found| found.variation.is_some() || found.roughness.is_some());
    figures
}

fn stability_of(curve: &Curve<'_>, op: Option<Op>, figure: CurveFigure) -> StabilityFigure {
    let value = |point: &PointResult| {
        let latency = || point.total.of(op?)?.latency();
        match figure {
            CurveFigure::Iops => Some(point.total.iops),
            CurveFigure::MeanNs => latency().map(|latency| latency.mean_ns),
            CurveFigure::P99Ns => latency().map(|latency| latency.p99_ns as f64),
        }
    };
    let values: Vec<Vec<f64>> = curve.loads.iter().map(|at| at.values(value)).collect();
    let medians: Vec<f64> = values.iter().filter_map(|repeats| median(repeats)).collect();
    let variation = Variation::of(&values);
    StabilityFigure {
        op,
        figure,
        variation: variation.map(|variation| variation.median),
        variation_worst: variation.map(|variation| variation.worst),
        // Other fields than loads need not make anything rise.
        roughness: roughness(&medians).filter(|_| curve.loads.iter().all(|at| at.place.field.is_none())),
    }
}
