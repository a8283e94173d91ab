//! The charts over the load: what is achieved, and at which latency.
//!
//! Owns which figures stand in them. A load that was run several times has one place on the line, their median, and its
//! range as a band around it. Colour tells the curve, or the figure where there is a single curve.

use super::Source;
use super::curves::{Figure, Named, OPS, OpOf, latency_label, named};
use crate::report::chart::{Axis, Band, Chart, Extent, Layer, Line, Mark, Scale, Unit};
use crate::result::{AtLoad, Curve, Figures, KneeResult, PointLoad, PointResult, SearchResult, curves, series_of};
use crate::spec::{Accept, Condition, Figure as Asked};
use crate::stats::median;

/// A curve of one of the results.
struct Drawn<'a> {
    /// What it is called beside others; empty when it is alone.
    label: String,
    curve: Curve<'a>,
    knee: Option<&'a KneeResult>,
}

/// All charts over load, in the order of the page.
#[must_use]
pub fn over_load(sources: &[Source<'_>]) -> Vec<Named> {
    let drawn: Vec<Drawn<'_>> = sources.iter().flat_map(|source| curves_of(source, sources.len() > 1)).collect();
    let answers = answers(sources, &drawn);
    let mut charts = Vec::new();
    if drawn.iter().any(|drawn| drawn.curve.loads.len() > 1 || drawn.curve.loads.iter().any(|at| at.points.len() > 1)) {
        charts.push(named("iops", rate_over_load(&drawn, "IOPS", |f| f.iops, |f| f.iops, &answers)));
        let megabytes = "MB/s";
        charts.push(named(
            "bandwidth",
            rate_over_load(&drawn, megabytes, |f| f.bytes_per_s / 1e6, |f| f.bytes_per_s / 1e6, &answers),
        ));
        let label = latency_label(sources);
        let limits = limits(sources);
        charts.push(named("latency-iops", latency_over_iops(&drawn, label, &limits)));
        for (op, of) in OPS {
            charts
                .push(named(&format!("latency-{op}"), latency_over_load(&drawn, label, (op, of), (&limits, &answers))));
        }
    }
    charts.retain(|named| !named.chart.is_empty());
    charts
}

fn curves_of<'a>(source: &Source<'a>, several: bool) -> Vec<Drawn<'a>> {
    let (result, all) =
        (source.result, curves(source.result.points.iter().filter(|point| point.is_of_curve()), PointResult::curve));
    let label = |series: &str| match (several, series) {
        (false, series) => series.to_owned(),
        (true, "") => source.label.clone(),
        (true, series) => format!("{}, {series}", source.label),
    };
    let of = |curve: Curve<'a>| Drawn {
        label: label(&curve.series),
        knee: result.curves.iter().find(|told| told.series == curve.series).and_then(|told| told.knee.as_ref()),
        curve,
    };
    all.into_iter().map(of).collect()
}

/// What the load of a point is.
fn load_label(load: &PointLoad) -> &'static str {
    match (load.queue_depth, load.rate_per_s) {
        (Some(_), _) => "queue depth on each target",
        (None, Some(_)) => "arrivals a second",
        (None, None) => "outstanding I/Os",
    }
}

