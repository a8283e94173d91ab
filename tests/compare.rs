//! `rigel compare`: what it says of runs that differ, of limits, and of what should not be compared.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/studies.rs"]
mod studies;

use std::fs;
use std::path::Path;

use cli::{Outcome, Running};
use rigel::report::json;
use rigel::result::RunResult;
use rigel::result::series::{Record, Series, line};
use serde_json::Value;
use tempfile::TempDir;

/// Runs of a model with a spread of 0.2 %, in folders `NAME-1`, `NAME-2` ….
fn runs(folder: &Path, name: &str, service: &str, count: usize, fields: &str) {
    for number in 1..=count {
        let seed = number as u64 + 1_000 * service.bytes().map(u64::from).sum::<u64>();
        let (result, series) = studies::result(&format!(
            r#"
            target = [{{ uri = "sim://?service={service}&spread=0.2%" }}]
            {fields}
            run = {{ ramp = "1ms", time = "200ms", interval = "10ms", seed = {seed} }}
            "#
        ));
        save(&folder.join(format!("{name}-{number}")), &result, Some(&series));
    }
}

fn save(folder: &Path, result: &RunResult, series: Option<&Series>) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("result.json"), json::render(result)).unwrap();
    if let Some(series) = series {
        let mut bytes = line(&series.header);
        series.records.iter().for_each(|record: &Record| bytes.extend(line(record)));
        fs::write(folder.join("series.jsonl"), bytes).unwrap();
    }
}

/// Five runs at 100 µs and five at 105 µs, at two depths, reads and writes.
fn two_kinds() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fields = "workload = [{ read_percent = 70 }]\nsweep = { queue_depth = [1, 4] }";
    runs(folder.path(), "old", "lognormal:100us:0.1", 5, fields);
    runs(folder.path(), "new", "lognormal:105us:0.1", 5, fields);
    folder
}

const OLD: &str = "old-1,old-2,old-3,old-4,old-5";
const NEW: &str = "new-1,new-2,new-3,new-4,new-5";

fn compare(folder: TempDir, arguments: &str) -> Outcome {
    Running::start_in(folder, &format!("compare {arguments}")).wait()
}

fn json_of(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.stdout))
}

#[test]
fn repeated_runs_tell_a_change_its_size_and_its_direction() {
    let outcome = compare(two_kinds(), &format!("{OLD} {NEW} --json")).ends_with(0);
    let comparison = json_of(&outcome);
    let notes = comparison["notes"].as_array().unwrap();
    assert!(notes.len() == 1 && notes[0].as_str().unwrap().starts_with("the targets differ"), "{notes:?}");
    let cells = comparison["cells"].as_array().unwrap();
    let of = |load: &str, figure: &str| {
        let found = cells.iter().find(|cell| cell["load"] == load && cell["figure"] == figure);
        found.unwrap_or_else(|| panic!("no {figure} at {load}"))
    };
    for load in ["QD 1", "QD 4"] {
        for (figure, truth) in [("iops", 1.0 / 1.05 - 1.0), ("mean read", 0.05), ("mean write", 0.05)] {
            let cell = of(load, figure);
            assert_eq!(cell["word"], "change", "{figure} at {load}");
            let (low, high) = (cell["interval"][0].as_f64().unwrap(), cell["interval"][1].as_f64().unwrap());
            // Twelve intervals of 95 %: a little room, so that none of them fails by chance.
            assert!((low - 0.004..high + 0.004).contains(&truth), "{figure} at {load}: {low} to {high}");
            assert_eq!(cell["runs"], serde_json::json!([5, 5]));
        }
        assert!(of(load, "MB/s")["word"].is_null(), "it follows from the IOPS");
    }
}

#[test]
fn the_table_has_figures_as_columns_and_a_row_for_each_side() {
    let folder = two_kinds();
    let outcome = compare(folder, &format!("{OLD} {NEW} old-1")).ends_with(0);
    for part in ["QD 1", "iops", "p99.9 read", "p99 write", "change, worse", "5 runs", "new-1 +4"] {
        assert!(outcome.stdout.contains(part), "`{part}` is missing in:\n{}", outcome.stdout);
    }
    let rows = outcome.stdout.lines().filter(|line| line.trim_start().starts_with("old-1 ")).count();
    assert!(rows >= 2, "a row for the third side at each load:\n{}", outcome.stdout);
}

