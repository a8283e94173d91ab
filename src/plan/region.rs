//! Regions in blocks: from what a job writes to what a target has, and into parts for sequential streams.
//!
//! Owns the rounding. Bytes outside the region that was asked for are never touched, so its start is rounded up and its
//! end down to whole I/Os.

use super::{PlanError, Region};
use crate::facts::DeviceFacts;
use crate::spec::RegionSpec;
use crate::units::Bytes;

impl Region {
    /// Part `index` of `count` for I/Os of `io_blocks` blocks: the parts tile the region and differ by at most one I/O.
    #[must_use]
    pub fn part(&self, (index, count): (u32, u32), io_blocks: u64) -> Region {
        let ios = self.blocks / io_blocks.max(1);
        let boundary = |index: u32| (u128::from(ios) * u128::from(index) / u128::from(count.max(1))) as u64;
        let (first, end) = (boundary(index), boundary(index + 1));
        Region { first_block: self.first_block + first * io_blocks, blocks: (end - first) * io_blocks }
    }
}

/// The region of one workload on one target, in blocks.
pub(super) fn resolve_region(
    workload: &str,
    region: RegionSpec,
    block_size: Bytes,
    target: &DeviceFacts,
) -> Result<Region, PlanError> {
    let lba_bytes = u64::from(target.block_size);
    check_block_size(workload, block_size, target)?;
    let size_bytes = target.blocks.saturating_mul(lba_bytes);
    let (first, end) = match region {
        RegionSpec::Whole => (0, size_bytes),
        RegionSpec::Bytes { first, end } => (first.0, end.0),
        RegionSpec::Percent { first, end } => (share_of(size_bytes, first), share_of(size_bytes, end)),
    };
    if end > size_bytes {
        return Err(PlanError::RegionEnd {
            workload: workload.to_owned(),
            region: region.to_string(),
            uri: target.uri.clone(),
            size: Bytes(size_bytes),
            size_bytes,
        });
    }
    let (first_io, end_io) = (first.div_ceil(block_size.0), end / block_size.0);
    if first_io >= end_io {
        return Err(PlanError::RegionEmpty {
            workload: workload.to_owned(),
            region: region.to_string(),
            uri: target.uri.clone(),
            size: Bytes(size_bytes),
            block_size,
        });
    }
    let io_blocks = block_size.0 / lba_bytes;
    Ok(Region { first_block: first_io * io_blocks, blocks: (end_io - first_io) * io_blocks })
}

fn check_block_size(workload: &str, block_size: Bytes, target: &DeviceFacts) -> Result<(), PlanError> {
    let lba_bytes = target.block_size;
    let workload = workload.to_owned();
    if lba_bytes == 0 || target.blocks == 0 {
        return Err(PlanError::NoCapacity { uri: target.uri.clone(), blocks: target.blocks, lba_bytes });
    }
    if block_size.0 == 0 || block_size.0 % u64::from(lba_bytes) != 0 {
        let suggested = Bytes(block_size.0.max(1).next_multiple_of(u64::from(lba_bytes)));
        return Err(PlanError::BlockSize { workload, block_size, uri: target.uri.clone(), lba_bytes, suggested });
    }
    if target.max_io_bytes > 0 && block_size.0 > target.max_io_bytes {
        let max = Bytes(target.max_io_bytes);
        return Err(PlanError::BlockSizeLimit { workload, block_size, uri: target.uri.clone(), max });
    }
    Ok(())
}

/// A share in per cent of a capacity; neighbouring regions (`0%-10%`, `10%-20%`) meet at the same byte.
fn share_of(size_bytes: u64, percent: f64) -> u64 {
    if percent >= 100.0 { size_bytes } else { ((size_bytes as f64 * percent / 100.0) as u64).min(size_bytes) }
}
