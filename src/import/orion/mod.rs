//! ORION: its command line, its `.lun` file, and the test that the two ask for.
//!
//! Owns the meaning of both. Where the published descriptions of ORION are silent, the comment beside the choice says
//! what was chosen. Knows neither how the test is driven nor how its files look.

mod cross;
mod error;
mod job;
mod lun;
mod options;
mod parse;
mod points;
mod print;
mod run;

pub use error::OrionError;
pub use lun::{LunFile, lun_file, parse_luns};
pub use options::{Command, Dialect, LargeType, Matrix, Options, RunLevel, Simulate, Storax};
pub use parse::parse;
pub use points::{Cell, Points, Shape, points};
pub use run::{LargeLoad, OrionRun, Volume, WarmUp};
