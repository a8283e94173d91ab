//! `rigel export`: where the files go, and what is said when they cannot.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/kept.rs"]
mod kept;

use std::fs;
use std::path::Path;

use cli::{Outcome, Running, rigel};
use tempfile::TempDir;

/// A folder with two results: `a` with its series, `b` without.
fn results() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("a", kept::OPEN), ("b", kept::CLOSED)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(kept::path(from), folder.path().join(name).join("result.json")).unwrap();
    }
    fs::copy(kept::path("series-schema-1.jsonl"), folder.path().join("a/series.jsonl")).unwrap();
    folder
}

fn export(arguments: &str) -> Outcome {
    Running::start_in(results(), &format!("export {arguments}")).wait()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn everything_goes_beside_the_result() {
    let outcome = export("a").ends_with(0);
    let folder = outcome.folder().join("a");
    let expected = [
        "fio",
        "intervals.csv",
        "junit.xml",
        "latency.hlog",
        "points.csv",
        "result.json",
        "rigel.prom",
        "series.jsonl",
    ];
    assert_eq!(files(&folder), expected);
    assert_eq!(files(&folder.join("fio")), ["point-1.json", "point-2.json"]);
    assert_eq!(outcome.stdout.lines().next(), Some("a/points.csv"));
    assert_eq!((outcome.stdout.lines().count(), outcome.stderr.as_str()), (7, ""));
}

#[test]
fn the_formats_asked_for_go_where_they_are_asked_to() {
    let outcome = export("a/result.json --format csv,prometheus --out x/y").ends_with(0);
    assert_eq!(files(&outcome.folder().join("x/y")), ["intervals.csv", "points.csv", "rigel.prom"]);
    assert_eq!(files(&outcome.folder().join("a")), ["result.json", "series.jsonl"]);
}

#[test]
fn several_results_have_a_folder_each() {
    let outcome = export("a b -f hlog -o x").ends_with(0);
    assert_eq!(outcome.stdout, "x/a/latency.hlog\nx/b/latency.hlog\n");
    export("a a/result.json -o x").refuses(2, &["two of the results are named a", "--out"]);
}

#[test]
fn a_result_without_its_series_has_no_intervals_and_says_so() {
    let outcome = export("b -f csv").ends_with(0);
    assert_eq!(outcome.stdout, "b/points.csv\n");
    assert!(
        outcome.stderr.contains("there is no series.jsonl beside it, so there is no intervals.csv"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn what_is_no_result_is_named_with_the_remedy() {
    export(".").refuses(2, &[".: no result.json in this folder; name a run's folder"]);
    export("nowhere").refuses(2, &["nowhere: no such folder or file; name a run's folder"]);
    export("a/series.jsonl").refuses(2, &["a/series.jsonl: this is not a Rigel result"]);
    rigel("export").refuses_usage(&["<RESULT>"]);
    let folder = results();
    fs::remove_file(folder.path().join("a/result.json")).unwrap();
    let outcome = Running::start_in(folder, "export a").wait();
    outcome.refuses(2, &["a: no result.json in this folder", "its intervals are in series.jsonl"]);
    let folder = results();
    fs::write(folder.path().join("a/series.jsonl"), "<html>\n").unwrap();
    Running::start_in(folder, "export a").wait().refuses(2, &["a/series.jsonl: this is not a series of Rigel"]);
}

#[test]
fn an_unknown_format_is_told_with_those_there_are() {
    export("a --format xls").refuses_usage(&["xls", "csv", "hlog", "prometheus", "fio", "junit", "all"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_the_remedy() {
    // Root may write anywhere but below a file, or in /proc.
    export("a --out /proc/rigel").refuses(3, &["cannot write the export to /proc/rigel/points.csv", "--out"]);
    export("a --out a/result.json/x").refuses(3, &["cannot write the export to a/result.json/x", "--out"]);
}

#[test]
fn a_run_leaves_its_table_and_its_log() {
    let outcome = rigel("run -t sim://constant-100us --time 10ms --quiet --out kept").ends_with(0);
    let folder = outcome.folder().join("kept");
    let (table, log) = ("points.csv", "latency.hlog");
    assert!(fs::read_to_string(folder.join(table)).unwrap().starts_with("point,scope,workload"));
    assert!(fs::read_to_string(folder.join(log)).unwrap().contains("Tag=workload-1.read,"));
}
