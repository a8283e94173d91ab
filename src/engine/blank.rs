//! What the last reads of a point have brought: whether the targets hold anything there.
//!
//! Owns the count of it, made once every slot is idle, from what lies in the buffers already. Sends nothing.

use super::BlankReads;
use crate::driver::{Driver, Held, Sink};
use crate::plan::{CorePlan, Lane, Op, Plan};

/// By lane of `core`: how many of its slots hold the data of a read, and how many of those nothing but 00h or FFh.
pub(super) fn look<S: Sink>(driver: &impl Driver<S>, plan: &Plan, core: &CorePlan, point: usize) -> Vec<BlankReads> {
    let mut slots = 0..;
    let lane = |lane: &Lane| {
        let workload = &plan.workloads[lane.workload];
        // A shorter read leaves the tail of a longer one before it.
        let smallest = workload.sizes_of(Op::Read).sizes().iter().map(|part| part.size.0).min().unwrap_or(0);
        let bytes = u32::try_from(smallest).unwrap_or(u32::MAX);
        let own = slots.by_ref().take(lane.depths[point] as usize);
        let mut found = BlankReads::default();
        for held in own.filter(|_| workload.does(Op::Read)).filter_map(|slot| driver.held(slot, bytes)) {
            found.samples += 1;
            found.blank += u64::from(held == Held::Blank);
        }
        found
    };
    core.lanes.iter().map(lane).collect()
}
