//! What writes carry: bytes that a target reduces by the ratios asked for, the same for the same seed.
//!
//! Owns how they are made and how what was made is audited; knows no driver. docs/method.md, "Payload", tells the method.

mod audit;
mod filler;
#[cfg(feature = "audit")]
mod measure;
mod recipe;

pub use audit::{Audit, ChunkAudit};
pub use filler::{Filler, ROTATION_BYTES};
#[cfg(feature = "audit")]
pub use measure::{CHUNK_BYTES, audit, sample};
pub use recipe::Recipe;
