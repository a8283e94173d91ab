//! A result of schema 1 stays readable: files that were written when the schema was made are read with the very figures
//! they were written with. A test here that fails means that a reader would misread old results; mend the reader (a
//! default for a new field, another schema for a changed one), never the file.

#[path = "common/kept.rs"]
mod kept;

use rigel::plan::Load;
use rigel::report::{export, html, json, text};
use rigel::result::{Judgement, Latency, RunResult};

/// Every latency of a result.
fn latencies(result: &RunResult) -> Vec<&Latency> {
    let points = result.points.iter();
    let figures = points.flat_map(|point| {
        let workloads = point.workloads.iter();
        let below = workloads.flat_map(|w| std::iter::once(&w.figures).chain(w.targets.iter().map(|t| &t.figures)));
        std::iter::once(&point.total).chain(below)
    });
    let ops = figures.flat_map(|figures| [&figures.read, &figures.write]);
    ops.flat_map(|op| [op.service.as_ref(), op.response.as_ref()]).flatten().collect()
}

#[test]
fn an_open_loop_reads_as_it_was_written() {
    let result = kept::result(kept::OPEN);
    assert_eq!((result.schema, result.tool.version.as_str(), result.plan.seed), (1, "0.1.0", 7));
    assert_eq!(result.job["name"], "OLTP 8k 70/30 at a rate");
    assert_eq!(result.points.len(), 2);
    let point = &result.points[1];
    assert_eq!((point.load.rate_per_s, point.window_s, point.ramp.completions), (Some(5_000), 0.5, 1_000));
    let oltp = &point.workloads[0];
    assert_eq!(oltp.name, "oltp, main");
    assert!(matches!(oltp.load, Load::Rate(open) if open.rate_per_s == 5_000));
    let arrivals = oltp.arrivals.as_ref().unwrap();
    assert_eq!((arrivals.offered, arrivals.sent, arrivals.backlog), (2_460, 2_460, 0));
    let read = &oltp.figures.read;
    assert_eq!((read.completions, read.iops, read.errors), (1_703, 3_406.0, 0));
    for latency in [read.service.as_ref().unwrap(), read.response.as_ref().unwrap()] {
        assert_eq!((latency.p50_ns, latency.p99_ns, latency.max_ns), (305_151, 838_143, 1_347_816));
    }
    assert_eq!(point.checks.littles_law.judgement, Judgement::NotJudged);
}

#[test]
fn a_closed_loop_reads_as_it_was_written() {
    let result = kept::result(kept::CLOSED);
    let point = &result.points[1];
    assert_eq!((point.load.queue_depth, point.load.total_outstanding), (Some(4), 8));
    let write = &point.total.write;
    assert_eq!((write.completions, write.iops, write.bytes_per_s), (3_151, 15_755.0, 129_064_960.0));
    let latency = write.service.as_ref().unwrap();
    assert_eq!((latency.p50_ns, latency.p999_ns, latency.max_ns), (100_031, 509_951, 605_114));
    assert_eq!(write.response, None);
    assert_eq!(point.workloads[0].targets[1].uri, "sim://constant-100us");
}

#[test]
fn every_percentile_is_in_the_kept_histograms() {
    for name in [kept::OPEN, kept::CLOSED] {
        let result = kept::result(name);
        assert!(latencies(&result).len() >= 16);
        for latency in latencies(&result) {
            let histogram = latency.histogram().unwrap();
            for (percent, ns) in [(50.0, latency.p50_ns), (99.0, latency.p99_ns), (99.999, latency.p99999_ns)] {
                let found = histogram.value_at_quantile(percent / 100.0).clamp(latency.min_ns, latency.max_ns);
                assert_eq!(found, ns, "{percent} of {name}");
            }
        }
    }
}

#[test]
fn every_report_of_a_kept_result_is_made() {
    for name in [kept::OPEN, kept::CLOSED] {
        let result = kept::result(name);
        assert!(text::summary(&result).contains("2026-11-30"));
        assert!(html::page(&[html::Source { label: name.to_owned(), result: &result, series: None }]).len() > 10_000);
        for format in export::Format::ALL {
            assert!(!export::files(&result, None, format).unwrap().is_empty());
        }
        let again = String::from_utf8(json::render(&result)).unwrap();
        assert_eq!(rigel::result::from_json(&again).unwrap(), result);
    }
}
