//! Reads a series back, whole or cut off anywhere.
//!
//! Owns what may be missing: only what stands after the last line feed. Takes bytes, opens no file; whoever did adds its
//! name.

use serde::Deserialize;

use super::{Header, Interval, KIND, PointEnd, Record, SCHEMA};

/// What a run left of its series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Where it comes from.
    pub header: Header,
    /// The finished intervals and ends of points, in the order they came.
    pub records: Vec<Record>,
    /// Whether a line was begun and not finished, as a run leaves it that dies while it writes. It is in no record.
    pub torn: bool,
}

impl Series {
    /// The finished intervals.
    pub fn intervals(&self) -> impl Iterator<Item = &Interval> {
        self.records.iter().filter_map(|record| match record {
            Record::Interval(interval) => Some(interval),
            Record::Point(_) => None,
        })
    }

    /// The finished points.
    pub fn ends(&self) -> impl Iterator<Item = &PointEnd> {
        self.records.iter().filter_map(|record| match record {
            Record::Point(end) => Some(end),
            Record::Interval(_) => None,
        })
    }
}

/// Why bytes are not a series that this version can read; the text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// Not one whole line.
    #[error(
        "the series ends within its first line: the run ended before its first interval, and there is nothing to read"
    )]
    NoHeader,
    /// Not written by Rigel, or another file of it.
    #[error("this is not a series of Rigel ({0}); give the series.jsonl of a run's folder")]
    Foreign(String),
    /// Written by a later version.
    #[error(
        "the series has schema {found}, written by rigel {version}; this rigel reads up to schema {SCHEMA}: use rigel \
         {version} or later"
    )]
    Newer {
        /// Its schema.
        found: u64,
        /// The version that wrote it.
        version: String,
    },
    /// A line that is whole and yet cannot be read.
    #[error(
        "line {line} of the series is damaged ({reason}); copy the file again from where it was made, or take that line \
         out to read the rest"
    )]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// The little that every version of the header has in common.
#[derive(Deserialize)]
struct Head {
    schema: Option<u64>,
    kind: Option<String>,
    tool: Option<HeadTool>,
}

#[derive(Deserialize)]
struct HeadTool {
    version: Option<String>,
}

/// What tells the end of a point from an interval.
#[derive(Deserialize)]
struct Mark {
    #[serde(default)]
    done: bool,
}

/// Reads a `series.jsonl`: every line that ends in a line feed.
pub fn read(bytes: &[u8]) -> Result<Series, SeriesError> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let torn = whole < bytes.len();
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n').zip(1..);
    let (first, _) = lines.next().ok_or(match bytes.first() {
        None | Some(b'{') => SeriesError::NoHeader,
        Some(_) => SeriesError::Foreign("it is no line of JSON".to_owned()),
    })?;
    let header = header(first)?;
    let damaged = |line, reason: serde_json::Error| SeriesError::Damaged { line, reason: reason.to_string() };
    let records = lines.map(|(text, line)| record(text).map_err(|reason| damaged(line, reason)));
    Ok(Series { header, records: records.collect::<Result<_, _>>()?, torn })
}

fn header(line: &[u8]) -> Result<Header, SeriesError> {
    let head: Head = serde_json::from_slice(line).map_err(|error| SeriesError::Foreign(error.to_string()))?;
    let (Some(schema), Some(KIND)) = (head.schema, head.kind.as_deref()) else {
        return Err(SeriesError::Foreign(format!("its first line has no `schema`, or its `kind` is not `{KIND}`")));
    };
    if schema > u64::from(SCHEMA) {
        let version = head.tool.and_then(|tool| tool.version).unwrap_or_else(|| "of an unknown version".to_owned());
        return Err(SeriesError::Newer { found: schema, version });
    }
    serde_json::from_slice(line).map_err(|error| SeriesError::Damaged { line: 1, reason: error.to_string() })
}

fn record(line: &[u8]) -> Result<Record, serde_json::Error> {
    let Mark { done } = serde_json::from_slice(line)?;
    if done {
        serde_json::from_slice(line).map(Record::Point)
    } else {
        serde_json::from_slice(line).map(Record::Interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_being_unreadable_has_its_own_message() {
        for (text, says) in [
            ("", "ends within its first line"),
            ("{\"schema\": 1, \"ki", "ends within its first line"),
            ("<html>", "not a series of Rigel"),
            ("<html>\n", "not a series of Rigel"),
            ("{\n  \"schema\": 1,\n", "not a series of Rigel"),
            ("{\"schema\": 1, \"tool\": {\"name\": \"rigel\"}}\n", "`kind` is not `rigel-series`"),
            (
                "{\"schema\": 9, \"kind\": \"rigel-series\", \"tool\": {\"version\": \"9.1.0\"}}\n",
                "use rigel 9.1.0 or later",
            ),
            ("{\"schema\": 1, \"kind\": \"rigel-series\"}\n", "line 1 of the series is damaged"),
        ] {
            let message = read(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(says), "{text:?}: {message}");
        }
    }
}
