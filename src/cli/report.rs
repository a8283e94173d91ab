//! `rigel report`: results in, a page and charts out. Owns where they are written.

use std::path::{Path, PathBuf};

use super::args::ReportArgs;
use super::exit::{Exit, Failure};
use super::find::{self, Found};
use super::out::to_stdout;
use crate::report::chart::svg;
use crate::report::html::{Source, charts, page};

/// Makes the page.
pub(super) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let named = args.results.iter().map(|name| find::result(name, &args.archive));
    let mut found = named.collect::<Result<Vec<Found>, _>>()?;
    find::tell_apart(&mut found);
    let series: Vec<_> = found.iter().map(|found| found.series_or_warn("the report has no charts over time")).collect();
    let sources: Vec<Source<'_>> = found
        .iter()
        .zip(&series)
        .map(|(found, series)| Source { label: found.label.clone(), result: &found.result, series: series.as_ref() })
        .collect();
    let path = args.out.clone().unwrap_or_else(|| usual_path(&found));
    write(&path, page(&sources).as_bytes())?;
    to_stdout(format!("Report: {}\n", path.display()))?;
    if let Some(folder) = &args.charts {
        std::fs::create_dir_all(folder).map_err(|error| Failure::write(folder, error))?;
        for named in charts(&sources) {
            write(&folder.join(format!("{}.svg", named.id)), svg(&named.chart, false, true).as_bytes())?;
            if named.chart.has_outliers() {
                write(&folder.join(format!("{}-full.svg", named.id)), svg(&named.chart, true, true).as_bytes())?;
            }
        }
        to_stdout(format!("Charts: {}\n", folder.display()))?;
    }
    if args.open {
        open(&path);
    }
    Ok(Exit::Done)
}

/// In the folder of a single result, else here.
fn usual_path(found: &[Found]) -> PathBuf {
    match found {
        [Found { folder: Some(folder), archived: false, .. }] => folder.join("report.html"),
        _ => PathBuf::from("report.html"),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::write(path, error))
}

/// Opens a page as the desktop does; where there is none, says so.
fn open(path: &Path) {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let opener = std::process::Command::new("xdg-open").arg(&path).stdout(std::process::Stdio::null()).spawn();
    if let Err(error) = opener {
        eprintln!("rigel: cannot open a browser ({error}); open {} yourself", path.display());
    }
}
