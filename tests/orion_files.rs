//! The files of an ORION test: byte for byte as kept in `tests/data/orion`, and as published where they are. After a
//! wanted change: `ORION_GOLDEN=write cargo test --test orion_files`, and read the difference before committing it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rigel::import::orion::{Cell, Command, Dialect, OrionRun, parse, parse_luns};
use rigel::report::orion::{OrionCell, OrionLatency, OrionLun, OrionReport, Started, files, version};

const STARTED: Started = Started { year: 2019, month: 3, day: 29, hour: 10, minute: 57 };

fn run(line: &str, dialect: Dialect) -> OrionRun {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Ok(Command::Run(options)) = parse(&words, dialect) else { panic!("{line}") };
    OrionRun::new(*options, parse_luns("/dev/sda2", "x.lun").unwrap()).unwrap()
}

/// The files of a run, by what stands behind the prefix.
fn written(line: &str, run: &OrionRun, cells: &[OrionCell]) -> Vec<(String, String)> {
    let luns = [OrionLun { name: "/dev/sda2".to_owned(), size: 629_143_441_920 }];
    let version = version(run.options.dialect);
    let report = OrionReport { run, command_line: line, version, started: STARTED, luns: &luns, cells };
    let prefix = format!("{}_20190329_1057_", run.testname);
    let bare = |(name, text): (String, String)| (name.strip_prefix(&prefix).unwrap().to_owned(), text);
    files(&report).into_iter().map(bare).collect()
}

fn file(files: &[(String, String)], name: &str) -> String {
    files.iter().find(|(file, _)| file == name).unwrap().1.clone()
}

fn latency(mean_us: f64, ios: u64) -> OrionLatency {
    let histogram = vec![(128, ios / 10), (256, ios - ios / 10 - 3), (4096, 2), (1 << 28, 1)];
    OrionLatency { mean_us, min_us: mean_us / 2.0, max_us: 5_000.125, std_dev_us: mean_us / 8.0, histogram }
}

/// Figures that follow from the loads alone.
fn figures(run: &OrionRun) -> Vec<OrionCell> {
    let figures = |cell: &Cell| {
        let (small, large) = (f64::from(cell.small), f64::from(cell.large));
        let slow = 1.0 + large / 4.0;
        let us = (130.0 + 7.5 * small) * slow;
        let writes = run.write_percent > 0;
        let of = |present: bool, mean_us: f64, ios: u64| present.then(|| latency(mean_us, ios));
        let (smalls, larges) = (cell.small > 0, cell.large > 0);
        OrionCell {
            small: cell.small,
            large: cell.large,
            iops: smalls.then_some(small * 1e6 / us),
            mbps: larges.then_some(350.0 * large / (large + 1.0)),
            latency_us: smalls.then_some(us),
            small_read: of(smalls, us, 10_000 * u64::from(cell.small)),
            small_write: of(smalls && writes, us * 1.5, 4_000),
            large_read: of(larges, 3_000.0 * large, 900),
            large_write: of(larges && writes, 4_000.0 * large, 300),
        }
    };
    run.points.cells.iter().map(figures).collect()
}

#[test]
fn the_files_of_every_run_level_are_those_that_are_kept() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/orion");
    let write = std::env::var("ORION_GOLDEN").is_ok_and(|value| value == "write");
    for dialect in [Dialect::V11_1, Dialect::V11_2] {
        for (level, options) in [
            ("simple", "-num_disks 1"),
            ("oltp", "-num_disks 2 -write 20"),
            ("normal", "-num_disks 1"),
            ("dss", "-num_disks 2"),
        ] {
            let line = format!("-run {level} -testname mytest {options}");
            let run = run(&line, dialect);
            let folder = data.join(format!("{level}-{}", dialect.word()));
            let files = written(&line, &run, &figures(&run));
            if write {
                fs::create_dir_all(&folder).unwrap();
                files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
            }
            for (name, text) in &files {
                let kept = fs::read_to_string(folder.join(name)).unwrap();
                assert_eq!(*text, kept, "{}", folder.join(name).display());
            }
            let kept: BTreeSet<_> =
                fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            assert_eq!(kept, files.into_iter().map(|(name, _)| name).collect(), "{}", folder.display());
        }
    }
}

/// Figures of a published run of 11.1 on one disk.
fn published() -> Vec<OrionCell> {
    let small = [(2302.0, 430.0), (4398.0, 450.0), (5450.0, 550.0), (6006.0, 670.0), (6210.0, 800.0)];
    let small = small.into_iter().zip(1..).map(|((iops, us), small)| OrionCell {
        small,
        iops: Some(iops),
        latency_us: Some(us),
        ..OrionCell::default()
    });
    let large = [271.58, 374.26].into_iter().zip(1..);
    let large = large.map(|(mbps, large)| OrionCell { large, mbps: Some(mbps), ..OrionCell::default() });
    small.chain(large).collect()
}

#[test]
fn the_matrices_of_a_published_run_are_written_to_the_byte() {
    let line = "-run simple -testname mytest -num_disks 1";
    let files = written(line, &run(line, Dialect::V11_1), &published());
    for (name, bytes, text) in [
        (
            "iops.csv",
            128,
            "Large/Small,      1,      2,      3,      4,      5\n          0,   2302,   4398,   5450,   6006,   6210\n          1\n          2\n",
        ),
        (
            "lat.csv",
            128,
            "Large/Small,      1,      2,      3,      4,      5\n          0,   0.43,   0.45,   0.55,   0.67,   0.80\n          1\n          2\n",
        ),
        (
            "mbps.csv",
            100,
            "Large/Small,      0,      1,      2,      3,      4,      5\n          1, 271.58\n          2, 374.26\n",
        ),
    ] {
        assert_eq!(file(&files, name), text);
        assert_eq!(text.len(), bytes, "{name}");
    }
}

