//! The operations of a workload, and the cells that their figures are kept in.
//!
//! Owns the order of the cells, and the refusal of what a target does not support. Reads and writes have cells in every
//! workload, the other operations in those that do them.

use super::{Op, Plan, PlanError, WorkloadPlan};
use crate::facts::DeviceFacts;

impl WorkloadPlan {
    /// Share of an operation, in per cent.
    #[must_use]
    pub fn share(&self, op: Op) -> f64 {
        match (op, &self.mix) {
            (_, Some(mix)) => mix.share(op),
            (Op::Read, None) => self.read_percent,
            (Op::Write, None) => 100.0 - self.read_percent,
            (_, None) => 0.0,
        }
    }

    /// Whether it does an operation at all.
    #[must_use]
    pub fn does(&self, op: Op) -> bool {
        self.share(op) > 0.0
    }

    /// Whether it changes what its targets hold.
    #[must_use]
    pub fn destroys(&self) -> bool {
        Op::ALL.iter().any(|&op| op.destroys() && self.does(op))
    }

    /// The operations that have a cell on each of its targets, in order: reads, writes, and what else it does.
    #[must_use]
    pub fn ops(&self) -> Vec<Op> {
        Op::ALL.into_iter().filter(|&op| matches!(op, Op::Read | Op::Write) || self.does(op)).collect()
    }

    /// Its cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.targets.len() * self.ops().len()
    }

    /// The shares in words: `70 % reads`, or those of all operations.
    #[must_use]
    pub fn mix_text(&self) -> String {
        self.mix.map_or_else(|| format!("{} % reads", self.read_percent), |mix| mix.to_string())
    }
}

impl Plan {
    /// Number of cells: each pair of workload and one of its targets, times the operations.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.workloads.iter().map(WorkloadPlan::cells).sum()
    }

    /// Where the figures of a workload's I/Os to the target at `position` of its `targets` are kept.
    ///
    /// # Panics
    /// When the workload never does the operation.
    #[must_use]
    pub fn cell(&self, workload: usize, position: usize, op: Op) -> usize {
        let before: usize = self.workloads[..workload].iter().map(WorkloadPlan::cells).sum();
        let ops = self.workloads[workload].ops();
        let place = ops.iter().position(|&known| known == op).expect("an operation of the workload's");
        before + position * ops.len() + place
    }

    /// What the cells are of, in order: number of the workload, position of the target among its targets, operation.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, Op)> + '_ {
        self.workloads.iter().enumerate().flat_map(|(number, workload)| {
            let ops = workload.ops();
            (0..workload.targets.len())
                .flat_map(move |position| ops.clone().into_iter().map(move |op| (number, position, op)))
        })
    }

    /// Whether any workload changes what targets hold.
    #[must_use]
    pub fn destroys(&self) -> bool {
        self.workloads.iter().any(WorkloadPlan::destroys)
    }
}

/// Refuses operations that a target does not support.
pub(super) fn check_support(workloads: &[WorkloadPlan], targets: &[DeviceFacts]) -> Result<(), PlanError> {
    for workload in workloads {
        for target in workload.targets.iter().map(|&target| &targets[target]) {
            let supported = |op: &Op| match op {
                Op::Read | Op::Write => true,
                Op::Trim => target.supports.trim,
                Op::WriteZeroes => target.supports.write_zeroes,
                Op::Flush => target.supports.flush,
            };
            if let Some(op) = workload.ops().into_iter().find(|op| !supported(op)) {
                return Err(PlanError::Unsupported { workload: workload.name.clone(), op, uri: target.uri.clone() });
            }
        }
    }
    Ok(())
}
