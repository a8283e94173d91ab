//! A campaign that is killed and gone on with: nothing that was finished is run again, and the result is whole.

#[path = "common/cli.rs"]
mod cli;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cli::Running;
use rigel::result::series::{self, SeriesPhase};
use rigel::result::{Accepted, PointResult, RunResult, from_json};

/// Forty points of 60 ms.
const JOB: &str = "accept = [\"errors == 0\"]\n[[target]]\nuri = \"null://1g\"\n[run]\nramp = \"10ms\"\ntime = \"50ms\"\ninterval = \"10ms\"\n\
                   [sweep]\nblock_size = [\"4k\", \"8k\", \"16k\", \"32k\"]\nqueue_depth = [1, 2, 4, 8, 16]\nrepeats = 2\n";

fn folder(job: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.toml"), job).unwrap();
    folder
}

fn rigel(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.current_dir(folder).args(words.split_whitespace()).args(["--quiet", "--no-archive"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn result(folder: &Path) -> Option<RunResult> {
    let text = fs::read_to_string(folder.join("out/result.json")).ok()?;
    Some(from_json(&text).expect("a result is whole at any time"))
}

/// What makes a point the one it is, and one figure that no second run of it would repeat.
fn key(point: &PointResult) -> (usize, u32, u64) {
    let step = point.step.as_ref().expect("a campaign");
    (step.number, step.repeat, point.total.completions)
}

/// Runs the campaign, killing it after each of `pauses`, then to its end; returns how many points each start found.
fn kill_and_resume(dir: &Path, pauses: &[Duration]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut known: Vec<(usize, u32, u64)> = Vec::new();
    for (start, pause) in pauses.iter().map(Some).chain([None]).enumerate() {
        let begun = dir.join("out/series.jsonl").exists();
        // Every other time the job is named again.
        let words = match (begun, start % 2) {
            (false, _) => "run job.toml --out out",
            (true, 0) => "run job.toml --resume out",
            (true, _) => "run --resume out",
        };
        let mut child = rigel(dir, words).spawn().unwrap();
        match pause {
            Some(pause) => {
                std::thread::sleep(*pause);
                let _ = child.kill();
                child.wait().unwrap();
            }
            None => {
                let ended = child.wait_with_output().unwrap();
                assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
            }
        }
        let now: Vec<_> = result(dir).iter().flat_map(|result| result.points.iter().map(key)).collect();
        assert!(now.starts_with(&known), "a finished point was run again or lost:\n{known:?}\n{now:?}");
        if let Some(result) = result(dir) {
            let expected = if now.len() < 40 { Accepted::NotJudged } else { Accepted::Passed };
            assert_eq!(result.acceptances[0].outcome, expected, "{} points", now.len());
        }
        found.push(now.len());
        known = now;
    }
    found
}

#[track_caller]
fn assert_whole(dir: &Path) {
    let result = result(dir).expect("a result");
    let mut steps: Vec<(usize, u32)> = result.points.iter().map(|point| (key(point).0, key(point).1)).collect();
    let expected: Vec<(usize, u32)> = (1..=2).flat_map(|repeat| (0..20).map(move |number| (number, repeat))).collect();
    assert_eq!(steps, expected, "each point once, in order");
    steps.dedup();
    assert!(result.campaign.as_ref().is_some_and(|campaign| campaign.finished), "{:?}", result.verdicts);
    assert!(result.points.iter().all(|point| point.ended_early.is_none() && point.checks.conservation.ok));
    let series = series::read(&fs::read(dir.join("out/series.jsonl")).unwrap()).unwrap();
    assert_eq!(series.ends().map(|end| end.point).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    for (index, point) in result.points.iter().enumerate() {
        let window = series.intervals().filter(|i| i.point == index && i.phase == SeriesPhase::Window);
        let completions: u64 = window.map(|i| i.workloads[0].read.completions).sum();
        assert_eq!(completions, point.total.completions, "the series of point {index} is that of its result");
    }
    for file in ["report.html", "points.csv", "summary.txt", "latency.hlog"] {
        assert!(dir.join("out").join(file).exists(), "{file}");
    }
}

#[test]
fn a_campaign_killed_ten_times_at_any_moment_repeats_nothing_and_ends_whole() {
    let dir = folder(JOB);
    // Not multiples of anything in the job; the campaign takes some four seconds.
    let pauses: Vec<Duration> = (0..10u64).map(|k| Duration::from_millis(130 + k * 7919 % 430)).collect();
    let found = kill_and_resume(dir.path(), &pauses);
    assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{found:?}");
    assert!(found[..10].iter().any(|points| (1..40).contains(points)), "no kill hit the campaign: {found:?}");
    assert!(!result(dir.path()).unwrap().resumed_at.is_empty());
    assert_whole(dir.path());
}

#[test]
fn a_finished_campaign_has_nothing_left_to_run() {
    let dir = folder(JOB);
    assert!(rigel(dir.path(), "run job.toml --out out").status().unwrap().success());
    let before: Vec<_> = result(dir.path()).unwrap().points.iter().map(key).collect();
    assert!(rigel(dir.path(), "run --resume out").status().unwrap().success());
    assert_eq!(result(dir.path()).unwrap().points.iter().map(key).collect::<Vec<_>>(), before);
    assert_whole(dir.path());
}

#[test]
fn a_sweep_over_loads_alone_is_gone_on_with_too() {
    let job = "[[target]]\nuri = \"null://1g\"\n[run]\nramp = \"10ms\"\ntime = \"300ms\"\n[sweep]\nqueue_depth = [1, 2, 4, 8]\n";
    let dir = folder(job);
    let mut running = Running::start_in(dir, "run job.toml --out out --no-archive");
    running.wait_for("[2/4 QD 2]");
    running.signal(nix::sys::signal::Signal::SIGINT);
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(5), "{}", outcome.stderr);
    let first = result(outcome.folder()).unwrap();
    assert!(rigel(outcome.folder(), "run --resume out").status().unwrap().success());
    let whole = result(outcome.folder()).unwrap();
    assert_eq!(whole.points.iter().map(PointResult::label).collect::<Vec<_>>(), ["QD 1", "QD 2", "QD 4", "QD 8"]);
    assert_eq!(whole.points[0].total, first.points[0].total, "the finished point stands as it was");
    assert!(whole.points.iter().all(|point| point.ended_early.is_none()));
    assert_eq!(whole.started_at, first.started_at);
}

#[test]
fn another_run_is_not_gone_on_with() {
    let dir = folder(JOB);
    assert!(rigel(dir.path(), "run job.toml --out out --set sweep.repeats=1").status().unwrap().success());
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (words, says) in [
        ("run job.toml --resume out", "this job is not that of the run"),
        ("run job.toml --resume out --time 70ms --set sweep.repeats=1", "this job is not that of the run"),
        ("run job.toml --resume empty", "neither result.json nor series.jsonl is in it"),
        ("run job.toml --resume nowhere", "neither result.json nor series.jsonl is in it"),
        ("run job.toml --resume out --out other", "cannot be used with"),
    ] {
        let ended = rigel(dir.path(), words).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(says), "{words}: {said}");
    }
}

#[test]
fn a_run_cut_off_after_its_fill_and_before_its_first_point_goes_on() {
    let dir = folder(JOB);
    assert!(rigel(dir.path(), "run job.toml --out out").status().unwrap().success());
    // What is on the disk in that moment: a result without points, and no series yet.
    let mut bare: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("out/result.json")).unwrap()).unwrap();
    bare["points"] = serde_json::json!([]);
    fs::write(dir.path().join("out/result.json"), bare.to_string()).unwrap();
    fs::remove_file(dir.path().join("out/series.jsonl")).unwrap();
    let ended = rigel(dir.path(), "run --resume out").output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_whole(dir.path());
}
