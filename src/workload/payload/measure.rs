//! What a target could make of given bytes: how far lz4 and zstd compress them and how much in them repeats.
//!
//! Owns the definitions that the ratios of a payload are held against (docs/method.md, "Payload"). A function of bytes; does
//! not know who made them.

use std::collections::HashSet;

use super::recipe::scramble;
use super::{Audit, ChunkAudit, Filler, ROTATION_BYTES, Recipe};
use crate::plan::PayloadPlan;

/// The sizes of the chunks that arrays compress, in bytes.
pub const CHUNK_BYTES: [u32; 4] = [4 << 10, 8 << 10, 16 << 10, 32 << 10];
/// Bytes of the sample that [`sample`] makes, in whole units.
const SAMPLE_BYTES: u32 = 4 << 20;

/// Audits `bytes`, of which a target compares `unit_bytes` at a time: repeated units are dropped first, and what remains is
/// compressed, in its order.
#[must_use]
pub fn audit(bytes: &[u8], unit_bytes: u32) -> Audit {
    let mut seen = HashSet::new();
    let mut different = Vec::with_capacity(bytes.len());
    let mut units = 0u64;
    for unit in bytes.chunks(unit_bytes.max(1) as usize) {
        units += 1;
        if seen.insert(unit) {
            different.extend_from_slice(unit);
        }
    }
    let dedupe = units as f64 / seen.len().max(1) as f64;
    let compression: Vec<_> = CHUNK_BYTES.iter().map(|&chunk_bytes| compress(&different, chunk_bytes)).collect();
    let ratios = compression.iter().flat_map(ChunkAudit::ratios).map(|(_, ratio)| ratio);
    let mean = ratios.sum::<f64>() / (3 * compression.len()) as f64;
    Audit { bytes: bytes.len() as u64, dedupe, compression, total: dedupe * mean }
}

/// Audits a sample of a payload: a region that was written once in order, and as often again at random.
#[must_use]
pub fn sample(payload: PayloadPlan, seed: u64) -> Audit {
    // One byte a block, so that any unit is whole blocks.
    let recipe = |bytes| Recipe::new(payload, seed, bytes, 1, &[1]);
    let unit = recipe(0).unit_bytes() as usize;
    let mut held = vec![0; (SAMPLE_BYTES as usize).next_multiple_of(unit)];
    let mut filler = Filler::new(&recipe(held.len() as u64), seed);
    let mut buffers = vec![0; (ROTATION_BYTES as usize).next_multiple_of(unit)];
    filler.prime(0, &mut buffers);
    let units = held.len() / unit;
    let scattered = (0..units).map(|number| (scramble(number as u64) % units as u64) as usize);
    for (write, number) in (0..units).chain(scattered).enumerate() {
        let buffer = write % (buffers.len() / unit) * unit;
        let bytes = &mut buffers[buffer..buffer + unit];
        let _ = filler.begin(0);
        filler.fill(0, (number * unit) as u64, bytes);
        held[number * unit..(number + 1) * unit].copy_from_slice(bytes);
    }
    audit(&held, unit as u32)
}

fn compress(bytes: &[u8], chunk_bytes: u32) -> ChunkAudit {
    let ratio = |compressed: &dyn Fn(&[u8]) -> Option<usize>| {
        let size = |chunk: &[u8]| compressed(chunk).unwrap_or(chunk.len()).min(chunk.len());
        let sum: usize = bytes.chunks(chunk_bytes as usize).map(size).sum();
        bytes.len() as f64 / sum.max(1) as f64
    };
    let zstd = |level| move |chunk: &[u8]| zstd::bulk::compress(chunk, level).ok().map(|out| out.len());
    ChunkAudit {
        chunk_bytes,
        lz4: ratio(&|chunk| Some(lz4_flex::block::compress(chunk).len())),
        zstd_1: ratio(&zstd(1)),
        zstd_3: ratio(&zstd(3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_units_count_once_and_are_not_compressed_twice() {
        let mut bytes: Vec<u8> = (0..8192u64).map(|n| scramble(n) as u8).collect();
        bytes.extend_from_within(..);
        bytes.extend_from_within(..8192);
        let audit = audit(&bytes, 4096);
        assert_eq!((audit.bytes, audit.dedupe), (3 * 8192, 3.0));
        assert!(audit.compression.iter().flat_map(ChunkAudit::ratios).all(|(_, ratio)| ratio == 1.0), "{audit:?}");
    }

    #[test]
    fn zeroes_compress_to_next_to_nothing() {
        let audit = audit(&[0; 65536], 65536);
        assert!(audit.dedupe == 1.0 && audit.total > 100.0, "{audit:?}");
        assert_eq!(audit.compression.iter().map(|chunk| chunk.chunk_bytes).collect::<Vec<_>>(), CHUNK_BYTES);
    }
}
