//! The charts of distributions, and what all charts of results share.
//!
//! Owns which points they are shown of. Several results share each chart: colour tells the result, or the operation where there is one.

use super::Source;
use crate::report::chart::{Axis, Bars, Chart, Extent, Layer, Line, Scale, Unit};
use crate::result::{Figures, Latency, OpFigures, PointResult};

/// A chart with a name for links and files.
#[derive(Debug, Clone)]
pub struct Named {
    /// Short name: letters, digits and dashes.
    pub id: String,
    /// The chart.
    pub chart: Chart,
}

/// Most curves of one chart; beyond that a reader sees none of them.
const CURVES_MAX: usize = 8;

/// Takes the figures of one operation.
pub(super) type OpOf = fn(&Figures) -> &OpFigures;

/// How an operation is called, and where its figures are.
pub(super) const OPS: [(&str, OpOf); 2] = [("read", |f| &f.read), ("write", |f| &f.write)];

/// A percentile's name and where it is.
pub(super) type Figure = (&'static str, fn(&Latency) -> f64);

/// Percentile curves and histograms, by operation.
#[must_use]
pub fn distributions(sources: &[Source<'_>]) -> Vec<Named> {
    let mut charts = Vec::new();
    for (op, of) in OPS {
        charts.push(named(&format!("percentiles-{op}"), percentiles(sources, op, of)));
        charts.push(named(&format!("histogram-{op}"), histogram(sources, op, of)));
    }
    charts.retain(|named| !named.chart.is_empty());
    charts
}

pub(super) fn named(id: &str, chart: Chart) -> Named {
    Named { id: id.to_owned(), chart }
}

/// What the latencies of these results are called.
pub(super) fn latency_label(sources: &[Source<'_>]) -> &'static str {
    let open = |point: &PointResult| point.total.read.response.is_some() || point.total.write.response.is_some();
    let mut open = sources.iter().flat_map(|source| source.result.points.iter().map(open));
    match (open.clone().any(|open| open), open.any(|open| !open)) {
        (true, true) => "latency (response in open loops)",
        (true, false) => "response latency",
        _ => "service latency",
    }
}

fn name(sources: &[Source<'_>], source: &Source<'_>, what: &str) -> String {
    match (sources.len(), what) {
        (1, what) => what.to_owned(),
        (_, "") => source.label.clone(),
        (_, what) => format!("{}, {what}", source.label),
    }
}

/// The points that distributions are shown of, evenly chosen when there are too many, the last one always.
fn chosen<'a>(sources: &[Source<'a>]) -> Vec<(usize, usize, &'a PointResult)> {
    let each = (CURVES_MAX / sources.len().max(1)).max(1);
    let of_source = |(index, source): (usize, &Source<'a>)| {
        let points = &source.result.points;
        let count = points.len().min(each);
        let pick = move |n: usize| (points.len() * (n + 1)).div_ceil(count.max(1)) - 1;
        (0..count).map(move |n| (index, n, &points[pick(n)])).collect::<Vec<_>>()
    };
    sources.iter().enumerate().flat_map(of_source).collect()
}

fn percentiles(sources: &[Source<'_>], op: &str, of: OpOf) -> Chart {
    let mut layers = Vec::new();
    let mut deepest: f64 = 0.9;
    for (colour, (index, _, point)) in chosen(sources).into_iter().enumerate() {
        let Some(histogram) = of(&point.total).latency().and_then(|latency| latency.histogram().ok()) else { continue };
        let count = histogram.len();
        let mut points = vec![(0.0, histogram.min() as f64)];
        let mut seen = 0;
        for value in histogram.iter_recorded() {
            seen += value.count_at_value();
            // The last of n stands at 1 - 1/(2n), since nothing stands at 100 % on this axis.
            let share = (seen as f64 / count as f64).min(1.0 - 0.5 / count as f64);
            points.push((share, histogram.highest_equivalent(value.value_iterated_to()) as f64));
            deepest = deepest.max(share);
        }
        let name = name(sources, &sources[index], &point.label());
        layers.push(Layer::Line(Line { name, colour, points, ..Line::default() }));
    }
    let extent = Some(Extent { low: 0.0, high: deepest });
    Chart {
        title: format!("Percentiles of the latency of {op}s"),
        x: Axis { scale: Scale::Nines, extent, ..Axis::linear("share of I/Os not slower", Unit::Share) },
        y: Axis::log(latency_label(sources), Unit::Latency),
        layers,
        ..Chart::default()
    }
}

/// The distribution of the last point of each result, or of the only one; the full range on logarithmic axes.
fn histogram(sources: &[Source<'_>], op: &str, of: OpOf) -> Chart {
    let mut layers = Vec::new();
    for (colour, source) in sources.iter().enumerate().take(CURVES_MAX) {
        let Some(point) = source.result.points.last() else { continue };
        let Some(histogram) = of(&point.total).latency().and_then(|latency| latency.histogram().ok()) else { continue };
        let name = name(sources, source, &point.label());
        let bars = log_bars(&histogram);
        layers.push(if sources.len() == 1 {
            Layer::Bars(Bars { name, colour, bars })
        } else {
            // Bars of several results would cover each other.
            let points = bars.iter().map(|&(low, high, count)| ((low * high).sqrt(), count)).collect();
            Layer::Line(Line { name, colour, points, ..Line::default() })
        });
    }
    let most = layers.iter().flat_map(|layer| match layer {
        Layer::Bars(bars) => bars.bars.iter().map(|bar| bar.2).collect::<Vec<_>>(),
        Layer::Line(line) => line.points.iter().map(|point| point.1).collect(),
        Layer::Band(_) | Layer::Heat(_) => Vec::new(),
    });
    let most = most.fold(1.0, f64::max);
    Chart {
        title: format!("Histogram of the latency of {op}s"),
        x: Axis::log(latency_label(sources), Unit::Latency),
        y: Axis { extent: Some(Extent { low: 0.5, high: most * 1.5 }), ..Axis::log("I/Os", Unit::Count) },
        layers,
        ..Chart::default()
    }
}

/// Counts in bars that are equally wide on a logarithmic axis, forty to a power of ten.
fn log_bars(histogram: &hdrhistogram::Histogram<u64>) -> Vec<(f64, f64, f64)> {
    const TO_A_DECADE: f64 = 40.0;
    let mut bars: Vec<(i64, f64)> = Vec::new();
    for value in histogram.iter_recorded() {
        let bar = ((value.value_iterated_to().max(1) as f64).log10() * TO_A_DECADE).floor() as i64;
        let count = value.count_at_value() as f64;
        match bars.last_mut() {
            Some((last, sum)) if *last == bar => *sum += count,
            _ => bars.push((bar, count)),
        }
    }
    let edge = |bar: i64| 10f64.powf(bar as f64 / TO_A_DECADE);
    bars.into_iter().map(|(bar, count)| (edge(bar), edge(bar + 1), count)).collect()
}
