//! Finds the results that a person names: folders, files, or places of the archive. Owns what each way of naming means.

use std::path::{Path, PathBuf};

use super::args::ArchiveArg;
use super::exit::Failure;
use super::live::warn;
use super::save::SERIES;
use crate::result::series::{self, Series};
use crate::result::{RunResult, from_json};

/// A result that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// What to call it beside others.
    pub label: String,
    /// The result.
    pub result: RunResult,
    /// Its text, as it was written.
    pub json: String,
    /// Its intervals, when they were there.
    pub series: Option<Series>,
    /// The folder of its files, when it came from there.
    pub folder: Option<PathBuf>,
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
    let file = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    let name = file.display().to_string();
    let json = std::fs::read_to_string(&file).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound if path.is_dir() => Failure::Kept {
            path: path.display().to_string(),
            reason: "no result.json in this folder; name a run's folder".to_owned(),
        },
        std::io::ErrorKind::NotFound => Failure::Kept {
            path: name.clone(),
            reason: "no such folder or file; name a run's folder, a result.json, a number of `rigel list`, or latest"
                .to_owned(),
        },
        _ => Failure::Read { path: name.clone(), reason },
    })?;
    let result = from_json(&json).map_err(|error| Failure::Kept { path: name, reason: error.to_string() })?;
    let folder = file.parent().map(|folder| if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() });
    let series = folder.as_deref().and_then(series).filter(|series| series.header.started_at == result.started_at);
    Ok(Found { label: label(&result), result, json, series, folder })
}

#[cfg(feature = "archive")]
fn archived(name: &str, archive: &ArchiveArg) -> Option<Result<Found, Failure>> {
    let reference = crate::archive::Reference::parse(name)?;
    let find = || {
        let archive = open(archive)?;
        let entry = archive.entry(reference)?;
        let (result, json) = archive.result(entry.id)?;
        Ok(Found {
            label: format!("{} (#{})", label(&result), entry.id),
            result,
            json,
            series: of_folder(&entry),
            folder: None,
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

/// The intervals of an archived result, as long as its folder is where it was.
#[cfg(feature = "archive")]
fn of_folder(entry: &crate::archive::Entry) -> Option<Series> {
    series(Path::new(&entry.folder)).filter(|series| series.header.started_at == entry.started_at)
}

/// The intervals in a folder; none when there are none, or none that can be read.
pub(super) fn series(folder: &Path) -> Option<Series> {
    let path = folder.join(SERIES);
    let bytes = std::fs::read(&path).ok()?;
    match series::read(&bytes) {
        Ok(series) => Some(series),
        Err(error) => {
            warn(&format!("{}: {error}; the report has no charts over time", path.display()));
            None
        }
    }
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
