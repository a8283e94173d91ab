//! Whether a job can fulfil what it has to: the workload is there, does such I/O, and some point has the load.
//!
//! Owns these rules and their wording. Needs no device.

use super::{Accept, At, Condition, number};
use crate::spec::figure::{Figure, LatencyKind};
use crate::spec::job::{Job, Workload};
use crate::spec::load::{Load, Op};
use crate::spec::nearest::{hint, list};
use crate::spec::read::Fault;

/// Most loads that a message lists.
const LISTED: usize = 16;

/// Finds the first acceptance that this job can never be judged by.
pub(in crate::spec) fn check(job: &Job) -> Result<(), Fault> {
    for (index, accept) in job.accept.iter().enumerate() {
        let fault = |field: &str, message: String| {
            Fault::at(["accept".into(), index.into(), field.into()], format!("`{accept}`: {message}"))
        };
        if let Condition::Bound { figure, .. } = &accept.that {
            about(job, figure).map_err(|message| fault("that", message))?;
        }
        place(job, accept).map_err(|message| fault("at", message))?;
    }
    Ok(())
}

/// Whether some point can have a figure.
pub(in crate::spec) fn about(job: &Job, figure: &Figure) -> Result<(), String> {
    let alone = about_one(job, figure);
    if alone.is_ok() || job.sweep.as_ref().is_none_or(|sweep| sweep.plain().is_some()) {
        return alone;
    }
    // What the sweep sets may make it one.
    let steps = job.steps().unwrap_or_default();
    if steps.iter().any(|step| about_one(&step.job, figure).is_ok()) { Ok(()) } else { alone }
}

/// The workload, its operations and its kind of loop.
fn about_one(job: &Job, figure: &Figure) -> Result<(), String> {
    let (workloads, names) = (job.workloads(), job.workload_names());
    let asked = |index: &usize| figure.workload.as_ref().is_none_or(|name| *name == names[*index]);
    let mine: Vec<usize> = (0..workloads.len()).filter(asked).collect();
    if let (Some(name), []) = (&figure.workload, &mine[..]) {
        let known = || names.iter().map(String::as_str);
        return Err(format!("no workload is named `{name}`{}; there are: {}", hint(name, known()), list(known())));
    }
    let whose = figure.workload.as_ref().map_or("no workload".to_owned(), |name| format!("`{name}` never"));
    if let Some(op) = figure.op.filter(|op| !mine.iter().any(|index| does(&workloads[*index], *op))) {
        let (share, change) = match op {
            Op::Read => (0, "raise"),
            Op::Write => (100, "lower"),
            Op::Trim | Op::WriteZeroes | Op::Flush => {
                return Err(format!("{whose} does a {op}; give it a share of `mix`, or leave `{op}` out"));
            }
        };
        return Err(format!(
            "{whose} {op}s (`read_percent` is {share}); {change} `read_percent` (--read-percent), or leave `{op}` out"
        ));
    }
    if figure.kind == Some(LatencyKind::Response) {
        let doing = |index: &&usize| figure.op.is_none_or(|op| does(&workloads[**index], op));
        let points = job.points();
        let open = |index: &usize| points.iter().any(|loads| matches!(loads[*index], Load::Rate(_)));
        if !mine.iter().filter(doing).any(open) {
            return Err(
                "a closed loop has no response latency; leave `response` out, or write a `rate` (--rate)".into()
            );
        }
    }
    Ok(())
}

fn does(workload: &Workload, op: Op) -> bool {
    workload.share(op) > 0.0
}

/// Some point has the load asked for.
fn place(job: &Job, accept: &Accept) -> Result<(), String> {
    let At::Load(asked) = accept.at else { return Ok(()) };
    if !job.knows_its_loads() {
        return Ok(());
    }
    let (names, points) = (job.workload_names(), job.points());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if points.iter().any(|loads| accept.covers(loads, &names)) {
        return Ok(());
    }
    let mine = |(_, name): &(&Load, &&str)| accept.workload().is_none_or(|workload| workload == **name);
    let mut there: Vec<u64> = Vec::new();
    for (load, _) in points.iter().flat_map(|loads| loads.iter().zip(&names)).filter(mine) {
        if !there.contains(&number(*load)) && there.len() <= LISTED {
            there.push(number(*load));
        }
    }
    let more = if there.len() > LISTED { " …" } else { "" };
    let there: Vec<String> = there.iter().take(LISTED).map(u64::to_string).collect();
    Err(format!(
        "no point has the load {asked}; there are: {}{more}; write one of these, all or any",
        list(there.iter().map(String::as_str))
    ))
}
