//! The engine: one pinned thread and one loop per core, from a plan to figures in ticks.
//!
//! Owns threads, phases, submission and recording, and the hand-over of figures. Knows no flag, no file, no result
//! format, and never prints: what happens is told through [`Event`]s on the caller's thread.

mod blank;
mod book;
mod collect;
mod core_loop;
mod gate;
mod handover;
mod housekeeping;
mod lane;
mod launch;
mod off_core;
mod open_loop;
pub mod record;
mod rounds;
mod schedule;
mod silence;
mod stop;
mod thinking;
mod turn;

pub use launch::{EngineError, Event, RunControl, run, run_any};
pub use record::{
    ArrivalFigures, BlankReads, CellFigures, CoreFigures, ErrorCount, IntervalFigures, Leftover, Phase, PointFigures,
    Round, RoundCell,
};
