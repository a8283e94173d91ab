//! What is shown while a run is on: redrawn in place on a terminal, one line an interval elsewhere, nothing with `--quiet`.

#[path = "common/cli.rs"]
mod cli;

use std::process::Command;

use cli::{Running, rigel};

#[test]
fn elsewhere_than_on_a_terminal_each_interval_has_a_line() {
    let outcome = rigel("run -t null://1g -q 1,2 --ramp 500ms --time 1s --interval 500ms").ends_with(0);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    let intervals: usize = std::fs::read_dir(outcome.folder().join("rigel-results"))
        .unwrap()
        .map(|folder| std::fs::read_to_string(folder.unwrap().path().join("series.jsonl")).unwrap())
        .map(|series| series.lines().filter(|line| line.contains("\"phase\"")).count())
        .sum();
    assert_eq!(lines.len(), intervals, "{}", outcome.stderr);
    assert!(lines[0].starts_with("[1/2 QD 1] 0.5 of 0.5 s ramp: "), "{}", lines[0]);
    // On a busy machine there may be an interval in which nothing was done.
    assert!(lines.iter().all(|line| line.contains(" IOPS, ") && line.ends_with(", 0 errors")), "{}", outcome.stderr);
    for part in [" MB/s, mean ", ", p50 ", ", p99 ", ", p99.9 ", ", max "] {
        assert!(lines.iter().any(|line| line.contains(part)), "`{part}` is missing in: {}", outcome.stderr);
    }
}

#[test]
fn short_intervals_do_not_flood() {
    let outcome = rigel("run -t null://1g -q 1 --ramp 0s --time 1s --interval 10ms").ends_with(0);
    let lines = outcome.stderr.lines().count();
    assert!(lines >= 2 && lines as u128 <= 3 + outcome.took.as_millis() / 250, "{}", outcome.stderr);
}

#[test]
fn an_open_loop_shows_its_response_and_its_arrivals() {
    let outcome = rigel("run -t null://1g --rate 5k --ramp 0s --time 500ms --interval 250ms").ends_with(0);
    for part in [" offered/s, backlog ", ", resp mean ", ", p99.9 "] {
        assert!(outcome.stderr.contains(part), "`{part}` is missing in: {}", outcome.stderr);
    }
}

#[test]
fn quiet_shows_nothing() {
    let outcome = rigel("run -t null://1g --ramp 0s --time 500ms --interval 100ms --quiet").ends_with(0);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_terminal_is_redrawn_in_place_and_left_clean() {
    let Some(told) = on_a_terminal("run -t null://1g -q 1,2 --ramp 300ms --time 1s --interval 100ms") else { return };
    for part in
        ["point 1/2 QD 1", "point 2/2 QD 2", "s ramp ", "s window ", " left", "p99.9", "IOPS of the last minute"]
    {
        assert!(told.contains(part), "`{part}` is missing in: {told:?}");
    }
    assert!(told.matches("point 2/2").count() > 1 && told.contains("\u{1b}[2K"), "not redrawn: {told:?}");
    let screen = screen(&told);
    assert!(screen.contains("Result: ") && screen.contains("QD 2"), "{screen}");
    for part in ["point 1/2", "point 2/2", " s left", "connecting", "last minute", "backlog"] {
        assert!(!screen.contains(part), "`{part}` is still there:\n{screen}");
    }
}

#[test]
fn quiet_is_silent_on_a_terminal_too() {
    let Some(told) = on_a_terminal("run -t null://1g --ramp 0s --time 500ms --quiet") else { return };
    assert!(!told.contains("point 1/1") && !told.contains("connecting"), "{told:?}");
    assert!(told.contains("Result: "), "{told:?}");
}

/// All that a terminal is told by `rigel`; none, and the reason printed, where there is no `script` of util-linux.
fn on_a_terminal(line: &str) -> Option<String> {
    if !Command::new("script").arg("--version").output().is_ok_and(|out| out.status.success()) {
        println!("not tested: there is no `script`");
        return None;
    }
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{} {line}", env!("CARGO_BIN_EXE_rigel")), "/dev/null"]).env("TERM", "xterm");
    Some(Running::spawn(tempfile::tempdir().unwrap(), script).wait().ends_with(0).stdout)
}

/// What a terminal shows after `told`, for the few controls that are used.
fn screen(told: &str) -> String {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = told.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                let sequence: String = rest.by_ref().skip(1).take_while(|c| !c.is_ascii_alphabetic()).collect();
                // The letter has been taken with it: what it was is told by where the text stands.
                let letter = told[..told.len() - rest.as_str().len()].chars().next_back();
                let count = sequence.parse().unwrap_or(1);
                match letter {
                    Some('A') => row = row.saturating_sub(count),
                    Some('B') => row += count,
                    Some('K') => rows[row].clear(),
                    _ => {}
                }
            }
            c => {
                let line = &mut rows[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
    }
    rows.into_iter().map(String::from_iter).collect::<Vec<_>>().join("\n")
}
