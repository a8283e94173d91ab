//! Runs of other tools, read as what they mean here.
//!
//! Owns the command lines and input files of tools that Rigel stands in for. Pure: text in, typed data or a refusal out;
//! opens no file and knows no device.

pub mod orion;
