//! `rigel orion` as a user runs it, on models with a clock of their own: ORION's files and console, and Rigel's result
//! beside them.

mod common {
    pub mod cli;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use common::cli::{Outcome, Running};
use nix::sys::signal::Signal;
use rigel::report::orion::{OrionCell, cells};
use rigel::spec;
use tempfile::TempDir;

/// A volume whose I/Os take long, so that a second of them is few.
const SLOW: &str = "sim://?service=5ms&servers=8\n";

/// A folder with `mytest.lun`.
fn folder(lun: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mytest.lun"), lun).unwrap();
    folder
}

/// `rigel orion` on the volumes of `lun`.
fn orion(lun: &str, line: &str) -> Outcome {
    Running::start_in(folder(lun), &format!("orion --no-archive --quiet -testname mytest {line}")).wait()
}

/// ORION's files in a folder, by what stands behind the name of the test and its minute.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let file = |name: String| {
        let (minute, rest) = name.strip_prefix("mytest_")?.split_at(13);
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        assert!(digits(&minute[..8]) && &minute[8..9] == "_" && digits(&minute[9..]), "{name}");
        Some((rest.trim_start_matches('_').to_owned(), fs::read_to_string(folder.join(&name)).unwrap()))
    };
    names.filter_map(file).collect()
}

/// Loads and figures of the points, as the result has them.
fn points(outcome: &Outcome) -> Vec<OrionCell> {
    cells(&outcome.result().points).unwrap()
}

/// The figures of a matrix, by small and large load.
fn matrix(text: &str) -> BTreeMap<(u32, u32), f64> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Large/Small"));
    let loads = |line: &str| line.split(',').skip(1).map(|load| load.trim().to_owned()).collect::<Vec<_>>();
    let small: Vec<u32> = loads(lines.next().unwrap()).iter().map(|load| load.parse().unwrap()).collect();
    let row = |line: &str| {
        let large: u32 = line.split(',').next().unwrap().trim().parse().unwrap();
        let figures = loads(line).into_iter().zip(&small).filter(|(figure, _)| !figure.is_empty());
        figures.map(|(figure, small)| ((*small, large), figure.parse().unwrap())).collect::<Vec<_>>()
    };
    lines.flat_map(row).collect()
}

/// Holds the files against the result: each figure within its rounding, and each cell to Little's law within 1 %.
#[track_caller]
fn agrees(outcome: &Outcome, unit_us: f64) {
    let files = files(outcome.folder());
    let [iops, lat, mbps] = ["iops.csv", "lat.csv", "mbps.csv"].map(|name| matrix(&files[name]));
    let cells = points(outcome);
    let near = |found: Option<&f64>, wanted: Option<f64>, rounding: f64, what: &str| match (found, wanted) {
        (Some(found), Some(wanted)) => assert!((found - wanted).abs() <= rounding, "{what}: {found}, not {wanted}"),
        (found, wanted) => {
            assert_eq!((found.is_some(), wanted.is_some()), (wanted.is_some(), found.is_some()), "{what}")
        }
    };
    for cell in &cells {
        let at = (cell.small, cell.large);
        near(iops.get(&at), cell.iops, 0.5001, &format!("IOPS at {at:?}"));
        near(lat.get(&at), cell.latency_us.map(|us| us / unit_us), 0.005_001, &format!("latency at {at:?}"));
        near(mbps.get(&at), cell.mbps, 0.005_001, &format!("MBPS at {at:?}"));
        if let (Some(iops), Some(us)) = (cell.iops, cell.latency_us) {
            let outstanding = iops * us / 1e6;
            assert!((outstanding / f64::from(cell.small) - 1.0).abs() < 0.01, "{at:?}: {outstanding} outstanding");
        }
    }
    assert_eq!(iops.len(), cells.iter().filter(|cell| cell.small > 0).count());
    assert_eq!(mbps.len(), cells.iter().filter(|cell| cell.large > 0).count());
}

fn loads(outcome: &Outcome) -> Vec<(u32, u32)> {
    points(outcome).iter().map(|cell| (cell.small, cell.large)).collect()
}

