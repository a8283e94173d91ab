//! Rigel characterises all-flash arrays at peak load.
//!
//! The library is a row of layers; each may use only the layers to its left (`tests/layering.rs` checks it):
//! `units, clock, facts, stats, spec, import, plan, workload, driver, engine, fill, result, campaign, archive, report, compare, cli`.
//! Data flows one way: text → spec → plan → per-core engine → core records → result → reports.
//! `docs/architecture.md` tells what each layer owns, `docs/method.md` what each figure means.

#![deny(unsafe_code)]

#[cfg(feature = "archive")]
pub mod archive;
pub mod campaign;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod driver;
pub mod engine;
pub mod facts;
pub mod fill;
pub mod import;
pub mod plan;
pub mod report;
pub mod result;
pub mod spec;
pub mod stats;
pub mod units;
pub mod workload;
