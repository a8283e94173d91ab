//! Regions in blocks: from what a job writes to what a target has, and into parts for sequential streams.
//!
//! Owns the rounding. Bytes outside the region that was asked for are never touched, so its start is rounded up and its
//! end down to whole I/Os.

use super::{Access, PlanError, Region, WorkloadPlan};
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
    workload: &WorkloadPlan,
    region: RegionSpec,
    target: &DeviceFacts,
) -> Result<Region, PlanError> {
    let lba_bytes = u64::from(target.block_size);
    check_sizes(workload, target)?;
    let size_bytes = target.blocks.saturating_mul(lba_bytes);
    let (first, end) = asked_bytes(region, size_bytes);
    if end > size_bytes {
        return Err(PlanError::RegionEnd {
            workload: workload.name.clone(),
            region: region.to_string(),
            uri: target.uri.clone(),
            size: Bytes(size_bytes),
            size_bytes,
        });
    }
    // What is aligned to the grain is no less aligned than the I/Os; with one size, region and I/Os end together.
    let grain = workload.grain().0;
    let (first, end) = (first.div_ceil(grain).saturating_mul(grain), end / grain * grain);
    for size in workload.all_sizes() {
        let first_io = first.checked_next_multiple_of(workload.align_of(size).0);
        if first_io.is_none_or(|first_io| first_io > end || end - first_io < size.0) {
            return Err(PlanError::RegionEmpty {
                workload: workload.name.clone(),
                region: region.to_string(),
                uri: target.uri.clone(),
                size: Bytes(size_bytes),
                block_size: size,
            });
        }
    }
    Ok(Region { first_block: first / lba_bytes, blocks: (end - first) / lba_bytes })
}

/// The bytes of a target from the first whole block of a region to the last; the region may end beyond the target.
#[must_use]
pub fn region_bytes(region: RegionSpec, target: &DeviceFacts) -> (u64, u64) {
    let lba_bytes = u64::from(target.block_size).max(1);
    let (first, end) = asked_bytes(region, target.blocks.saturating_mul(lba_bytes));
    (first.div_ceil(lba_bytes).saturating_mul(lba_bytes), end / lba_bytes * lba_bytes)
}

fn asked_bytes(region: RegionSpec, size_bytes: u64) -> (u64, u64) {
    match region {
        RegionSpec::Whole => (0, size_bytes),
        RegionSpec::Bytes { first, end } => (first.0, end.0),
        RegionSpec::Percent { first, end } => (share_of(size_bytes, first), share_of(size_bytes, end)),
    }
}

fn check_sizes(workload: &WorkloadPlan, target: &DeviceFacts) -> Result<(), PlanError> {
    let lba_bytes = target.block_size;
    let name = || workload.name.clone();
    if lba_bytes == 0 || target.blocks == 0 {
        return Err(PlanError::NoCapacity { uri: target.uri.clone(), blocks: target.blocks, lba_bytes });
    }
    let uri = || target.uri.clone();
    let next = |size: Bytes| Bytes(size.0.max(1).next_multiple_of(u64::from(lba_bytes)));
    let fits = |size: Bytes| size.0 > 0 && size.0 % u64::from(lba_bytes) == 0;
    for size in workload.all_sizes() {
        if !fits(size) {
            let (block_size, suggested) = (size, next(size));
            return Err(PlanError::BlockSize { workload: name(), block_size, uri: uri(), lba_bytes, suggested });
        }
        if target.max_io_bytes > 0 && size.0 > target.max_io_bytes {
            let max = Bytes(target.max_io_bytes);
            return Err(PlanError::BlockSizeLimit { workload: name(), block_size: size, uri: uri(), max });
        }
    }
    let stride = match workload.access {
        Access::Strided { stride } => Some(stride),
        _ => None,
    };
    for (field, value) in [("align", workload.align), ("stride", stride)] {
        if let Some(value) = value.filter(|value| !fits(*value)) {
            let suggested = next(value);
            return Err(PlanError::Multiple { workload: name(), field, value, uri: uri(), lba_bytes, suggested });
        }
    }
    Ok(())
}

/// A share in per cent of a capacity; neighbouring regions (`0%-10%`, `10%-20%`) meet at the same byte.
fn share_of(size_bytes: u64, percent: f64) -> u64 {
    if percent >= 100.0 { size_bytes } else { ((size_bytes as f64 * percent / 100.0) as u64).min(size_bytes) }
}