#[test]
fn a_simple_test_of_11_1_writes_files_of_the_published_lengths() {
    let outcome = orion(SLOW, "-run simple -num_disks 1 -duration 4 --dialect 11.1").ends_with(0);
    let files = files(outcome.folder());
    let lengths: Vec<(&str, usize)> = files.iter().map(|(name, text)| (name.as_str(), text.len())).collect();
    let matrices: Vec<_> = lengths.iter().filter(|(name, _)| name.ends_with("csv")).copied().collect();
    assert_eq!(matrices, [("iops.csv", 128), ("lat.csv", 128), ("mbps.csv", 100)]);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["iops.csv", "lat.csv", "mbps.csv", "summary.txt", "trace.txt"]);
    assert_eq!(loads(&outcome), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1), (0, 2)]);
    agrees(&outcome, 1000.0);
    let summary = &files["summary.txt"];
    assert!(summary.starts_with("ORION VERSION 11.1.0.7.0\n\nCommandline:\n-testname mytest -run simple"), "{summary}");
    assert!(summary.contains("Total Data Points: 8\n"), "{summary}");
    let maxima = summary.split("found.\n\n").nth(1).unwrap();
    for part in ["ORION: ORacle IO Numbers -- Version 11.1.0.7.0\nmytest_", "approximately 1 minutes.\n", maxima] {
        assert!(outcome.stdout.contains(part), "{part}\n{}", outcome.stdout);
    }
    // They stand beside the result, too.
    let kept = fs::read_dir(outcome.folder().join("rigel-results")).unwrap().next().unwrap().unwrap().path();
    assert!(kept.join("report.html").exists());
    assert_eq!(self::files(&kept), files);
    let label = outcome.result().points[0].label();
    assert!(label.starts_with("large 0, small 1"), "{label}");
}

#[test]
fn oltp_of_11_2_tells_microseconds_and_histograms() {
    let outcome = orion(SLOW, "-run oltp -num_disks 1 -duration 2 -write 30").ends_with(0);
    assert_eq!(loads(&outcome), (1..=20).map(|small| (small, 0)).collect::<Vec<_>>());
    agrees(&outcome, 1.0);
    let files = files(outcome.folder());
    assert_eq!(files.len(), 6);
    let histogram = &files["hist.txt"];
    for cell in points(&outcome) {
        let head = format!("Small Read / Write Latency Histogram @ Small={} and Large=0\n", cell.small);
        let table = histogram.split(&head).nth(1).unwrap_or_else(|| panic!("{head}: {histogram}"));
        // Service takes 5 ms and more: all of it lies in the last bucket.
        let counted = |latency: Option<rigel::report::orion::OrionLatency>| -> u64 {
            latency.unwrap().histogram.iter().map(|(_, count)| count).sum()
        };
        let last = table.lines().find(|line| line.contains("268435456")).unwrap();
        let (reads, writes) = (counted(cell.small_read), counted(cell.small_write));
        for count in [reads, writes] {
            assert!(last.contains(&format!(" {count} (100.00%)")), "{count}: {last}");
        }
        let share = writes as f64 / (reads + writes) as f64;
        assert!((0.15..0.45).contains(&share), "{share}");
    }
}

#[test]
fn dss_and_normal_run_their_cells_on_joined_volumes() {
    let two = format!("{SLOW}sim://?service=5ms&servers=8&seed=2\n");
    let dss = orion(&two, "-run dss -duration 2 --dialect 11.1").ends_with(0);
    assert_eq!(loads(&dss), [(0, 1), (0, 2), (0, 3), (0, 4)]);
    agrees(&dss, 1000.0);
    let normal = orion(&two, "-run normal -num_disks 1 -duration 2 -simulate raid0").ends_with(0);
    assert_eq!(loads(&normal).len(), 17);
    agrees(&normal, 1.0);
    let result = normal.result();
    let volumes = result.points.iter().flat_map(|point| &point.step.as_ref().unwrap().plan.workloads);
    assert!(volumes.clone().count() > 17);
    volumes.for_each(|workload| assert_eq!(workload.volume.unwrap().to_string(), "stripe:1m"));
    // Both of a cell are outstanding side by side.
    let last = result.points.last().unwrap();
    assert_eq!((last.load.total_outstanding, last.workloads.len()), (7, 2));
    assert!(files(normal.folder())["summary.txt"].contains("2 files found.\n"));
}

#[test]
fn streams_are_as_many_as_asked_for_and_the_cache_is_warmed_before_them() {
    let line =
        "-run advanced -matrix point -num_small 2 -num_large 3 -type seq -num_streamIO 2 -duration 2 -size_large 64";
    let cold = orion(SLOW, &format!("{line} -cache_size 0")).ends_with(0);
    let warm = orion(SLOW, &format!("{line} -cache_size 4")).ends_with(0);
    for outcome in [&cold, &warm] {
        assert_eq!(loads(outcome), [(2, 3)]);
        agrees(outcome, 1.0);
        let result = outcome.result();
        let names: Vec<&str> = result.points[0].workloads.iter().map(|workload| workload.name.as_str()).collect();
        assert_eq!(names, ["small", "large-1", "large-2", "large-3"]);
        assert_eq!(result.points[0].load.total_outstanding, 8);
    }
}

#[test]
fn what_warms_the_cache_is_told_and_in_no_figure() {
    let line = "orion --no-archive -testname mytest -run advanced -matrix col -num_small 0 -num_disks 1 -type seq \
                -duration 1 -size_large 64 -cache_size 4";
    let outcome = Running::start_in(folder(SLOW), line).wait().ends_with(0);
    assert!(outcome.stderr.contains("unmeasured I/O"), "{}", outcome.stderr);
    let result = outcome.result();
    assert_eq!(result.points.len(), 2);
    // 5 ms an I/O, four outstanding: a second is 800 I/Os, and none of the 64 that came before is among them.
    let [one, two] = [0, 1].map(|point: usize| result.points[point].total.completions);
    assert!((799..=800).contains(&one) && (1_590..=1_600).contains(&two), "{one}, {two}");
}

