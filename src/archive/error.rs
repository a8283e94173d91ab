//! What can go wrong with the archive. Owns the wording.

use std::path::PathBuf;

use crate::result::ResultError;

/// Why the archive cannot do what was asked; the text names the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be opened or made.
    #[error("cannot open the archive {}: {reason}; name another file with --archive or RIGEL_ARCHIVE", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system or SQLite said.
        reason: String,
    },
    /// There is none yet.
    #[error("there is no archive at {} yet; `rigel run` makes it, `rigel import FOLDER` brings results into it", path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
    /// It was written by a later version.
    #[error("the archive {} has layout {found}, which a later rigel wrote; use that version or name another file with --archive", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i64,
    },
    /// Reading or writing it failed.
    #[error("the archive {}: {reason}; check the disk, or name another file with --archive", path.display())]
    Use {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// A reference leads to nothing.
    #[error("the archive has no result `{reference}` (it holds {count}); see `rigel list`")]
    NoSuch {
        /// What was asked for.
        reference: String,
        /// How many results there are.
        count: i64,
    },
    /// No pin has this name.
    #[error("the archive has no pin `{name}`; {}", told(pins))]
    NoPin {
        /// The name asked for.
        name: String,
        /// The names there are.
        pins: Vec<String>,
    },
    /// No pin may have this name.
    #[error("a pin cannot be named `{name}`; write a letter, then letters, digits, `.`, `_` or `-`, and not latest")]
    PinName {
        /// The name asked for.
        name: String,
    },
    /// An archived result cannot be read.
    #[error("result {id} of the archive: {reason}")]
    Damaged {
        /// Its number.
        id: i64,
        /// Why.
        reason: ResultError,
    },
}

fn told(pins: &[String]) -> String {
    match pins {
        [] => "there is none; `rigel list --pin NAME RESULT` makes one".to_owned(),
        pins => format!("pins: {}", pins.join(", ")),
    }
}
