//! Reports: a result as text, JSON, charts and a page.
//!
//! Owns how figures are shown. Every report is a pure function: a result in, text or bytes out; none prints, opens a
//! file or asks the terminal. What a report shows stands in the result; none computes a figure of its own.

mod accepted;
pub mod chart;
pub(crate) mod columns;
mod curve;
mod events;
pub mod export;
pub mod html;
pub mod json;
pub mod live;
pub mod orion;
pub mod schema;
pub mod text;