#[test]
fn a_name_with_the_extension_opens_the_same_file_and_says_so() {
    let line =
        "orion --no-archive -testname mytest.lun -run advanced -matrix point -num_small 1 -num_large 0 -duration 1";
    let outcome = Running::start_in(folder(SLOW), line).wait().ends_with(0);
    assert!(outcome.stderr.contains("the test is called `mytest`"), "{}", outcome.stderr);
    assert_eq!(files(outcome.folder()).len(), 6);
}

#[test]
fn bad_volumes_and_options_are_named_with_the_remedy() {
    let luns = format!("{SLOW}\n{SLOW}");
    orion(&luns, "-run simple").refuses(2, &["mytest.lun:3:", "stands in line 1 already", "list each volume once"]);
    orion("", "-run simple").refuses(2, &["lists no volume", "write one a line"]);
    let missing = Running::start("orion -run simple -testname other").wait();
    missing.refuses(2, &["other.lun", "cannot be read", "-testname"]);
    orion(SLOW, "-run oltp -size_small 4").refuses(2, &["-size_small", "fixed at -run oltp", "-run advanced"]);
    orion(SLOW, "-run advanced -matrix point").refuses(2, &["-num_small", "is missing", "write -num_small N"]);
    orion(SLOW, "-run oltp --dialect 10.2").refuses(2, &["-run", "11.2 dialect"]);
    orion(SLOW, "-run simple -hugenotneded").refuses(2, &["-hugenotneded", "did you mean"]);
    let two = format!("{SLOW}sim://?service=1ms\n");
    orion(&two, "-run simple -simulate raid0 -stripe 96").refuses(2, &["-stripe", "1024 KB", "both sizes"]);
    orion("/dev/rigel-none\n", "-run simple").refuses(3, &["/dev/rigel-none", "use an nvme-*"]);
}

#[test]
fn the_job_that_it_stands_for_is_printed_and_can_be_run() {
    let outcome = orion(SLOW, "-run oltp -num_disks 1 -duration 1 --print-job").ends_with(0);
    let job = spec::parse(&outcome.stdout, "job.toml").unwrap();
    assert_eq!(job.points().len(), 20);
    assert!(files(outcome.folder()).is_empty());
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), &outcome.stdout).unwrap();
    let ran = Running::start_in(folder, "run job.toml --no-archive --ramp 0s").wait().ends_with(0);
    assert_eq!(ran.result().points.len(), 20);
}

#[test]
fn an_interrupted_test_leaves_its_files_and_is_gone_on_with() {
    let luns = "null://1g\n";
    let line = "orion --no-archive -testname mytest -run advanced -matrix row -num_large 0 -num_disks 1 \
                -duration 1 --out kept";
    let mut running = Running::start_in(folder(luns), line);
    running.wait_for("2/5");
    running.signal(Signal::SIGINT);
    let outcome = running.wait().ends_with(5);
    let written = files(outcome.folder());
    let ran = matrix(&written["iops.csv"]).len();
    assert!((1..5).contains(&ran), "{ran}");
    let again = tempfile::tempdir().unwrap();
    for entry in ["kept", "mytest.lun"] {
        fs::rename(outcome.folder().join(entry), again.path().join(entry)).unwrap();
    }
    let again = {
        let other = Running::start_in(again, "run --resume kept --no-archive").wait();
        assert!(other.stderr.contains("it is of `rigel orion`") && other.code == Some(2), "{}", other.stderr);
        let folder = tempfile::tempdir().unwrap();
        for entry in ["kept", "mytest.lun"] {
            fs::rename(other.folder().join(entry), folder.path().join(entry)).unwrap();
        }
        folder
    };
    let line = format!("{} --resume kept", line.trim_end_matches(" --out kept"));
    let resumed = Running::start_in(again, &line).wait().ends_with(0);
    let result = rigel::result::from_json(&fs::read_to_string(resumed.folder().join("kept/result.json")).unwrap());
    let result = result.unwrap();
    assert_eq!((result.points.len(), result.resumed_at.len()), (5, 1));
    let files = files(resumed.folder());
    assert_eq!(matrix(&files["iops.csv"]).len(), 5);
    // What had been measured stays as it was.
    let row = |text: &str| text.lines().find(|line| line.starts_with("          0,")).unwrap().to_owned();
    assert!(row(&files["iops.csv"]).starts_with(&row(&written["iops.csv"])));
}

#[test]
fn waiting_for_the_end_is_bounded() {
    let outcome = orion(SLOW, "-run advanced -matrix point -num_small 1 -num_large 0 -duration 60").ends_with(0);
    assert!(outcome.took < Duration::from_secs(10), "virtual time took {:?}", outcome.took);
}
