//! `latency.hlog`: the latency distributions as an HdrHistogram log, format 1.3, which HdrHistogram's own tools read.
//!
//! Owns the lines and the tags. The histograms go out as they are archived, so nothing can differ from the result.

use std::fmt::Write;

use super::epoch;
use crate::result::{Latency, RunResult};

/// Histograms hold nanoseconds; the greatest value of each line is written in milliseconds, as the format has it.
const NS_PER_MS: f64 = 1e6;

/// The log: for each point, workload and operation a line over the whole window, tagged `WORKLOAD.OP`; for response
/// latencies `WORKLOAD.OP.response`, and for the slip of arrivals `WORKLOAD.slip`.
#[must_use]
pub fn render(result: &RunResult) -> Vec<u8> {
    let tool = &result.tool;
    let mut log = format!("#[Latencies in nanoseconds, logged by {} {}]\n", tool.name, tool.version);
    log += "#[Histogram log format version 1.3]\n";
    if let Some(seconds) = epoch::seconds(&result.started_at) {
        let start = &result.started_at;
        put(&mut log, format_args!("#[StartTime: {seconds}.000 (seconds since epoch), {start}]"));
        put(&mut log, format_args!("#[BaseTime: {seconds}.000 (seconds since epoch)]"));
    }
    put(&mut log, format_args!("#[MaxValueDivisor: {NS_PER_MS:.1}]"));
    log += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
    let mut start_s = 0.0;
    for (index, point) in result.points.iter().enumerate() {
        put(&mut log, format_args!("#[Point {}: {}]", index + 1, point.label()));
        start_s += result.plan_of(index).0.ramp.as_secs_f64();
        for workload in &point.workloads {
            let name = tag_of(&workload.name);
            let mut line = |tag: &str, latency: &Option<Latency>| {
                let Some(Latency { max_ns, hdr, .. }) = latency else { return };
                let (max_ms, length_s) = (*max_ns as f64 / NS_PER_MS, point.window_s);
                put(&mut log, format_args!("Tag={name}.{tag},{start_s:.3},{length_s:.3},{max_ms:.3},{hdr}"));
            };
            for (op, figures) in super::ops(&workload.figures) {
                line(op, &figures.service);
                line(&format!("{op}.response"), &figures.response);
            }
            line("slip", &workload.arrivals.as_ref().and_then(|arrivals| arrivals.slip.clone()));
        }
        start_s += point.window_s;
    }
    log.into_bytes()
}

fn put(log: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(log, "{line}").expect("a String takes all");
}

/// A tag ends at a comma and holds no space: those of a name become `%` and their number, as in a URL.
fn tag_of(name: &str) -> String {
    let plain = |c: char| c != ',' && c != '%' && !c.is_whitespace() && !c.is_control();
    let mut tag = String::new();
    for c in name.chars() {
        if plain(c) {
            tag.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                let _ = write!(tag, "%{byte:02X}");
            });
        }
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::tag_of;

    #[test]
    fn tags_hold_neither_comma_nor_space_and_stay_apart() {
        assert_eq!(tag_of("oltp-1.µ"), "oltp-1.µ");
        assert_eq!(tag_of("a b,c%\n"), "a%20b%2Cc%25%0A");
    }
}
