//! The steps of a job: one for each point of its sweep, with the job that it comes to there.
//!
//! Owns which fields a sweep may step through, in which order the steps come, and what a setting does to a job. What a
//! step measures that only the run can tell (the highest rate, a load that is searched for) is left open here.

use std::fmt;

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use toml::Value;

use super::edit::Edit;
use super::error::{Place, SpecError};
use super::job::Job;
use super::load::SWEEP_POINTS_MAX;
use super::nearest::{hint, list};
use super::read::{Fault, Step as PathStep};
use super::sweep::{Axis, LOADS, Repeats, Sweep, Values};

/// Fields of a workload that a sweep may step through; each workload gets the value.
pub(super) const WORKLOAD_FIELDS: [&str; 20] = [
    "targets",
    "block_size",
    "read_block_size",
    "write_block_size",
    "align",
    "read_percent",
    "mix",
    "access",
    "no_repeat",
    "start",
    "queue_depth",
    "outstanding",
    "rate",
    "arrivals",
    "max_outstanding",
    "volume",
    "think_time",
    "region",
    "payload",
    "zipf",
];
/// Fields of `[run]` that it may step through.
pub(super) const RUN_FIELDS: [&str; 6] = ["ramp", "time", "interval", "cores", "seed", "overload"];
/// Parts of a job that hold still for a whole run.
const FIXED: [&str; 8] = ["target", "name", "destroy", "accept", "sweep", "search", "precondition", "event"];

/// A field and its value at a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The field, as the sweep has it.
    pub field: String,
    /// Its value.
    pub value: Value,
}

impl Setting {
    /// The value as a job has it, without the quotes of a text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Whether it is the load of every workload.
    #[must_use]
    pub fn is_load(&self) -> bool {
        LOADS.contains(&self.field.as_str())
    }
}

impl fmt::Display for Setting {
    /// `block_size 8k`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.text())
    }
}

/// What is known of a step's load before the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepLoad {
    /// All of it.
    Fixed,
    /// It is a share of the highest rate, in per cent.
    PercentOfMax(f64),
    /// It is searched for.
    Searched,
}

/// One point of a campaign, or a search in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its number among all steps, from 0, in the order of the sweep's lists: the same however they are shuffled.
    pub number: usize,
    /// The fields that make it, in the order of the sweep.
    pub settings: Vec<Setting>,
    /// Which repeat it is, from 1; 0 where rounds are counted as they come.
    pub repeat: u32,
    /// What is known of its load.
    pub load: StepLoad,
    /// The job with these settings and without its sweep. In place of a load that is not known stands 1.
    pub job: Job,
}

impl Step {
    /// Number of its value on the sweep's last axis, where `last` is how many there are.
    #[must_use]
    pub fn position(&self, last: usize) -> usize {
        self.number % last.max(1)
    }
}

impl Job {
    /// This job with fields set to other values, and without sweep, search, acceptances and precondition: what one point of
    /// a campaign is.
    ///
    /// # Errors
    /// Fields that do not exist or hold still, values that their field refuses, fields that contradict each other then.
    pub fn with(&self, settings: &[Setting]) -> Result<Self, SpecError> {
        let mut edit = Edit::of(self)?;
        for field in ["sweep", "search", "accept", "precondition"] {
            edit.table.remove(field);
        }
        for setting in settings {
            set(&mut edit, setting, self.target.len()).map_err(|message| at(&setting.field, &message))?;
        }
        edit.finish()
    }

    /// All steps, in the order they are run, but for what `repeats = "steady"` adds; one if the job has no sweep.
    ///
    /// # Errors
    /// Those of [`Job::with`]; more steps than 10,000.
    pub fn steps(&self) -> Result<Vec<Step>, SpecError> {
        let none = Sweep::default();
        let sweep = self.sweep.as_ref().unwrap_or(&none);
        let each = sweep.axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()));
        let times = if let Some(Repeats::Times(times)) = sweep.repeats { times as usize } else { 1 };
        let Some(each) = each.filter(|each| each.saturating_mul(times) <= SWEEP_POINTS_MAX) else {
            let message = format!("the sweep has more than {SWEEP_POINTS_MAX} points; write fewer");
            return Err(SpecError::new(Place::Field("sweep".to_owned()), &message));
        };
        let searched = self.search.as_ref().map(|search| search.field().name());
        let mut once = Vec::with_capacity(each);
        for number in 0..each {
            let (settings, load) = settings_of(sweep, number);
            let load = if searched.is_some() { StepLoad::Searched } else { load };
            let stands_in = match load {
                StepLoad::Fixed => None,
                StepLoad::PercentOfMax(_) => Some("rate"),
                StepLoad::Searched => searched,
            };
            let stands_in = stands_in.map(|field| Setting { field: field.to_owned(), value: Value::Integer(1) });
            let job = self.with(&settings.iter().cloned().chain(stands_in).collect::<Vec<_>>())?;
            let repeat = u32::from(!matches!(sweep.repeats, Some(Repeats::Steady { .. })));
            once.push(Step { number, settings, repeat, load, job });
        }
        let repeat =
            |repeat: usize| once.iter().cloned().map(move |step| Step { repeat: step.repeat + repeat as u32, ..step });
        let mut steps: Vec<Step> = (0..times).flat_map(repeat).collect();
        if sweep.shuffle == Some(true) {
            steps.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.run.seed()));
        }
        Ok(steps)
    }
}