#[test]
fn the_summary_of_a_published_run_is_written_to_the_byte() {
    let line = "-run simple -testname mytest -num_disks 8";
    let cells = [
        OrionCell { small: 1, iops: Some(68.0), latency_us: Some(14_620.0), ..OrionCell::default() },
        OrionCell { small: 40, iops: Some(442.0), latency_us: Some(90_000.0), ..OrionCell::default() },
        OrionCell { large: 7, mbps: Some(56.97), ..OrionCell::default() },
        OrionCell { large: 16, mbps: Some(56.97), ..OrionCell::default() },
    ];
    let text = "\
ORION VERSION 11.1.0.7.0

Commandline:
-run simple -testname mytest -num_disks 8

This maps to this test:
Test: mytest
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 0%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2,      3,      4,      5,      6,      7,      8,      9,     10,     11,     12,     13,     14,     15,     16
Total Data Points: 38

Name: /dev/sda2\tSize: 629143441920
1 FILEs found.

Maximum Large MBPS=56.97 @ Small=0 and Large=7
Maximum Small IOPS=442 @ Small=40 and Large=0
Minimum Small Latency=14.62 @ Small=1 and Large=0
";
    assert_eq!(file(&written(line, &run(line, Dialect::V11_1), &cells), "summary.txt"), text);
}

#[test]
fn the_figures_of_a_published_19c_run_are_written_to_the_byte() {
    let line = "-run simple -testname mytest -num_disks 6";
    let histogram = vec![(64, 1), (128, 1_112_243), (256, 102_320), (512, 5_434), (1024, 405), (2048, 259), (4096, 2)];
    let least = OrionLatency { mean_us: 97.677, min_us: 63.652, max_us: 2133.198, std_dev_us: 47.348, histogram };
    let most =
        OrionLatency { mean_us: 169.594, min_us: 128.415, max_us: 1924.721, std_dev_us: 13.566, histogram: vec![] };
    let small = |small, iops, latency: OrionLatency| OrionCell {
        small,
        iops: Some(iops),
        latency_us: Some(latency.mean_us),
        small_read: Some(latency),
        ..OrionCell::default()
    };
    let large = OrionCell { large: 5, mbps: Some(1571.33), ..OrionCell::default() };
    let cells = [small(2, 20_344.0, least), small(10, 58_778.0, most), large];
    let summary = file(&written(line, &run(line, Dialect::V11_2), &cells), "summary.txt");
    let figures = "\
Maximum Large MBPS=1571.33 @ Small=0 and Large=5

Maximum Small IOPS=58778 @ Small=10 and Large=0
Small Read Latency: avg=169.594 us, min=128.415 us, max=1924.721 us, std dev=13.566 us @ Small=10 and Large=0

Minimum Small Latency=97.677 usecs @ Small=2 and Large=0
Small Read Latency: avg=97.677 us, min=63.652 us, max=2133.198 us, std dev=47.348 us @ Small=2 and Large=0
Small Read / Write Latency Histogram @ Small=2 and Large=0
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 32         us:               0 (  0.00%)              0 (  0.00%)
";
    assert!(summary.contains(figures), "{summary}");
    assert!(
        summary.ends_with("     4096 - 268435456  us:               0 (100.00%)              0 (  0.00%)\n"),
        "{summary}"
    );
}

#[test]
fn a_run_that_ended_early_leaves_its_other_points_out() {
    let line = "-run normal -testname mytest -num_disks 1";
    let run = run(line, Dialect::V11_1);
    let all = figures(&run);
    let files = written(line, &run, &all[..7]);
    let rows: Vec<usize> = file(&files, "mbps.csv").lines().map(|row| row.split(',').count()).collect();
    assert_eq!(rows, [7, 3, 1]);
    // A gap in a row keeps its column.
    let gap = [all[0].clone(), all[2].clone()];
    assert!(file(&written(line, &run, &gap), "iops.csv").contains("\n          0,   7273,       ,  19672\n"));
    let none = written(line, &run, &[]);
    assert!(file(&none, "summary.txt").ends_with("1 FILEs found.\n\n"));
}

#[test]
fn ten_two_writes_the_files_of_eleven_one() {
    let line = "-run simple -testname mytest -num_disks 1";
    let older = written(line, &run(line, Dialect::V10_2), &published());
    let newer = written(line, &run(line, Dialect::V11_1), &published());
    assert_eq!(file(&older, "lat.csv"), file(&newer, "lat.csv"));
    assert!(file(&older, "summary.txt").starts_with("ORION VERSION 10.2.0.1.0\n"));
    assert!(older.iter().all(|(name, _)| name != "hist.txt"));
}

#[test]
fn a_file_is_named_after_the_test_and_its_minute() {
    let line = "-run oltp -testname runs/a.lun";
    let run = run(line, Dialect::V11_2);
    let report = OrionReport { run: &run, command_line: line, version: "x", started: STARTED, luns: &[], cells: &[] };
    let names: Vec<String> = files(&report).into_iter().map(|(name, _)| name).collect();
    let expected = ["summary.txt", "iops.csv", "mbps.csv", "lat.csv", "hist.txt", "trace.txt"];
    assert_eq!(names, expected.map(|name| format!("runs/a_20190329_1057_{name}")));
}