/// What the curves are over: the load, or the field of a sweep.
fn axis_label(drawn: &[Drawn<'_>]) -> String {
    let label = |at: &AtLoad<'_>| at.place.field.clone().unwrap_or_else(|| load_label(&at.load).to_owned());
    let mut labels = drawn.iter().flat_map(|drawn| &drawn.curve.loads).map(label);
    let first = labels.next().unwrap_or_else(|| "load".to_owned());
    if labels.all(|label| label == first) { first } else { "load".to_owned() }
}

/// The same for titles.
fn over(drawn: &[Drawn<'_>]) -> String {
    let fields = drawn.iter().flat_map(|drawn| &drawn.curve.loads).any(|at| at.place.field.is_some());
    if fields { axis_label(drawn) } else { "load".to_owned() }
}

/// The horizontal axis of charts over load.
fn load_axis(drawn: &[Drawn<'_>]) -> Axis {
    let loads: Vec<&AtLoad<'_>> = drawn.iter().flat_map(|drawn| &drawn.curve.loads).collect();
    let label = axis_label(drawn);
    let mut ticks: Vec<f64> = loads.iter().map(|at| at.place.value).collect();
    let extent = Extent::of(ticks.iter().copied());
    let mut axis = Axis::linear(&label, Unit::Count);
    if extent.low > 0.0 && extent.high / extent.low >= 8.0 {
        axis.scale = Scale::Log;
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        if ticks.len() <= 10 {
            axis.ticks = ticks;
        }
    }
    axis
}

/// A figure along a curve: the medians as a line and, where a load was run more than once, the range.
fn layers(
    curve: &Curve<'_>,
    line: Line,
    ranged: bool,
    figure: impl Fn(&PointResult) -> Option<f64>,
) -> impl Iterator<Item = Layer> {
    let values: Vec<(f64, Vec<f64>)> =
        curve.loads.iter().map(|at| (at.place.value, at.values(&figure))).filter(|(_, all)| !all.is_empty()).collect();
    let repeated = ranged && values.iter().any(|(_, all)| all.len() > 1);
    let range = |(load, all): &(f64, Vec<f64>)| {
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        (*load, low, all.iter().copied().fold(low, f64::max))
    };
    let band = repeated.then(|| Band { colour: line.colour, points: values.iter().map(range).collect() });
    let points = values.iter().filter_map(|(load, all)| Some((*load, median(all)?))).collect();
    band.map(Layer::Band).into_iter().chain([Layer::Line(Line { points, dots: true, ..line })])
}

fn rate_over_load(
    drawn: &[Drawn<'_>],
    label: &str,
    total: fn(&Figures) -> f64,
    of_op: fn(&crate::result::OpFigures) -> f64,
    answers: &[Mark],
) -> Chart {
    let mut all = Vec::new();
    for (index, drawn_one) in drawn.iter().enumerate() {
        let mut points = drawn_one.curve.loads.iter().flat_map(|at| &at.points);
        let mixed = points.any(|p| p.total.read.completions > 0 && p.total.write.completions > 0);
        let what = if mixed { "total" } else { "" };
        let line = Line { name: drawn_one.called(what), colour: index, ..Line::default() };
        all.extend(layers(&drawn_one.curve, line, true, |point| Some(total(&point.total))));
        if mixed && drawn.len() == 1 {
            for (colour, (op, of)) in OPS.into_iter().enumerate() {
                let line = Line { name: format!("{op}s"), colour: colour + 1, ..Line::default() };
                all.extend(layers(&drawn_one.curve, line, true, |point| Some(of_op(of(&point.total)))));
            }
        }
    }
    Chart {
        title: format!("{label} against {}", over(drawn)),
        x: load_axis(drawn),
        y: Axis::linear(label, Unit::Count),
        layers: all,
        marks: knees(drawn, |knee| knee.load.number()).into_iter().chain(answers.iter().cloned()).collect(),
    }
}

fn latency_over_load(
    drawn: &[Drawn<'_>],
    label: &str,
    (op, of): (&str, OpOf),
    (limits, answers): (&[Limit], &[Mark]),
) -> Chart {
    let figures: [Figure; 4] = [
        ("mean", |l| l.mean_ns),
        ("p50", |l| l.p50_ns as f64),
        ("p99", |l| l.p99_ns as f64),
        ("p99.9", |l| l.p999_ns as f64),
    ];
    let alone = drawn.len() == 1;
    // Of several curves the mean, which is what studies tell most, and one percentile.
    let figures: Vec<&Figure> = figures.iter().step_by(if alone { 1 } else { 2 }).collect();
    let mut all = Vec::new();
    for (index, drawn_one) in drawn.iter().enumerate() {
        for (number, (figure, at)) in figures.iter().enumerate() {
            let line = Line {
                name: drawn_one.called(figure),
                colour: if alone { number } else { index },
                dashed: !alone && number > 0,
                ..Line::default()
            };
            let value = |point: &PointResult| of(&point.total).latency().map(at);
            all.extend(layers(&drawn_one.curve, line, alone || number == 0, value));
        }
    }
    let limits = limits.iter().filter(|limit| limit.asked.op.is_none_or(|asked| asked.name() == op));
    let mut marks = knees(drawn, |knee| knee.load.number());
    marks.extend(answers.iter().cloned());
    marks.extend(limits.map(|limit| Mark::horizontal(limit.ns, limit.text.clone())));
    Chart {
        title: format!("Latency of {op}s against {}", over(drawn)),
        x: load_axis(drawn),
        y: Axis::linear(label, Unit::Latency),
        layers: all,
        marks,
    }
}

fn latency_over_iops(drawn: &[Drawn<'_>], label: &str, limits: &[Limit]) -> Chart {
    let figures: [Figure; 2] = [("p50", |l| l.p50_ns as f64), ("p99", |l| l.p99_ns as f64)];
    let mut layers = Vec::new();
    for (index, drawn_one) in drawn.iter().enumerate() {
        for (number, (figure, latency)) in figures.iter().enumerate() {
            let place = |at: &AtLoad<'_>| {
                let value = |point: &PointResult| {
                    // Reads, unless there are none.
                    let op = if point.total.read.completions > 0 { &point.total.read } else { &point.total.write };
                    op.latency().map(latency)
                };
                Some((median(&at.values(|point| Some(point.total.iops)))?, median(&at.values(value))?))
            };
            layers.push(Layer::Line(Line {
                name: drawn_one.called(figure),
                colour: if drawn.len() == 1 { number } else { index },
                dashed: drawn.len() > 1 && number > 0,
                dots: true,
                points: drawn_one.curve.loads.iter().filter_map(place).collect(),
            }));
        }
    }
    let mut points = drawn.iter().flat_map(|drawn| drawn.curve.loads.iter().flat_map(|at| &at.points));
    let op = if points.any(|point| point.total.read.completions > 0) { "read" } else { "write" };
    let limits = limits.iter().filter(|limit| limit.asked.op.is_none_or(|asked| asked.name() == op));
    let mut marks = knees(drawn, |knee| knee.iops);
    marks.extend(limits.map(|limit| Mark::horizontal(limit.ns, limit.text.clone())));
    Chart {
        title: format!("Latency of {op}s against what was achieved"),
        x: Axis::linear("IOPS achieved", Unit::Count),
        y: Axis::linear(label, Unit::Latency),
        layers,
        marks,
    }
}

impl Drawn<'_> {
    /// The name of a line in the legend.
    fn called(&self, what: &str) -> String {
        match (self.label.as_str(), what) {
            ("", what) => what.to_owned(),
            (label, "") => label.to_owned(),
            (label, what) => format!("{label}, {what}"),
        }
    }
}

/// The knees of the curves, where they have one.
fn knees(drawn: &[Drawn<'_>], at: impl Fn(&KneeResult) -> f64) -> Vec<Mark> {
    let mark = |drawn: &Drawn<'_>| {
        let knee = drawn.knee?;
        let label = if drawn.label.is_empty() { String::new() } else { format!(" of {}", drawn.label) };
        Some(Mark::vertical(at(knee), format!("knee{label}: {}", knee.load)))
    };
    drawn.iter().filter_map(mark).collect()
}

/// The answers of searches, where the curves are over what was searched for.
fn answers(sources: &[Source<'_>], drawn: &[Drawn<'_>]) -> Vec<Mark> {
    if drawn.iter().flat_map(|drawn| &drawn.curve.loads).any(|at| at.place.field.is_some()) {
        return Vec::new();
    }
    let mark = |found: &SearchResult| {
        let of = match series_of(&found.settings) {
            series if series.is_empty() => String::new(),
            series => format!(" of {series}"),
        };
        Some(Mark::vertical(found.answer? as f64, format!("highest{of} within the limits")))
    };
    sources.iter().flat_map(|source| &source.result.search).filter_map(mark).collect()
}

/// A bound on a latency that has to be kept to.
struct Limit {
    asked: Asked,
    ns: f64,
    text: String,
}

/// The upper bounds on latencies of all workloads together that the jobs ask for or search under.
fn limits(sources: &[Source<'_>]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    let accepted = sources.iter().flat_map(|source| &source.result.acceptances).map(|acceptance| &acceptance.that);
    let searched = sources.iter().flat_map(|source| &source.result.search).flat_map(|search| &search.limit);
    for text in accepted.chain(searched) {
        let Ok(Accept { that: Condition::Bound { figure, relation, bound }, .. }) = text.parse() else { continue };
        let told = limits.iter().any(|limit| limit.text == *text);
        if figure.measure.is_latency() && figure.workload.is_none() && relation.wants_less() && !told {
            limits.push(Limit { asked: figure, ns: bound, text: text.clone() });
        }
    }
    limits
}
