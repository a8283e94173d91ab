//! The files that ORION writes, from the figures of an ORION test.
//!
//! Owns what goes in and which files come out. Scripts read these files, so their layout is ORION's to the byte where it
//! is published; the writers say where it is not. Does not know where the files go.

mod cells;
mod hist;
mod matrix;
mod summary;
mod trace;

use std::fmt;

pub use cells::cells;
pub use hist::BUCKETS_US;

use crate::import::orion::{Dialect, OrionRun};

/// Everything that the files show.
#[derive(Debug, Clone, Copy)]
pub struct OrionReport<'a> {
    /// The test.
    pub run: &'a OrionRun,
    /// The command line as it was typed, without the program's name.
    pub command_line: &'a str,
    /// The version that the files name; see [`version`].
    pub version: &'a str,
    /// When the test began, in local time.
    pub started: Started,
    /// The volumes, in the order of the `.lun` file.
    pub luns: &'a [OrionLun],
    /// The points that ended, in the order they ran.
    pub cells: &'a [OrionCell],
}

/// The minute a test began in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// Year, four digits.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
}

impl fmt::Display for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute } = self;
        write!(f, "{year:04}{month:02}{day:02}_{hour:02}{minute:02}")
    }
}

/// A volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrionLun {
    /// As the `.lun` file names it; a URI without its secret.
    pub name: String,
    /// Capacity, in bytes.
    pub size: u64,
}

/// A point's figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrionCell {
    /// Outstanding small I/Os.
    pub small: u32,
    /// Outstanding large I/Os, or streams.
    pub large: u32,
    /// Small I/Os a second, reads and writes; none without small I/O.
    pub iops: Option<f64>,
    /// Large I/O in units of 2^20 bytes a second; none without large I/O.
    pub mbps: Option<f64>,
    /// Mean latency of the small I/Os, reads and writes together, in microseconds.
    pub latency_us: Option<f64>,
    /// Latencies of small reads, if there were any; so for the other three.
    pub small_read: Option<OrionLatency>,
    /// Latencies of small writes.
    pub small_write: Option<OrionLatency>,
    /// Latencies of large reads.
    pub large_read: Option<OrionLatency>,
    /// Latencies of large writes.
    pub large_write: Option<OrionLatency>,
}

/// The latencies of one kind of I/O at one point, in microseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrionLatency {
    /// Mean.
    pub mean_us: f64,
    /// Least.
    pub min_us: f64,
    /// Greatest.
    pub max_us: f64,
    /// Standard deviation.
    pub std_dev_us: f64,
    /// Counts, each with the upper end of its bucket. Buckets that end at [`BUCKETS_US`] are shown exactly; another is
    /// counted where it ends.
    pub histogram: Vec<(u64, u64)>,
}

/// The version that files of a dialect name unless the caller knows better. Readers of the files tell their layout by it.
#[must_use]
pub fn version(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::V10_2 => "10.2.0.1.0",
        Dialect::V11_1 => "11.1.0.7.0",
        Dialect::V11_2 => "11.2.0.4.0",
    }
}

/// What ORION prints when a test is over: the best points, as they stand in the summary.
#[must_use]
pub fn maxima(report: &OrionReport) -> String {
    summary::figures(report)
}

/// The files, each as its name and its text.
#[must_use]
pub fn files(report: &OrionReport) -> Vec<(String, String)> {
    let mut files = vec![
        ("summary.txt", summary::render(report)),
        ("iops.csv", matrix::iops(report)),
        ("mbps.csv", matrix::mbps(report)),
        ("lat.csv", matrix::latency(report)),
    ];
    if report.run.options.dialect == Dialect::V11_2 {
        files.push(("hist.txt", hist::render(report)));
    }
    files.push(("trace.txt", trace::render(report)));
    let prefix = format!("{}_{}", report.run.testname, report.started);
    files.into_iter().map(|(name, text)| (format!("{prefix}_{name}"), text)).collect()
}
