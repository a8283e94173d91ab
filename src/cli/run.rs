//! `rigel run`: job → targets → plan → engine → result. Owns the order of these steps and what is printed between them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::args::{ArchiveArg, RunArgs};
use super::exit::{Exit, Failure};
use super::host;
use super::live::{Connecting, warn};
use super::out::to_stdout;
use super::points::{Before, Outcome, Points};
use super::resume::Resumed;
use super::save::{Folder, timestamp};
use crate::campaign::Campaign;
use crate::clock::Clock;
use crate::driver::{AnyBackend, select};
use crate::fill::Filling;
use crate::plan::{self, PlanError};
use crate::report::text::{self, Style};
use crate::result::{ClockResult, Facts, PayloadResult, Provenance, RunResult, Tool};
use crate::spec::{self, Job, Load, SearchField, Uri, redact};

/// Runs the job; the exit says how it went.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let resumed = args.resume.as_deref().map(Resumed::open).transpose()?;
    let kept = resumed.as_ref().map(|resumed| resumed.job(args)).transpose()?.flatten();
    let mut job = kept.map_or_else(|| read_job(args.job.as_deref()), Ok)?;
    job.apply(args.overrides())?;
    if job.target.is_empty() {
        return Err(PlanError::NoTarget.into());
    }
    let started = SystemTime::now();
    let folder = match &resumed {
        Some(resumed) => resumed.folder()?,
        None => Folder::open(job.run.out.as_deref(), started)?,
    };
    let uris: Vec<Uri> = job.target.iter().map(|target| target.uri.clone()).collect();
    let connecting = Connecting::show(args.quiet);
    let backend = select(&uris, greatest_depth(&job))?;
    let (clock, doubt) = clock(&backend, job.run.trust_clock())?;
    let targets = backend.facts();
    drop(connecting);
    let campaign = Campaign::of(&job, &targets, &host::cores())?;
    let plan = campaign.plan();
    let filling = job.precondition.is_some().then(|| Filling::of(&job, &targets, &host::cores())).transpose()?;
    if !args.quiet {
        print_map(&plan::describe(plan, &targets), args.json)?;
    }
    let facts = Facts { host: host::facts(&clock, backend.virtual_time()), targets };
    let mut provenance = provenance((&job, &campaign), facts, (&clock, doubt), started, command_line(&uris));
    let mut before = Before::default();
    if let Some(resumed) = &resumed {
        before = resumed.before(&provenance.job, plan, &provenance.facts)?;
        resumed.keep_beginning(&mut provenance, started);
    }
    let (filling, quiet) = (filling.as_ref(), args.quiet);
    let (events, backend) = (&job.event[..], &backend);
    let points = Points { campaign: &campaign, events, filling, backend, clock: &clock, folder: &folder, quiet };
    let outcome = points.run(provenance, before)?;
    if outcome.unsaved.is_none() {
        folder.save_page(&outcome.result).unwrap_or_else(|failure| warn(&failure.to_string()));
    }
    archive(&outcome.result, args.no_archive, &args.archive, &folder);
    finish(outcome, args, &folder, started)
}

/// What is known of a run before its first point.
pub(super) fn provenance(
    (job, campaign): (&Job, &Campaign),
    facts: Facts,
    (clock, doubt): (&Clock, Option<String>),
    started: SystemTime,
    command: Vec<String>,
) -> Provenance {
    let clock_result = ClockResult {
        source: facts.host.clock.clone(),
        ticks_per_s: clock.ticks_per_s(),
        calibration_error_ppm: clock.error_ppm(),
        drift_ppm: None,
        checked_s: 0.0,
        doubt,
    };
    Provenance {
        tool: tool(),
        started_at: timestamp(started),
        command,
        job: serde_json::to_value(job).unwrap_or_default(),
        plan: campaign.plan().clone(),
        facts,
        clock: Some(clock_result),
        headroom: None,
        payload: campaign.written().flat_map(PayloadResult::of).collect(),
        resumed_at: Vec::new(),
        campaign: None,
    }
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
pub(super) fn greatest_depth(job: &Job) -> u32 {
    let of_point = |loads: Vec<Load>| loads.iter().fold(0u32, |sum, load| sum.saturating_add(load.depth()));
    // And one for what is left of a region at either end.
    let filling = job.precondition.as_ref().map_or(0, |fill| fill.queue_depth().saturating_add(2));
    // A search goes as deep as it may.
    let searched = job.search.as_ref().filter(|search| search.field() != SearchField::Rate);
    let searched = searched.map_or(0, |search| search.deepest().min(u32::MAX.into()) as u32);
    let searched = searched.saturating_mul(job.workloads().len() as u32);
    job.points().into_iter().map(of_point).max().unwrap_or(1).max(filling).max(searched)
}

pub(super) fn print_map(map: &str, to_stderr: bool) -> Result<(), Failure> {
    if to_stderr {
        eprintln!("{}", map.trim_end());
        return Ok(());
    }
    to_stdout(format!("{}\n", map.trim_end()))
}

/// Keeps the result in the archive. The folder holds it in any case, so that a failure here is told and no more.
#[cfg(feature = "archive")]
pub(super) fn archive(result: &RunResult, no_archive: bool, place: &ArchiveArg, folder: &Folder) {
    if no_archive {
        return;
    }
    let keep = || {
        let path = std::fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
        let mut archive = crate::archive::Archive::open(&super::find::path(place))?;
        archive.add(result, &crate::report::json::render(result), &path.display().to_string())
    };
    if let Err(error) = keep() {
        warn(&format!("the result is in its folder, but not in the archive: {error}"));
    }
}

#[cfg(not(feature = "archive"))]
pub(super) fn archive(_result: &RunResult, _no_archive: bool, _place: &ArchiveArg, _folder: &Folder) {}

fn finish(outcome: Outcome, args: &RunArgs, folder: &Folder, started: SystemTime) -> Result<Exit, Failure> {
    let kept = place(&outcome, folder, started);
    let result = &outcome.result;
    if args.json {
        to_stdout(crate::report::json::render(result))?;
        if !args.quiet {
            eprint!("{}{}", text::searches(result), text::acceptances(result));
            result.verdicts.iter().for_each(|verdict| eprintln!("note: {verdict}"));
        }
    } else {
        let table = text::table(result, style());
        let place = kept.map_or_else(|| "not saved".to_owned(), |path| path.display().to_string());
        to_stdout(format!("{}\nResult: {place}\n", table.trim_end()))?;
    }
    Ok(exit_of(&outcome))
}

/// Where the result stands; in a folder of the system's where its own could not take it.
pub(super) fn place(outcome: &Outcome, folder: &Folder, started: SystemTime) -> Option<PathBuf> {
    let Some(failure) = &outcome.unsaved else { return Some(folder.path().to_owned()) };
    let aside = Folder::save_aside(&outcome.result, started);
    let place = aside.as_ref().map(|path| format!("; it stands in {}, copy it from there", path.display()));
    warn(&format!("{failure}{}", place.unwrap_or_default()));
    aside
}

/// How the run went.
pub(super) fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome { unsaved: Some(_), .. } => Exit::IoErrors,
        Outcome { interrupted: true, .. } => Exit::Interrupted,
        Outcome { lost, cut_series, result, .. } if *lost || *cut_series || result.has_errors() => Exit::IoErrors,
        Outcome { result, .. } if !result.is_accepted() || result.has_failed_events() => Exit::NotAccepted,
        _ => Exit::Done,
    }
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
