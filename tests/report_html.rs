//! The page and its charts: what stands in them, and that they need nothing else.

#[path = "common/figures.rs"]
mod figures;

use rigel::plan::Load;
use rigel::report::chart::{Chart, Layer, Mark, svg};
use rigel::report::html::{Source, charts, page};
use rigel::report::text::summary;
use rigel::result::{Provenance, RunResult};

#[test]
fn a_page_of_one_result_holds_its_figures_and_fetches_nothing() {
    let result = figures::mixed();
    let page = page(&[Source { label: "OLTP".to_owned(), result: &result, series: None }]);
    if let Ok(path) = std::env::var("RIGEL_KEEP_PAGE") {
        std::fs::write(path, &page).unwrap();
    }
    for forbidden in ["http://", "https://", "src=", "@import", "<script", "<link"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(forbidden), "{forbidden}");
    }
    for point in &result.points {
        assert!(page.contains(&rigel::units::format_latency(point.total.read.service.as_ref().unwrap().mean_ns)));
    }
    assert!(page.contains("repeat it") && page.contains("By core"));
}

#[test]
fn several_results_share_each_chart() {
    let result = figures::mixed();
    let sources =
        ["before", "after <x>"].map(|label| Source { label: label.to_owned(), result: &result, series: None });
    let named = charts(&sources);
    let ids: Vec<_> = named.iter().map(|named| named.id.as_str()).collect();
    assert!(ids.contains(&"iops") && ids.contains(&"percentiles-read"), "{ids:?}");
    for named in &named {
        assert!(!named.chart.is_empty(), "{}", named.id);
        assert!(named.chart.layers.len() >= 2, "{} overlays both", named.id);
    }
    assert!(page(&sources).contains("after &lt;x&gt;"));
}

#[test]
fn texts_of_devices_and_jobs_are_only_texts() {
    let evil = "<script>alert('x')</script><img src=x onerror=y>&\"";
    let mut result = figures::mixed();
    for target in &mut result.facts.targets {
        target.model = evil.to_owned();
        target.serial = evil.to_owned();
        target.uri = evil.to_owned();
    }
    result.facts.host.hostname = evil.to_owned();
    result.plan.targets.iter_mut().for_each(|uri| *uri = evil.to_owned());
    result.command = vec![evil.to_owned()];
    result.job = serde_json::json!({ "name": evil });
    result.verdicts = vec![evil.to_owned()];
    for point in &mut result.points {
        for workload in &mut point.workloads {
            workload.name = evil.to_owned();
            workload.targets.iter_mut().for_each(|target| target.uri = evil.to_owned());
        }
    }
    let page = page(&[Source { label: evil.to_owned(), result: &result, series: None }]);
    for forbidden in ["<script", "<img", "alert('x')</"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&lt;script&gt;"));
}

/// A chart of the page by its name.
#[track_caller]
fn chart<'a>(all: &'a [rigel::report::html::Named], id: &str) -> &'a Chart {
    let found = all.iter().find(|named| named.id == id);
    &found
        .unwrap_or_else(|| panic!("no `{id}` among {:?}", all.iter().map(|named| &named.id).collect::<Vec<_>>()))
        .chart
}

/// Reads at several depths of a target that serves eight at a time, each 100 µs, repeated in another order.
fn saturating(seed: u64) -> RunResult {
    let mut result = figures::read_sweep();
    let (template, loads) = (result.points[0].clone(), [1, 2, 4, 8, 16, 32, 4, 8, 32, 4]);
    let point = |(n, depth): (usize, u32)| {
        let mut point = template.clone();
        let (busy, noise) = (f64::from(depth.min(8)), 1.0 + ((n as u64 * 7 + seed) % 5) as f64 / 100.0);
        point.load.queue_depth = Some(depth);
        point.workloads[0].load = Load::QueueDepth(depth);
        point.total.iops = busy * 10_000.0 * noise;
        point.total.bytes_per_s = point.total.iops * 8_192.0;
        let latency = point.total.read.service.as_mut().unwrap();
        latency.mean_ns = 1e5 * f64::from(depth) / busy / noise;
        (latency.p50_ns, latency.p99_ns) = (latency.mean_ns as u64, (latency.mean_ns * 1.5) as u64);
        latency.p999_ns = (latency.mean_ns * 2.0) as u64;
        point
    };
    let points = loads.into_iter().enumerate().map(point).collect();
    result.job["accept"] = serde_json::json!(["mean read <= 200us", "p99 write <= 1ms", "iops >= 1"]);
    let RunResult { tool, started_at, command, job, plan, facts, clock, headroom, payload, .. } = result;
    let (resumed_at, campaign) = (Vec::new(), None);
    RunResult::new(
        Provenance { tool, started_at, command, job, plan, facts, clock, headroom, payload, resumed_at, campaign },
        points,
    )
}

