//! Flags over a job: each option sets fields of the job, and a fault in one names the flag.
//!
//! Owns the meaning of every option that overrides a field. Knows no argument parser: options arrive as the text typed.

use toml::{Table, Value};

use super::edit::{Edit, flag_of, literal, text};
use super::error::{Place, SpecError};
use super::job::Job;
use super::payload;
use super::read::Step;
use super::sweep::LOADS;

/// Options of the command line that override fields of a job, as typed; what is absent leaves the job as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// `--target URI`, repeatable: replaces the job's targets.
    pub target: Vec<String>,
    /// `--block-size SIZE[:SHARE,…]`, of every workload: replaces `read_block_size` and `write_block_size` too.
    pub block_size: Option<String>,
    /// `--read-percent SHARE`, of every workload: replaces `mix` too.
    pub read_percent: Option<String>,
    /// `--access PATTERN`, of every workload: replaces `no_repeat` and `start` too.
    pub access: Option<String>,
    /// `--queue-depth N[,N…]`: replaces the load of every workload and the sweep; a list makes a sweep.
    pub queue_depth: Option<String>,
    /// `--outstanding N[,N…]`: replaces the load of every workload and the sweep; a list makes a sweep.
    pub outstanding: Option<String>,
    /// `--rate N[,N…]`, of every workload: replaces its load and the sweep; a list makes a sweep.
    pub rate: Option<String>,
    /// `--arrivals poisson|constant|bursts:N`, of every workload.
    pub arrivals: Option<String>,
    /// `--max-outstanding N`, of every workload.
    pub max_outstanding: Option<String>,
    /// `--overload stop|continue`.
    pub overload: Option<String>,
    /// `--region REGION`, of every workload.
    pub region: Option<String>,
    /// `--payload KEY=VALUE[,KEY=VALUE…]|zeroes`, of every workload.
    pub payload: Option<String>,
    /// `--ramp DURATION`.
    pub ramp: Option<String>,
    /// `--time DURATION`.
    pub time: Option<String>,
    /// `--interval DURATION`.
    pub interval: Option<String>,
    /// `--cores LIST`.
    pub cores: Option<String>,
    /// `--seed N`.
    pub seed: Option<String>,
    /// `--trust-clock`.
    pub trust_clock: bool,
    /// `--out FOLDER`.
    pub out: Option<String>,
    /// `--destroy IDENTITY`, repeatable: replaces the job's identities.
    pub destroy: Vec<String>,
    /// `--accept CONDITION`, repeatable: adds to what the job has to fulfil.
    pub accept: Vec<String>,
    /// `rigel fill`: fields of `[precondition]`, and what was typed behind the flag of the same name.
    pub precondition: Vec<(&'static str, String)>,
    /// `--set PATH=VALUE`, repeatable, such as `workload.oltp.read_percent=100`; applied last, in order.
    pub set: Vec<String>,
}

impl Job {
    /// Applies options to this job and checks the outcome; the job is unchanged if that fails.
    ///
    /// # Errors
    /// Whatever [`parse`](super::parse) refuses, with the flag for a place; paths of `--set` that lead nowhere.
    pub fn apply(&mut self, overrides: Overrides) -> Result<(), SpecError> {
        let mut edit = Edit::of(self)?;
        edit.flags(&overrides)?;
        for assignment in &overrides.set {
            edit.set(assignment)?;
        }
        *self = edit.finish()?;
        Ok(())
    }
}

/// The fields of a workload that `--block-size` replaces beside its own.
const SIZES: [&str; 2] = ["read_block_size", "write_block_size"];
/// Those that `--access` replaces beside its own: they mean something for some patterns only.
const ORDER: [&str; 2] = ["no_repeat", "start"];

