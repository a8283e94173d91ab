//! What a volume set demands of its targets and sizes. Owns these refusals.

use super::{PlanError, WorkloadPlan};
use crate::facts::DeviceFacts;

/// Refuses targets that cannot be one address space, and I/Os that would lie across two of them.
pub(super) fn check_volume(workload: &WorkloadPlan, targets: &[DeviceFacts]) -> Result<(), PlanError> {
    let (Some(volume), Some(unit)) = (workload.volume, workload.volume_unit()) else { return Ok(()) };
    let fault = |fault: String| Err(PlanError::Volume { workload: workload.name.clone(), volume, fault });
    let mine: Vec<&DeviceFacts> = workload.targets.iter().map(|&target| &targets[target]).collect();
    let [first, rest @ ..] = &mine[..] else { return Ok(()) };
    if rest.is_empty() {
        return fault("it has one target; name several, or leave `volume` out".to_owned());
    }
    if let Some(other) = rest.iter().find(|other| other.block_size != first.block_size) {
        return fault(format!(
            "{} has blocks of {} bytes and {} of {}; use targets of one LBA size",
            first.uri, first.block_size, other.uri, other.block_size
        ));
    }
    if workload.align.is_some() {
        return fault("`align` lets I/Os begin anywhere, also across the end of one; leave `align` out".to_owned());
    }
    if let Some(size) = workload.all_sizes().into_iter().find(|size| unit.0 % size.0 != 0) {
        return fault(format!(
            "I/Os of {size} would lie across two of its parts, which are {unit}; write a stripe that every size divides"
        ));
    }
    let lba_bytes = u64::from(first.block_size.max(1));
    let empty = |region| workload.volume_units(region, lba_bytes) == Some(0);
    match workload.regions.iter().position(empty) {
        Some(position) => {
            fault(format!("the region of {} holds no {unit}; widen `region` (--region)", mine[position].uri))
        }
        None => Ok(()),
    }
}