#[test]
fn limits_decide_the_exit_code_only_beyond_doubt() {
    for (limit, flags, code, word) in [
        ("iops=-2%", "", 1, "BROKEN"),
        ("iops=-10%", "--strict", 0, "kept"),
        ("mean.read=+2%", "", 1, "BROKEN"),
        ("mean=+20%", "--strict", 0, "kept"),
        ("iops=2%", "", 1, "BROKEN"),
        ("iops=+2%", "--strict", 0, "kept"),
        ("iops=-4.76%", "", 0, "cannot tell"),
        ("iops=-4.76%", "--strict", 1, "cannot tell"),
    ] {
        let outcome = compare(two_kinds(), &format!("{OLD} {NEW} --limit {limit} {flags}"));
        let said = format!("limit {limit} {flags}:\n{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.code, Some(code), "{said}");
        assert!(outcome.stdout.contains(&format!("{word}, QD 1")), "{said}");
        let warned = outcome.stderr.contains("cannot be told whether it is kept");
        assert_eq!(warned, word == "cannot tell", "{said}");
    }
}

#[test]
fn the_folder_holds_the_comparison_in_every_form() {
    let outcome = compare(two_kinds(), &format!("{OLD} {NEW} --limit iops=-2% --out out")).ends_with(1);
    let read = |name: &str| fs::read_to_string(outcome.folder().join("out").join(name)).unwrap();
    assert!(read("comparison.txt").is_ascii());
    let comparison: Value = serde_json::from_str(&read("comparison.json")).unwrap();
    assert_eq!(comparison["limits"][0]["word"], "broken");
    let junit = read("junit.xml");
    assert!(junit.contains("<testcase") && junit.contains("limit iops=-2%") && junit.contains("<failure"), "{junit}");
    let page = read("report.html");
    for part in ["id=\"comparison\"", "Limit iops=-2%", "class=\"worse\"", "IOPS against load", ", run "] {
        assert!(page.contains(part), "`{part}` is missing in the page");
    }
}

#[test]
fn what_stands_against_comparing_is_said_first() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), "a", "lognormal:100us:0.1", 1, "workload = [{ block_size = \"4k\", queue_depth = 1 }]");
    runs(folder.path(), "b", "lognormal:100us:0.1", 1, "workload = [{ block_size = \"8k\", queue_depth = 1 }]");
    let (mut result, _) = studies::result(
        "target = [{ uri = \"sim://?service=lognormal:100us:0.1\" }]\nsweep = { queue_depth = [1, 2] }\nrun = { time = \"50ms\" }",
    );
    result.facts.host.hostname = "other".to_owned();
    result.facts.targets[0].serial = "S2".to_owned();
    result.points[0].verdict.as_mut().unwrap().bound = rigel::result::Bound::Host;
    save(&folder.path().join("c"), &result, None);
    let first_line = |outcome: &Outcome| outcome.stdout.lines().next().unwrap_or_default().to_owned();
    let place = folder.path().to_owned();
    let outcome = compare(folder, "a-1 b-1").ends_with(0);
    assert!(first_line(&outcome).contains("the plans differ: block size 4k against 8k"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("one run on each side"), "{}", outcome.stdout);
    drop(outcome);
    assert!(!place.exists());

    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), "a", "lognormal:100us:0.1", 1, "workload = [{ queue_depth = 1 }]");
    save(&folder.path().join("c"), &result, None);
    let outcome = compare(folder, "a-1 c").ends_with(0);
    assert!(first_line(&outcome).contains("the host was the bottleneck in c only"), "{}", outcome.stdout);
    for part in ["the targets differ", "the hosts differ: name model against other", "only c has QD 2"] {
        assert!(outcome.stdout.contains(part), "`{part}` is missing in:\n{}", outcome.stdout);
    }
}

/// Two runs of one model, the second changed.
fn changed(change: impl FnOnce(&mut RunResult)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fields = "sweep = { queue_depth = [1, 2] }";
    runs(folder.path(), "a", "lognormal:100us:0.1", 2, fields);
    let file = folder.path().join("a-2/result.json");
    let mut result = rigel::result::from_json(&fs::read_to_string(&file).unwrap()).unwrap();
    change(&mut result);
    fs::write(file, json::render(&result)).unwrap();
    folder
}

#[test]
fn a_limit_that_cannot_be_looked_at_is_never_kept() {
    type Change = fn(&mut RunResult);
    let cases: [(Change, &str); 3] = [
        (|result| result.points.truncate(1), "QD 2: only a-1 has this point"),
        (|result| result.points[1].ended_early = Some("a target was lost".to_owned()), "QD 2: "),
        (|result| result.points[1].checks.conservation.ok = false, "QD 2: "),
    ];
    for (change, says) in cases {
        for (flags, code) in [("", 0), ("--strict", 1)] {
            let outcome = compare(changed(change), &format!("a-1 a-2 --limit iops=-20% {flags}"));
            assert_eq!(outcome.code, Some(code), "{says}: {}{}", outcome.stdout, outcome.stderr);
            assert!(outcome.stdout.contains("kept, QD 1"), "{}", outcome.stdout);
            assert!(outcome.stdout.contains(&format!("cannot tell, {says}")), "{}", outcome.stdout);
        }
    }
}

#[test]
fn what_has_fallen_to_nothing_breaks_a_limit() {
    let gone = |result: &mut RunResult| result.points[1].total.iops = 0.0;
    let outcome = compare(changed(gone), "a-1 a-2 --limit iops=-20%");
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("BROKEN, QD 2: -100.00 %"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("not every run has iops above 0"), "{}", outcome.stdout);
}

