//! `rigel run`: job → targets → plan → engine → result. Owns the order of these steps and what is printed between them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::args::RunArgs;
use super::ceiling;
use super::events::EventRunner;
use super::exit::{Exit, Failure};
use super::fill;
use super::host;
use super::live::{Connecting, Live, warn};
use super::out::to_stdout;
use super::save::{Folder, timestamp};
use super::series::SeriesFile;
use super::watch::HostWatch;
use crate::clock::{Clock, Since};
use crate::driver::{AnyBackend, select};
use crate::engine::{Event, PointFigures, RunControl, run_any};
use crate::fill::Filling;
use crate::plan::{self, Plan, PlanError};
use crate::report::text::{self, Style};
use crate::result::{self, ClockResult, Facts, PayloadResult, PointResult, Provenance, RunResult, Tool};
use crate::spec::{self, EventSpec, Job, Load, Uri, redact};

/// Runs the job; the exit says how it went.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let mut job = read_job(args.job.as_deref())?;
    job.apply(args.overrides())?;
    if job.target.is_empty() {
        return Err(PlanError::NoTarget.into());
    }
    let started = SystemTime::now();
    let folder = Folder::open(job.run.out.as_deref(), started)?;
    let uris: Vec<Uri> = job.target.iter().map(|target| target.uri.clone()).collect();
    let connecting = Connecting::show(args.quiet);
    let backend = select(&uris, greatest_depth(&job))?;
    let (clock, doubt) = clock(&backend, job.run.trust_clock())?;
    let targets = backend.facts();
    drop(connecting);
    let plan = plan::resolve(&job, &targets, &host::cores())?;
    let filling = job.precondition.is_some().then(|| Filling::of(&job, &targets, &host::cores())).transpose()?;
    if !args.quiet {
        print_map(&plan::describe(&plan, &targets), args.json)?;
    }
    let host = host::facts(&clock, backend.virtual_time());
    let clock_result = ClockResult {
        source: host.clock.clone(),
        ticks_per_s: clock.ticks_per_s(),
        calibration_error_ppm: clock.error_ppm(),
        drift_ppm: None,
        checked_s: 0.0,
        doubt,
    };
    let provenance = Provenance {
        tool: tool(),
        started_at: timestamp(started),
        command: command_line(&uris),
        job: serde_json::to_value(&job).unwrap_or_default(),
        plan: plan.clone(),
        facts: Facts { targets, host },
        clock: Some(clock_result),
        headroom: None,
        payload: PayloadResult::of(&plan),
    };
    let outcome = measure(&backend, (&plan, filling.as_ref(), &job.event), &clock, args, provenance, &folder)?;
    if outcome.unsaved.is_none() {
        folder.save_page(&outcome.result).unwrap_or_else(|failure| warn(&failure.to_string()));
    }
    archive(&outcome.result, args, &folder);
    finish(outcome, args, &folder, started)
}

/// The clock of the run; with `trust` also one that is refused otherwise, with the reason.
pub(super) fn clock(backend: &AnyBackend, trust: bool) -> Result<(Clock, Option<String>), Failure> {
    match backend.clock() {
        Ok(clock) => Ok((clock, None)),
        Err(refused) if trust => Ok((Clock::calibrate_anyway(), Some(refused.to_string()))),
        Err(refused) => Err(refused.into()),
    }
}

/// The job of a file, or one with every default.
pub(super) fn read_job(path: Option<&Path>) -> Result<Job, Failure> {
    let Some(path) = path else { return Ok(Job::default()) };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|reason| Failure::Read { path: name.clone(), reason })?;
    Ok(spec::parse(&text, &name)?)
}

/// The most I/Os that any point has outstanding on one target.
fn greatest_depth(job: &Job) -> u32 {
    let of_point = |loads: Vec<Load>| loads.iter().fold(0u32, |sum, load| sum.saturating_add(load.depth()));
    // And one for what is left of a region at either end.
    let filling = job.precondition.as_ref().map_or(0, |fill| fill.queue_depth().saturating_add(2));
    job.points().into_iter().map(of_point).max().unwrap_or(1).max(filling)
}

pub(super) fn print_map(map: &str, to_stderr: bool) -> Result<(), Failure> {
    if to_stderr {
        eprintln!("{}", map.trim_end());
        return Ok(());
    }
    to_stdout(format!("{}\n", map.trim_end()))
}

