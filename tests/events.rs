//! Commands beside the load, through the program: when they ran, how they ended, and the figures around them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rigel::result::{EventResult, RunResult, from_json};

/// Runs a job of one second on `null://` in intervals of 50 ms; the exit code, stderr, the result and the page.
fn run(events: &str) -> (i32, String, RunResult, String) {
    let folder = tempfile::tempdir().unwrap();
    let head = "[[target]]\nuri = 'null://1g'\n[[workload]]\nqueue_depth = 4\n\
                [run]\nramp = '0s'\ntime = '1s'\ninterval = '50ms'\n";
    fs::write(folder.path().join("job.toml"), format!("{head}{events}")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(["run", "job.toml", "--out", "kept"]).current_dir(folder.path());
    command.env("XDG_DATA_HOME", folder.path());
    let outcome = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let text = |name: &str| fs::read_to_string(find(folder.path(), name)).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    let result = from_json(&text("result.json")).unwrap();
    let page = text("report.html");
    (outcome.status.code().unwrap(), stderr, result, page)
}

fn find(folder: &Path, name: &str) -> std::path::PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = |path: std::path::PathBuf| match path.is_dir() {
        true => Some(find(&path, name)).filter(|path| path.exists()),
        false => path.ends_with(name).then_some(path),
    };
    entries.filter_map(found).next().unwrap_or_default()
}

fn only(result: &RunResult) -> &EventResult {
    assert_eq!(result.points[0].events.len(), 1);
    &result.points[0].events[0]
}

/// The longest that a read took in a part of the window, in ms.
fn max_ms(part: Option<&rigel::result::EventFigures>) -> f64 {
    part.expect("intervals").figures.read.service.as_ref().expect("reads").max_ns as f64 / 1e6
}

#[test]
fn a_stall_of_200_ms_is_marked_at_its_time_and_stands_in_the_figures_during_it() {
    let stall = "[[event]]\nat = '400ms'\nlabel = 'a <stall>'\n\
                 run = 'kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; echo continued'\n";
    let (code, stderr, result, page) = run(stall);
    assert_eq!(code, 0, "{stderr}");
    let event = only(&result);
    let start_s = event.outcome.start_s.unwrap();
    assert!((0.4..0.45).contains(&start_s), "{start_s}");
    assert_eq!((event.outcome.exit_status, event.outcome.output.as_str()), (Some(0), "continued"));
    assert!((190.0..400.0).contains(&max_ms(event.during.as_ref())), "{:?}", event.during);
    assert!(max_ms(event.before.as_ref()) < 150.0 && max_ms(event.after.as_ref()) < 150.0);
    let iops = |part: &Option<rigel::result::EventFigures>| part.as_ref().unwrap().figures.iops;
    assert!(iops(&event.during) < iops(&event.before) && iops(&event.during) < iops(&event.after));
    let parts = [&event.before, &event.during, &event.after].map(|part| part.as_ref().unwrap());
    let seconds: f64 = parts.iter().map(|part| part.seconds).sum();
    assert!((seconds - result.points[0].window_s).abs() < 0.01, "{seconds}");
    let completions: u64 = parts.iter().map(|part| part.figures.completions).sum();
    assert_eq!(completions, result.points[0].total.completions);
    assert!(stderr.contains("event `a <stall>` begins") && stderr.contains("has ended (exit status 0)"), "{stderr}");
    assert!(page.matches("a &lt;stall&gt;</text>").count() >= 3, "a mark on each chart over time");
    assert!(page.contains("id=\"events\"") && !page.contains("a <stall>"));
}

#[test]
fn a_command_that_fails_is_named_with_status_and_remedy_and_the_run_goes_on() {
    let (code, stderr, result, _) =
        run("[[event]]\nat = '100ms'\nrun = 'echo iscsi://u%s3cret@h/iqn/0: no such volume >&2; exit 3'\n");
    assert_eq!(code, 1, "{stderr}");
    let event = only(&result);
    assert_eq!(event.outcome.exit_status, Some(3));
    assert!(result.points[0].window_s > 0.99);
    let told = result.verdicts.iter().find(|verdict| verdict.contains("exit status 3")).expect("a verdict");
    assert!(told.contains("no such volume") && told.contains("correct `run`"), "{told}");
    assert!(stderr.contains("rigel: warning: event"), "{stderr}");
    let whole = format!("{stderr}{}", serde_json::to_string(&result).unwrap());
    assert!(!whole.contains("s3cret"), "{whole}");
}

#[test]
fn a_command_that_hangs_is_killed_with_its_group_after_its_timeout() {
    let began = Instant::now();
    let (code, _, result, _) = run("[[event]]\nat = '100ms'\nrun = 'sleep 300 | cat'\ntimeout = '300ms'\n");
    assert!(began.elapsed().as_secs() < 60);
    let outcome = &only(&result).outcome;
    assert_eq!((code, outcome.exit_status), (1, None));
    let took_s = outcome.end_s.unwrap() - outcome.start_s.unwrap();
    assert!((0.3..1.0).contains(&took_s), "{took_s}");
    assert!(outcome.trouble.as_ref().unwrap().contains("still ran after 300ms and was killed"), "{outcome:?}");
}

