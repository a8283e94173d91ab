//! `rigel ab`: pairs of runs in alternation, the command between them, and studies that are gone on with.

#[path = "common/cli.rs"]
mod cli;

use std::fs;

use cli::{Outcome, Running};
use nix::sys::signal::Signal;
use serde_json::Value;

/// What every study here has in common: a model at depth 2, for 100 ms.
const SHORT: &str = "--set queue_depth=2 --set cores=0 --set ramp=0s --set time=100ms --set interval=10ms";
const MODEL: &str = "--set target=sim://?service=exp:100us";

fn ab(arguments: &str) -> Outcome {
    Running::start(&format!("ab {SHORT} {arguments}")).wait()
}

fn comparison(outcome: &Outcome) -> Value {
    serde_json::from_slice(&fs::read(outcome.folder().join("study/comparison.json")).unwrap()).unwrap()
}

fn word<'c>(comparison: &'c Value, figure: &str) -> &'c Value {
    let cells = comparison["cells"].as_array().unwrap();
    &cells.iter().find(|cell| cell["figure"] == figure).unwrap()["word"]
}

#[test]
fn a_difference_between_the_sides_is_found_with_its_size() {
    let outcome = ab(&format!("{MODEL} --b target=sim://?service=exp:105us --pairs 4 --labels fast,slow --out study"));
    let outcome = outcome.ends_with(0);
    let comparison = comparison(&outcome);
    assert_eq!(word(&comparison, "iops"), "change");
    let cell = &comparison["cells"][0];
    assert_eq!(cell["pairs"].as_array().unwrap().len(), 4);
    assert!((cell["change"].as_f64().unwrap() - (1.0 / 1.05 - 1.0)).abs() < 0.003, "{cell}");
    assert_eq!((&comparison["base"]["label"], &comparison["new"][0]["label"]), (&"fast".into(), &"slow".into()));
    for name in
        ["study.json", "comparison.txt", "junit.xml", "report.html", "pair-004-fast/result.json", "pair-004-slow"]
    {
        assert!(outcome.folder().join("study").join(name).exists(), "{name}");
    }
    assert!(outcome.stderr.contains("pair 4 of 4: "), "{}", outcome.stderr);
    // A side of its own replaces the common target, and is not added to it.
    let text = fs::read_to_string(outcome.folder().join("study/pair-001-slow/result.json")).unwrap();
    assert!(text.contains("exp:105us") && !text.contains("exp:100us"));
}

#[test]
fn a_job_against_itself_shows_no_change() {
    let outcome = ab(&format!("{MODEL} --pairs 3 --limit iops=-2% --strict --out study")).ends_with(0);
    let comparison = comparison(&outcome);
    assert_eq!(word(&comparison, "iops"), "no_change");
    assert!(comparison["notes"].to_string().contains("zero variance"), "one seed a pair, on a model: {comparison}");
}

#[test]
fn the_command_between_runs_comes_before_each_change_of_side() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("switch.sh");
    fs::write(&script, "echo $1 $RIGEL_SIDE >> log\n").unwrap();
    // Words are split at blanks here, so the command's are put together by the shell of --switch.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args("ab --pairs 6 --labels off,on --out study".split(' ')).args(SHORT.split(' ')).args(MODEL.split(' '));
    command.args(["--switch", "sh switch.sh {}"]);
    let outcome = Running::spawn(folder, command).wait().ends_with(0);
    let log = fs::read_to_string(outcome.folder().join("log")).unwrap();
    let sides: Vec<&str> = log.lines().collect();
    assert!(sides.iter().all(|line| ["off off", "on on"].contains(line)), "{log}");
    assert!(sides.windows(2).all(|pair| pair[0] != pair[1]), "only when the side changes: {log}");
    let runs: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("pair ")).collect();
    assert_eq!(runs.len(), 12);
    let changes = runs.windows(2).filter(|pair| pair[0].contains(": on") != pair[1].contains(": on")).count();
    assert_eq!(sides.len(), changes + 1);
}

#[test]
fn a_command_that_fails_ends_the_study_and_keeps_its_pairs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("switch.sh"), "test -d study/pair-003-a && echo no array >&2 && exit 7; true\n")
        .unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args("ab --pairs 9 --out study".split(' ')).args(SHORT.split(' ')).args(MODEL.split(' '));
    command.args(["--switch", "sh switch.sh"]);
    let outcome = Running::spawn(folder, command).wait();
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    for part in ["--switch: `sh switch.sh` failed", "exit status: 7", "no array", "--out"] {
        assert!(outcome.stderr.contains(part), "`{part}` is missing in: {}", outcome.stderr);
    }
    let pairs = comparison(&outcome)["base"]["started_at"].as_array().unwrap().len();
    assert!((2..=3).contains(&pairs), "{pairs} pairs were whole");
}