/// The settings of the step `number`, and what is known of its load.
fn settings_of(sweep: &Sweep, number: usize) -> (Vec<Setting>, StepLoad) {
    let (mut rest, mut load) = (number, StepLoad::Fixed);
    let mut settings: Vec<Setting> = Vec::with_capacity(sweep.axes.len());
    // From the last axis, which changes with every step.
    for Axis { field, values } in sweep.axes.iter().rev() {
        let at = rest % values.len();
        rest /= values.len();
        match values {
            Values::Each(values) => settings.push(Setting { field: field.clone(), value: values[at].clone() }),
            Values::PercentOfMax(shares) => load = StepLoad::PercentOfMax(shares[at]),
        }
    }
    settings.reverse();
    (settings, load)
}

/// Finds the first value of a sweep that its field refuses, and fields that are none.
pub(super) fn check(job: &Job) -> Result<(), Fault> {
    let Some(sweep) = &job.sweep else { return Ok(()) };
    for Axis { field, .. } in &sweep.axes {
        let path = || vec!["sweep".into(), field.as_str().into()];
        known(field).map_err(|message| Fault { path: path(), message, at_key: true })?;
    }
    meet(job, sweep).map_err(|(field, message)| Fault::at(["sweep".into(), field.as_str().into()], message))?;
    // Fields that make sense only together are judged together; only where that fails each value by itself, for its place.
    let together = if sweep.plain().is_some() { Ok(()) } else { job.steps().map(drop) };
    let Err(together) = together else { return Ok(()) };
    for Axis { field, values } in &sweep.axes {
        let path = |index: usize| [PathStep::from("sweep"), field.as_str().into(), index.into()];
        let Values::Each(values) = values else { continue };
        for (index, value) in values.iter().enumerate() {
            let setting = Setting { field: field.clone(), value: value.clone() };
            let alone = job.with(&[setting]).err().filter(|alone| alone.message == together.message);
            alone.map_or(Ok(()), |alone| Err(Fault::at(path(index), alone.message.clone())))?;
        }
    }
    Err(Fault::at(["sweep".into()], together.message))
}

/// Finds two axes that write one field, of which only the later would count.
fn meet(job: &Job, sweep: &Sweep) -> Result<(), (String, String)> {
    let mut written: Vec<(Vec<PathStep>, &str)> = Vec::new();
    let searched = job.search.as_ref().map(|search| search.field().name());
    for Axis { field, .. } in &sweep.axes {
        for path in paths(job, field).map_err(|message| (field.clone(), message))? {
            if let Some((_, other)) = written.iter().find(|(known, other)| *known == path && *other != field) {
                return Err((field.clone(), format!("`{other}` and `{field}` write the same field; keep one of them")));
            }
            let load = matches!(&path[..], [.., PathStep::Key(last)] if LOADS.contains(&last.as_str()));
            if let Some(searched) = searched.filter(|_| load) {
                return Err((
                    field.clone(),
                    format!("the search looks for the `{searched}` of every workload, so `{field}` cannot be swept"),
                ));
            }
            written.push((path, field));
        }
    }
    let share = |axis: &Axis| matches!(axis.values, Values::PercentOfMax(_));
    let by_path =
        |axis: &&Axis| axis.field.contains('.') && LOADS.iter().any(|load| axis.field.ends_with(&format!(".{load}")));
    match (sweep.axes.iter().any(share), sweep.axes.iter().find(by_path)) {
        (true, Some(axis)) => {
            let message =
                format!("`percent_of_max` gives every workload its rate, so `{}` cannot be swept", axis.field);
            Err((axis.field.clone(), message))
        }
        _ => Ok(()),
    }
}

