//! `rigel fill`: job → targets → fill, with its progress on stderr and its state in a file.
//!
//! Owns the state file and what is said of a fill. What is written, and in which order, `fill` decides.

mod progress;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;

use super::args::FillArgs;
use super::exit::{Exit, Failure};
use super::host;
use super::live::{Connecting, warn};
use super::out::to_stdout;
use super::run::{clock, print_map, read_job};
use super::save;
use crate::clock::Clock;
use crate::driver::{AnyBackend, select};
use crate::engine::{Event, RunControl, run_any};
use crate::fill::{Filling, Outcome, State, SteadyRounds, Told};
use crate::plan::{self, Plan, PlanError};
use crate::result::PreconditionResult;
use crate::spec::Uri;
use crate::units::{format_count, format_duration};
use progress::Progress;

/// Fills; the exit says how it went.
pub(super) fn run(args: &FillArgs) -> Result<Exit, Failure> {
    let mut job = read_job(args.job.as_deref())?;
    job.apply(args.overrides())?;
    if job.target.is_empty() {
        return Err(PlanError::NoTarget.into());
    }
    let kept = args.state.as_deref().filter(|_| !args.again).map(read).transpose()?.flatten();
    let uris: Vec<Uri> = job.target.iter().map(|target| target.uri.clone()).collect();
    let connecting = Connecting::show(args.quiet);
    // And one for what is left of a region at either end.
    let depth = job.precondition.clone().unwrap_or_default().queue_depth().saturating_add(2);
    let backend = select(&uris, depth)?;
    let (clock, _) = clock(&backend, job.run.trust_clock())?;
    let targets = backend.facts();
    drop(connecting);
    let filling = Filling::of(&job, &targets, &host::cores())?;
    let mut state = kept.unwrap_or_else(|| State::new(filling.what().clone()));
    state.continues(filling.what())?;
    if state.is_done() {
        let again = "begin anew with --again";
        told(args, &state, &Outcome::Done, &format!("done already, nothing was written ({again}): "))?;
        return Ok(Exit::Done);
    }
    if let Some(path) = &args.state {
        // A place that cannot be written to is found before anything is written to a target.
        write(path, &state).map_err(|error| not_kept(path, &error))?;
    }
    if !args.quiet {
        print_map(&plan::describe(filling.plan(), &targets), true)?;
        if state.bytes > 0 {
            let (written, all) = (progress::bytes(state.bytes), progress::bytes(all_bytes(&filling)));
            eprintln!("going on: {written} of {all} were written before");
        }
    }
    let control = Arc::new(RunControl::default());
    let handler = Arc::clone(&control);
    if let Err(error) = ctrlc::set_handler(move || handler.interrupt.store(true, Ordering::Relaxed)) {
        tracing::warn!(
            "Ctrl-C cannot be caught ({error}); what was written since the last slice will be written again"
        );
    }
    let outcome = fill(&filling, &mut state, (&backend, &clock), &control, (args.state.as_deref(), args.quiet))?;
    told(args, &state, &outcome, "")?;
    Ok(match outcome {
        Outcome::Done => Exit::Done,
        Outcome::Interrupted => Exit::Interrupted,
        Outcome::Failed(_) => Exit::IoErrors,
    })
}

/// Fills the targets of a run before its first point. An interruption ends the run too.
pub(super) fn precondition(
    filling: &Filling,
    place: (&AnyBackend, &Clock),
    control: &RunControl,
    quiet: bool,
) -> Result<PreconditionResult, Failure> {
    if !quiet {
        let passes = filling.what().passes;
        eprintln!("filling the targets first: {} in all, {passes} times", progress::bytes(all_bytes(filling)));
    }
    let mut state = State::new(filling.what().clone());
    match fill(filling, &mut state, place, control, (None, quiet))? {
        Outcome::Failed(why) => return Err(Failure::Precondition(why)),
        Outcome::Interrupted => return Ok((&state).into()),
        Outcome::Done => {}
    }
    let Some(most) = filling.rounds_max() else { return Ok((&state).into()) };
    let (mut rounds, (backend, clock)) = (SteadyRounds::default(), place);
    let mut drive = |plan: &Plan, control: &RunControl, tell: &mut dyn FnMut(Event<'_>)| {
        run_any(backend, plan, clock, control, tell)
    };
    let outcome = filling.run_rounds(&mut rounds, clock, control, &mut drive, &mut |rounds| {
        if let Some(iops) = rounds.0.last().filter(|_| !quiet) {
            let iops = format_count(iops.round() as u64);
            eprintln!("random writes until steady: round {} of at most {most}, {iops} IOPS", rounds.0.len());
        }
    })?;
    match outcome {
        Outcome::Failed(why) => Err(Failure::Precondition(why)),
        Outcome::Done | Outcome::Interrupted => {
            Ok(PreconditionResult { steady: Some((&rounds).into()), ..(&state).into() })
        }
    }
}

