//! Every export: byte for byte for fixed figures, and read back for any names and figures. After a wanted change:
//! `INSTA_UPDATE=always cargo test --test export_formats`, and read the difference before committing it.

#[path = "common/figures.rs"]
mod figures;
#[path = "common/kept.rs"]
mod kept;

use std::collections::HashMap;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use proptest::prelude::*;
use rigel::clock::Clock;
use rigel::report::export::{self, Check, Format, Outcome, Suite};
use rigel::result::series::{Series, read};
use rigel::result::{Latency, RunResult};
use rigel::stats::TickHistogram;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The series that was written beside the kept open loop.
fn series() -> Series {
    read(kept::text("series-schema-1.jsonl").as_bytes()).unwrap()
}

/// The rows of a table by column name.
fn rows(csv: &[u8]) -> Vec<HashMap<String, String>> {
    csv::Reader::from_reader(csv).deserialize().collect::<Result<_, _>>().unwrap()
}

fn row<'a>(rows: &'a [HashMap<String, String>], keys: &[(&str, &str)]) -> &'a HashMap<String, String> {
    let mut found = rows.iter().filter(|row| keys.iter().all(|(key, value)| row[*key] == *value));
    let row = found.next().unwrap_or_else(|| panic!("no row {keys:?}"));
    assert!(found.next().is_none(), "two rows {keys:?}");
    row
}

#[test]
fn points_of_a_mix() {
    insta::assert_snapshot!(text(export::points(&figures::mixed())));
}

#[test]
fn prometheus_of_a_troubled_run() {
    insta::assert_snapshot!(text(export::prometheus(&figures::troubled())));
}

#[test]
fn junit_of_a_troubled_run() {
    let result = figures::troubled();
    insta::assert_snapshot!(text(export::junit(&export::checks(&result), &result.started_at)));
}

