//! The results kept in `tests/data`, which were written by former versions and must stay readable.

#![allow(dead_code, reason = "each test uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

use rigel::result::{RunResult, from_json};

/// Two workloads at two rates: mixed and sequential, one target.
pub const OPEN: &str = "result-schema-1.json";
/// One mixed workload at two queue depths on two targets.
pub const CLOSED: &str = "result-schema-1-closed.json";

/// Where a kept file is.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Its text.
#[track_caller]
pub fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The result in it.
#[track_caller]
pub fn result(name: &str) -> RunResult {
    from_json(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