/// Writes what is left; the state is kept in a file, if one is named, after each slice.
fn fill(
    filling: &Filling,
    state: &mut State,
    (backend, clock): (&AnyBackend, &Clock),
    control: &RunControl,
    (file, quiet): (Option<&Path>, bool),
) -> Result<Outcome, Failure> {
    let mut progress = Progress::new(all_bytes(filling), state.bytes, quiet);
    let mut unkept = false;
    let timing = (clock, backend.virtual_time());
    let mut drive = |plan: &Plan, control: &RunControl, tell: &mut dyn FnMut(Event<'_>)| {
        run_any(backend, plan, clock, control, tell)
    };
    let outcome = filling.run(state, timing, control, &mut drive, &mut |event| match event {
        Told::Written(bytes) => progress.show(bytes),
        Told::Slice(state) => {
            progress.show(state.bytes);
            if let Some(error) = file.and_then(|path| write(path, state).err()) {
                if !std::mem::replace(&mut unkept, true) {
                    warn(&format!("the state cannot be written ({error}); the fill goes on, and it is tried again"));
                }
            }
        }
    })?;
    progress.finish();
    if let Some(path) = file {
        write(path, state).map_err(|error| not_kept(path, &error))?;
    }
    Ok(outcome)
}

fn all_bytes(filling: &Filling) -> u64 {
    filling.bytes_per_pass().saturating_mul(u64::from(filling.what().passes))
}

/// The closing line, or the same as JSON.
fn told(args: &FillArgs, state: &State, outcome: &Outcome, already: &str) -> Result<(), Failure> {
    let (word, more) = match outcome {
        Outcome::Done => ("done", String::new()),
        Outcome::Interrupted if args.state.is_some() => {
            ("interrupted", "; the same command goes on from there".to_owned())
        }
        Outcome::Interrupted => ("interrupted", "; without --state the next fill begins anew".to_owned()),
        Outcome::Failed(why) => ("failed", format!("; {why}")),
    };
    if args.json {
        let line = json!({
            "outcome": word,
            "already": !already.is_empty(),
            "fill": state.fill,
            "passes_done": state.passes_done,
            "bytes": state.bytes,
            "seconds": state.seconds,
            "bytes_per_s": state.bytes_per_s(),
            "reason": if let Outcome::Failed(why) = outcome { Some(why) } else { None },
        });
        return to_stdout(format!("{line:#}\n"));
    }
    let passes = if state.fill.passes == 1 { "pass" } else { "passes" };
    let time = format_duration(std::time::Duration::from_millis((state.seconds * 1000.0) as u64));
    to_stdout(format!(
        "{word}: {already}{} of {} {passes} done, {} written in {time} ({}/s){more}\n",
        state.passes_done,
        state.fill.passes,
        progress::bytes(state.bytes),
        progress::bytes(state.bytes_per_s() as u64)
    ))
}

/// The state of a file; none if there is no such file.
fn read(path: &Path) -> Result<Option<State>, Failure> {
    let name = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| Failure::Kept {
            path: name,
            reason: format!(
                "this is no state of a fill ({error}); name another file with --state, or begin anew with --again"
            ),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(reason) => Err(Failure::Read { path: name, reason }),
    }
}

/// Writes (or replaces) the state, whole or not at all.
fn write(path: &Path, state: &State) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    save::put(folder, &name.to_string_lossy(), format!("{:#}\n", json!(state)).as_bytes())
}

fn not_kept(path: &Path, error: &io::Error) -> Failure {
    let (path, reason) =
        (path.display().to_string(), format!("the state cannot be written ({error}); name another file with --state"));
    Failure::Kept { path, reason }
}