#[test]
fn a_command_that_outlasts_its_point_is_waited_for_and_its_end_kept() {
    let (code, _, result, _) = run("[[event]]\nat = '900ms'\nrun = 'sleep 0.5; echo late'\n");
    let outcome = &only(&result).outcome;
    assert_eq!((code, outcome.output.as_str()), (0, "late"));
    assert!(outcome.end_s.unwrap() > 1.3, "{outcome:?}");
}

#[test]
fn an_event_is_at_the_points_that_it_names() {
    let job = "[[event]]\nat = '50ms'\nrun = 'echo here'\npoints = [2]\n[[event]]\nat = '10ms'\nrun = 'echo everywhere'\n\
               [sweep]\nqueue_depth = [1, 2, 3]\n";
    let (code, stderr, result, _) = run(job);
    assert_eq!(code, 0, "{stderr}");
    let outputs = |point: usize| -> Vec<&str> {
        result.points[point].events.iter().map(|event| event.outcome.output.as_str()).collect()
    };
    assert_eq!(
        [outputs(0), outputs(1), outputs(2)],
        [vec!["everywhere"], vec!["everywhere", "here"], vec!["everywhere"]]
    );
    let middle = &result.points[1].events;
    assert!(middle[0].outcome.start_s < middle[1].outcome.start_s);
}

#[test]
fn an_interrupted_run_ends_its_commands() {
    let folder = tempfile::tempdir().unwrap();
    let job = "[[target]]\nuri = 'null://1g'\n[run]\nramp = '0s'\ntime = '20s'\ninterval = '100ms'\n\
               [[event]]\nat = '100ms'\nrun = 'sleep 300'\ntimeout = '10min'\n";
    fs::write(folder.path().join("job.toml"), job).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(["run", "job.toml", "--out", "kept", "--no-archive"]).current_dir(folder.path());
    let began = Instant::now();
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert!(began.elapsed().as_secs() < 15);
    let result = from_json(&fs::read_to_string(folder.path().join("kept/result.json")).unwrap()).unwrap();
    let outcome = &only(&result).outcome;
    assert!(outcome.trouble.as_ref().is_some_and(|trouble| trouble.contains("interrupted")), "{outcome:?}");
}

#[test]
fn events_that_cannot_be_are_refused_before_any_io() {
    let on = |target: &str, event: &str| {
        let folder = tempfile::tempdir().unwrap();
        let job = format!("[[target]]\nuri = '{target}'\n[run]\nramp = '1s'\ntime = '1s'\n[[event]]\n{event}\n");
        fs::write(folder.path().join("job.toml"), job).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
        let outcome = command.args(["run", "job.toml"]).current_dir(folder.path()).output().unwrap();
        (outcome.status.code(), String::from_utf8_lossy(&outcome.stderr).into_owned())
    };
    for (target, event, says) in [
        ("null://1g", "at = '2s'\nrun = 'true'", "a point is over after 2s"),
        ("null://1g", "at = '1'\nrun = 'true'", "job.toml:7:6: "),
        ("null://1g", "at = '1s'\nrun = ' '", "the command is empty"),
        ("null://1g", "at = '1s'", "missing field `run`"),
        ("null://1g", "at = '1s'\nrun = 'true'\ntimeout = '0s'", "leaves the command no time"),
        ("null://1g", "at = '1s'\nrun = 'true'\npoints = []", "`points` names none"),
        ("null://1g", "at = '1s'\nrun = 'true'\npoints = [0]", "points"),
        ("null://1g", "at = '1s'\nrun = 'true'\npoints = [2]", "there is none numbered 2"),
        ("null://1g", "at = '1s'\nrun = 'true'\nwhen = 3", "unknown field `when`"),
        ("sim://constant-100us", "at = '1s'\nrun = 'true'", "the time of a sim:// target is virtual"),
    ] {
        let (code, said) = on(target, event);
        assert_eq!(code, Some(2), "{event}: {said}");
        assert!(said.contains(says), "{event}: {said}");
    }
}

#[test]
fn a_secret_is_run_but_stands_in_no_printed_form() {
    // Whatever the job goes through on its way, the command that is run has all 24 characters of the URI.
    let (code, stderr, result, page) = run(
        "[[event]]\nat = '100ms'\nrun = 'X=iscsi://u%s3cret@h/iqn/0; test ${#X} -eq 24'\nlabel = 'to iscsi://u%s3cret@h/0'\n",
    );
    assert_eq!((code, only(&result).outcome.exit_status), (0, Some(0)), "{stderr}");
    let whole = format!("{stderr}{page}{}", serde_json::to_string(&result).unwrap());
    assert!(!whole.contains("s3cret") && whole.contains("u%***"), "{whole}");
}
