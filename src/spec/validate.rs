//! What must hold between the fields of a job.
//!
//! Owns the rules that need more than one field but no device. Each fault names the field it is found at, so that
//! whoever knows where that field was written can add the place.

use std::collections::HashMap;
use std::time::Duration;

use super::accept::{self, Condition};
use super::access::Access;
use super::job::{Job, Workload};
use super::load::Op;
use super::payload::PayloadSpec;
use super::precondition::Precondition;
use super::read::Fault;
use super::steps;
use super::sweep::{LOADS, Repeats, Stop, Sweep};
use super::uri::Uri;
use crate::units::format_duration;

/// Shortest interval that a job may ask for.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Finds the first fault of a job, in the order of the file.
pub(super) fn validate(job: &Job) -> Result<(), Fault> {
    unique_targets(job)?;
    workloads(job)?;
    durations(job)?;
    sweep(job)?;
    steps::check(job)?;
    stops(job)?;
    search(job)?;
    let precondition = job.precondition.as_ref().map_or(Ok(()), Precondition::check);
    precondition.map_err(|(field, message)| Fault::at(["precondition".into(), field.into()], message))?;
    events(job)?;
    accept::check(job)
}

fn events(job: &Job) -> Result<(), Fault> {
    let field = |index: usize, name: &str| ["event".into(), index.into(), name.into()];
    if !job.event.is_empty() && job.target.iter().any(|target| matches!(target.uri, Uri::Sim(..))) {
        return Err(Fault::at(
            field(0, "at"),
            "an event is a moment of the wall clock, and the time of a sim:// target is virtual; leave [[event]] out, or \
             choose another target (null:// needs no device)"
                .to_owned(),
        ));
    }
    let whole = job.run.ramp() + job.run.time();
    for (index, event) in job.event.iter().enumerate() {
        event.check(whole).map_err(|(name, message)| Fault::at(field(index, name), message))?;
        let fixed = job.knows_its_loads()
            && job.sweep.as_ref().is_none_or(|sweep| !matches!(sweep.repeats, Some(Repeats::Steady { .. })));
        let beyond = event.points.iter().flatten().find(|number| fixed && number.get() > job.points().len());
        if let Some(number) = beyond {
            let message = format!("the run has {} points, so there is none numbered {number}", job.points().len());
            return Err(Fault::at(field(index, "points"), format!("{message}; count from 1, or leave `points` out")));
        }
    }
    Ok(())
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
    let writes = job.workloads().iter().any(|workload| workload.share(Op::Write) > 0.0);
    for (index, workload) in job.workload.iter().enumerate() {
        let field = |name: &str| ["workload".into(), index.into(), name.into()];
        load_kinds(workload, has_open_points(job)).map_err(|(name, message)| Fault::at(field(name), message))?;
        if workload.queue_depth.is_some() && workload.outstanding.is_some() {
            return Err(Fault::at(
                field("outstanding"),
                "`queue_depth` (on each target) and `outstanding` (over all targets) exclude each other; keep one. \
                 The flags --queue-depth and --outstanding replace both"
                    .to_owned(),
            ));
        }
        if workload.mix.is_some() && workload.read_percent.is_some() {
            return Err(Fault::at(
                field("mix"),
                "`mix` (of all operations) and `read_percent` (of reads and writes) exclude each other; keep one. The flag \
                 --read-percent replaces both"
                    .to_owned(),
            ));
        }
        addresses(workload).map_err(|(name, message)| Fault::at(field(name), message))?;
        if workload.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err(Fault::at(field("name"), "the name is empty; write one, or leave `name` out".to_owned()));
        }
        if workload.payload.is_some() && !writes {
            return Err(Fault::at(
                field("payload"),
                "`payload` is what writes carry, and this job writes nothing; write `read_percent` below 100 \
                 (--read-percent), or leave `payload` out"
                    .to_owned(),
            ));
        }
        if let Some(PayloadSpec::Made(reduction)) = workload.payload {
            let unit = ["workload".into(), index.into(), "payload".into(), "unit".into()];
            reduction.check_unit(workload.write_grain()).map_err(|message| Fault::at(unit, message))?;
        }
        // A job without targets is complete only once --target has named them.
        if !job.target.is_empty() {
            job.targets_of(workload).map_err(|message| Fault::at(field("targets"), message))?;
        }
    }
    Ok(())
}

/// What sizes and access pattern demand of each other. The field at fault, and what is wrong.
fn addresses(workload: &Workload) -> Result<(), (&'static str, String)> {
    let Workload { block_size, read_block_size, write_block_size, access, no_repeat, start, .. } = workload;
    let own = [("read_block_size", read_block_size.is_some()), ("write_block_size", write_block_size.is_some())];
    if let (Some(_), Some((own, _))) = (block_size, own.iter().find(|(_, given)| *given)) {
        return Err((
            own,
            format!(
                "`block_size` (of all I/Os) and `{own}` exclude each other; keep `block_size`, or write both \
                 `read_block_size` and `write_block_size`. The flag --block-size replaces all three"
            ),
        ));
    }
    if *no_repeat == Some(true) && !matches!(access, None | Some(Access::Random | Access::Permutation)) {
        return Err((
            "no_repeat",
            "`no_repeat` belongs to random access, and `access` is another; leave `no_repeat` out, or write \
             access = \"random\" (--access)"
                .to_owned(),
        ));
    }
    match start {
        Some(_) if !access.as_ref().is_some_and(Access::is_stream) => Err((
            "start",
            "`start` belongs to sequential and strided access, and `access` is neither; leave `start` out, or write \
             access = \"sequential\" (--access)"
                .to_owned(),
        )),
        Some(start) if *start >= 100.0 => {
            Err(("start", "`start` is the end of the region; write a share below 100 %, such as \"50%\"".to_owned()))
        }
        _ => Ok(()),
    }
}