#[test]
fn each_side_stands_under_its_own_load() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path(), "a", "lognormal:100us:0.1", 2, "sweep = { queue_depth = [1, 4] }");
    runs(folder.path(), "b", "lognormal:100us:0.1", 1, "sweep = { queue_depth = [4] }");
    let comparison = json_of(&compare(folder, "a-1 a-2 b-1 --json").ends_with(0));
    for cell in comparison["cells"].as_array().unwrap() {
        let expected = if cell["load"] == "QD 1" { 0 } else { 1 };
        assert_eq!(cell["point"], expected, "{cell}");
    }
}

#[test]
fn loads_that_only_look_alike_and_runs_that_are_one_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let rate = |arrivals: &str| format!("workload = [{{ rate = 1000, arrivals = \"{arrivals}\" }}]");
    runs(folder.path(), "a", "lognormal:100us:0.1", 1, &rate("poisson"));
    runs(folder.path(), "b", "lognormal:100us:0.1", 1, &rate("constant"));
    let outcome = compare(folder, "a-1 b-1").ends_with(0);
    assert!(
        outcome.stdout.contains("load 1,000 arrivals/s (Poisson, at most 1024 outstanding) against"),
        "{}",
        outcome.stdout
    );

    let on_hardware = |result: &mut RunResult| result.facts.host.clock = "tsc".to_owned();
    let outcome = compare(changed(on_hardware), "a-2 a-2").ends_with(0);
    assert!(outcome.stdout.contains("one and the same run is named twice"), "{}", outcome.stdout);
}

#[test]
fn zero_variance_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let result = |service: &str| {
        let target = format!("target = [{{ uri = \"sim://?service={service}\" }}]");
        studies::result(&format!("{target}\nworkload = [{{ queue_depth = 1 }}]\nrun = {{ time = \"50ms\" }}")).0
    };
    for (name, service) in [("a", "100us"), ("b", "100us"), ("c", "110us")] {
        save(&folder.path().join(name), &result(service), None);
    }
    let outcome = compare(folder, "a,a b,b c,c --json").ends_with(0);
    let comparison = json_of(&outcome);
    assert!(comparison["notes"][0].as_str().unwrap().contains("zero variance"), "{comparison:#}");
    let words: Vec<&str> = comparison["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cell| cell["figure"] == "mean read")
        .map(|cell| cell["word"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["no_change", "change"]);
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_remedy() {
    let folder = || {
        let folder = tempfile::tempdir().unwrap();
        runs(folder.path(), "a", "lognormal:100us:0.1", 1, "sweep = { queue_depth = [1, 2] }");
        runs(folder.path(), "b", "lognormal:100us:0.1", 1, "sweep = { queue_depth = [4, 8] }");
        folder
    };
    for (arguments, parts) in [
        ("a-1 b-1", &["no load in common", "queue depth 1, queue depth 2 against queue depth 4, queue depth 8"][..]),
        ("a-1 nowhere", &["nowhere"]),
        ("a-1 a-1 --limit p99.write=+5%", &["the limit on `p99 write`", "no write completed"]),
        ("a-1 a-1 --limit p99.read.response=+5%", &["closed loop has no response latency"]),
        ("a-1 a-1 --limit log/iops=-2%", &["no workload is named `log`", "workload-1"]),
        ("a-1 a-1 --limit errors=+1%", &["it is 0 in the base"]),
        ("a-1 a-1 --limit iops", &["--limit", "write FIGURE=CHANGE"]),
        ("a-1 a-1 --resolution 0", &["--resolution", "per cent above 0"]),
        ("a-1 a-1 --spread 60%", &["--spread", "per cent above 0"]),
    ] {
        let outcome = compare(folder(), arguments);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{arguments}: `{part}` is missing in: {}", outcome.stderr);
        }
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments}: {}", outcome.stderr);
    }
}

#[test]
fn the_interval_of_single_runs_holds_no_change_as_often_as_it_says() {
    use rigel::compare::{Rules, Run, Side, compare};
    let run = |seed: u64| {
        studies::result(&format!(
            r#"
            target = [{{ uri = "sim://?service=lognormal:100us:0.5" }}]
            workload = [{{ queue_depth = 2 }}]
            run = {{ ramp = "1ms", time = "400ms", interval = "5ms", seed = {seed} }}
            "#
        ))
    };
    let runs: Vec<_> = (0..160).map(run).collect();
    let rules = Rules { spread: 1e-9, ..Rules::default() };
    for figure in ["iops", "mean read", "p50 read", "p99 read"] {
        let held = runs.chunks(2).filter(|pair| {
            let side = |n: usize| Side {
                label: n.to_string(),
                runs: vec![Run { result: &pair[n].0, series: Some(&pair[n].1) }],
            };
            let comparison = compare(&side(0), &[side(1)], &[], &rules).unwrap();
            let (low, high) = studies::cell(&comparison, figure).interval.unwrap();
            low <= 0.0 && 0.0 <= high
        });
        let held = held.count();
        // 80 intervals of 95 %: fewer than 69 or all of them would come once in a thousand times each.
        assert!((69..=80).contains(&held), "{figure}: {held} of 80");
    }
}
