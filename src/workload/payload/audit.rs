//! What was found in a payload, or in what a target holds: how far it compresses and how much of it repeats.
//!
//! Owns the shape that results keep (docs/method.md, "Payload", tells what each ratio means). Knows no compressor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found in some bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Bytes that were looked at.
    pub bytes: u64,
    /// Units by different units.
    pub dedupe: f64,
    /// How far the different units compress, at each size of chunk.
    pub compression: Vec<ChunkAudit>,
    /// Dedupe times the mean of all ratios of compression.
    pub total: f64,
}

/// Ratios of compression, chunk by chunk; a chunk that would grow counts as it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChunkAudit {
    /// Bytes of a chunk.
    pub chunk_bytes: u32,
    /// By lz4.
    pub lz4: f64,
    /// By zstd at level 1.
    pub zstd_1: f64,
    /// By zstd at level 3.
    pub zstd_3: f64,
}

impl ChunkAudit {
    /// All ratios, with the name of the compressor.
    #[must_use]
    pub fn ratios(&self) -> [(&'static str, f64); 3] {
        [("lz4", self.lz4), ("zstd-1", self.zstd_1), ("zstd-3", self.zstd_3)]
    }
}
