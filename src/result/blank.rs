//! Reads that brought nothing but bytes 00h or FFh: of blocks that were never written, or deallocated.
//!
//! Owns what the result keeps of them, from which share on it is said, and the sentence. `docs/method.md`, "Blank reads", says
//! how they are counted and why the limits are what they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::point::{PointResult, WorkloadResult};
use crate::engine::record;
use crate::facts::DeviceFacts;
use crate::plan::{Op, PayloadPlan, Plan, WorkloadPlan};
use crate::units::format_count;

/// Share of blank reads from which on it is said.
const SAID_SHARE: f64 = 0.1;
/// Blank reads from which on it is said, where not all are blank.
const SAID_COUNT: u64 = 3;
/// Fewer samples than this are called few.
const MANY: u64 = 10;

/// What reads have brought, by a sample of them: the last one of each slot of a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlankReads {
    /// Reads that were looked at.
    pub samples: u64,
    /// Those that brought nothing but bytes 00h, or nothing but FFh.
    pub blank: u64,
}

impl BlankReads {
    /// What was found on some lanes; none where they have read nothing that was kept.
    pub(super) fn of<'a>(found: impl Iterator<Item = &'a record::BlankReads>) -> Option<Self> {
        let mut sum = record::BlankReads::default();
        found.for_each(|lane| sum.merge(lane));
        let record::BlankReads { samples, blank } = sum;
        (samples > 0).then_some(Self { samples, blank })
    }

    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.blank += other.blank;
    }

    /// Whether so many of them are blank that it has to be said.
    fn is_told(self) -> bool {
        let Self { samples, blank } = self;
        samples > 0 && (blank == samples || blank >= SAID_COUNT && blank as f64 >= SAID_SHARE * samples as f64)
    }

    /// `5 of 8 sampled reads (63 %)`.
    fn text(self) -> String {
        let (samples, blank) = (format_count(self.samples), format_count(self.blank));
        let share = self.blank as f64 / self.samples as f64 * 100.0;
        format!("{blank} of {samples} sampled reads ({share:.0} %)")
    }
}

/// What the samples are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// One target, by its number in the plan.
    Target(usize),
    /// All targets of a workload, by its number, whose I/Os go to any of them.
    Workload(usize),
}

impl Place {
    fn touches(self, plan: &Plan, target: usize) -> bool {
        match self {
            Self::Target(own) => own == target,
            Self::Workload(number) => plan.workloads[number].targets.contains(&target),
        }
    }
}

/// The sentences on what `points` read of `targets`, over all of them: one a target, or a workload where its I/Os go to any
/// of several. None where the job itself may have made the blocks blank.
pub(super) fn sentences(plan: &Plan, targets: &[DeviceFacts], points: &[PointResult]) -> Vec<String> {
    let mut sums: Vec<(Place, BlankReads)> = Vec::new();
    let of_point = |point: &PointResult| {
        point
            .workloads
            .iter()
            .enumerate()
            .flat_map(|(number, workload)| places(plan_of(plan, point), number, workload))
            .collect::<Vec<_>>()
    };
    for (place, found) in points.iter().flat_map(of_point) {
        match sums.iter_mut().find(|(known, _)| *known == place) {
            Some((_, sum)) => sum.add(found),
            None => sums.push((place, found)),
        }
    }
    let plans: Vec<&Plan> = std::iter::once(plan).chain(points.iter().map(|point| plan_of(plan, point))).collect();
    sums.retain(|(place, found)| found.is_told() && !plans.iter().any(|plan| is_own_doing(plan, *place)));
    sums.into_iter().map(|(place, found)| sentence(plan, targets, place, found)).collect()
}

/// The plan of a point: a step of a campaign has one of its own.
fn plan_of<'a>(plan: &'a Plan, point: &'a PointResult) -> &'a Plan {
    point.step.as_ref().map_or(plan, |step| &step.plan)
}

fn places(plan: &Plan, number: usize, workload: &WorkloadResult) -> Vec<(Place, BlankReads)> {
    let own = plan.workloads[number].targets.iter().zip(&workload.targets);
    let by_target: Vec<_> =
        own.filter_map(|(&target, result)| Some((Place::Target(target), result.blank_reads?))).collect();
    let whole = workload.blank_reads.map(|found| (Place::Workload(number), found));
    if by_target.is_empty() { whole.into_iter().collect() } else { by_target }
}

/// Whether a workload of the job leaves blank blocks where these reads go.
fn is_own_doing(plan: &Plan, place: Place) -> bool {
    let blanks = |workload: &&WorkloadPlan| {
        workload.does(Op::Trim) || workload.does(Op::WriteZeroes) || workload.payload == Some(PayloadPlan::Zeroes)
    };
    let touched = |workload: &WorkloadPlan| workload.targets.iter().any(|&target| place.touches(plan, target));
    plan.workloads.iter().filter(blanks).any(touched)
}

fn sentence(plan: &Plan, targets: &[DeviceFacts], place: Place, found: BlankReads) -> String {
    let name = match place {
        Place::Target(target) => plan.targets[target].clone(),
        Place::Workload(number) => format!("workload {}", plan.workloads[number].name),
    };
    // What a process has made for itself is gone with it, filled or not.
    let own = |(target, facts): (usize, &DeviceFacts)| facts.volatile && place.touches(plan, target);
    let own = targets.iter().enumerate().any(own);
    let remedy = if own { "[precondition] in the job" } else { "`rigel fill`, or [precondition] in the job" };
    let few = if found.samples < MANY { "; of so few reads that is a hint only" } else { "" };
    format!(
        "{name}: {} brought nothing but bytes 00h or FFh, as blocks do that were never written or are deallocated; a target \
         may answer them without touching its media, so the figures may not be those of a target in use; fill it first, \
         and not with zeroes ({remedy}){few}",
        found.text()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_said_if_it_is_more_than_one_or_two_and_everything_always() {
        let told = |blank, samples| BlankReads { samples, blank }.is_told();
        assert!(told(1, 1) && told(2, 2) && told(3, 4) && told(3, 30) && told(100, 1_000));
        assert!(!told(0, 0) && !told(0, 1) && !told(1, 2) && !told(2, 3) && !told(3, 31) && !told(99, 1_000));
    }
}
