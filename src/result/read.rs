//! Reads `result.json` back, and says what is wrong with a text that is none.
//!
//! Owns the judgement on foreign, newer and damaged texts. Takes text, opens no file; whoever did adds its name.

use serde::Deserialize;
use serde_json::error::Category;

use super::{RunResult, SCHEMA};

/// Why a text is not a result that this version can read; the text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// The text ends within a value.
    #[error(
        "the result is cut off at line {line}, column {column}; copy the file again from where it was made, or repeat \
         the run"
    )]
    Truncated {
        /// Line at which it ends, from 1.
        line: usize,
        /// Column at which it ends, from 1.
        column: usize,
    },
    /// JSON or not, but not written by Rigel.
    #[error("this is not a Rigel result ({0}); give the result.json of a run's folder")]
    Foreign(String),
    /// Written by a later version.
    #[error(
        "the result has schema {found}, written by rigel {version}; this rigel reads up to schema {SCHEMA}: use rigel \
         {version} or later"
    )]
    Newer {
        /// Its schema.
        found: u64,
        /// The version that wrote it.
        version: String,
    },
    /// A result, but with a field missing or of the wrong kind.
    #[error("the result is damaged ({0}); copy the file again from where it was made, or repeat the run")]
    Damaged(String),
    /// The `hdr` of a latency cannot be decoded.
    #[error("a latency histogram of the result is damaged ({0}); copy the file again, or repeat the run")]
    Histogram(String),
}

/// The little that every version of a result has in common.
#[derive(Deserialize)]
struct Head {
    schema: Option<u64>,
    tool: Option<HeadTool>,
}

#[derive(Deserialize)]
struct HeadTool {
    name: Option<String>,
    version: Option<String>,
}

/// Reads the text of a `result.json`.
pub fn from_json(text: &str) -> Result<RunResult, ResultError> {
    let head: Head = serde_json::from_str(text).map_err(|error| match error.classify() {
        // A number that ends after its sign is no number, and not the end of the text to the parser.
        Category::Eof | Category::Syntax if !text.trim().is_empty() && is_at_end(&error, text) => {
            ResultError::Truncated { line: error.line(), column: error.column() }
        }
        Category::Eof => ResultError::Foreign("it is empty".to_owned()),
        _ => ResultError::Foreign(error.to_string()),
    })?;
    let tool = head.tool.filter(|tool| tool.name.as_deref() == Some("rigel"));
    let (Some(schema), Some(tool)) = (head.schema, tool) else {
        return Err(ResultError::Foreign("it has no `schema`, or its `tool.name` is not `rigel`".to_owned()));
    };
    if schema > u64::from(SCHEMA) {
        let version = tool.version.unwrap_or_else(|| "of an unknown version".to_owned());
        return Err(ResultError::Newer { found: schema, version });
    }
    serde_json::from_str(text).map_err(|error| ResultError::Damaged(error.to_string()))
}

/// Whether the parser had come to the end of the text when it found the error.
fn is_at_end(error: &serde_json::Error, text: &str) -> bool {
    let last = text.lines().last().unwrap_or("");
    error.line() > text.lines().count() || (error.line() == text.lines().count() && error.column() >= last.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        from_json(text).unwrap_err().to_string()
    }

    #[test]
    fn each_way_of_being_unreadable_has_its_own_message() {
        for (text, says) in [
            ("", "it is empty"),
            ("<html>", "not a Rigel result"),
            ("[1, 2]", "not a Rigel result"),
            (r#"{"fio version": "fio-3.36"}"#, "not a Rigel result"),
            (r#"{"schema": 1, "tool": {"name": "orion"}}"#, "not a Rigel result"),
            ("{\"schema\": 1,\n \"tool\": {\"na", "cut off at line 2"),
            ("{\"schema\": 1,\n \"deviation\": -", "cut off at line 2"),
            (r#"{"schema": 7, "tool": {"name": "rigel", "version": "9.1.0"}}"#, "use rigel 9.1.0 or later"),
            (r#"{"schema": 1, "tool": {"name": "rigel"}}"#, "damaged"),
        ] {
            assert!(message(text).contains(says), "{text:?}: {}", message(text));
        }
    }
}
