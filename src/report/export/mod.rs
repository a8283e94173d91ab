//! A result in the formats of other programs: tables, histogram logs, metrics, fio's JSON, test reports.
//!
//! Owns the formats' names and which files each is made of. Every format is a pure function of the result; a figure in
//! it is one of the result's in another unit, or read from an archived histogram. Opens no file.

mod checks;
mod epoch;
mod fio;
mod fio_latency;
mod hlog;
mod intervals;
mod junit;
mod points;
mod prometheus;

pub use checks::{Check, Outcome, Suite, of_result as checks};
pub use fio::render as fio;
pub use hlog::render as hlog;
pub use intervals::render as intervals;
pub use junit::render as junit;
pub use points::render as points;
pub use prometheus::render as prometheus;

use crate::result::series::Series;
use crate::result::{Figures, OpFigures, ResultError, RunResult};

/// A format that a result can be exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables for spreadsheets and data frames.
    Csv,
    /// The latency distributions as an HdrHistogram log.
    Hlog,
    /// The figures as a Prometheus text file.
    Prometheus,
    /// Each point as the JSON that fio writes.
    Fio,
    /// The checks as a JUnit report.
    Junit,
}

impl Format {
    /// Every format, in the order they are listed.
    pub const ALL: [Self; 5] = [Self::Csv, Self::Hlog, Self::Prometheus, Self::Fio, Self::Junit];
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path below the folder of the export, with `/`.
    pub name: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// The files of `result` in one format, those of its intervals only with its series.
///
/// # Errors
/// When an archived histogram is damaged.
pub fn files(result: &RunResult, series: Option<&Series>, format: Format) -> Result<Vec<File>, ResultError> {
    let file = |name: &str, bytes| File { name: name.to_owned(), bytes };
    Ok(match format {
        Format::Csv => {
            let series = series.map(|series| file("intervals.csv", intervals(series, Some(result))));
            std::iter::once(file("points.csv", points(result))).chain(series).collect()
        }
        Format::Hlog => vec![file("latency.hlog", hlog(result))],
        Format::Prometheus => vec![file("rigel.prom", prometheus(result))],
        Format::Fio => (0..result.points.len())
            .map(|index| Ok(file(&format!("fio/point-{}.json", index + 1), fio(result, series, index)?)))
            .collect::<Result<_, ResultError>>()?,
        Format::Junit => vec![file("junit.xml", junit(&checks(result), &result.started_at))],
    })
}

/// The operations of `figures` by name.
fn ops(figures: &Figures) -> impl Iterator<Item = (&'static str, &OpFigures)> {
    figures.ops().map(|(op, figures)| (op.name(), figures))
}

/// A figure as a cell of a table; empty when there is none.
fn cell(figure: Option<impl ToString>) -> String {
    figure.map(|figure| figure.to_string()).unwrap_or_default()
}
