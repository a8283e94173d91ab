//! The charts of a report: which figures of one or several results stand in which chart.
//!
//! Owns the choice. Several results share each chart: colour tells the result, or the operation where there is one.

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
type OpOf = fn(&Figures) -> &OpFigures;

/// How an operation is called, and where its figures are.
const OPS: [(&str, OpOf); 2] = [("read", |f| &f.read), ("write", |f| &f.write)];

/// A percentile's name and where it is.
type Figure = (&'static str, fn(&Latency) -> f64);

/// All charts over load, in the order of the page.
#[must_use]
pub fn over_load(sources: &[Source<'_>]) -> Vec<Named> {
    let mut charts = Vec::new();
    if sources.iter().any(|source| source.result.points.len() > 1) {
        charts.push(named("iops", iops_over_load(sources)));
        charts.push(named("latency-iops", latency_over_iops(sources)));
        for (op, of) in OPS {
            charts.push(named(&format!("latency-{op}"), latency_over_load(sources, op, of)));
        }
    }
    charts.retain(|named| !named.chart.is_empty());
    charts
}

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

/// The load of a point as a number, and what that number is.
fn load(point: &PointResult) -> (f64, &'static str) {
    match (point.load.queue_depth, point.load.rate_per_s) {
        (Some(depth), _) => (f64::from(depth), "queue depth on each target"),
        (None, Some(rate)) => (rate as f64, "arrivals a second"),
        (None, None) => (point.load.total_outstanding as f64, "outstanding I/Os"),
    }
}

/// The horizontal axis of charts over load.
fn load_axis(sources: &[Source<'_>]) -> Axis {
    let loads: Vec<_> = sources.iter().flat_map(|source| source.result.points.iter().map(load)).collect();
    let label = loads.first().map_or("load", |(_, label)| label);
    let label = if loads.iter().all(|(_, other)| *other == label) { label } else { "load" };
    let extent = Extent::of(loads.iter().map(|(load, _)| *load));
    let mut axis = Axis::linear(label, Unit::Count);
    if extent.low > 0.0 && extent.high / extent.low >= 8.0 {
        axis.scale = Scale::Log;
        let mut ticks: Vec<f64> = loads.iter().map(|(load, _)| *load).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        if ticks.len() <= 10 {
            axis.ticks = ticks;
        }
    }
    axis
}

fn name(sources: &[Source<'_>], source: &Source<'_>, what: &str) -> String {
    match (sources.len(), what) {
        (1, what) => what.to_owned(),
        (_, "") => source.label.clone(),
        (_, what) => format!("{}, {what}", source.label),
    }
}

fn curve(source: &Source<'_>, value: impl Fn(&PointResult) -> Option<f64>) -> Vec<(f64, f64)> {
    source.result.points.iter().filter_map(|point| Some((load(point).0, value(point)?))).collect()
}

fn iops_over_load(sources: &[Source<'_>]) -> Chart {
    let mut layers = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let mixed = source.result.points.iter().any(|p| p.total.read.completions > 0 && p.total.write.completions > 0);
        let points = curve(source, |point| Some(point.total.iops));
        let what = if mixed { "total" } else { "" };
        let name_of = |what| name(sources, source, what);
        layers.push(Layer::Line(Line { name: name_of(what), colour: index, dots: true, points, ..Line::default() }));
        if mixed && sources.len() == 1 {
            for (colour, (op, of)) in OPS.into_iter().enumerate() {
                let points = curve(source, |point| Some(of(&point.total).iops));
                let line = Line { name: format!("{op}s"), colour: colour + 1, dots: true, points, ..Line::default() };
                layers.push(Layer::Line(line));
            }
        }
    }
    Chart {
        title: "IOPS against load".to_owned(),
        x: load_axis(sources),
        y: Axis::linear("IOPS", Unit::Count),
        layers,
        ..Chart::default()
    }
}

fn latency_over_iops(sources: &[Source<'_>]) -> Chart {
    let figures: [Figure; 2] = [("p50", |l| l.p50_ns as f64), ("p99", |l| l.p99_ns as f64)];
    let mut layers = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        for (number, (figure, at)) in figures.iter().enumerate() {
            let value = |point: &PointResult| {
                // Reads, unless there are none.
                let op = if point.total.read.completions > 0 { &point.total.read } else { &point.total.write };
                Some((point.total.iops, at(op.latency()?)))
            };
            layers.push(Layer::Line(Line {
                name: name(sources, source, figure),
                colour: if sources.len() == 1 { number } else { index },
                dashed: sources.len() > 1 && number > 0,
                dots: true,
                points: source.result.points.iter().filter_map(value).collect(),
            }));
        }
    }
    let reads = sources.iter().any(|s| s.result.points.iter().any(|p| p.total.read.completions > 0));
    Chart {
        title: format!("Latency of {} against what was achieved", if reads { "reads" } else { "writes" }),
        x: Axis::linear("IOPS achieved", Unit::Count),
        y: Axis::linear(latency_label(sources), Unit::Latency),
        layers,
        ..Chart::default()
    }
}

fn latency_over_load(sources: &[Source<'_>], op: &str, of: OpOf) -> Chart {
    let figures: [Figure; 4] = [
        ("mean", |l| l.mean_ns),
        ("p50", |l| l.p50_ns as f64),
        ("p99", |l| l.p99_ns as f64),
        ("p99.9", |l| l.p999_ns as f64),
    ];
    let figures = if sources.len() == 1 { &figures[..] } else { &figures[1..3] };
    let mut layers = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        for (number, (figure, at)) in figures.iter().enumerate() {
            layers.push(Layer::Line(Line {
                name: name(sources, source, figure),
                colour: if sources.len() == 1 { number } else { index },
                dashed: sources.len() > 1 && number > 0,
                dots: true,
                points: curve(source, |point| of(&point.total).latency().map(at)),
            }));
        }
    }
    Chart {
        title: format!("Latency of {op}s against load"),
        x: load_axis(sources),
        y: Axis::linear(latency_label(sources), Unit::Latency),
        layers,
        ..Chart::default()
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
        let name = name(sources, &sources[index], &point.load.to_string());
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
        let name = name(sources, source, &point.load.to_string());
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
        Layer::Heat(_) => Vec::new(),
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