/// What an axis writes: the paths of its field.
fn paths(job: &Job, field: &str) -> Result<Vec<Vec<PathStep>>, String> {
    let field = if field == "zipf" { "access" } else { field };
    if WORKLOAD_FIELDS.contains(&field) {
        let of = |index: usize| vec!["workload".into(), index.into(), field.into()];
        return Ok((0..job.workloads().len()).map(of).collect());
    }
    if RUN_FIELDS.contains(&field) {
        return Ok(vec![vec!["run".into(), field.into()]]);
    }
    let mut edit = Edit::of(job).map_err(|error| error.message)?;
    Ok(vec![edit.resolve(field)?])
}

/// Whether a sweep may step through a field.
fn known(field: &str) -> Result<(), String> {
    let (first, rest) = field.split_once('.').map_or((field, None), |(first, rest)| (first, Some(rest)));
    let loads = "queue_depth, outstanding, rate";
    match rest {
        None if WORKLOAD_FIELDS.contains(&first) || RUN_FIELDS.contains(&first) => Ok(()),
        Some(rest) if first == "run" => {
            RUN_FIELDS.contains(&rest).then_some(()).ok_or_else(|| unknown(rest, &RUN_FIELDS, loads))
        }
        Some(_) if first == "workload" => Ok(()),
        _ if FIXED.contains(&first) => Err(format!(
            "`{field}` holds still for a whole run, so no sweep can step through it; to step through several targets write \
             targets = [1, 2, 4] (how many of them), to measure two jobs use `rigel ab`"
        )),
        _ => Err(unknown(field, &[&WORKLOAD_FIELDS[..], &RUN_FIELDS[..]].concat(), loads)),
    }
}

fn unknown(field: &str, known: &[&str], loads: &str) -> String {
    let hint = hint(field, known.iter().copied());
    let others = list(known.iter().copied().filter(|known| !LOADS.contains(known)));
    format!(
        "a sweep cannot step through `{field}`{hint}; it steps through loads ({loads}), through other fields ({others}), or a \
         path such as \"workload.oltp.read_percent\"; besides it knows repeats, pause, shuffle, stop"
    )
}

/// Writes a setting into a job.
fn set(edit: &mut Edit, setting: &Setting, targets: usize) -> Result<(), String> {
    let Setting { field, value } = setting;
    let written = |error: SpecError| error.message.clone();
    match (field.as_str(), value) {
        ("targets", Value::Integer(count)) => {
            let Some(count) = usize::try_from(*count).ok().filter(|count| (1..=targets).contains(count)) else {
                return Err(format!(
                    "{count} is no number of targets here; the job has {targets}, write 1 to {targets}"
                ));
            };
            let first = (0..count).map(|index| Value::Integer(index as i64)).collect();
            edit.every_workload("targets", &Value::Array(first)).map_err(written)
        }
        ("zipf", theta) => {
            let (Value::Float(_) | Value::Integer(_)) = theta else {
                return Err(format!("{theta} is no skew of a zipf distribution; write numbers such as 0.8"));
            };
            edit.every_workload("access", &Value::String(format!("zipf:{theta}"))).map_err(written)
        }
        (field, value) if WORKLOAD_FIELDS.contains(&field) => edit.every_workload(field, value).map_err(written),
        (field, value) if RUN_FIELDS.contains(&field) => {
            edit.write(vec!["run".into(), field.into()], value.clone(), field).map_err(written)
        }
        (path, value) => {
            let steps = edit.resolve(path)?;
            edit.write(steps, value.clone(), path).map_err(written)
        }
    }
}

fn at(field: &str, message: &str) -> SpecError {
    SpecError::new(Place::Field(format!("sweep.{field}")), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_fields_are_those_of_the_job() {
        let schema = serde_json::to_value(schemars::schema_for!(Job)).unwrap();
        let fields = |of: &str| -> Vec<String> {
            let all = schema["$defs"][of]["properties"].as_object().unwrap();
            all.keys().filter(|field| !["name", "out", "trust_clock"].contains(&field.as_str())).cloned().collect()
        };
        let mut workload: Vec<String> = WORKLOAD_FIELDS.iter().map(ToString::to_string).collect();
        workload.retain(|field| field != "zipf");
        let sorted = |mut fields: Vec<String>| {
            fields.sort();
            fields
        };
        assert_eq!(sorted(workload), sorted(fields("Workload")));
        assert_eq!(sorted(RUN_FIELDS.iter().map(ToString::to_string).collect()), sorted(fields("Run")));
        let known = |field: &str| FIXED.contains(&field) || ["workload", "run"].contains(&field);
        assert!(schema["properties"].as_object().unwrap().keys().all(|field| known(field)));
    }
}
