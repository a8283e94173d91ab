//! `result.json`: the result itself, for machines.
//!
//! Owns the layout of the text only; the fields are those of `result` (`docs/formats.md`).

use crate::result::RunResult;

/// The result as indented JSON with a line feed at the end.
#[must_use]
pub fn render(result: &RunResult) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(result).expect("a result has string keys only and is written to memory");
    bytes.push(b'\n');
    bytes
}
