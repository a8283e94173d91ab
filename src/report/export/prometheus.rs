//! `rigel.prom`: the final figures as a Prometheus text file, for node_exporter's textfile collector or a push gateway.
//!
//! Owns the metrics' names, labels and units. Workloads and targets are metrics of their own, so that a sum over one of
//! them counts nothing twice.

mod text;

use super::checks::{self, Outcome};
use super::epoch;
use crate::result::{Accepted, Figures, Latency, PointResult, RunResult, WorkloadResult};
use text::Text;

/// The labels of a sample, in order.
type Labels<'a> = Vec<(&'static str, &'a str)>;

/// The file; latencies are in seconds.
#[must_use]
pub fn render(result: &RunResult) -> Vec<u8> {
    let mut text = Text::default();
    run(&mut text, result);
    let points: Vec<Point> = result.points.iter().enumerate().map(Point::of).collect();
    for point in &points {
        of_point(&mut text, point);
        for workload in &point.result.workloads {
            of_workload(&mut text, point, workload);
        }
    }
    text.finish()
}

/// A point and how it is named.
struct Point<'a> {
    number: String,
    load: String,
    result: &'a PointResult,
}

impl<'a> Point<'a> {
    fn of((index, result): (usize, &'a PointResult)) -> Self {
        Self { number: (index + 1).to_string(), load: result.load.to_string(), result }
    }

    /// Its labels and `more`.
    fn labels<'b>(&'b self, more: &[(&'static str, &'b str)]) -> Labels<'b> {
        [("point", self.number.as_str()), ("load", self.load.as_str())]
            .into_iter()
            .chain(more.iter().copied())
            .collect()
    }
}

fn run(text: &mut Text, result: &RunResult) {
    let name = result.job.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let (tool, host) = (&result.tool, &result.facts.host);
    let labels = vec![
        ("version", tool.version.as_str()),
        ("spdk", tool.spdk.as_str()),
        ("job", name),
        ("hostname", host.hostname.as_str()),
        ("clock", host.clock.as_str()),
        ("started_at", result.started_at.as_str()),
    ];
    text.gauge("rigel_run_info", "Where the figures come from.", labels, 1.0);
    if let Some(seconds) = epoch::seconds(&result.started_at) {
        text.gauge("rigel_run_start_timestamp_seconds", "Start of the run since 1970.", vec![], seconds as f64);
    }
    if let Some(planned) = result.planned() {
        text.gauge("rigel_run_planned_points", "Points that were planned.", vec![], planned as f64);
    }
    for acceptance in &result.acceptances {
        let labels = vec![("accept", acceptance.that.as_str())];
        let accepted = f64::from(u8::from(acceptance.outcome == Accepted::Passed));
        text.gauge("rigel_accepted", "Whether what had to hold did; 0 too where it was not judged.", labels, accepted);
    }
}

fn of_point(text: &mut Text, point: &Point) {
    let here = point.result;
    text.gauge("rigel_point_window_seconds", "Length of the window measured.", point.labels(&[]), here.window_s);
    for check in checks::of_point(here) {
        let passed = match check.outcome {
            Outcome::Passed => 1.0,
            Outcome::Failed(_) => 0.0,
            Outcome::Skipped(_) => continue,
        };
        let labels = point.labels(&[("check", check.name.as_str())]);
        text.gauge("rigel_point_check_passed", "Whether a check held; absent where it was not judged.", labels, passed);
    }
    for core in &here.cores {
        let number = core.core.to_string();
        let labels = || point.labels(&[("core", &number)]);
        text.gauge("rigel_core_busy_ratio", "Share of the window spent handling completions.", labels(), core.busy);
        let gap_s = core.poll_gap_max_ns as f64 / 1e9;
        text.gauge("rigel_core_poll_gap_max_seconds", "Longest time between two polls.", labels(), gap_s);
    }
}

fn of_workload(text: &mut Text, point: &Point, workload: &WorkloadResult) {
    let name = ("workload", workload.name.as_str());
    of_figures(text, "workload", point, &[name], &workload.figures);
    for target in &workload.targets {
        of_figures(text, "target", point, &[name, ("target", &target.uri)], &target.figures);
    }
    let Some(arrivals) = &workload.arrivals else { return };
    let labels = || point.labels(&[("workload", &workload.name)]);
    text.gauge("rigel_workload_offered", "Arrivals that came due in the window.", labels(), arrivals.offered as f64);
    text.gauge("rigel_workload_offered_per_second", "Arrivals a second.", labels(), arrivals.offered_per_s);
    text.gauge("rigel_workload_sent", "Arrivals that were sent in the window.", labels(), arrivals.sent as f64);
    text.gauge(
        "rigel_workload_backlog",
        "Arrivals that waited when the window closed.",
        labels(),
        arrivals.backlog as f64,
    );
    text.gauge(
        "rigel_workload_backlog_max",
        "Most arrivals that waited at any moment.",
        labels(),
        arrivals.backlog_max as f64,
    );
    if let Some(slip) = &arrivals.slip {
        let help = "Scheduled arrival to submission.";
        summary(text, "rigel_workload_slip_seconds", help, labels(), slip, arrivals.sent);
    }
}

fn of_figures(text: &mut Text, of: &str, point: &Point, labels: &[(&'static str, &str)], figures: &Figures) {
    for (op, here) in super::ops(figures) {
        let labels = || {
            let mut all = point.labels(labels);
            all.push(("op", op));
            all
        };
        let gauges = [
            ("iops", "Good completions a second.", here.iops),
            ("bytes_per_second", "Bytes a second.", here.bytes_per_s),
            ("completions", "Good completions in the window.", here.completions as f64),
            ("errors", "Completions with an error status in the window.", here.errors as f64),
        ];
        for (name, help, value) in gauges {
            text.gauge(&format!("rigel_{of}_{name}"), help, labels(), value);
        }
        let latencies = [
            ("service", "Submission to completion.", &here.service),
            ("response", "Scheduled arrival to completion, in an open loop.", &here.response),
        ];
        for (kind, help, latency) in latencies {
            let Some(latency) = latency else { continue };
            let name = format!("rigel_{of}_{kind}_latency_seconds");
            summary(text, &name, help, labels(), latency, here.completions);
        }
    }
}

/// Quantile 0 is the exact least and 1 the exact greatest.
fn summary(text: &mut Text, name: &str, help: &str, labels: Labels, latency: &Latency, count: u64) {
    let percentiles = latency.percentiles().into_iter().map(|(percent, ns)| (percent / 100.0, ns));
    let all = std::iter::once((0.0, latency.min_ns)).chain(percentiles).chain([(1.0, latency.max_ns)]);
    // Rounded, since 99.999 / 100 is not 0.99999 in binary.
    let quantiles: Vec<(String, f64)> =
        all.map(|(share, ns)| (((share * 1e7).round() / 1e7).to_string(), ns as f64 / 1e9)).collect();
    text.summary(name, help, labels, &quantiles, latency.mean_ns / 1e9, count);
}
