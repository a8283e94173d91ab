//! Reading from the archive: lists, and whole results. Owns the filters.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{Archive, ArchiveError, Reference};
use crate::result::{RunResult, from_json};

/// Which results to list; an absent field leaves the choice open.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Part of the job's name, whatever its case.
    pub name: Option<String>,
    /// Part of a target's serial number or URI.
    pub target: Option<String>,
    /// Begun at or after this time, in RFC 3339 or a beginning of it: `2026-11`.
    pub since: Option<String>,
    /// Begun before the end of this time, spelt likewise.
    pub until: Option<String>,
    /// A tag.
    pub tag: Option<String>,
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Number in the archive.
    pub id: i64,
    /// When it was begun, RFC 3339 in UTC.
    pub started_at: String,
    /// The job's name; may be empty.
    pub name: String,
    /// The machine that generated the load.
    pub host: String,
    /// The targets' URIs.
    pub targets: Vec<String>,
    /// Number of points.
    pub points: i64,
    /// Most IOPS of any point.
    pub best_iops: f64,
    /// The load of that point, in words.
    pub best_load: String,
    /// How many sentences stand against its figures.
    pub verdicts: i64,
    /// Its tags, in alphabetical order.
    pub tags: Vec<String>,
    /// The names it is pinned by, in alphabetical order.
    pub pins: Vec<String>,
    /// Its notes, oldest first: time and text.
    pub notes: Vec<(String, String)>,
    /// Where its files were.
    pub folder: String,
}

const ENTRY: &str = "SELECT id, started_at, name, host, points, best_iops, best_load, verdicts, folder FROM run";
/// The filters are always there and let through what they are not given.
const WHERE: &str = "WHERE (?1 IS NULL OR instr(lower(name), lower(?1)) > 0)
    AND (?2 IS NULL OR EXISTS (SELECT 1 FROM target
        WHERE target.run = run.id AND (instr(serial, ?2) > 0 OR instr(uri, ?2) > 0)))
    AND (?3 IS NULL OR started_at >= ?3)
    AND (?4 IS NULL OR substr(started_at, 1, length(?4)) <= ?4)
    AND (?5 IS NULL OR EXISTS (SELECT 1 FROM tag WHERE tag.run = run.id AND tag.tag = ?5))
    ORDER BY started_at DESC, id DESC";

impl Archive {
    /// The results that a filter lets through, the latest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, ArchiveError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let mut query = self.connection.prepare(&format!("{ENTRY} {WHERE}"))?;
            let Filter { name, target, since, until, tag } = filter;
            let rows = query.query_map(params![name, target, since, until, tag], entry)?;
            rows.map(|row| row.and_then(|entry| self.complete(entry))).collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// One result's line.
    pub fn entry(&self, reference: Reference) -> Result<Entry, ArchiveError> {
        let read = || {
            let (condition, key) = match &reference {
                Reference::Id(id) => ("WHERE id = ?1", Value::from(*id)),
                Reference::Latest(back) => {
                    let back = i64::try_from(*back).unwrap_or(i64::MAX);
                    ("ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ?1", Value::from(back))
                }
                Reference::Pin(name) => ("WHERE id = (SELECT run FROM pin WHERE name = ?1)", Value::from(name.clone())),
            };
            let row = self.connection.query_row(&format!("{ENTRY} {condition}"), [key], entry).optional()?;
            row.map(|entry| self.complete(entry)).transpose()
        };
        match read().map_err(|error| self.failed(&error))? {
            Some(entry) => Ok(entry),
            None => {
                if let Reference::Pin(name) = &reference {
                    return Err(self.no_pin(name)?);
                }
                let count = self.connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0));
                let count = count.map_err(|error| self.failed(&error))?;
                Err(ArchiveError::NoSuch { reference: reference.to_string(), count })
            }
        }
    }

    /// One result, whole, and its text.
    pub fn result(&self, id: i64) -> Result<(RunResult, String), ArchiveError> {
        let json: Vec<u8> = self
            .connection
            .query_row("SELECT result FROM run WHERE id = ?1", [id], |row| row.get(0))
            .map_err(|error| self.failed(&error))?;
        let json = String::from_utf8_lossy(&json).into_owned();
        let result = from_json(&json).map_err(|reason| ArchiveError::Damaged { id, reason })?;
        Ok((result, json))
    }

    fn complete(&self, entry: Entry) -> rusqlite::Result<Entry> {
        let texts = |sql: &str| -> rusqlite::Result<Vec<String>> {
            self.connection.prepare(sql)?.query_map([entry.id], |row| row.get(0))?.collect()
        };
        let notes = "SELECT at, text FROM note WHERE run = ?1 ORDER BY at, rowid";
        let mut notes = self.connection.prepare(notes)?;
        let notes = notes.query_map([entry.id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        Ok(Entry {
            targets: texts("SELECT uri FROM target WHERE run = ?1 ORDER BY rowid")?,
            tags: texts("SELECT tag FROM tag WHERE run = ?1 ORDER BY tag")?,
            pins: texts("SELECT name FROM pin WHERE run = ?1 ORDER BY name")?,
            notes,
            ..entry
        })
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        started_at: row.get(1)?,
        name: row.get(2)?,
        host: row.get(3)?,
        points: row.get(4)?,
        best_iops: row.get(5)?,
        best_load: row.get(6)?,
        verdicts: row.get(7)?,
        folder: row.get(8)?,
        targets: Vec::new(),
        tags: Vec::new(),
        pins: Vec::new(),
        notes: Vec::new(),
    })
}
