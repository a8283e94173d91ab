//! A job's table under change: fields set by path, names turned into numbers, and the whole read again at the end.
//!
//! Owns the paths of fields and which writer is named for a fault. Knows no flag's meaning.

use toml::{Table, Value};

use super::error::{Place, SpecError};
use super::job::Job;
use super::nearest::{hint, list};
use super::read::{Fault, Step, read};

/// A job's table under change, and which flag last wrote each path.
pub(super) struct Edit {
    pub(super) table: Table,
    pub(super) written: Vec<(Vec<Step>, String)>,
}

impl Edit {
    pub(super) fn of(job: &Job) -> Result<Self, SpecError> {
        let unwritable = |error: toml::ser::Error| SpecError::new(Place::Field(String::new()), &error.to_string());
        let mut table = Table::try_from(job).map_err(unwritable)?;
        let targets = table.get_mut("target").and_then(Value::as_array_mut).into_iter().flatten();
        for (value, target) in targets.zip(&job.target) {
            // Printing left the secret out; it has to survive until the job is read again below.
            if let Some(fields) = value.as_table_mut() {
                fields.insert("uri".to_owned(), Value::String(target.uri.reveal()));
            }
        }
        let events = table.get_mut("event").and_then(Value::as_array_mut).into_iter().flatten();
        for (value, event) in events.zip(&job.event) {
            if let Some(fields) = value.as_table_mut() {
                fields.insert("run".to_owned(), Value::String(event.run.reveal().to_owned()));
            }
        }
        Ok(Self { table, written: Vec::new() })
    }

    pub(super) fn every_workload(&mut self, field: &str, value: &Value) -> Result<(), SpecError> {
        for index in 0..self.workloads().count() {
            self.write(vec!["workload".into(), index.into(), field.into()], value.clone(), &flag_of(field))?;
        }
        Ok(())
    }

    /// The workloads' tables; one is made if there is none.
    pub(super) fn workloads(&mut self) -> impl Iterator<Item = &mut Table> {
        let workloads = self.table.entry("workload").or_insert_with(|| Value::Array(vec![Value::Table(Table::new())]));
        workloads.as_array_mut().into_iter().flatten().filter_map(Value::as_table_mut)
    }

    pub(super) fn write(&mut self, path: Vec<Step>, value: Value, flag: &str) -> Result<(), SpecError> {
        put(&mut self.table, &path, value).map_err(|message| SpecError::new(Place::Flag(flag.to_owned()), &message))?;
        self.written.push((path, flag.to_owned()));
        Ok(())
    }

    /// The steps of a path, with names of targets and workloads turned into their numbers.
    pub(super) fn resolve(&mut self, path: &str) -> Result<Vec<Step>, String> {
        let (list_name, rest) = path.split_once('.').unwrap_or((path, ""));
        if rest.is_empty() || !matches!(list_name, "workload" | "target") {
            return Ok(path.split('.').map(Step::from).collect());
        }
        if list_name == "workload" {
            // The one default workload is there to be set although no line wrote it.
            let _ = self.workloads();
        }
        let items = self.table.get(list_name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let names = items.iter().map(|item| item.get("name").and_then(Value::as_str).unwrap_or(""));
        let named = names.enumerate().filter(|(_, name)| !name.is_empty());
        // A name may hold dots itself, so each is tried whole and the longest that fits is meant.
        let fits = named.clone().filter_map(|(i, name)| {
            let field = rest.strip_prefix(name)?;
            (field.is_empty() || field.starts_with('.')).then(|| (i, field.trim_start_matches('.'), name.len()))
        });
        let (index, field) = match fits.max_by_key(|(.., length)| *length) {
            Some((index, field, _)) => (index, field),
            None => {
                let (item, field) = rest.split_once('.').unwrap_or((rest, ""));
                let index = item.parse().ok().filter(|index| *index < items.len()).ok_or_else(|| {
                    let named: Vec<&str> = named.map(|(_, name)| name).collect();
                    let hint = hint(item, named.iter().copied());
                    let named = if named.is_empty() { "none".to_owned() } else { list(named) };
                    format!("no {list_name} `{item}`{hint}; named: {named}; by number from 0 there are {}", items.len())
                })?;
                (index, field)
            }
        };
        if field.is_empty() {
            return Err(format!("name the field of the {list_name} too, as {path}.FIELD=VALUE"));
        }
        Ok([Step::from(list_name), index.into()].into_iter().chain(field.split('.').map(Step::from)).collect())
    }

    pub(super) fn finish(self) -> Result<Job, SpecError> {
        let Self { table, written } = self;
        read(table).map_err(|fault| {
            let flag = written.iter().rev().find(|(path, _)| touches(path, &fault.path)).map(|(_, flag)| flag.clone());
            // A fault between two fields is reported at one of them; the flag may have written the other.
            let sibling = || {
                // What must hold is about loads and operations, which such a flag may have changed.
                let about = |path: &[Step]| match (fault.path.first(), path.first()) {
                    (Some(Step::Key(fault)), Some(Step::Key(path))) if fault == "accept" => {
                        ["sweep", "workload"].contains(&path.as_str())
                    }
                    (fault, path) => fault == path,
                };
                let near = written.iter().rev().find(|(path, _)| about(path));
                near.or(written.last()).map(|(_, flag)| flag.clone())
            };
            let place = flag.or_else(sibling).map_or_else(|| Place::Field(Fault::dotted(&fault.path)), Place::Flag);
            SpecError::new(place, &fault.message)
        })
    }
}

/// Whether one path leads to or through the other.
fn touches(a: &[Step], b: &[Step]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// `--block-size` for `block_size`.
pub(super) fn flag_of(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

pub(super) fn text(typed: &str) -> Value {
    Value::String(typed.to_owned())
}

/// The typed text as a TOML value if it is one, else as text.
pub(super) fn literal(typed: &str) -> Value {
    typed.parse().unwrap_or_else(|_| text(typed))
}

fn put(table: &mut Table, steps: &[Step], value: Value) -> Result<(), String> {
    let mut at: &mut Table = table;
    let (Some(Step::Key(field)), parents) = (steps.last(), &steps[..steps.len().saturating_sub(1)]) else {
        return Err("the path ends in a number; name a field".to_owned());
    };
    let mut parents = parents.iter();
    while let Some(step) = parents.next() {
        let Step::Key(key) = step else { return Err("a number where a field should be".to_owned()) };
        let entry = at.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
        let entry = match entry {
            Value::Array(items) => match parents.next() {
                Some(Step::Index(index)) => items.get_mut(*index),
                _ => None,
            },
            other => Some(other),
        };
        at = match entry {
            Some(Value::Table(inner)) => inner,
            _ => return Err(format!("`{key}` holds no fields to set")),
        };
    }
    at.insert(field.clone(), value);
    Ok(())
}
