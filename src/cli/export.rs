//! `rigel export` and `rigel schema`: results and the shape of files, for other programs. Owns where the files go and
//! what is said of it; what stands in them is `report`'s.

use std::fs;
use std::path::{Path, PathBuf};

use super::args::{ExportArgs, SchemaArgs, SchemaOf};
use super::exit::{Exit, Failure};
use super::find::{self, Found};
use super::live::warn;
use super::out::to_stdout;
use super::save::put;
use crate::report::export::{self, File, Format};
use crate::report::schema;

/// Writes each result in each format and tells the files' names.
pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let results = args.results.iter().map(|name| find::result(name, &args.archive)).collect::<Result<Vec<_>, _>>()?;
    let places = places(args, &results)?;
    for (found, place) in results.iter().zip(&places) {
        let series = found.series()?;
        for format in args.formats() {
            let files = export::files(&found.result, series.as_ref(), format)
                .map_err(|error| Failure::Kept { path: found.label.clone(), reason: error.to_string() })?;
            for file in files {
                to_stdout(format!("{}\n", write(place, &file)?.display()))?;
            }
            if format == Format::Csv && series.is_none() {
                warn(&format!("{}: there is no series.jsonl beside it, so there is no intervals.csv", found.label));
            }
        }
    }
    Ok(Exit::Done)
}

/// Prints the schema asked for.
pub(super) fn schema(args: &SchemaArgs) -> Result<Exit, Failure> {
    to_stdout(match args.of {
        SchemaOf::Job => schema::job(),
        SchemaOf::Result => schema::result(),
    })?;
    Ok(Exit::Done)
}

/// The folder for the files of each result.
fn places(args: &ExportArgs, results: &[Found]) -> Result<Vec<PathBuf>, Failure> {
    // What comes from the archive has no folder of its own.
    let here = || PathBuf::from(".");
    let own = |found: &Found| found.folder.clone().filter(|_| !found.archived).unwrap_or_else(here);
    let Some(out) = &args.out else { return Ok(results.iter().map(own).collect()) };
    if results.len() == 1 {
        return Ok(vec![out.clone()]);
    }
    let mut places = Vec::new();
    for found in results {
        let name = match &found.folder {
            Some(folder) => {
                let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
                whole.file_name().map(PathBuf::from).unwrap_or_default()
            }
            None => PathBuf::from(found.label.replace('/', "-")),
        };
        let place = out.join(&name);
        if places.contains(&place) {
            return Err(Failure::SameName(name.display().to_string()));
        }
        places.push(place);
    }
    Ok(places)
}

fn write(place: &Path, file: &File) -> Result<PathBuf, Failure> {
    let path = place.join(&file.name);
    let (folder, name) = file.name.rsplit_once('/').unwrap_or(("", &file.name));
    let folder = place.join(folder);
    let written = fs::create_dir_all(&folder).and_then(|()| put(&folder, name, &file.bytes));
    written.map_err(|reason| Failure::Export { path: path.display().to_string(), reason })?;
    Ok(path)
}