impl Edit {
    fn flags(&mut self, overrides: &Overrides) -> Result<(), SpecError> {
        let Overrides { target, destroy, queue_depth, outstanding, rate, .. } = overrides;
        if !target.is_empty() {
            let uri = |uri: &String| Value::Table(Table::from_iter([("uri".to_owned(), text(uri))]));
            self.write(vec!["target".into()], Value::Array(target.iter().map(uri).collect()), "--target")?;
        }
        if !destroy.is_empty() {
            let identities = destroy.iter().map(|identity| text(identity)).collect();
            self.write(vec!["destroy".into()], Value::Array(identities), "--destroy")?;
        }
        overrides.accept.iter().try_for_each(|condition| self.accept(condition))?;
        let replaced = [(&overrides.block_size, SIZES), (&overrides.access, ORDER)];
        for field in replaced.iter().filter(|(flag, _)| flag.is_some()).flat_map(|(_, fields)| fields) {
            self.workloads().for_each(|workload| drop(workload.remove(*field)));
        }
        for (field, value) in [
            ("block_size", overrides.block_size.as_deref().map(text)),
            ("read_percent", overrides.read_percent.as_deref().map(literal)),
            ("access", overrides.access.as_deref().map(text)),
            ("region", overrides.region.as_deref().map(text)),
        ] {
            if let Some(value) = value {
                self.every_workload(field, &value)?;
            }
        }
        if let Some(typed) = &overrides.payload {
            let flag = || Place::Flag(flag_of("payload"));
            let value = payload::from_flag(typed).map_err(|message| SpecError::new(flag(), &message))?;
            self.every_workload("payload", &value)?;
        }
        if overrides.read_percent.is_some() {
            self.workloads().for_each(|workload| drop(workload.remove("mix")));
        }
        let loads = [("queue_depth", queue_depth), ("outstanding", outstanding), ("rate", rate)];
        let mut loads = loads.into_iter().filter_map(|(field, load)| load.as_ref().map(|load| (field, load)));
        if let Some((field, load)) = loads.next() {
            if let Some((other, _)) = loads.next() {
                let message = format!("excludes {}; give one of them", flag_of(field));
                return Err(SpecError::new(Place::Flag(flag_of(other)), &message));
            }
            self.load(field, load)?;
        }
        for (field, value) in [
            ("arrivals", overrides.arrivals.as_deref().map(text)),
            ("max_outstanding", overrides.max_outstanding.as_deref().map(literal)),
        ] {
            if let Some(value) = value {
                self.every_workload(field, &value)?;
            }
        }
        for (field, value) in [
            ("ramp", overrides.ramp.as_deref().map(text)),
            ("time", overrides.time.as_deref().map(text)),
            ("interval", overrides.interval.as_deref().map(text)),
            ("overload", overrides.overload.as_deref().map(text)),
            ("cores", overrides.cores.as_deref().map(text)),
            ("seed", overrides.seed.as_deref().map(literal)),
            ("trust_clock", overrides.trust_clock.then_some(Value::Boolean(true))),
            ("out", overrides.out.as_deref().map(text)),
        ] {
            if let Some(value) = value {
                self.write(vec!["run".into(), field.into()], value, &flag_of(field))?;
            }
        }
        for (field, typed) in &overrides.precondition {
            let flag = || Place::Flag(flag_of(field));
            let value = match *field {
                "payload" => payload::from_flag(typed).map_err(|message| SpecError::new(flag(), &message))?,
                "passes" | "queue_depth" => literal(typed),
                _ => text(typed),
            };
            self.write(vec!["precondition".into(), (*field).into()], value, &flag_of(field))?;
        }
        Ok(())
    }

    /// Adds to the list, so that what the job has to fulfil stays.
    fn accept(&mut self, condition: &str) -> Result<(), SpecError> {
        let list = self.table.entry("accept").or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            self.written.push((vec!["accept".into(), list.len().into()], "--accept".to_owned()));
            list.push(text(condition));
        }
        Ok(())
    }

    fn load(&mut self, field: &str, load: &str) -> Result<(), SpecError> {
        self.table.remove("sweep");
        self.table.remove("search");
        for workload in self.workloads() {
            for load in LOADS {
                workload.remove(load);
            }
            if field == "rate" {
                workload.remove("think_time");
            } else {
                workload.remove("arrivals");
                workload.remove("max_outstanding");
            }
        }
        let mut values: Vec<Value> = load.split(',').map(|value| literal(value.trim())).collect();
        match values.pop() {
            Some(only) if values.is_empty() => self.every_workload(field, &only),
            last => {
                values.extend(last);
                self.write(vec!["sweep".into(), field.into()], Value::Array(values), &flag_of(field))
            }
        }
    }

    fn set(&mut self, assignment: &str) -> Result<(), SpecError> {
        let (path, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let flag = format!("--set {path}");
        let fail = |message: String| Err(SpecError::new(Place::Flag(flag.clone()), &message));
        if !assignment.contains('=') || path.is_empty() {
            return fail(
                "write PATH=VALUE, such as --set workload.oltp.read_percent=100 or --set run.time=5s".to_owned(),
            );
        }
        let steps = match self.resolve(path) {
            Ok(steps) => steps,
            Err(message) => return fail(message),
        };
        let sets_load = matches!(&steps[..], [Step::Key(list), _, Step::Key(field)]
            if list == "workload" && LOADS.contains(&field.as_str()));
        let swept = self
            .table
            .get("sweep")
            .and_then(Value::as_table)
            .is_some_and(|sweep| LOADS.iter().any(|load| sweep.contains_key(*load)));
        if sets_load && (swept || self.table.contains_key("search")) {
            return fail(
                "the sweep replaces the load of every workload (or the search looks for it), so this would change nothing; set \
                 sweep.queue_depth, sweep.outstanding or sweep.rate, or use --queue-depth, --outstanding or --rate, \
                 which end sweep and search"
                    .to_owned(),
            );
        }
        self.write(steps, literal(value), &flag)
    }
}