/// Runs the points; the result is saved after each, so that no finished point is lost.
fn measure(
    backend: &AnyBackend,
    (plan, filling, job_events): (&Plan, Option<&Filling>, &[EventSpec]),
    clock: &Clock,
    args: &RunArgs,
    mut provenance: Provenance,
    folder: &Folder,
) -> Result<Outcome, Failure> {
    let control = Arc::new(RunControl::default());
    let handler = Arc::clone(&control);
    // Ends within the drain's limit, so that one signal is enough.
    if let Err(error) = ctrlc::set_handler(move || handler.interrupt.store(true, Ordering::Relaxed)) {
        tracing::warn!("Ctrl-C cannot be caught ({error}); an interrupted run will leave no partial result");
    }
    let filled =
        filling.map(|filling| fill::precondition(filling, (backend, clock), &control, args.quiet)).transpose()?;
    let since = Since::now();
    let mut watch = HostWatch::new(plan, clock);
    let mut events = EventRunner::new(job_events, &control, args.quiet);
    provenance.headroom = ceiling::measure(plan, &provenance.facts.targets, clock, &control);
    let mut points: Vec<PointResult> = Vec::new();
    let mut series = SeriesFile::create(folder.path(), &provenance)?;
    let mut live = Live::new(plan, clock, args.quiet);
    let mut told = false;
    let figures = run_any(backend, plan, clock, &control, &mut |event| {
        series.take(plan, clock, &event);
        live.show(&event);
        events.see(clock, &event);
        events.said().iter().for_each(|line| live.say(line));
        if !backend.virtual_time() {
            watch.see(&event);
        }
        if let Some(trouble) = series.trouble().filter(|_| !std::mem::replace(&mut told, true)) {
            live.warn(&format!("{trouble}; the run goes on"));
        }
        if let Event::PointDone(figures) = event {
            points.push(PointResult {
                host: watch.take(),
                events: events.take(plan, clock),
                ..result::point(plan, clock, figures)
            });
            check_clock(&mut provenance, &since, clock, backend);
            if let Err(failure) = folder.save(&RunResult::new(provenance.clone(), points.clone()).after(filled.clone()))
            {
                live.warn(&format!("{failure}; the run goes on, and it is tried again"));
            }
        }
    });
    live.finish();
    events.finish(&mut points);
    let figures: Vec<PointFigures> = match figures {
        Ok(figures) => figures,
        Err(error) => {
            series.abandon();
            return Err(error.into());
        }
    };
    let trouble = series.finish();
    if let Some(trouble) = trouble.as_ref().filter(|_| !told) {
        warn(trouble);
    }
    let interrupted = control.interrupt.load(Ordering::Relaxed);
    let lost = figures.iter().any(|point| point.ended_early.is_some() && !point.overloaded);
    check_clock(&mut provenance, &since, clock, backend);
    let result = RunResult::new(provenance, points).after(filled);
    let unsaved = folder.save(&result).and_then(|()| folder.export(&result)).err();
    Ok(Outcome { result, interrupted, lost, cut_series: trouble.is_some(), unsaved })
}

/// Notes how far the clock has drifted so far; a virtual one does not.
fn check_clock(provenance: &mut Provenance, since: &Since, clock: &Clock, backend: &AnyBackend) {
    if let Some(result) = provenance.clock.as_mut().filter(|_| !backend.virtual_time()) {
        let (span, drift_ppm) = since.drift_ppm(clock);
        (result.drift_ppm, result.checked_s) = (Some(drift_ppm), span.as_secs_f64());
    }
}

/// Keeps the result in the archive. The folder holds it in any case, so that a failure here is told and no more.
#[cfg(feature = "archive")]
fn archive(result: &RunResult, args: &RunArgs, folder: &Folder) {
    if args.no_archive {
        return;
    }
    let keep = || {
        let path = std::fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
        let mut archive = crate::archive::Archive::open(&super::find::path(&args.archive))?;
        archive.add(result, &crate::report::json::render(result), &path.display().to_string())
    };
    if let Err(error) = keep() {
        warn(&format!("the result is in its folder, but not in the archive: {error}"));
    }
}

#[cfg(not(feature = "archive"))]
fn archive(_result: &RunResult, _args: &RunArgs, _folder: &Folder) {}

struct Outcome {
    result: RunResult,
    interrupted: bool,
    lost: bool,
    cut_series: bool,
    unsaved: Option<Failure>,
}

fn finish(outcome: Outcome, args: &RunArgs, folder: &Folder, started: SystemTime) -> Result<Exit, Failure> {
    let Outcome { result, interrupted, lost, cut_series, unsaved } = outcome;
    let kept = match &unsaved {
        None => Some(folder.path().to_owned()),
        Some(failure) => {
            let aside = Folder::save_aside(&result, started);
            let place = aside.as_ref().map(|path| format!("; it stands in {}, copy it from there", path.display()));
            warn(&format!("{failure}{}", place.unwrap_or_default()));
            aside
        }
    };
    if args.json {
        to_stdout(crate::report::json::render(&result))?;
        if !args.quiet {
            eprint!("{}", text::acceptances(&result));
            result.verdicts.iter().for_each(|verdict| eprintln!("note: {verdict}"));
        }
    } else {
        let table = text::table(&result, style());
        let place = kept.map_or_else(|| "not saved".to_owned(), |path| path.display().to_string());
        to_stdout(format!("{}\nResult: {place}\n", table.trim_end()))?;
    }
    Ok(match () {
        () if unsaved.is_some() => Exit::IoErrors,
        () if interrupted => Exit::Interrupted,
        () if lost || cut_series || result.has_errors() => Exit::IoErrors,
        () if !result.is_accepted() || result.has_failed_events() => Exit::NotAccepted,
        () => Exit::Done,
    })
}

/// What stdout can show.
pub(super) fn style() -> Style {
    use std::io::IsTerminal;
    if std::io::stdout().is_terminal() {
        Style::terminal(terminal_size::terminal_size().map_or(100, |(width, _)| width.0))
    } else {
        Style { unicode: true, ..Style::plain() }
    }
}

fn tool() -> Tool {
    Tool {
        name: "rigel".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        spdk: spdk_wrapper::SPDK_VERSION.to_owned(),
        git: env!("RIGEL_GIT").to_owned(),
    }
}

/// The command as typed, but for targets, which stand there without their secrets.
fn command_line(uris: &[Uri]) -> Vec<String> {
    let mut targets = uris.iter();
    let mut words = std::env::args();
    let mut line = Vec::new();
    while let Some(word) = words.next() {
        let flag = word == "--target" || word == "-t";
        if word.starts_with("--target=") || (word.starts_with("-t") && word.len() > 2) {
            line.push(format!("--target={}", targets.next().map(ToString::to_string).unwrap_or_default()));
            continue;
        }
        line.push(redact(&word));
        if flag {
            let _ = words.next();
            line.push(targets.next().map(ToString::to_string).unwrap_or_default());
        }
    }
    line
}
