//! What must hold between the fields of a job.
//!
//! Owns the rules that need more than one field but no device. Each fault names the field it is found at, so that
//! whoever knows where that field was written can add the place.

use std::collections::HashMap;
use std::time::Duration;

use super::job::{Job, Sweep};
use super::read::Fault;
use crate::units::format_duration;

/// Shortest interval that a job may ask for.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Finds the first fault of a job, in the order of the file.
pub(super) fn validate(job: &Job) -> Result<(), Fault> {
    unique_targets(job)?;
    workloads(job)?;
    durations(job)?;
    sweep(job)
}

fn unique_targets(job: &Job) -> Result<(), Fault> {
    let names = job.target.iter().enumerate().filter_map(|(i, t)| t.name.as_deref().map(|name| (i, name)));
    match repeated(names) {
        None => Ok(()),
        Some((index, name, first)) => Err(Fault::at(
            ["target".into(), index.into(), "name".into()],
            format!("target {index} has the name `{name}` of target {first}; give each target its own name"),
        )),
    }
}

fn workloads(job: &Job) -> Result<(), Fault> {
    let names = job.workload_names();
    if let Some((index, name, first)) = repeated(names.iter().map(String::as_str).enumerate()) {
        return Err(Fault::at(
            ["workload".into(), index.into(), "name".into()],
            format!("workload {index} has the name `{name}` of workload {first}; give each workload its own name"),
        ));
    }
    for (index, workload) in job.workload.iter().enumerate() {
        let field = |name: &str| ["workload".into(), index.into(), name.into()];
        if workload.queue_depth.is_some() && workload.outstanding.is_some() {
            return Err(Fault::at(
                field("outstanding"),
                "`queue_depth` (on each target) and `outstanding` (over all targets) exclude each other; keep one. \
                 The flags --queue-depth and --outstanding replace both"
                    .to_owned(),
            ));
        }
        if workload.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err(Fault::at(field("name"), "the name is empty; write one, or leave `name` out".to_owned()));
        }
        // A job without targets is complete only once --target has named them.
        if !job.target.is_empty() {
            job.targets_of(workload).map_err(|message| Fault::at(field("targets"), message))?;
        }
    }
    Ok(())
}

fn durations(job: &Job) -> Result<(), Fault> {
    let run = |name: &str| ["run".into(), name.into()];
    if job.run.time().is_zero() {
        return Err(Fault::at(
            run("time"),
            "`time` is 0, so nothing would be measured; write one such as \"30s\"".to_owned(),
        ));
    }
    let Some(interval) = job.run.interval else { return Ok(()) };
    if interval < INTERVAL_MIN {
        return Err(Fault::at(run("interval"), "`interval` is less than 1ms; write one such as \"1s\"".to_owned()));
    }
    if interval > job.run.time() {
        return Err(Fault::at(
            run("interval"),
            format!(
                "`interval` ({}) is longer than `time` ({}); shorten --interval or lengthen --time",
                format_duration(interval),
                format_duration(job.run.time())
            ),
        ));
    }
    Ok(())
}

fn sweep(job: &Job) -> Result<(), Fault> {
    let kind = match &job.sweep {
        None => return Ok(()),
        Some(Sweep { queue_depth: Some(_), outstanding: None }) => "queue_depth",
        Some(Sweep { queue_depth: None, outstanding: Some(_) }) => "outstanding",
        Some(Sweep { queue_depth: Some(_), outstanding: Some(_) }) => {
            return Err(Fault::at(
                ["sweep".into(), "outstanding".into()],
                "`queue_depth` and `outstanding` exclude each other in one sweep; keep one".to_owned(),
            ));
        }
        Some(Sweep { queue_depth: None, outstanding: None }) => {
            return Err(Fault::at(
                ["sweep".into()],
                "the sweep steps through nothing; write `queue_depth = [1, 2, 4]` or `outstanding = [16, 32]`"
                    .to_owned(),
            ));
        }
    };
    let other = if kind == "queue_depth" { "outstanding" } else { "queue_depth" };
    let clash = job.workload.iter().position(|w| match kind {
        "queue_depth" => w.outstanding.is_some(),
        _ => w.queue_depth.is_some(),
    });
    match clash {
        None => Ok(()),
        Some(index) => Err(Fault::at(
            ["sweep".into(), kind.into()],
            format!(
                "the sweep over `{kind}` replaces the load of workload `{}`, which is given as `{other}`; \
                 sweep `{other}`, or write `{kind}` in the workload",
                job.workload_names()[index]
            ),
        )),
    }
}

/// The first entry that repeats the name of an earlier one: its index, the name, and the earlier index.
fn repeated<'a>(names: impl Iterator<Item = (usize, &'a str)>) -> Option<(usize, &'a str, usize)> {
    let mut seen = HashMap::new();
    for (index, name) in names {
        if let Some(first) = seen.insert(name, index) {
            return Some((index, name, first));
        }
    }
    None
}