#[test]
fn log_of_a_mix() {
    // The compressed histograms depend on the compressor's version; that they decode is tested below.
    let log = text(export::hlog(&figures::mixed()));
    let lines = log.lines().map(|line| match line.rsplit_once(",HISTF") {
        Some((start, _)) => format!("{start},(histogram)"),
        None => line.to_owned(),
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn fio_of_a_mix() {
    let mut value: serde_json::Value =
        serde_json::from_slice(&export::fio(&figures::mixed(), None, 1).unwrap()).unwrap();
    for (op, latency) in [("read", "clat_ns"), ("read", "lat_ns"), ("write", "clat_ns"), ("write", "lat_ns")] {
        value["jobs"][0][op][latency]["bins"] = "(bins)".into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn the_table_holds_the_figures_of_the_result() {
    let result = kept::result(kept::OPEN);
    let csv = export::points(&result);
    assert!(csv.windows(2).filter(|pair| pair == b"\r\n").count() == 1 + 2 * 3 * (1 + 2 + 2), "lines end in CRLF");
    let rows = rows(&csv);
    let workload = &result.points[1].workloads[0];
    let keys = [("point", "2"), ("scope", "workload"), ("workload", "oltp, main")];
    let read = row(&rows, &[keys[0], keys[1], keys[2], ("op", "read")]);
    let latency = workload.figures.read.response.as_ref().unwrap();
    assert_eq!(read["iops"].parse(), Ok(workload.figures.read.iops));
    assert_eq!(read["response_mean_ns"].parse(), Ok(latency.mean_ns));
    assert_eq!(read["response_p999_ns"].parse(), Ok(latency.p999_ns));
    assert_eq!((read["rate_per_s"].as_str(), read["queue_depth"].as_str()), ("5000", ""));
    let all = row(&rows, &[keys[0], keys[1], keys[2], ("op", "all")]);
    let arrivals = workload.arrivals.as_ref().unwrap();
    assert_eq!(all["offered_per_s"].parse(), Ok(arrivals.offered_per_s));
    assert_eq!(all["service_mean_ns"], "", "operations have no latency in common");
    let target = row(&rows, &[keys[0], ("scope", "target"), keys[2], ("op", "write")]);
    assert_eq!(target["target"], "sim://powermax-read-miss");
}

#[test]
fn the_intervals_hold_the_series() {
    let series = series();
    let rows = rows(&export::intervals(&series, None));
    assert_eq!(rows.len(), series.intervals().count() * 2 * 3);
    let completions: u64 = rows
        .iter()
        .filter(|row| row["phase"] == "window" && row["point"] == "2" && row["op"] == "all")
        .map(|row| row["completions"].parse::<u64>().unwrap())
        .sum();
    assert_eq!(completions, kept::result(kept::OPEN).points[1].total.completions);
    let interval = series.intervals().last().unwrap();
    let read = &rows[rows.len() - 5];
    let spread = interval.workloads[0].read.response.as_ref().unwrap();
    assert_eq!((read["op"].as_str(), read["response_p99_ns"].parse()), ("read", Ok(spread.p99_ns)));
}

#[test]
fn the_log_holds_the_archived_histograms() {
    let result = kept::result(kept::OPEN);
    let log = export::hlog(&result);
    let mut found = HashMap::new();
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(line) = entry.unwrap() else { continue };
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, line.encoded_histogram());
        let histogram: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.unwrap().as_slice()).unwrap();
        found.insert((line.tag().unwrap().as_str().to_owned(), line.start_timestamp().as_millis()), histogram);
    }
    assert_eq!(found.len(), 2 * 8, "two points of two workloads: operations with response, and slip");
    let response = result.points[1].workloads[0].figures.read.response.as_ref().unwrap();
    assert_eq!(found[&("oltp%2C%20main.read.response".to_owned(), 700)], response.histogram().unwrap());
}

#[test]
fn fio_tells_the_rates_over_time_where_the_series_is() {
    let (result, series) = (kept::result(kept::OPEN), series());
    let value: serde_json::Value = serde_json::from_slice(&export::fio(&result, Some(&series), 1).unwrap()).unwrap();
    let (job, read) = (&value["jobs"][0], &result.points[1].workloads[0].figures.read);
    assert_eq!(job["job options"]["rate_process"], "poisson");
    assert_eq!(job["read"]["iops"].as_f64(), Some(read.iops));
    assert_eq!(job["read"]["response_ns"]["max"].as_u64(), read.response.as_ref().map(|latency| latency.max_ns));
    assert_eq!(job["read"]["iops_samples"], 5);
    assert!((job["read"]["iops_mean"].as_f64().unwrap() - read.iops).abs() < 1.0);
    assert!(job["read"]["iops_stddev"].as_f64().unwrap() > 0.0);
    let shares = ["latency_ns", "latency_us", "latency_ms"].map(|range| job[range].as_object().unwrap().values());
    let shares: f64 = shares.into_iter().flatten().map(|share| share.as_f64().unwrap()).sum();
    assert!((shares - 100.0).abs() < 1e-6, "{shares}");
}

#[test]
fn a_damaged_histogram_is_told_by_the_format_that_reads_it() {
    let mut result = figures::read_sweep();
    result.points[0].workloads[0].figures.read.service.as_mut().unwrap().hdr.truncate(40);
    let message = export::files(&result, None, Format::Fio).unwrap_err().to_string();
    assert!(message.contains("histogram of the result is damaged"), "{message}");
}

/// The same results under another name of workload, target and job.
fn named(name: &str) -> RunResult {
    let mut result = kept::result(kept::CLOSED);
    result.job["name"] = name.into();
    for point in &mut result.points {
        point.workloads[0].name = name.to_owned();
        point.workloads[0].targets[0].uri = name.to_owned();
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_name_survives_every_format(name in "\\PC{0,12}|[ ,\"\\\\\n\r\t%{}<>&']{0,8}") {
        let result = named(&name);
        let rows = rows(&export::points(&result));
        prop_assert!(rows.iter().filter(|row| row["scope"] == "workload").all(|row| row["workload"] == name));
        let log = export::hlog(&result);
        let lines = IntervalLogIterator::new(&log).filter(|entry| matches!(entry, Ok(LogEntry::Interval(_))));
        prop_assert_eq!(lines.count(), 4);
        let metrics = text(export::prometheus(&result));
        prop_assert!(metrics.lines().all(|line| line.starts_with("# ") || line.starts_with("rigel_")), "{}", metrics);
        let label = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let label = format!("workload=\"{label}\"");
        prop_assert!(metrics.contains(&label));
        serde_json::from_slice::<serde_json::Value>(&export::fio(&result, None, 0).unwrap()).unwrap();
    }

    #[test]
    fn any_text_makes_a_report_that_is_xml(name in ".{0,12}", message in "(?s).{0,24}") {
        let outcomes = [Outcome::Passed, Outcome::Failed(message.clone()), Outcome::Skipped(message)];
        let checks = outcomes.map(|outcome| Check { name: name.clone(), outcome }).to_vec();
        let xml = text(export::junit(&[Suite { name, time_s: 1.5, checks }], "2026-11-30T15:46:00Z"));
        let mut reader = quick_xml::Reader::from_str(&xml);
        let mut cases = 0;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Start(e) | quick_xml::events::Event::Empty(e) => {
                    cases += usize::from(e.name().as_ref() == b"testcase");
                    e.attributes().for_each(|attribute| drop(attribute.unwrap().unescape_value().unwrap()));
                }
                _ => {}
            }
        }
        prop_assert_eq!(cases, 3);
    }

    /// The archived histogram tells any percentile that the run's own tells, within the width of a bucket of each.
    #[test]
    fn any_percentile_of_the_run_is_in_the_archive(
        ns in prop::collection::vec(prop_oneof![1u64..3_000, 1_000u64..50_000_000, 1u64..10_000_000_000], 1..400),
        percents in prop::collection::vec(0.0f64..=100.0, 8),
    ) {
        let mut ticks = TickHistogram::new();
        ns.iter().for_each(|ns| ticks.record(*ns));
        let latency = Latency::from_ticks(&ticks, &Clock::virtual_ns()).unwrap();
        let histogram = latency.histogram().unwrap();
        for percent in percents {
            let run = ticks.quantile_ticks(percent / 100.0).unwrap() as f64;
            let archived = histogram.value_at_quantile(percent / 100.0).clamp(latency.min_ns, latency.max_ns) as f64;
            prop_assert!((archived - run).abs() <= 1.0 + run / 1_000.0, "p{}: {} in the run, {} archived", percent, run, archived);
        }
    }
}

#[test]
fn a_serializer_of_the_library_writes_what_the_log_holds() {
    let result = figures::read_sweep();
    let latency = result.points[0].total.read.service.as_ref().unwrap();
    let mut bytes = Vec::new();
    hdrhistogram::serialization::Serializer::serialize(
        &mut V2DeflateSerializer::new(),
        &latency.histogram().unwrap(),
        &mut bytes,
    )
    .unwrap();
    assert_eq!(base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes), latency.hdr);
}
