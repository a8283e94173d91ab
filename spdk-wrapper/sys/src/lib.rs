//! Raw bindings to SPDK: a narrow list of its functions and the C shim (`csrc/shim.h`) for inlines, macros and
//! versioned structs. Only `spdk-wrapper` uses this crate; it makes the safe types.
//!
//! Struct layouts are checked at compile time by the assertions that bindgen writes and by those in `csrc/shim.c`.
#![allow(non_upper_case_globals, non_camel_case_types, non_snake_case, missing_docs, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
