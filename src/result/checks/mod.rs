//! Whether the figures of a point agree with each other, with its load, and over time.
//!
//! Owns what each point is checked for, one check a file, and conservation itself. Compares figures only; what follows from
//! a failure is said in `verdict`.

mod arrivals;
mod littles_law;
mod steady;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use arrivals::ArrivalsCheck;
pub use littles_law::LittlesLaw;
pub use steady::{Steadiness, SteadyFigure, SteadyState, Trending};

use crate::clock::Clock;
use crate::engine::record::{CellFigures, PointFigures};
use crate::plan::Plan;

/// The checks of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Nothing was lost between the intervals and the whole.
    pub conservation: Conservation,
    /// Closed loops: rate and latency account for the load.
    pub littles_law: LittlesLaw,
    /// Open loops, one entry each: nothing was lost between the schedule and the targets, and these followed.
    #[serde(default)]
    pub arrivals: Vec<ArrivalsCheck>,
    /// Rates and latencies were the same throughout the window.
    #[serde(default)]
    pub steady_state: SteadyState,
}

/// Completions of the window, counted in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conservation {
    /// Number of intervals in the window.
    pub intervals: u64,
    /// Completions summed over those intervals.
    pub interval_completions: u64,
    /// Completions in the window's histograms.
    pub completions: u64,
    /// Whether the two are equal.
    pub ok: bool,
}

/// Outcome of a check that cannot always be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Within the tolerance.
    Ok,
    /// Beyond it.
    Off,
    /// The point does not allow the check.
    NotJudged,
}

impl Checks {
    /// The checks of a point of `plan`, whose figures are in ticks of `clock`.
    #[must_use]
    pub fn of(plan: &Plan, clock: &Clock, figures: &PointFigures) -> Self {
        let completions = figures.cells.iter().map(|cell| cell.service.count()).sum();
        let interval_completions = figures.interval_completions;
        Self {
            conservation: Conservation {
                intervals: figures.intervals as u64,
                interval_completions,
                completions,
                ok: interval_completions == completions,
            },
            littles_law: LittlesLaw::of(plan, clock, figures),
            arrivals: ArrivalsCheck::of(plan, clock, figures),
            steady_state: SteadyState::of(plan, clock, figures),
        }
    }
}

/// Those of a phase's cells whose workload `belongs`.
fn cells_of<'f>(
    plan: &Plan,
    cells: &'f [CellFigures],
    belongs: impl Fn(usize) -> bool,
) -> impl Iterator<Item = &'f CellFigures> {
    let workloads = plan.workloads.iter().enumerate();
    let mine: Vec<bool> = workloads.flat_map(|(number, w)| std::iter::repeat_n(belongs(number), w.cells())).collect();
    cells.iter().zip(mine).filter_map(|(cell, mine)| mine.then_some(cell))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_plan::{figures, plan};

    #[test]
    fn a_lost_completion_is_found() {
        let (plan, clock) = (plan(1), Clock::virtual_ns());
        let mut lost = figures(10, 1);
        assert!(Checks::of(&plan, &clock, &lost).conservation.ok);
        lost.interval_completions = 9;
        assert!(!Checks::of(&plan, &clock, &lost).conservation.ok);
    }
}

/// A small plan and its figures, for the tests of each check.
#[cfg(test)]
mod test_plan {
    use std::time::Duration;

    use crate::engine::record::{CellFigures, PointFigures};
    use crate::plan::{Access, CorePlan, Lane, Load, Overload, Plan, PointPlan, Region, WorkloadPlan};
    use crate::units::{Bytes, Ticks};

    /// One workload, a closed loop of reads, that keeps `depth` I/Os outstanding for a second.
    pub fn plan(depth: u32) -> Plan {
        Plan {
            seed: 1,
            ramp: Duration::ZERO,
            time: Duration::from_secs(1),
            interval: Duration::from_secs(1),
            targets: vec!["sim://constant-100us".to_owned()],
            lba_bytes: vec![512],
            workloads: vec![WorkloadPlan {
                name: "w".to_owned(),
                targets: vec![0],
                block_size: Bytes(4096),
                sizes: None,
                align: None,
                read_percent: 100.0,
                mix: None,
                access: Access::Random,
                start_percent: 0.0,
                volume: None,
                think_time: None,
                regions: vec![Region { first_block: 0, blocks: 8 }],
                payload: None,
            }],
            cores: vec![CorePlan {
                core: 1,
                lanes: vec![Lane {
                    workload: 0,
                    targets: vec![0],
                    part: (0, 1),
                    depths: vec![depth],
                    arrivals: None,
                    budget: None,
                }],
            }],
            points: vec![PointPlan { loads: vec![Load::QueueDepth(depth)] }],
            overload: Overload::Stop,
            destroy: Vec::new(),
        }
    }

    /// One second of `completions` reads of `latency` ticks each, in ticks of a nanosecond.
    pub fn figures(completions: u64, latency: u64) -> PointFigures {
        let mut cell = CellFigures::default();
        (0..completions).for_each(|_| cell.service.record(latency));
        PointFigures {
            point: 0,
            window: Ticks(1_000_000_000),
            ramp: vec![CellFigures::default(); 2],
            cells: vec![cell, CellFigures::default()],
            drain: vec![CellFigures::default(); 2],
            ramp_arrivals: vec![None],
            arrivals: vec![None],
            leftovers: vec![None],
            rounds: Default::default(),
            cores: Vec::new(),
            errors: Vec::new(),
            intervals: 1,
            interval_completions: completions,
            ended_early: None,
            overloaded: false,
        }
    }
}
