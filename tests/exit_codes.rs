//! The exit codes as the help lists them: 0 to 3 here, 4 and 5 where a target is lost or a run interrupted.

#[path = "common/cli.rs"]
mod cli;

use std::process::{Command, Stdio};

use cli::rigel;

#[test]
fn help_and_version_end_with_success_and_list_the_codes() {
    for line in ["--help", "run --help"] {
        let outcome = rigel(line).ends_with(0);
        let told = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in
            ["0 done", "1 not accepted", "2 wrong usage or job", "3 target or set-up", "4 I/O errors", "5 interrupted"]
        {
            assert!(told.contains(code), "`{code}` is missing in: {told}");
        }
        assert_eq!(outcome.stderr, "");
    }
    assert!(rigel("--version").ends_with(0).stdout.starts_with("rigel "));
}

#[test]
fn help_comes_before_anything_that_could_fail() {
    assert!(rigel("run nowhere.toml -t nonsense --help").ends_with(0).stdout.contains("--queue-depth"));
}

#[test]
fn usage_that_is_not_understood_ends_with_2() {
    rigel("").refuses_usage(&["Usage: rigel"]);
    rigel("rnu").refuses_usage(&["unrecognized subcommand 'rnu'"]);
    rigel("run --target").refuses_usage(&["--target"]);
    rigel("run a.toml b.toml").refuses_usage(&["b.toml"]);
}

#[test]
fn a_run_that_is_done_ends_with_0_and_one_that_cannot_begin_with_3() {
    rigel("run -t sim://constant-100us --time 10ms --quiet").ends_with(0);
    rigel("run -t sim://constant-100us --time 10ms --quiet --out /proc/x").ends_with(3);
}

#[test]
fn a_run_that_is_not_accepted_ends_with_1_and_its_result_is_kept() {
    let accepted =
        |condition: &str| rigel(&format!("run -t sim://constant-100us -q 4 --time 200ms --quiet --accept {condition}"));
    accepted("iops>=30k").ends_with(0);
    assert_eq!(accepted("iops>=50k").ends_with(1).result().points.len(), 1);
    accepted("iops>=50us").refuses(2, &["--accept: "]);
}

#[test]
fn a_reader_that_goes_away_does_not_take_the_result_with_it() {
    for flags in ["", "--json"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
        command.args(["run", "-t", "sim://constant-100us", "--time", "10ms"]).args(flags.split_whitespace());
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(0) && !told.contains("panicked"), "{:?}: {told}", out.status);
        let saved = std::fs::read_dir(folder.path().join("rigel-results")).unwrap().next().unwrap().unwrap();
        assert!(saved.path().join("result.json").exists());
    }
}

#[test]
fn a_stdout_that_is_full_is_told_with_where_the_result_is() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(["run", "-t", "sim://constant-100us", "--time", "10ms", "--json"]);
    let out = command.current_dir(folder.path()).stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(3) && told.contains("rigel: cannot write to stdout"), "{:?}: {told}", out.status);
}