#[test]
fn a_study_is_gone_on_with_and_only_with_itself() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rigel"));
    let binary = command.get_program().to_owned();
    command.args("ab --pairs 2 --out study".split(' ')).args(SHORT.split(' ')).args(MODEL.split(' '));
    let outcome = Running::spawn(tempfile::tempdir().unwrap(), command).wait().ends_with(0);
    let result =
        |name: &str| fs::read_to_string(outcome.folder().join("study").join(name).join("result.json")).unwrap();
    let before = result("pair-001-a");
    // What an interrupted pair leaves is put aside.
    fs::create_dir(outcome.folder().join("study/pair-003-b")).unwrap();
    let again = |arguments: &str| {
        let mut command = std::process::Command::new(&binary);
        command.current_dir(outcome.folder()).arg("ab").args(arguments.split_whitespace()).args(SHORT.split(' '));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = again(&format!("{MODEL} --pairs 4 --out study"));
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("pair 2 of 4") && said.contains("pair 3 of 4"), "{said}");
    assert_eq!(before, result("pair-001-a"));
    assert!(outcome.folder().join("study/left-out-pair-003-b").exists());
    let study: Value = serde_json::from_slice(&fs::read(outcome.folder().join("study/study.json")).unwrap()).unwrap();
    assert_eq!(study["looks"], serde_json::json!([2, 4]), "each look makes the next one stricter");
    for (arguments, says) in [
        (format!("{MODEL} --labels x,y --pairs 4 --out study"), "other labels"),
        (format!("{MODEL} --b block_size=8k --pairs 4 --out study"), "another job"),
        (format!("{MODEL} --seed 9 --pairs 4 --out study"), "another seed"),
    ] {
        let (code, said) = again(&arguments);
        assert!(code == Some(2) && said.contains(says) && said.contains("name another folder"), "{arguments}: {said}");
    }
}

#[test]
fn ctrl_c_keeps_the_pairs_that_are_whole() {
    let line = format!("ab {SHORT} {MODEL} --pairs 10000 --out study");
    let mut running = Running::start(&line);
    running.wait_for("pair 4 of");
    running.signal(Signal::SIGINT);
    let outcome = running.wait().ends_with(5);
    assert!(comparison(&outcome)["base"]["started_at"].as_array().unwrap().len() >= 3);
}

#[test]
fn a_signal_to_the_study_alone_ends_its_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args("ab --pairs 9 --out study".split(' ')).args(SHORT.split(' ')).args(MODEL.split(' '));
    // What the command leaves running is not waited for, and one that takes long goes with the study.
    command.args(["--switch", "sleep 60 & if test -d study/pair-003-a; then sleep 60; fi"]);
    let mut running = Running::spawn(folder, command);
    running.wait_for("pair 3 of");
    std::thread::sleep(std::time::Duration::from_millis(700));
    running.signal(Signal::SIGINT);
    let outcome = running.wait().ends_with(5);
    assert!(!outcome.stderr.contains("--switch"), "{}", outcome.stderr);
}

#[test]
fn what_is_wrong_is_named_before_the_first_run() {
    for (arguments, code, parts) in [
        (format!("{MODEL} --b block_size=9x"), 2, &["block_size", "9x"][..]),
        (format!("{MODEL} --b blocksize=8k"), 2, &["blocksize", "did you mean `block_size`"]),
        (format!("{MODEL} --b faster"), 2, &["`faster` is not FIELD=VALUE"]),
        (format!("{MODEL} --labels a,a"), 2, &["--labels", "two different names"]),
        (format!("{MODEL} --labels a"), 2, &["--labels"]),
        (format!("{MODEL} --a ramp=0s"), 2, &["A and B are the same"]),
        (format!("{MODEL} --a seed=1"), 2, &["seed=1", "use --seed and --out"]),
        ("--a iscsi://u%s3cret@h/iqn/0".to_owned(), 2, &["iscsi://u%***@h/iqn/0", "is not FIELD=VALUE"]),
        ("--a Target=iscsi://u%s3cret@h:3260/iqn/0".to_owned(), 2, &["iscsi://u%***@h"]),
        (format!("{MODEL} --limit iops"), 2, &["--limit"]),
        (format!("{MODEL} --settle soon"), 2, &["--settle", "soon"]),
        ("--a block_size=8k".to_owned(), 2, &["target"]),
    ] {
        let outcome = ab(&arguments);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{arguments}: `{part}` is missing in: {}", outcome.stderr);
        }
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{arguments}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("pair 1") && !outcome.stderr.contains("s3cret"), "{}", outcome.stderr);
    }
}

#[test]
fn a_run_that_fails_ends_the_study_with_its_words() {
    let outcome = ab("--set target=malloc://64m --b read_percent=0 --b region=90g-91g --pairs 2");
    assert!(matches!(outcome.code, Some(2 | 3)), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("pair 1, ") && outcome.stderr.contains("the run failed"), "{}", outcome.stderr);
}
