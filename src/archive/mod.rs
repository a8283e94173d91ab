//! The archive: every result on this machine in one SQLite file, so that it is still there next year.
//!
//! Owns that file and its layout; the only layer that knows where results are kept. Each row holds the whole result, so
//! that a folder may go. Several processes may write at once: a writer waits for its turn.

mod error;
mod pin;
mod query;
mod reference;
mod store;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use error::ArchiveError;
pub use query::{Entry, Filter};
pub use reference::Reference;

/// What each layout of the file adds to the one before; its number is the position, from 1.
const LAYOUTS: [&str; 2] = [RUNS, PINS];
/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(30);

const RUNS: &str = "
CREATE TABLE run(
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, started_at TEXT NOT NULL, name TEXT NOT NULL,
    host TEXT NOT NULL, points INTEGER NOT NULL, best_iops REAL NOT NULL, best_load TEXT NOT NULL,
    verdicts INTEGER NOT NULL, folder TEXT NOT NULL, result BLOB NOT NULL);
CREATE INDEX run_by_time ON run(started_at);
CREATE TABLE target(run INTEGER NOT NULL REFERENCES run(id), uri TEXT NOT NULL, model TEXT NOT NULL, serial TEXT NOT NULL);
CREATE INDEX target_by_serial ON target(serial);
CREATE TABLE tag(run INTEGER NOT NULL REFERENCES run(id), tag TEXT NOT NULL, UNIQUE(run, tag));
CREATE TABLE note(run INTEGER NOT NULL REFERENCES run(id), at TEXT NOT NULL, text TEXT NOT NULL);
";
const PINS: &str = "
CREATE TABLE pin(name TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id));
CREATE INDEX pin_by_run ON pin(run);
";

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

/// Repeats what SQLite refuses at once while others are at the file, whatever its time-out: a change of the journal.
fn in_turn(mut step: impl FnMut() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        match step() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

impl Archive {
    /// Where it is when nobody says otherwise: `$RIGEL_ARCHIVE`, else `rigel/archive.sqlite` in the user's data folder.
    #[must_use]
    pub fn usual_path() -> PathBuf {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = set("RIGEL_ARCHIVE") {
            return path;
        }
        let home = || set("HOME").unwrap_or_default().join(".local/share");
        set("XDG_DATA_HOME").unwrap_or_else(home).join("rigel/archive.sqlite")
    }

    /// Opens an archive, and makes it if there is none. One of an older layout is brought up to date, or left as it was.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let cannot = |reason: &dyn ToString| ArchiveError::Open { path: path.to_owned(), reason: reason.to_string() };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| cannot(&error))?;
        }
        let mut connection = Connection::open(path).map_err(|error| cannot(&error))?;
        connection.busy_timeout(PATIENCE).map_err(|error| cannot(&error))?;
        // Readers and a writer do not wait for each other, and a crash leaves what was committed.
        in_turn(|| connection.pragma_update(None, "journal_mode", "WAL")).map_err(|error| cannot(&error))?;
        // Loses nothing when the process dies; when the power fails, at most the latest rows, whose folders remain.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(|error| cannot(&error))?;
        connection.pragma_update(None, "foreign_keys", true).map_err(|error| cannot(&error))?;
        let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
        let change = change.map_err(|error| cannot(&error))?;
        let layout: i64 =
            change.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| cannot(&error))?;
        // Whoever comes second finds the layout risen: the transaction has taken the file for writing before the look.
        let Some(missing) = usize::try_from(layout).ok().and_then(|has| LAYOUTS.get(has..)) else {
            return Err(ArchiveError::Newer { path: path.to_owned(), found: layout });
        };
        for tables in missing {
            change.execute_batch(tables).map_err(|error| cannot(&error))?;
        }
        if !missing.is_empty() {
            change.pragma_update(None, "user_version", LAYOUTS.len() as i64).map_err(|error| cannot(&error))?;
        }
        change.commit().map_err(|error| cannot(&error))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Opens an archive that is there, for reading, notes and pins.
    pub fn open_existing(path: &Path) -> Result<Self, ArchiveError> {
        if !path.exists() {
            return Err(ArchiveError::None { path: path.to_owned() });
        }
        let probe = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let probe = probe.and_then(|c| c.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())));
        probe.map_err(|error| ArchiveError::Open { path: path.to_owned(), reason: error.to_string() })?;
        Self::open(path)
    }

    fn failed(&self, error: &rusqlite::Error) -> ArchiveError {
        ArchiveError::Use { path: self.path.clone(), reason: error.to_string() }
    }
}
