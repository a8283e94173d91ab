//! `rigel ab`: a job in two ways, run in alternation, and what differs. Owns the order of runs, the command between them,
//! and the folder of a study, which can be gone on with.
//!
//! Each run is a process of its own, so that what a start decides (memory, connections) differs from run to run as it does
//! in life.

mod order;
mod study;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

pub(super) use study::StudyError;

use super::args::AbArgs;
use super::compare::{exit, limits, resolution, show};
use super::exit::{Exit, Failure};
use super::find::{self, Found};
use super::live::warn;
use super::out::to_stdout;
use crate::compare::{self, Design, Rules, Run, Side, Word};
use crate::result::series::Series;
use crate::spec::redact;
use crate::units::{format_count, format_duration, parse_duration};
use order::first_of;
use study::{Design as StudyDesign, Study};

/// Runs the pairs that are missing, and compares them all.
pub(super) fn run(args: &AbArgs) -> Result<Exit, Failure> {
    let limits = limits(&args.judging)?;
    let resolution = resolution(&args.judging)?;
    let settle =
        parse_duration(&args.settle).map_err(|error| Failure::Flag { flag: "--settle", reason: error.to_string() })?;
    let design = StudyDesign::of(args)?;
    let mut study = Study::open(args.out.as_deref(), design, SystemTime::now())?;
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // What runs at the time is told so too, and ends by itself.
    if let Err(error) = ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed)) {
        tracing::warn!("Ctrl-C cannot be caught ({error})");
    }
    let ended = run_pairs(args, &study, settle, &stop);
    let done = study.pairs_done();
    let complaint = ended.err();
    if done < 2 {
        return match complaint {
            Some(failure) => Err(failure),
            None if stop.load(Ordering::Relaxed) => Err(StudyError::Interrupted { done }.into()),
            None => Err(StudyError::TooFew { done }.into()),
        };
    }
    let look = study.look(done)?;
    let rules = Rules { design: Design::Paired, resolution, look, ..Rules::default() };
    let found = study.results(done)?;
    let series: Vec<[Option<Series>; 2]> = found.iter().map(|pair| [series(&pair[0]), series(&pair[1])]).collect();
    let side = |of: usize| {
        let runs = found.iter().zip(&series);
        Side {
            label: study.label(of).to_owned(),
            runs: runs.map(|(found, series)| Run { result: &found[of].result, series: series[of].as_ref() }).collect(),
        }
    };
    let sides = [side(0), side(1)];
    let comparison = compare::compare(&sides[0], &sides[1..], &limits, &rules)?;
    show(&comparison, &sides, args.json, Some(study.folder()))?;
    if !args.json {
        to_stdout(format!("Study: {}\n", study.folder().display()))?;
        // The figure that takes the fewest: what takes thousands is seldom worth them.
        let open = comparison.cells.iter().filter_map(|cell| Some((needed(cell)?, cell)));
        if let Some((more, cell)) = open.min_by_key(|(more, _)| *more) {
            let (pairs, folder) = (done + more as usize, study.folder().display());
            let what = format!("{} at {}", cell.figure, cell.load);
            to_stdout(format!("To tell {what}: the same command with --pairs {pairs} --out {folder}\n"))?;
        }
    }
    match complaint {
        _ if stop.load(Ordering::Relaxed) => Ok(Exit::Interrupted),
        Some(failure) => Err(failure),
        None => Ok(exit(&comparison, args.judging.strict)),
    }
}

fn needed(cell: &compare::Cell) -> Option<u32> {
    match cell.word {
        Some(Word::CannotTell { more }) => more,
        _ => None,
    }
}

fn series(found: &Found) -> Option<Series> {
    found.series_or_warn("its charts over time are missing")
}