#[test]
fn a_knee_is_marked_wherever_load_or_iops_are_the_axis() {
    let result = saturating(0);
    let knee = result.curves[0].knee.expect("a knee");
    assert_eq!(knee.load.queue_depth, Some(8));
    let source = Source { label: "OLTP".to_owned(), result: &result, series: None };
    let all = charts(std::slice::from_ref(&source));
    for (id, at) in [("iops", 8.0), ("bandwidth", 8.0), ("latency-read", 8.0), ("latency-iops", knee.iops)] {
        let marks: Vec<_> = chart(&all, id).marks.iter().filter(|mark| mark.vertical).collect();
        assert_eq!(marks, [&Mark::vertical(at, "knee: QD 8")], "{id}");
    }
    let page = page(&[source]);
    let sentence = "knee at QD 8: 82,000 IOPS at a mean latency of";
    assert!(page.contains(sentence) && page.contains("id=\"stability\""), "told in words too");
    let summary = summary(&result);
    assert!(summary.contains("6 loads, 10 points; knee at QD 8: ") && summary.contains("roughness"), "{summary}");
}

#[test]
fn repeats_are_a_range_around_their_median_and_no_zigzag() {
    let result = saturating(0);
    let all = charts(&[Source { label: "OLTP".to_owned(), result: &result, series: None }]);
    let [Layer::Band(band), Layer::Line(line)] = &chart(&all, "iops").layers[..] else { panic!("a band and a line") };
    let loads: Vec<f64> = line.points.iter().map(|point| point.0).collect();
    assert_eq!(loads, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], "each load once, rising");
    assert_eq!(band.points.iter().map(|point| point.0).collect::<Vec<_>>(), loads);
    for ((_, low, high), (_, middle)) in band.points.iter().zip(&line.points) {
        assert!(low <= middle && middle <= high);
    }
    let of = |depth| result.points.iter().filter(move |p| p.load.queue_depth == Some(depth)).map(|p| p.total.iops);
    let (_, low, high) = band.points[2];
    assert_eq!((low, high), (of(4).fold(f64::INFINITY, f64::min), of(4).fold(0.0, f64::max)));
    assert!(low < high);
    // Without repeats there is no band.
    let sweep = figures::read_sweep();
    let all = charts(&[Source { label: "OLTP".to_owned(), result: &sweep, series: None }]);
    let bands = all.iter().flat_map(|named| &named.chart.layers).filter(|layer| matches!(layer, Layer::Band(_)));
    assert_eq!(bands.count(), 0);
}

#[test]
fn a_latency_that_is_asked_for_is_a_level_line_where_it_belongs() {
    let result = saturating(0);
    let all = charts(&[Source { label: "OLTP".to_owned(), result: &result, series: None }]);
    let level = |id| chart(&all, id).marks.iter().filter(|mark| !mark.vertical).cloned().collect::<Vec<_>>();
    let limit = [Mark::horizontal(2e5, "mean read <= 200us")];
    assert_eq!(level("latency-read"), limit);
    assert_eq!(level("latency-iops"), limit);
    assert_eq!(level("iops"), []);
}

#[test]
fn curves_of_several_results_each_have_their_knee() {
    let (before, after) = (saturating(0), saturating(2));
    let source = |label: &str, result| Source { label: label.to_owned(), result, series: None };
    let sources = [source("before", &before), source("after", &after)];
    let all = charts(&sources);
    let latency = chart(&all, "latency-read");
    let knees: Vec<_> = latency.marks.iter().filter(|mark| mark.vertical).map(|mark| mark.label.as_str()).collect();
    assert_eq!(knees, ["knee of before: QD 8", "knee of after: QD 8"]);
    let names =
        latency.layers.iter().filter_map(|layer| if let Layer::Line(line) = layer { Some(&line.name) } else { None });
    assert_eq!(names.collect::<Vec<_>>(), ["before, mean", "before, p99", "after, mean", "after, p99"]);
    assert!(page(&sources).contains("before: knee at QD 8"));
}

#[test]
fn one_wild_repeat_does_not_ruin_a_chart() {
    let mut result = saturating(0);
    result.points[6].total.read.service.as_mut().unwrap().mean_ns = 1e9;
    let all = charts(&[Source { label: "OLTP".to_owned(), result: &result, series: None }]);
    let latency = chart(&all, "latency-read");
    assert!(latency.has_outliers());
    assert!(svg(latency, false, false).contains("▲ 1 value above"));
}
