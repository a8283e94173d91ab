//! Finds the results that a person names: folders, files, or places of the archive. Owns what each way of naming means.

use std::path::{Path, PathBuf};

use super::args::ArchiveArg;
use super::exit::Failure;
use super::live::warn;
use super::save::{RESULT, SERIES};
use crate::result::series::{self, Series};
use crate::result::{RunResult, from_json};

/// What to say of a name that leads to nothing.
const NOTHING: &str =
    "no such folder or file; name a run's folder, a result.json, a number or pin of `rigel list`, or latest";

/// A result that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// What to call it beside others.
    pub label: String,
    /// The result.
    pub result: RunResult,
    /// Its text, as it was written.
    #[cfg_attr(not(feature = "archive"), allow(dead_code, reason = "only the archive keeps it"))]
    pub json: String,
    /// The folder of its files; of an archived result the one it had.
    pub folder: Option<PathBuf>,
    /// Whether it came from the archive, so that the folder may hold something else by now.
    pub archived: bool,
}

impl Found {
    /// Its intervals, if they are where they were.
    pub(super) fn series(&self) -> Result<Option<Series>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        Ok(series(folder)?.filter(|series| series.header.started_at == self.result.started_at))
    }

    /// The same where the rest goes without them: what cannot be read is told, with what is missing for it.
    pub(super) fn series_or_warn(&self, without: &str) -> Option<Series> {
        self.series().unwrap_or_else(|failure| {
            warn(&format!("{failure}; {without}"));
            None
        })
    }
}

/// The result named `name`: a path that is there, else a place of the archive.
pub(super) fn result(name: &str, archive: &ArchiveArg) -> Result<Found, Failure> {
    if !Path::new(name).exists() {
        if let Some(found) = archived(name, archive) {
            return found;
        }
    }
    at(Path::new(name))
}

/// The result in a folder, or in a file.
pub(super) fn at(path: &Path) -> Result<Found, Failure> {
    let file = if path.is_dir() { path.join(RESULT) } else { path.to_owned() };
    let name = file.display().to_string();
    let json = std::fs::read_to_string(&file).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound if path.is_dir() => {
            Failure::Kept { path: path.display().to_string(), reason: no_result(path).to_owned() }
        }
        std::io::ErrorKind::NotFound => Failure::Kept { path: name.clone(), reason: NOTHING.to_owned() },
        _ => Failure::Read { path: name.clone(), reason },
    })?;
    let result = from_json(&json).map_err(|error| Failure::Kept { path: name, reason: error.to_string() })?;
    let folder = file.parent().map(|folder| if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() });
    Ok(Found { label: label(&result), result, json, folder, archived: false })
}

#[cfg(feature = "archive")]
fn archived(name: &str, archive: &ArchiveArg) -> Option<Result<Found, Failure>> {
    use crate::archive::{ArchiveError, Reference};
    let reference = Reference::parse(name)?;
    let path = path(archive);
    // A word may be a misspelt file as well as a pin; without an archive only the former.
    if matches!(reference, Reference::Pin(_)) && !path.exists() {
        return None;
    }
    let find = || {
        let archive = open(archive)?;
        let entry = archive.entry(reference).map_err(|error| match error {
            ArchiveError::NoPin { .. } => {
                Failure::Kept { path: name.to_owned(), reason: format!("{NOTHING}; {error}") }
            }
            error => error.into(),
        })?;
        let (result, json) = archive.result(entry.id)?;
        Ok(Found {
            label: format!("{} (#{})", label(&result), entry.id),
            result,
            json,
            folder: Some(entry.folder.into()),
            archived: true,
        })
    };
    Some(find())
}

#[cfg(not(feature = "archive"))]
fn archived(_name: &str, _archive: &ArchiveArg) -> Option<Result<Found, Failure>> {
    None
}

/// The archive, which must be there.
#[cfg(feature = "archive")]
pub(super) fn open(archive: &ArchiveArg) -> Result<crate::archive::Archive, Failure> {
    Ok(crate::archive::Archive::open_existing(&path(archive))?)
}

fn no_result(folder: &Path) -> &'static str {
    if folder.join(SERIES).exists() {
        "no result.json in this folder: the run came to no result, and its intervals are in series.jsonl"
    } else {
        "no result.json in this folder; name a run's folder"
    }
}

/// The intervals in a folder: none when there are none; an error when they cannot be read.
pub(super) fn series(folder: &Path) -> Result<Option<Series>, Failure> {
    let path = folder.join(SERIES);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(reason) => return Err(Failure::Read { path: path.display().to_string(), reason }),
    };
    let damaged =
        |error: series::SeriesError| Failure::Kept { path: path.display().to_string(), reason: error.to_string() };
    series::read(&bytes).map(Some).map_err(damaged)
}

/// Where the archive is.
#[cfg(feature = "archive")]
pub(super) fn path(archive: &ArchiveArg) -> PathBuf {
    archive.archive.clone().unwrap_or_else(crate::archive::Archive::usual_path)
}

/// The job's name, or what was measured.
pub(super) fn label(result: &RunResult) -> String {
    let name = result.job.get("name").and_then(serde_json::Value::as_str).unwrap_or("").trim();
    if !name.is_empty() {
        return name.to_owned();
    }
    let target = result.facts.targets.first();
    target.map_or_else(|| "Rigel".to_owned(), |t| if t.model.is_empty() { t.uri.clone() } else { t.model.clone() })
}

/// Labels that differ: equal ones get the time at which their run began.
pub(super) fn tell_apart(found: &mut [Found]) {
    let labels: Vec<String> = found.iter().map(|found| found.label.clone()).collect();
    for one in found.iter_mut() {
        if labels.iter().filter(|label| **label == one.label).count() > 1 {
            one.label = format!("{}, {}", one.label, one.result.started_at.trim_end_matches('Z').replace('T', " "));
        }
    }
    // Begun in the same second.
    let labels: Vec<String> = found.iter().map(|found| found.label.clone()).collect();
    for (index, one) in found.iter_mut().enumerate() {
        if labels.iter().filter(|label| **label == one.label).count() > 1 {
            one.label = format!("{} [{}]", one.label, index + 1);
        }
    }
}
