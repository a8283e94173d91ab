//! What is run beside the load: `[[event]]` of a job, a command at a moment of each point.
//!
//! Owns the spelling, the limits and the defaults. Runs nothing.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::redact;
use super::scalar;
use super::schema;
use crate::units::format_duration;

/// How long a command may take that states no timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// What stands in place of a secret.
const HIDDEN: &str = "%***";
/// Most characters of a command that stand for it where it has no label.
const LABEL_MAX: usize = 40;

/// A command that is run at a moment of each point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventSpec {
    /// When, from the start of the point, ramp included; less than `ramp` and `time` together.
    #[serde(deserialize_with = "moment", serialize_with = "write_moment")]
    #[schemars(schema_with = "schema::duration")]
    pub at: Duration,
    /// What is run, by `sh -c`.
    pub run: ShellCommand,
    /// What it is called in reports; the command, shortened, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write_redacted")]
    pub label: Option<String>,
    /// How long it may take, above 0, up to 30 days; 1 min if absent. One still running then is killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    #[schemars(schema_with = "schema::duration")]
    pub timeout: Option<Duration>,
    /// At which points of the run, counted from 1; at each if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minItems" = 1))]
    pub points: Option<Vec<NonZeroUsize>>,
}

/// A command of the shell. No printed form of it carries the secret of a URI.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ShellCommand(String);

impl ShellCommand {
    /// The command as it is run; never for printing.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it was read from a printed form, in which a secret is left out.
    #[must_use]
    pub fn lacks_a_secret(&self) -> bool {
        self.0.contains(HIDDEN)
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_lines(&self.0))
    }
}

impl fmt::Debug for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl Serialize for ShellCommand {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for ShellCommand {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ShellCommand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": r"\S"})
    }
}

/// The text without the secret of any URI in it, line by line.
fn redact_lines(text: &str) -> String {
    text.split('\n').map(redact).collect::<Vec<_>>().join("\n")
}

impl EventSpec {
    /// What it is called in reports, on one line and without secrets.
    #[must_use]
    pub fn label(&self) -> String {
        let text = self.label.as_deref().map_or_else(|| self.run.to_string(), redact_lines);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LABEL_MAX) {
            Some((end, _)) if self.label.is_none() => format!("{}...", line[..end].trim_end()),
            _ => line,
        }
    }

    /// Whether it belongs to the run's point of this index, from 0.
    #[must_use]
    pub fn is_at(&self, point: usize) -> bool {
        self.points.as_ref().is_none_or(|points| points.iter().any(|number| number.get() == point + 1))
    }

    /// How long it may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Checks it against the length of a point. The field at fault, and what is wrong.
    pub(super) fn check(&self, whole: Duration) -> Result<(), (&'static str, String)> {
        if self.run.reveal().trim().is_empty() {
            return Err(("run", "the command is empty; write what is to be run, as for `sh -c`".to_owned()));
        }
        if self.at >= whole {
            let (at, whole) = (format_duration(self.at), format_duration(whole));
            let message = format!(
                "the event is at {at}, but a point is over after {whole} (`ramp` and `time` of [run] together); write \
                 an earlier `at`, or a longer `time` (--time)"
            );
            return Err(("at", message));
        }
        if self.points.as_ref().is_some_and(Vec::is_empty) {
            return Err(("points", "`points` names none; write numbers from 1, or leave it out".to_owned()));
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err((
                "timeout",
                "a timeout of 0 leaves the command no time; write more, or leave it out".to_owned(),
            ));
        }
        Ok(())
    }
}

fn write_redacted<S: Serializer>(label: &Option<String>, s: S) -> Result<S::Ok, S::Error> {
    label.as_deref().map(redact_lines).serialize(s)
}

fn moment<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    Ok(scalar::duration(d)?.unwrap_or_default())
}

fn write_moment<S: Serializer>(at: &Duration, s: S) -> Result<S::Ok, S::Error> {
    scalar::write_duration(&Some(*at), s)
}

#[cfg(test)]
mod tests {
    use crate::spec::parse;

    fn fault(event: &str) -> String {
        let job = format!("[run]\nramp = '1s'\ntime = '2s'\n[[event]]\n{event}\n");
        parse(&job, "job.toml").map(|_| ()).expect_err(event).to_string()
    }

    #[test]
    fn an_event_is_read_and_named_after_its_command() {
        let job = parse("[[event]]\nat = '4s'\nrun = 'array  snapshot create vol1'\n", "job.toml").expect("a job");
        assert_eq!(job.event[0].label(), "array snapshot create vol1");
        assert_eq!(job.event[0].timeout().as_secs(), 60);
    }

    #[test]
    fn a_faulty_event_is_refused_with_field_and_remedy() {
        for (event, told) in [
            ("at = '3s'\nrun = 'true'", "over after 3s"),
            ("at = '1s'\nrun = ' '", "the command is empty"),
            ("at = 'noon'\nrun = 'true'", "at"),
            ("at = '1s'", "run"),
            ("at = '1s'\nrun = 'true'\ntimeout = '0s'", "timeout"),
            ("at = '1s'\nrun = 'true'\nuntil = '2s'", "until"),
        ] {
            let message = fault(event);
            assert!(message.contains(told), "{event}: {message}");
        }
    }

    #[test]
    fn an_event_is_refused_where_time_is_virtual() {
        let job = "[[target]]\nuri = 'sim://constant-100us'\n[[event]]\nat = '1s'\nrun = 'true'\n";
        let message = parse(job, "job.toml").map(|_| ()).expect_err("no wall clock").to_string();
        assert!(message.contains("virtual"), "{message}");
    }
}
