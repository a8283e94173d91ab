//! From text to a job, with the place of each fault.
//!
//! Owns the way from a field's path to its line and column (or flag), and the wording of type errors. The fields
//! themselves say what they accept.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, SpecError};
use super::job::Job;
use super::nearest::{hint, list};
use super::validate::validate;

/// Reads a job file; `file_name` only serves the errors, which name the line, the column, the field and the remedy.
///
/// # Errors
/// Text that is not TOML, unknown fields, values of a wrong type, unit or range, and fields that contradict each other.
pub fn parse(text: &str, file_name: &str) -> Result<Job, SpecError> {
    let source = Source { text, file_name };
    let document = DeTable::parse(text).map_err(|error| source.syntax(&error))?;
    let table = toml::from_str::<toml::Table>(text).map_err(|error| source.syntax(&error))?;
    read(table).map_err(|fault| SpecError::new(source.place(document.get_ref(), &fault), &fault.message))
}

/// Reads and validates a job from a table.
pub(super) fn read(table: toml::Table) -> Result<Job, Fault> {
    let job = serde_path_to_error::deserialize::<_, Job>(table).map_err(|error| {
        let path = error.path().iter().filter_map(Step::from_segment).collect();
        Fault::from_serde(path, error.inner().message())
    })?;
    validate(&job)?;
    Ok(job)
}

/// One step of the path to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A field of a table.
    Key(String),
    /// An entry of a list.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl Step {
    fn from_segment(segment: &serde_path_to_error::Segment) -> Option<Self> {
        match segment {
            serde_path_to_error::Segment::Map { key } => Some(Self::Key(key.clone())),
            serde_path_to_error::Segment::Seq { index } => Some(Self::Index(*index)),
            _ => None,
        }
    }
}

/// A fault of a job and the path of the field it is found at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub path: Vec<Step>,
    pub message: String,
    /// Whether the field's name is at fault, not its value.
    pub at_key: bool,
}

impl Fault {
    pub fn at(path: impl Into<Vec<Step>>, message: String) -> Self {
        Self { path: path.into(), message, at_key: false }
    }

    /// The path with dots, for people.
    pub fn dotted(path: &[Step]) -> String {
        let steps = path.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        });
        steps.collect::<Vec<_>>().join(".")
    }

    /// Turns serde's wording into the one of this tool; a wording it does not know passes unchanged.
    fn from_serde(path: Vec<Step>, text: &str) -> Self {
        if let Some(rest) = text.strip_prefix("unknown field `") {
            let mut quoted = rest.split('`').step_by(2);
            let field = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.filter(|word| !word.is_empty()).collect();
            let hint = hint(field, known.iter().copied());
            let message = format!("unknown field `{field}`{hint}; fields known here: {}", list(known));
            return Self { path, message, at_key: true };
        }
        let field = path.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(format!("`{key}`: ")),
            Step::Index(_) => None,
        });
        let field = field.unwrap_or_default();
        if text == "missing field `uri`" {
            let message =
                "missing field `uri`; add the target's URI, such as uri = \"sim://powermax-read-miss\"".to_owned();
            return Self::at(path, message);
        }
        let mismatch = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "));
        let message = match mismatch.and_then(|rest| rest.rsplit_once(", expected ")) {
            Some((found, expected)) => format!("{field}expected {}; found {found}", in_plain_words(expected)),
            None => format!("{field}{text}"),
        };
        Self::at(path, message)
    }
}

/// Serde's names for the types that no field of a job describes in its own words.
fn in_plain_words(expected: &str) -> &str {
    match expected {
        "a string" => "a text in quotes, such as \"name\"",
        "struct Job" | "struct Precondition" | "struct Run" | "struct Sweep" | "struct Target" | "struct Workload" => {
            "a table of fields, such as [run] with lines below it"
        }
        other => other,
    }
}

/// A job file's text and name.
struct Source<'a> {
    text: &'a str,
    file_name: &'a str,
}

impl Source<'_> {
    fn syntax(&self, error: &toml::de::Error) -> SpecError {
        let message = format!("not valid TOML: {}", error.message());
        SpecError::new(self.at(error.span().map_or(0, |span| span.start)), &message)
    }

    fn place(&self, document: &DeTable<'_>, fault: &Fault) -> Place {
        self.at(locate(document, fault).start)
    }

    fn at(&self, offset: usize) -> Place {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place::File {
            file: self.file_name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Bytes of the text in which a fault's field stands, or of the nearest thing around it that is written there.
fn locate(document: &DeTable<'_>, fault: &Fault) -> Range<usize> {
    let mut table = Some(document);
    let mut items: Option<&[Spanned<DeValue<'_>>]> = None;
    let mut span = 0..0;
    for (depth, step) in fault.path.iter().enumerate() {
        let value = match step {
            Step::Key(key) => {
                let Some((name, value)) = table.and_then(|t| t.iter().find(|(name, _)| name.get_ref() == key)) else {
                    break;
                };
                if fault.at_key && depth + 1 == fault.path.len() {
                    return name.span();
                }
                value
            }
            Step::Index(index) => {
                let Some(value) = items.and_then(|items| items.get(*index)) else { break };
                value
            }
        };
        span = value.span();
        table = value.get_ref().as_table();
        items = value.get_ref().as_array().map(|items| &items[..]);
    }
    span
}
