//! Rising addresses: sequential or strided through a lane's part of the region, and round again.
//!
//! Owns where a stream begins and where it wraps. All sizes of a workload share the one stream of a target.

use super::number::part_of;
use crate::plan::{Access, Region, WorkloadPlan, places};
use crate::units::Bytes;

/// A stream on one target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    next: u64,
    first: u64,
    end: u64,
    /// From the start of one I/O to that of the next; 0: each begins where the one before ends.
    stride: u64,
    /// Strided: blocks that must be left before the end, those of the greatest size.
    reach: u64,
}

impl Stream {
    /// That of the part `part.0` of `part.1` of a region.
    pub fn new(workload: &WorkloadPlan, region: Region, lba_bytes: u64, part: (u32, u32)) -> Self {
        let blocks = |size: Bytes| (size.0 / lba_bytes).max(1);
        let reach = blocks(workload.block_size);
        let last_end = region.first_block + region.blocks;
        let (unit, stride, first, end) = match workload.access {
            Access::Strided { stride } => {
                let stride = blocks(stride);
                let start = region.first_block.next_multiple_of(blocks(workload.align_of(workload.block_size)));
                let (first, end) = part_of(places(start, last_end, reach, stride).max(1), part);
                (stride, stride, start + first * stride, start + (end.max(first + 1) - 1) * stride + reach)
            }
            _ => {
                // Several sizes, or a coarse alignment, find an aligned place in any two units in a row.
                let one_size = workload.sizes.is_none() && workload.align.is_none();
                let unit = if one_size { reach } else { 2 * blocks(workload.stream_unit()) };
                let (first, end) = part_of((region.blocks / unit).max(1), part);
                let end = if part.0 + 1 == part.1 { last_end } else { region.first_block + end * unit };
                (if one_size { unit } else { 1 }, 0, region.first_block + first * unit, end)
            }
        };
        let units = ((end - first) as f64 / unit as f64 * workload.start_percent / 100.0) as u64;
        Self { next: first + units * unit, first, end, stride, reach }
    }

    /// I/Os of one size, one right after the other, until it begins again; none where they are not.
    pub fn period(&self) -> Option<u64> {
        (self.stride == 0 && (self.end - self.first) % self.reach == 0).then(|| (self.end - self.first) / self.reach)
    }

    /// Leaves out the next I/Os of a stream that has a period.
    pub fn skip(&mut self, ios: u64) {
        if let Some(period) = self.period().filter(|period| *period > 0) {
            let at = (self.next - self.first) / self.reach;
            self.next = self.first + (at + ios % period) % period * self.reach;
        }
    }

    /// The first block of the next I/O of so many blocks, aligned to `align` of them.
    #[inline(always)]
    pub fn next(&mut self, blocks: u64, align: u64) -> u64 {
        let reach = if self.stride == 0 { blocks } else { self.reach };
        // A stride keeps the alignment of the first.
        let aligned = |block| if self.stride == 0 { up(block, align) } else { block };
        let mut at = aligned(self.next);
        if at + reach > self.end {
            at = aligned(self.first);
        }
        self.next = at + if self.stride == 0 { blocks } else { self.stride };
        at
    }
}

/// The next multiple of `align`, by a mask where that will do.
#[inline(always)]
fn up(block: u64, align: u64) -> u64 {
    if align.is_power_of_two() { (block + align - 1) & !(align - 1) } else { block.div_ceil(align) * align }
}
