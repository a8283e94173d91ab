//! Reports: a result as text or JSON.
//!
//! Owns how figures are shown. Every report is a pure function: a result in, text or bytes out; none prints, opens a
//! file or asks the terminal. What a report shows stands in the result; none computes a figure of its own.

mod columns;
pub mod json;
pub mod live;
pub mod text;
