//! Writing to the archive: results, notes and tags. Owns what a row says beside the result itself.

use rusqlite::{TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::{Archive, ArchiveError};
use crate::result::RunResult;

impl Archive {
    /// Keeps a result, `json` being its text and `folder` where its files are; gives its number. A result that is there
    /// already keeps the number it has.
    pub fn add(&mut self, result: &RunResult, json: &[u8], folder: &str) -> Result<i64, ArchiveError> {
        let digest = Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let best = result.points.iter().max_by(|a, b| a.total.iops.total_cmp(&b.total.iops));
        let name = result.job.get("name").and_then(serde_json::Value::as_str).unwrap_or("");
        let write = |connection: &mut rusqlite::Connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known = change.query_row("SELECT id FROM run WHERE digest = ?1", [&digest], |row| row.get(0));
            match known {
                Ok(id) => return Ok(id),
                Err(rusqlite::Error::QueryReturnedNoRows) => {}
                Err(error) => return Err(error),
            }
            change.execute(
                "INSERT INTO run(digest, started_at, name, host, points, best_iops, best_load, verdicts, folder, result)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    digest,
                    result.started_at,
                    name,
                    result.facts.host.hostname,
                    result.points.len() as i64,
                    best.map_or(0.0, |point| point.total.iops),
                    best.map_or_else(String::new, |point| point.load.to_string()),
                    result.verdicts.len() as i64,
                    folder,
                    json
                ],
            )?;
            let id = change.last_insert_rowid();
            for target in &result.facts.targets {
                change.execute(
                    "INSERT INTO target(run, uri, model, serial) VALUES (?1, ?2, ?3, ?4)",
                    params![id, target.uri, target.model, target.serial],
                )?;
            }
            change.commit()?;
            Ok(id)
        };
        write(&mut self.connection).map_err(|error| self.failed(&error))
    }

    /// Adds a note to a result, at a time in RFC 3339.
    pub fn note(&self, id: i64, at: &str, text: &str) -> Result<(), ArchiveError> {
        let sql = "INSERT INTO note(run, at, text) VALUES (?1, ?2, ?3)";
        self.connection.execute(sql, params![id, at, text]).map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// Puts a tag on a result; one that is there already is no error.
    pub fn tag(&self, id: i64, tag: &str) -> Result<(), ArchiveError> {
        let sql = "INSERT OR IGNORE INTO tag(run, tag) VALUES (?1, ?2)";
        self.connection.execute(sql, params![id, tag]).map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// Takes a tag off a result; whether it was there.
    pub fn untag(&self, id: i64, tag: &str) -> Result<bool, ArchiveError> {
        let sql = "DELETE FROM tag WHERE run = ?1 AND tag = ?2";
        self.connection.execute(sql, params![id, tag]).map(|rows| rows > 0).map_err(|error| self.failed(&error))
    }
}
