//! The second lock on writing: before a driver opens a target for writing it asks here, whatever the plan said.

use super::{CoreOrder, DriverError};
use crate::facts::DeviceFacts;
use crate::plan::write_allowed;

/// For each target whether it is to be opened for writing; an error when one must not be.
pub(super) fn writable(order: &CoreOrder, facts: &[DeviceFacts]) -> Result<Vec<bool>, DriverError> {
    order.writes.iter().zip(facts).map(|(&writes, target)| allowed(writes, target, &order.destroy)).collect()
}

fn allowed(writes: bool, target: &DeviceFacts, typed: &[String]) -> Result<bool, DriverError> {
    if writes && !write_allowed(target, typed) {
        let identity = target.identities.first().cloned().unwrap_or_default();
        return Err(DriverError::NotAllowed { uri: target.uri.clone(), identity });
    }
    Ok(writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(volatile: bool, identities: &[&str]) -> DeviceFacts {
        DeviceFacts {
            uri: "nvme-pcie://0000:04:00.0?ns=1".into(),
            driver: "spdk_nvme".into(),
            model: String::new(),
            serial: String::new(),
            firmware: String::new(),
            identities: identities.iter().map(ToString::to_string).collect(),
            block_size: 512,
            blocks: 8,
            max_io_bytes: 0,
            max_queue_depth: 0,
            queue_pair_depth: 0,
            volatile,
            supports: crate::facts::Supports::ALL,
        }
    }

    #[test]
    fn a_write_needs_the_typed_identity_unless_the_target_is_memory() {
        let typed = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(allowed(false, &target(false, &["S1"]), &[]), Ok(false));
        assert_eq!(allowed(true, &target(true, &[]), &[]), Ok(true));
        assert_eq!(allowed(true, &target(false, &["S1", "N1"]), &typed(&["N1"])), Ok(true));
        for names in [&[][..], &["S2"], &[""], &["s1"]] {
            assert!(allowed(true, &target(false, &["S1", ""]), &typed(names)).is_err(), "{names:?}");
        }
    }
}