/// An open loop has a rate and no depth; what belongs to a rate needs one. The field at fault, and what is wrong.
fn load_kinds(workload: &Workload, open_points: bool) -> Result<(), (&'static str, String)> {
    let Workload { queue_depth, outstanding, rate, arrivals, max_outstanding, think_time, .. } = workload;
    let depth = [("queue_depth", queue_depth.is_some()), ("outstanding", outstanding.is_some())];
    if let (Some(_), Some((depth, _))) = (rate, depth.iter().find(|(_, given)| *given)) {
        let flag = depth.replace('_', "-");
        return Err((
            "rate",
            format!(
                "`rate` (arrivals a second, whatever the target does) and `{depth}` (a fixed number outstanding) exclude \
                 each other; keep one. The flags --rate and --{flag} each replace the other's field; to limit what an \
                 open loop has outstanding, write `max_outstanding`"
            ),
        ));
    }
    let open = rate.is_some() || open_points;
    if open && think_time.is_some() {
        return Err((
            "think_time",
            "`think_time` belongs to a closed loop, whose next I/O waits for the last, and a rate is an open loop; leave \
             `think_time` out, or write `queue_depth` (--queue-depth) in place of the rate"
                .to_owned(),
        ));
    }
    let needs_rate = [("arrivals", arrivals.is_some()), ("max_outstanding", max_outstanding.is_some())];
    match needs_rate.iter().find(|(_, given)| *given && !open) {
        Some((name, _)) => Err((
            name,
            format!(
                "`{name}` belongs to an open loop, and there is no rate; write `rate` (--rate), or leave `{name}` out"
            ),
        )),
        None => Ok(()),
    }
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

/// Whether sweep or search make every workload an open loop.
fn has_open_points(job: &Job) -> bool {
    let sweep = job.sweep.as_ref().and_then(Sweep::load);
    let search = job.search.as_ref().map(|search| search.field().name());
    [sweep, search].contains(&Some("rate"))
}

fn sweep(job: &Job) -> Result<(), Fault> {
    let Some(sweep) = &job.sweep else { return Ok(()) };
    let mut loads = sweep.axes.iter().map(|axis| axis.field.as_str()).filter(|field| LOADS.contains(field));
    let kind = match (loads.next(), loads.next()) {
        (kind, None) => kind,
        (Some(kind), Some(other)) => {
            return Err(Fault::at(
                ["sweep".into(), other.into()],
                format!("`{kind}` and `{other}` exclude each other in one sweep; keep one"),
            ));
        }
        (None, Some(_)) => unreachable!("the second comes after the first"),
    };
    if sweep.axes.is_empty() {
        return Err(Fault::at(
            ["sweep".into()],
            "the sweep steps through nothing; write `queue_depth = [1, 2, 4]`, `outstanding = [16, 32]`, \
             `rate = [\"10k\", \"20k\"]`, or any other field with its values, such as `block_size = [\"4k\", \"8k\"]`"
                .to_owned(),
        ));
    }
    kind.map_or(Ok(()), |kind| replaces(job, kind, "sweep", "sweep"))
}

/// What ends a curve has to be something that its points can have.
fn stops(job: &Job) -> Result<(), Fault> {
    for (index, stop) in job.sweep.iter().flat_map(|sweep| &sweep.stop).enumerate() {
        if let Stop::When(Condition::Bound { figure, .. }) = stop {
            let fault =
                |message| Fault::at(["sweep".into(), "stop".into(), index.into()], format!("`{stop}`: {message}"));
            accept::about(job, figure).map_err(fault)?;
        }
    }
    Ok(())
}

/// A load for every workload replaces none of another kind.
fn replaces(job: &Job, kind: &str, of: &str, verb: &str) -> Result<(), Fault> {
    let own = |workload: &Workload| {
        let fields = [
            ("queue_depth", workload.queue_depth.is_some()),
            ("outstanding", workload.outstanding.is_some()),
            ("rate", workload.rate.is_some()),
        ];
        fields.into_iter().find(|(name, given)| *given && *name != kind).map(|(name, _)| name)
    };
    match job.workload.iter().enumerate().find_map(|(index, workload)| own(workload).map(|other| (index, other))) {
        None => Ok(()),
        Some((index, other)) => Err(Fault::at(
            [of.into(), if of == "sweep" { kind } else { "field" }.into()],
            format!(
                "the {of} over `{kind}` replaces the load of workload `{}`, which is given as `{other}`; \
                 {verb} `{other}`, or write `{kind}` in the workload",
                job.workload_names()[index]
            ),
        )),
    }
}

fn search(job: &Job) -> Result<(), Fault> {
    let Some(search) = &job.search else { return Ok(()) };
    search.check().map_err(|(field, message)| Fault::at(["search".into(), field.into()], message))?;
    let kind = search.field().name();
    if job.sweep.as_ref().is_some_and(|sweep| sweep.repeats.is_some() || !sweep.stop.is_empty()) {
        let message =
            "a search tries its answer twice by itself, and has an end of its own; leave `repeats` and `stop` out";
        return Err(Fault::at(["sweep".into()], message.to_owned()));
    }
    for (index, limit) in search.limit.iter().enumerate() {
        let fault =
            |message| Fault::at(["search".into(), "limit".into(), index.into()], format!("`{limit}`: {message}"));
        if let Condition::Bound { figure, relation, .. } = limit {
            accept::about(job, figure).map_err(fault)?;
            if !(figure.measure.is_latency() && relation.wants_less()) {
                let message =
                    "a load is limited by a latency that rises with it; write such as `p99 read <= 1ms`".to_owned();
                return Err(fault(message));
            }
        }
    }
    replaces(job, kind, "search", "search for")
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
