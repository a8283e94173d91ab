//! What access patterns demand of the regions: room for each core's share, bands and strides that meet whole I/Os, and
//! streams that begin apart.
//!
//! Owns these refusals and where streams begin. Makes no address.

use super::{Access, CorePlan, PlanError, WorkloadPlan};
use crate::facts::DeviceFacts;
use crate::spec::Job;

/// How many places in a row there are for I/Os of `size_blocks` that begin at multiples of `step_blocks`, from the one at
/// block `first_block` on, when none may reach beyond `end_block`.
#[must_use]
pub fn places(first_block: u64, end_block: u64, size_blocks: u64, step_blocks: u64) -> u64 {
    match end_block.checked_sub(first_block).and_then(|blocks| blocks.checked_sub(size_blocks)) {
        Some(room) => room / step_blocks + 1,
        None => 0,
    }
}

/// The places of a band, from and to a share of `places`; neighbouring bands meet at the same place.
#[must_use]
pub fn band_places(places: u64, first_percent: f64, end_percent: f64) -> std::ops::Range<u64> {
    let place = |percent: f64| {
        if percent >= 100.0 { places } else { ((places as f64 * percent / 100.0).round() as u64).min(places) }
    };
    place(first_percent)..place(end_percent)
}

/// Refuses strides that lead away from the alignment, and bands that are narrower than an I/O.
pub(super) fn check_pattern(workload: &WorkloadPlan, targets: &[DeviceFacts]) -> Result<(), PlanError> {
    let name = || workload.name.clone();
    let sizes = workload.all_sizes();
    match &workload.access {
        Access::Strided { stride } => {
            // A stream of several sizes has one row of places, which must suit all of them.
            let greatest = workload.align_of(workload.block_size);
            for size in sizes {
                let align = workload.align_of(size);
                if stride.0 % align.0 != 0 || greatest.0 % align.0 != 0 {
                    return Err(PlanError::Stride { workload: name(), stride: *stride, align, size });
                }
            }
        }
        Access::Bands(bands) => {
            for (region, &target) in workload.regions.iter().zip(&workload.targets) {
                let target = &targets[target];
                let blocks = |bytes: u64| bytes / u64::from(target.block_size);
                for size in sizes.iter().copied() {
                    let step = blocks(workload.align_of(size).0);
                    let end = region.first_block + region.blocks;
                    let places = places(region.first_block.next_multiple_of(step), end, blocks(size.0), step);
                    let empty = |band: &super::Band| {
                        band.accesses_percent > 0.0
                            && band_places(places, band.first_percent, band.end_percent).is_empty()
                    };
                    if let Some(band) = bands.iter().position(empty) {
                        return Err(PlanError::BandEmpty { workload: name(), band, size, uri: target.uri.clone() });
                    }
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Lets the streams of several workloads on the same targets begin apart, evenly over their regions in the order of the
/// job, where the job does not say where.
pub(super) fn spread_starts(job: &Job, workloads: &mut [WorkloadPlan]) {
    let shares = |a: &WorkloadPlan, b: &WorkloadPlan| a.targets.iter().any(|target| b.targets.contains(target));
    let streams: Vec<usize> = (0..workloads.len()).filter(|&w| workloads[w].access.is_stream()).collect();
    let meets = |w: &usize| streams.iter().any(|other| other != w && shares(&workloads[*w], &workloads[*other]));
    let meeting: Vec<usize> = streams.iter().copied().filter(meets).collect();
    for (number, &w) in meeting.iter().enumerate() {
        if job.workloads()[w].start.is_none() {
            workloads[w].start_percent = 100.0 * number as f64 / meeting.len() as f64;
        }
    }
}

/// Refuses patterns that the cores divide between them where a region holds fewer I/Os than there are cores.
pub(super) fn check_division(
    job: &Job,
    cores: &[CorePlan],
    workloads: &[WorkloadPlan],
    targets: &[DeviceFacts],
) -> Result<(), PlanError> {
    for lane in cores.iter().flat_map(|core| &core.lanes) {
        let workload = &workloads[lane.workload];
        if !workload.access.is_divided() || lane.part.1 == 1 {
            continue;
        }
        for position in &lane.targets {
            let target = &targets[workload.targets[*position]];
            let ios = least_places(workload, *position, target);
            if ios < u64::from(lane.part.1) {
                return Err(PlanError::RegionStreams {
                    workload: workload.name.clone(),
                    region: job.workloads()[lane.workload].region().to_string(),
                    uri: target.uri.clone(),
                    ios,
                    streams: lane.part.1,
                    access: workload.access.to_string(),
                });
            }
        }
    }
    Ok(())
}

/// How many parts a region can be divided into.
fn least_places(workload: &WorkloadPlan, position: usize, target: &DeviceFacts) -> u64 {
    let region = workload.regions[position];
    let end = region.first_block + region.blocks;
    let blocks = |bytes: u64| bytes / u64::from(target.block_size);
    let greatest = blocks(workload.block_size.0);
    match workload.access {
        Access::Strided { stride } => {
            let first = region.first_block.next_multiple_of(blocks(workload.align_of(workload.block_size).0));
            places(first, end, greatest, blocks(stride.0))
        }
        // A stream of several sizes needs two units in a row to find an aligned place for each.
        Access::Sequential if workload.sizes.is_some() || workload.align.is_some() => {
            region.blocks / (2 * blocks(workload.stream_unit().0))
        }
        _ => {
            let places = |size: crate::units::Bytes| {
                let step = blocks(workload.align_of(size).0);
                places(region.first_block.next_multiple_of(step), end, blocks(size.0), step)
            };
            workload.all_sizes().into_iter().map(places).min().unwrap_or(0)
        }
    }
}
