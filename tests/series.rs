//! The series of a run: complete when it ends, readable when it does not.
//!
//! The runs go through the command line; what they leave is read with the library.

#[path = "common/cli.rs"]
mod cli;
#[path = "common/figures.rs"]
mod figures;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cli::{Outcome, Running, rigel};
use nix::sys::signal::Signal;
use rigel::clock::Clock;
use rigel::engine::record::{ArrivalFigures, IntervalFigures, Phase};
use rigel::result::RunResult;
use rigel::result::series::{Header, Interval, PointEnd, Series, SeriesError, SeriesPhase, line, read};
use rigel::units::Ticks;

fn series_in(folder: &Path) -> Series {
    let bytes = fs::read(folder.join("series.jsonl")).unwrap();
    read(&bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks that intervals follow each other without a gap, point by point, ramp before window.
#[track_caller]
fn assert_contiguous(series: &Series) {
    let mut last: Option<&Interval> = None;
    for interval in series.intervals() {
        let start = last.filter(|last| last.point == interval.point).map_or(0.0, |last| last.end_s);
        assert_eq!(interval.start_s, start, "point {}", interval.point);
        assert!(interval.end_s > interval.start_s, "{interval:?}");
        if let Some(last) = last.filter(|last| last.point == interval.point) {
            assert!(last.phase == interval.phase || interval.phase == SeriesPhase::Window);
        }
        last = Some(interval);
    }
}

/// Checks that the intervals of the windows add up to the result, by point, workload and operation.
#[track_caller]
fn assert_adds_up(result: &RunResult, series: &Series) {
    assert_contiguous(series);
    assert!(!series.torn);
    assert_eq!((&series.header.plan, &series.header.facts), (&result.plan, &result.facts));
    assert_eq!((&series.header.command, &series.header.job), (&result.command, &result.job));
    for (p, point) in result.points.iter().enumerate() {
        let window: Vec<_> = series.intervals().filter(|i| i.point == p && i.phase == SeriesPhase::Window).collect();
        let ramp = series.intervals().filter(|i| i.point == p && i.phase == SeriesPhase::Ramp);
        let ramp = ramp.flat_map(|i| &i.workloads).map(|w| w.read.completions + w.write.completions);
        assert_eq!(ramp.sum::<u64>(), point.ramp.completions, "ramp of point {p}");
        let span_s = window.last().map_or(0.0, |last| last.end_s) - window.first().map_or(0.0, |first| first.start_s);
        assert!((span_s - point.window_s).abs() < 1e-9, "{span_s} s of {} s", point.window_s);
        for (w, workload) in point.workloads.iter().enumerate() {
            let parts = || window.iter().map(|interval| &interval.workloads[w]);
            assert!(parts().all(|part| part.name == workload.name));
            let bytes = result.plan.workloads[w].block_size.0;
            let reads = parts().map(|part| &part.read).collect::<Vec<_>>();
            let writes = parts().map(|part| &part.write).collect::<Vec<_>>();
            for (parts, whole) in [(reads, &workload.figures.read), (writes, &workload.figures.write)] {
                let sum =
                    |of: fn(&rigel::result::series::OpInterval) -> u64| parts.iter().map(|part| of(part)).sum::<u64>();
                assert_eq!(sum(|part| part.completions), whole.completions);
                assert_eq!(sum(|part| part.bytes), whole.completions * bytes);
                assert_eq!(sum(|part| part.errors), whole.errors);
                let most = parts.iter().filter_map(|part| part.service.as_ref()).map(|service| service.max_ns).max();
                assert_eq!(most, whole.service.as_ref().map(|service| service.max_ns));
                let most = parts.iter().filter_map(|part| part.response.as_ref()).map(|response| response.max_ns).max();
                assert_eq!(most, whole.response.as_ref().map(|response| response.max_ns));
            }
            let arrivals = parts().filter_map(|part| part.arrivals.as_ref()).collect::<Vec<_>>();
            let whole = workload.arrivals.as_ref();
            assert_eq!(arrivals.is_empty(), whole.is_none());
            if let Some(whole) = whole {
                assert_eq!(arrivals.iter().map(|part| part.offered).sum::<u64>(), whole.offered);
                assert_eq!(arrivals.iter().map(|part| part.sent).sum::<u64>(), whole.sent);
                assert_eq!(arrivals.last().unwrap().backlog, whole.backlog);
            }
        }
    }
    let ends: Vec<_> = result.points.iter().zip(0..).map(|(p, n)| (n, p.ended_early.clone())).collect();
    assert_eq!(series.ends().map(|end| (end.point, end.ended_early.clone())).collect::<Vec<_>>(), ends);
}

#[track_caller]
fn runs_and_adds_up(line: &str) -> Series {
    let outcome = rigel(&format!("run {line} --quiet")).ends_with(0);
    assert_eq!(outcome.stderr, "");
    let series = series_in(&outcome.result_folder());
    assert_adds_up(&outcome.result(), &series);
    series
}

#[test]
fn the_intervals_of_simulated_targets_add_up_to_the_result() {
    let short = "--ramp 30ms --time 200ms --interval 10ms";
    let series = runs_and_adds_up(&format!("-t sim://constant-100us -q 1,8 --read-percent 70 {short}"));
    assert_eq!(series.intervals().count(), 2 * (3 + 20));
    let first = &series.records[0];
    let rigel::result::series::Record::Interval(first) = first else { panic!("{first:?}") };
    assert_eq!((first.start_s, first.end_s, first.phase), (0.0, 0.01, SeriesPhase::Ramp));
    runs_and_adds_up(&format!("-t sim://constant-100us -t sim://?service=70us --rate 20k --read-percent 50 {short}"));
    // Longer than an interval: nothing is seen in between, and the interval becomes longer.
    let series = runs_and_adds_up("-t sim://?service=50ms -q 1 --ramp 0s --time 200ms --interval 10ms");
    assert!(series.intervals().count() < 20);
}

#[test]
fn the_intervals_of_a_target_in_real_time_add_up_to_the_result() {
    let short = "--ramp 30ms --time 200ms --interval 10ms";
    runs_and_adds_up(&format!("-t null://1g -q 4 --read-percent 70 {short}"));
    runs_and_adds_up(&format!("-t null://1g -t null://2g --rate 20k --read-percent 70 {short}"));
}

#[test]
fn a_run_that_is_interrupted_keeps_its_series_whole() {
    let mut running = Running::start("run -t null://1g --ramp 0s --time 60s --interval 50ms");
    running.wait_for(" window: ");
    running.signal(Signal::SIGTERM);
    let outcome = running.wait().ends_with(5);
    let series = series_in(&outcome.result_folder());
    assert_adds_up(&outcome.result(), &series);
    assert_eq!(series.ends().next().unwrap().ended_early.as_deref(), Some("interrupted"));
}

#[test]
fn a_folder_with_the_series_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/series.jsonl"), "kept").unwrap();
    let outcome = Running::start_in(folder, "run -t sim://constant-100us --time 10ms --out out").wait();
    outcome.refuses(3, &["out", "holds the series of a run already", "--out"]);
    assert_eq!(fs::read_to_string(outcome.folder().join("out/series.jsonl")).unwrap(), "kept");
}

#[test]
fn whatever_kills_a_run_every_finished_interval_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let mut missing: Vec<f64> = Vec::new();
    // Without a library for it: any spread of moments will do.
    let mut seed = std::process::id();
    for turn in 0..50 {
        let out = folder.path().join(turn.to_string());
        let file = out.join("series.jsonl");
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
        command.args(["run", "-t", "null://1g", "--read-percent", "70", "-q", "2", "--quiet"]);
        command.args(["--ramp", "20ms", "--time", "60s", "--interval", "10ms", "--out"]).arg(&out);
        let mut child = command.spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(20);
        let lines = || fs::read(&file).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count();
        while lines() < 2 {
            assert!(Instant::now() < limit, "turn {turn}: no interval came");
            std::thread::sleep(Duration::from_millis(1));
        }
        let begun = Instant::now();
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_micros(u64::from(seed) % 350_000));
        let lived_s = begun.elapsed().as_secs_f64();
        child.kill().unwrap();
        child.wait().unwrap();

        let series = series_in(&out);
        assert_contiguous(&series);
        assert_eq!(series.header.kind, "rigel-series");
        let last = series.intervals().last().unwrap_or_else(|| panic!("turn {turn}: no interval")).end_s;
        let first = series.intervals().next().unwrap().end_s;
        missing.push(lived_s - (last - first));
    }
    // On a busy machine a process may stand still at any moment; in most turns it does not.
    missing.sort_by(f64::total_cmp);
    println!("seconds without an interval before the end: median {:.3}, most {:.3}", missing[25], missing[49]);
    assert!(missing[25] < 0.1, "{missing:?}");
}

