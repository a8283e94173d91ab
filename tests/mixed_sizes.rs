//! Bytes where I/Os have several sizes: those that were moved, in the result, in its intervals and in every report.

#[path = "common/cli.rs"]
mod cli;

use std::fs;

use cli::rigel;
use rigel::report::export;
use rigel::result::RunResult;
use rigel::result::series::{self, Interval, SeriesPhase};

const SHORT: &str = "--ramp 50ms --time 2s --interval 200ms --quiet";

/// The result of a run, the intervals of its window, and its summary.
fn run(line: &str) -> (RunResult, Vec<Interval>, String) {
    let outcome = rigel(&format!("run {line} {SHORT}")).ends_with(0);
    let folder = fs::read_dir(outcome.folder().join("rigel-results")).unwrap().next().unwrap().unwrap().path();
    let series = series::read(&fs::read(folder.join("series.jsonl")).unwrap()).unwrap();
    let window = series.intervals().filter(|interval| interval.phase == SeriesPhase::Window).cloned().collect();
    (outcome.result(), window, fs::read_to_string(folder.join("summary.txt")).unwrap())
}

/// Bytes that a rate over the window stands for.
fn bytes(bytes_per_s: f64, window_s: f64) -> u64 {
    (bytes_per_s * window_s).round() as u64
}

#[test]
fn bytes_are_those_that_were_moved() {
    // Two targets whose blocks differ, so that blocks of one cannot pass for those of the other.
    let targets = "-t sim://?service=100us&block_size=512 -t sim://?service=100us&block_size=4k";
    let (result, intervals, summary) = run(&format!("{targets} -q 4 --block-size 4k:60,64k:40"));
    let point = &result.points[0];
    let read = &point.total.read;
    let whole = bytes(read.bytes_per_s, point.window_s);
    assert_eq!(whole, intervals.iter().map(|interval| interval.workloads[0].read.bytes).sum::<u64>());
    let targets = &point.workloads[0].targets;
    assert_eq!(whole, targets.iter().map(|target| bytes(target.figures.bytes_per_s, point.window_s)).sum::<u64>());
    // Tens of thousands of I/Os, whose mean size is off by well below 1 % with four standard deviations.
    let mean = whole as f64 / read.completions as f64;
    let expected = 0.6 * 4096.0 + 0.4 * 65_536.0;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} bytes an I/O, {expected} expected");
    assert_eq!(whole % 4096, 0);
    assert!(summary.contains("4k:60,64k:40 random"), "{summary}");
    let points = &export::files(&result, None, export::Format::Csv).unwrap()[0];
    let text = String::from_utf8_lossy(&points.bytes).into_owned();
    assert!(text.contains("\"4k:60,64k:40\""), "{text}");
}

#[test]
fn directions_with_a_size_each_have_bytes_of_that_size() {
    let target = "-t sim://?service=100us -q 4 --read-percent 50";
    let own = "--set workload.0.read_block_size=4k --set workload.0.write_block_size=64k";
    let (result, intervals, summary) = run(&format!("{target} {own}"));
    let total = &result.points[0].total;
    for (op, size) in [(&total.read, 4096), (&total.write, 65_536)] {
        assert!(op.completions > 0);
        assert_eq!(bytes(op.bytes_per_s, result.points[0].window_s), op.completions * size);
    }
    let writes = || intervals.iter().map(|interval| &interval.workloads[0].write);
    assert!(writes().all(|write| write.bytes == write.completions * 65_536));
    assert!(summary.contains("read 4k, write 64k random"));
}

#[test]
fn an_open_loop_counts_the_bytes_of_its_sizes_too() {
    let (result, intervals, _) = run("-t sim://?service=50us --rate 20k --block-size 512:50,8k:50");
    let point = &result.points[0];
    let whole = bytes(point.total.bytes_per_s, point.window_s);
    assert_eq!(whole, intervals.iter().map(|interval| interval.workloads[0].read.bytes).sum::<u64>());
    let mean = whole as f64 / point.total.completions as f64;
    assert!((mean / 4_352.0 - 1.0).abs() < 0.02, "{mean} bytes an I/O");
}