/// Runs every pair that is not there yet.
fn run_pairs(args: &AbArgs, study: &Study, settle: Duration, stop: &AtomicBool) -> Result<(), Failure> {
    let pairs = args.pairs as usize;
    let began = Instant::now();
    let first = study.pairs_done();
    let mut active = None;
    for pair in first..pairs {
        study.make_room(pair)?;
        let of_first = first_of(study.seed(), pair);
        for side in [of_first, 1 - of_first] {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let done = (pair - first) * 2 + usize::from(side != of_first);
            progress(study, pair, pairs, side, left(began, done, (pairs - first) * 2));
            if active != Some(side) {
                if let Some(command) = &args.switch {
                    switch(command, study, side, stop)?;
                    wait(settle, stop);
                }
                active = Some(side);
            }
            if !run_one(args, study, pair, side, stop)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn progress(study: &Study, pair: usize, pairs: usize, side: usize, left: Option<Duration>) {
    let left = left.map(|left| format!(", about {} left", format_duration(left))).unwrap_or_default();
    eprintln!("pair {} of {pairs}: {}{left}", pair + 1, study.label(side));
}

/// What the remaining runs will take, in whole seconds, from those before.
fn left(began: Instant, done: usize, all: usize) -> Option<Duration> {
    let each = began.elapsed().as_secs_f64() / (done > 0).then_some(done)? as f64;
    Some(Duration::from_secs((each * (all - done) as f64).ceil() as u64))
}

fn wait(settle: Duration, stop: &AtomicBool) {
    let end = Instant::now() + settle;
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50).min(settle));
    }
}

/// Runs the user's command for a side. What it starts and leaves running is not waited for.
fn switch(command: &str, study: &Study, side: usize, stop: &AtomicBool) -> Result<(), Failure> {
    let label = study.label(side);
    let command = command.replace("{}", label);
    let failed = |reason: String| StudyError::Switch { command: redact(&command), reason: redact(&reason) };
    let log = study.folder().join("switch.log");
    let said = File::create(&log).map_err(|error| Failure::write(&log, error))?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&command).env("RIGEL_SIDE", label).stdin(Stdio::null());
    shell.stdout(said.try_clone().map_err(|error| Failure::write(&log, error))?).stderr(said);
    let ended = super::child::run(&mut shell, stop).map_err(|error| failed(error.to_string()))?;
    if ended.success() {
        return Ok(());
    }
    if stop.load(Ordering::Relaxed) {
        return Err(StudyError::Interrupted { done: study.pairs_done() }.into());
    }
    let said = std::fs::read(&log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(failed(format!("{ended}: {said}")).into())
}

/// Runs one side of a pair in a process of its own; whether the study goes on.
fn run_one(args: &AbArgs, study: &Study, pair: usize, side: usize, stop: &AtomicBool) -> Result<bool, Failure> {
    let folder = study.run_folder(pair, side);
    let log = study.folder().join("run.log");
    let program = std::env::current_exe().map_err(|error| StudyError::Start(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("run").args(&args.job);
    for spec in study::in_force(&args.set, if side == 0 { &args.a } else { &args.b }) {
        command.args(study::flags(spec)?);
    }
    for identity in &args.destroy {
        command.arg("--destroy").arg(identity);
    }
    command.arg("--set").arg(format!("run.seed={}", study.seed_of(pair)));
    command.arg("--out").arg(&folder).args(["--quiet", "--no-archive"]).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(&log).map_err(|error| Failure::write(&log, error))?);
    let ended = super::child::run(&mut command, stop).map_err(|error| StudyError::Start(error.to_string()))?;
    let said = std::fs::read(&log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    match ended.code() {
        // What a run's own acceptances say is in its result; the study looks at differences.
        Some(0 | 1) => {
            said.lines().for_each(|line| warn(line.trim_start_matches("rigel: warning: ")));
            tell(&folder);
            Ok(true)
        }
        Some(5) => {
            stop.store(true, Ordering::Relaxed);
            Ok(false)
        }
        _ if stop.load(Ordering::Relaxed) => Ok(false),
        code => {
            let how = code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
            let label = study.label(side).to_owned();
            Err(StudyError::Run { pair: pair + 1, label, how, said, code }.into())
        }
    }
}

/// A line on a finished run.
fn tell(folder: &Path) {
    if let Ok(found) = find::at(folder) {
        let points = found.result.points.iter();
        let iops: Vec<String> = points.map(|point| format_count(point.total.iops.round() as u64)).collect();
        eprintln!("    {} IOPS", iops.join(", "));
    }
}

/// The folder of a study that nobody has named.
fn usual_folder(now: SystemTime) -> PathBuf {
    super::save::free_name(&Path::new(super::save::RESULTS).join(format!("ab-{}", super::save::name_of(now))))
}
