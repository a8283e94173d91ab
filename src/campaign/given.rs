//! Points that are given one by one, each as a job of its own, with what is done before it and not measured.
//!
//! Owns what such a point is, and the plan of a warm-up. Which point comes next is its neighbour's.

use super::CampaignError;
use crate::facts::DeviceFacts;
use crate::plan::{self, LaneBudget, Plan};
use crate::spec::{Job, Setting};
use crate::units::Bytes;

/// Added to the seed of a point for its warm-up, so that the two touch different blocks.
const WARM_UP_SEED: u64 = 1 << 40;

/// A point as a job of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// What it is called by.
    pub settings: Vec<Setting>,
    /// The job, of one load and without a sweep.
    pub job: Job,
    /// What is done before it and not measured.
    pub warm_up: Option<WarmUp>,
}

/// I/O that nobody measures.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// The job, of one load; it lasts for its time at most.
    pub job: Job,
    /// How many bytes are enough; all that its time allows if none.
    pub amount: Option<Bytes>,
}

impl WarmUp {
    /// Its plan, before the point with `seed`.
    pub(super) fn plan(&self, targets: &[DeviceFacts], cores: &[usize], seed: u64) -> Result<Plan, CampaignError> {
        let resolved = plan::resolve(&self.job, targets, cores);
        let step = Some("before a point".to_owned());
        let mut plan = resolved.map_err(|error| CampaignError::planned(step, error))?;
        plan.seed = seed.wrapping_add(WARM_UP_SEED) & (i64::MAX as u64);
        let Some(amount) = self.amount else { return Ok(plan) };
        let all: u64 = plan.cores.iter().flat_map(|core| &core.lanes).map(|lane| u64::from(lane.depths[0])).sum();
        for lane in plan.cores.iter_mut().flat_map(|core| &mut core.lanes) {
            let size = plan.workloads[lane.workload].block_size.0.max(1);
            // Each lane does its share, whole I/Os of it.
            let share = u128::from(amount.0) * u128::from(lane.depths[0]) / u128::from(all.max(1));
            let ios = u64::try_from(share).unwrap_or(u64::MAX).div_ceil(size);
            lane.budget = Some(LaneBudget { skip: 0, ios });
        }
        Ok(plan)
    }
}