#[test]
fn a_full_disk_is_told_and_the_run_goes_on() {
    let Some(disk) = SmallDisk::mount() else { return };
    let out = disk.path().join("out");
    let line = format!("run -t null://1g -q 2 --ramp 0s --time 3s --interval 10ms --out {}", out.display());
    let mut running = Running::start(&line);
    running.wait_for(" window: ");
    let ballast = disk.fill();
    running.wait_for("cannot write the series to");
    // Room for the result, which is asked for last.
    fs::remove_file(&ballast).unwrap();
    let outcome = running.wait().ends_with(4);
    for part in ["out/series.jsonl: No space left on device", "Make room", "--out", "the run goes on"] {
        assert!(outcome.stderr.contains(part), "`{part}` is missing in: {}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("cannot write the series").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stdout.contains(&format!("Result: {}", out.display())), "{}", outcome.stdout);
    let result = rigel::result::from_json(&fs::read_to_string(out.join("result.json")).unwrap()).unwrap();
    assert!(result.points[0].window_s > 2.9 && result.points[0].ended_early.is_none());
    let series = series_in(&out);
    assert_contiguous(&series);
    assert!(!series.torn && series.intervals().last().unwrap().end_s < 2.9);
}

#[test]
fn a_disk_without_room_for_the_result_costs_only_its_place() {
    let Some(disk) = SmallDisk::mount() else { return };
    let out = disk.path().join("out");
    let aside = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigel"));
    command.args(["run", "-t", "null://1g", "-q", "2", "--ramp", "0s", "--time", "2500ms"]);
    command.args(["--interval", "10ms", "--out"]).arg(&out).env("TMPDIR", aside.path());
    let mut running = Running::spawn(tempfile::tempdir().unwrap(), command);
    running.wait_for(" window: ");
    disk.fill();
    let outcome = running.wait().ends_with(4);
    assert!(outcome.stderr.contains("cannot write the result to"), "{}", outcome.stderr);
    let place = outcome.stdout.rsplit("Result: ").next().unwrap().trim();
    assert!(Path::new(place).starts_with(aside.path()) && outcome.stderr.contains(place), "{}", outcome.stderr);
    let text = fs::read_to_string(Path::new(place).join("result.json")).unwrap();
    assert_eq!(rigel::result::from_json(&text).unwrap().points.len(), 1);
    assert_contiguous(&series_in(&out));
}

/// Needs no privileges: a limit on the size of files stands for the full disk.
#[test]
fn a_series_that_meets_a_limit_ends_with_its_last_whole_line() {
    let mut command = Command::new("bash");
    let limited = "trap '' XFSZ; ulimit -f 24; exec \"$0\" \"$@\"";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_rigel")]);
    command.args("run -t null://1g --rate 500 --quiet --ramp 0s --time 2500ms --interval 10ms".split(' '));
    let outcome = Running::spawn(tempfile::tempdir().unwrap(), command).wait().ends_with(4);
    assert!(outcome.stderr.contains("series.jsonl: File too large"), "{}", outcome.stderr);
    let folder = outcome.result_folder();
    let series = series_in(&folder);
    assert_contiguous(&series);
    assert!(!series.torn && series.intervals().count() > 10);
    assert!(outcome.result().points[0].window_s > 2.4);
}

#[test]
fn a_disk_that_is_full_before_the_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rigel")]);
    command.args("run -t null://1g --quiet".split(' '));
    let outcome = Running::spawn(folder, command).wait();
    outcome.refuses(3, &["series.jsonl: File too large", "--out"]);
}

/// A file system of 4 MiB; unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None, and the reason printed, where nothing may be mounted.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(folder.path());
        match mount.output() {
            Ok(out) if out.status.success() => Some(Self(folder)),
            Ok(out) => {
                println!("not tested: mount: {}", String::from_utf8_lossy(&out.stderr).trim());
                None
            }
            Err(error) => {
                println!("not tested: mount: {error}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room that is left; the file that does.
    fn fill(&self) -> std::path::PathBuf {
        let ballast = self.path().join("ballast");
        let mut file = fs::File::create(&ballast).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

/// A made-up series of a header, two intervals and the end of the point.
fn made_up() -> (RunResult, Vec<Vec<u8>>) {
    let result = figures::mixed();
    let point = figures::drive(&result.plan, 1);
    let mut interval = IntervalFigures {
        start: Ticks(0),
        end: Ticks(20_000_000),
        phase: Phase::Ramp,
        cells: point.ramp.clone(),
        arrivals: vec![Some(ArrivalFigures { offered: 7, sent: 6, ..ArrivalFigures::default() })],
        backlog: vec![1],
    };
    let clock = Clock::virtual_ns();
    let first = Interval::of(&result.plan, &clock, 1, &interval);
    (interval.start, interval.end, interval.phase) = (Ticks(20_000_000), point.window, Phase::Window);
    interval.cells.clone_from(&point.cells);
    let second = Interval::of(&result.plan, &clock, 1, &interval);
    let RunResult { tool, started_at, command, job, plan, facts, .. } = result.clone();
    let header = Header { schema: 1, kind: "rigel-series".to_owned(), tool, started_at, command, job, plan, facts };
    (result, vec![line(&header), line(&first), line(&second), line(&PointEnd::from(&point))])
}

#[test]
fn an_interval_holds_what_the_result_would() {
    let (result, lines) = made_up();
    let series = read(&lines.concat()).unwrap();
    let point = &result.points[1].workloads[0].figures;
    let interval = &series.intervals().nth(1).unwrap().workloads[0];
    for (part, whole) in [(&interval.read, &point.read), (&interval.write, &point.write)] {
        let (part, exact) = (part.service.as_ref().unwrap(), whole.service.as_ref().unwrap());
        assert_eq!((part.mean_ns, part.max_ns), (exact.mean_ns, exact.max_ns));
        for (ns, archived) in [(part.p50_ns, exact.p50_ns), (part.p99_ns, exact.p99_ns), (part.p999_ns, exact.p999_ns)]
        {
            assert!(ns.abs_diff(archived) as f64 <= archived as f64 / 512.0, "{ns} ns, {archived} ns in the result");
        }
    }
    let arrivals = interval.arrivals.as_ref().unwrap();
    assert_eq!((arrivals.offered, arrivals.sent, arrivals.backlog, arrivals.slip_p99_ns), (7, 6, 1, None));
}

#[test]
fn a_series_cut_off_anywhere_keeps_all_that_was_finished() {
    let (_, lines) = made_up();
    let whole = read(&lines.concat()).unwrap();
    assert_eq!((whole.records.len(), whole.torn), (3, false));
    let bytes = lines.concat();
    let ends: Vec<usize> = lines
        .iter()
        .scan(0, |end, line| {
            Some({
                *end += line.len();
                *end
            })
        })
        .collect();
    for length in (0..bytes.len()).step_by(7).chain(ends.iter().copied()).chain(ends.iter().map(|end| end - 1)) {
        let finished = ends.iter().filter(|&&end| end <= length).count();
        match read(&bytes[..length]) {
            Ok(series) => {
                assert_eq!(series.records, whole.records[..finished - 1]);
                assert_eq!(series.torn, !ends.contains(&length), "{length}");
            }
            Err(error) => assert!(finished == 0 && error == SeriesError::NoHeader, "{length}: {error}"),
        }
    }
}

#[test]
fn damage_in_the_middle_is_named_with_its_line() {
    let (_, mut lines) = made_up();
    lines[2].splice(30..40, [0; 10]);
    let message = read(&lines.concat()).unwrap_err().to_string();
    assert!(message.contains("line 3 of the series is damaged"), "{message}");
}

/// Where a run keeps what it measured.
trait ResultFolder {
    fn result_folder(&self) -> std::path::PathBuf;
}

impl ResultFolder for Outcome {
    fn result_folder(&self) -> std::path::PathBuf {
        let mut folders = fs::read_dir(self.folder().join("rigel-results")).unwrap();
        folders.next().unwrap().unwrap().path()
    }
}
