//! The figures of one point as the result keeps them.
//!
//! Owns these types and nothing else: plain data, filled by `build`. IOPS are good completions a second of the window;
//! bytes a second are those completions times the block size of their workload.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blank::BlankReads;
use super::checks::Checks;
use super::events::EventResult;
use super::headroom::PointVerdict;
use super::host::HostUse;
use super::latency::Latency;
use super::step::StepResult;
use crate::plan::{Load, Op, Plan};
use crate::units::format_count;

/// One fixed load and what it achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointResult {
    /// The load that was offered.
    pub load: PointLoad,
    /// What it has of its own in a campaign; none where it is a load of the run's plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Box<StepResult>>,
    /// Length of the window that was measured, in seconds; shorter than planned when the point ended early.
    pub window_s: f64,
    /// Counted before the window opened; in no other figure but `errors`.
    pub ramp: PhaseCount,
    /// Counted after the window closed; in no other figure but `errors`.
    pub drain: PhaseCount,
    /// All workloads and targets together.
    pub total: Figures,
    /// By workload, in the order of the plan.
    pub workloads: Vec<WorkloadResult>,
    /// By core, in the order of the plan.
    pub cores: Vec<CoreResult>,
    /// Failed I/Os by workload, target, operation and status, over ramp, window and drain.
    pub errors: Vec<ErrorResult>,
    /// Whether the figures agree with each other.
    pub checks: Checks,
    /// What the host did meanwhile; none where time is virtual or the system does not say.
    #[serde(default)]
    pub host: Option<HostUse>,
    /// IOPS as a share of the generator's ceiling; none without one.
    #[serde(default)]
    pub share_of_ceiling: Option<f64>,
    /// What limited it; none in results of earlier versions.
    #[serde(default)]
    pub verdict: Option<PointVerdict>,
    /// Why the point ended before its time, if it did.
    pub ended_early: Option<String>,
    /// Whether that is because the targets could not follow the rate.
    #[serde(default)]
    pub overloaded: bool,
    /// What was run beside the load, in the order of the moments asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventResult>,
}

/// The load of a point over all its workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointLoad {
    /// Outstanding I/Os on each target, when that is the load of every workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Outstanding I/Os over all targets, when that is the load of every workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Arrivals a second over all targets, when that is the load of every workload: of one workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
    /// I/Os that all cores together keep outstanding, over all workloads and targets; in an open loop the most that may
    /// be.
    pub total_outstanding: u64,
}

impl PointLoad {
    /// The load of the plan's point `point`.
    #[must_use]
    pub fn of(plan: &Plan, point: usize) -> Self {
        let loads = &plan.points[point].loads;
        let common = loads.first().filter(|first| loads.iter().all(|load| load == *first));
        let mut load = Self { queue_depth: None, outstanding: None, rate_per_s: None, total_outstanding: 0 };
        match common {
            Some(Load::QueueDepth(depth)) => load.queue_depth = Some(*depth),
            Some(Load::Outstanding(count)) => load.outstanding = Some(*count),
            Some(Load::Rate(open)) => load.rate_per_s = Some(open.rate_per_s),
            None => {}
        }
        let lanes = plan.cores.iter().flat_map(|core| &core.lanes);
        load.total_outstanding = lanes.map(|lane| u64::from(lane.depths[point])).sum();
        load
    }

    /// Whether every workload has it.
    #[must_use]
    pub fn is_common(&self) -> bool {
        self.queue_depth.is_some() || self.outstanding.is_some() || self.rate_per_s.is_some()
    }

    /// The load as a number: queue depth, arrivals a second, or I/Os outstanding.
    #[must_use]
    pub fn number(&self) -> f64 {
        match (self.queue_depth, self.rate_per_s) {
            (Some(depth), _) => f64::from(depth),
            (None, Some(rate)) => rate as f64,
            (None, None) => self.total_outstanding as f64,
        }
    }
}

impl fmt::Display for PointLoad {
    /// `QD 32`, `50,000/s`, or `64 outstanding`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.queue_depth, self.rate_per_s) {
            (Some(depth), _) => write!(f, "QD {depth}"),
            (None, Some(rate)) => write!(f, "{}/s", format_count(rate)),
            (None, None) => write!(f, "{} outstanding", self.total_outstanding),
        }
    }
}

/// What was counted outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseCount {
    /// Good completions.
    pub completions: u64,
    /// Completions with an error status.
    pub errors: u64,
}

/// What some I/Os achieved in the window: those of a point, a workload, or a workload on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Good completions a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Good completions in the window.
    pub completions: u64,
    /// Completions with an error status in the window.
    pub errors: u64,
    /// The reads among them.
    pub read: OpFigures,
    /// The writes among them.
    pub write: OpFigures,
    /// The trims among them; absent where none are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<OpFigures>,
    /// The write-zeroes among them; absent where none are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<OpFigures>,
    /// The flushes among them, whose bytes are 0; absent where none are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<OpFigures>,
}

impl Figures {
    /// Those of one operation; none where it is not done.
    #[must_use]
    pub fn of(&self, op: Op) -> Option<&OpFigures> {
        match op {
            Op::Read => Some(&self.read),
            Op::Write => Some(&self.write),
            Op::Trim => self.trim.as_ref(),
            Op::WriteZeroes => self.write_zeroes.as_ref(),
            Op::Flush => self.flush.as_ref(),
        }
    }

    /// Mean latency over all operations, in nanoseconds, as a user sees it; none without completions.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        let of = |(_, op): (Op, &OpFigures)| Some((op.completions as f64, op.latency()?.mean_ns));
        let (count, sum) =
            self.ops().filter_map(of).fold((0.0, 0.0), |(n, sum), (ios, mean)| (n + ios, sum + ios * mean));
        (count > 0.0).then(|| sum / count)
    }

    /// Reads, writes, and what else is done.
    pub fn ops(&self) -> impl Iterator<Item = (Op, &OpFigures)> {
        Op::ALL.into_iter().filter_map(|op| Some((op, self.of(op)?)))
    }
}

/// The same for one operation, with its latencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpFigures {
    /// Good completions in the window.
    pub completions: u64,
    /// Good completions a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Completions with an error status in the window.
    pub errors: u64,
    /// Submission to completion of the good completions; none without any.
    pub service: Option<Latency>,
    /// Scheduled arrival to completion; none in a closed loop, where nothing is scheduled.
    pub response: Option<Latency>,
}

impl OpFigures {
    /// The latency that a user of the target sees: from the arrival where there is one.
    #[must_use]
    pub fn latency(&self) -> Option<&Latency> {
        self.response.as_ref().or(self.service.as_ref())
    }
}

/// One workload at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadResult {
    /// Its name.
    pub name: String,
    /// Its load.
    pub load: Load,
    /// Over all its targets.
    #[serde(flatten)]
    pub figures: Figures,
    /// How much of its targets it touched; none in results of earlier versions.
    #[serde(default)]
    pub footprint: Option<Footprint>,
    /// What became of its arrivals; none in a closed loop.
    #[serde(default)]
    pub arrivals: Option<ArrivalsResult>,
    /// How many of its last reads brought nothing but bytes 00h or FFh; absent where none could be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blank_reads: Option<BlankReads>,
    /// By target, in the order of the workload's targets.
    pub targets: Vec<TargetResult>,
}

/// What a workload touched at a point, ramp and drain among it: whether caches may have served it. Expected from its access
/// pattern and the number of its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footprint {
    /// I/Os that completed, in ramp, window and drain.
    pub ios: u64,
    /// Bytes of its regions.
    pub region_bytes: u64,
    /// Bytes that at least one I/O touched.
    pub touched_bytes: u64,
    /// The same as a share of the regions, 0 to 1.
    pub touched_share: f64,
    /// Share of the I/Os that went to a place where none had been at this point, 0 to 1.
    pub first_share: f64,
    /// I/Os to each place that was touched, at least 1; 0 without any.
    pub ios_per_place: f64,
}

/// The arrivals of an open loop in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArrivalsResult {
    /// Arrivals that came due.
    pub offered: u64,
    /// The same a second.
    pub offered_per_s: f64,
    /// Arrivals that were sent, those that had come due in the ramp among them.
    pub sent: u64,
    /// Arrivals that had come due and were not sent when the window closed; they are in no latency.
    pub backlog: u64,
    /// Most arrivals that were due and not sent, at any moment; over several cores the sum of each one's most.
    pub backlog_max: u64,
    /// From the scheduled arrival to the submission; none when nothing was sent.
    pub slip: Option<Latency>,
}

/// One workload on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetResult {
    /// The target's URI, without secrets.
    pub uri: String,
    /// What its I/Os achieved.
    #[serde(flatten)]
    pub figures: Figures,
    /// How many of the last reads from there brought nothing but bytes 00h or FFh; absent where none could be looked at, or
    /// where the workload's slots go to any of several targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blank_reads: Option<BlankReads>,
}

/// One core in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreResult {
    /// Its number, as the operating system counts.
    pub core: usize,
    /// Share of the time it ran in the window in which it handled completions, 0 to 1.
    pub busy: f64,
    /// Share of the window for which something else had it: other programs, the hypervisor; 0 to 1.
    #[serde(default)]
    pub off_core: f64,
    /// Longest time between two polls, in nanoseconds.
    pub poll_gap_max_ns: u64,
    /// Number of polls.
    pub polls: u64,
    /// Most completions of one poll that shared a reading of the clock; 1 where each had its own.
    pub completions_per_tick: u32,
    /// Submissions that waited because a queue was full.
    pub back_pressure: u64,
}

/// I/Os that failed in one way at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorResult {
    /// Name of the workload.
    pub workload: String,
    /// URI of the target.
    pub target: String,
    /// Operation.
    pub op: Op,
    /// The status in words.
    pub status: String,
    /// How many, over ramp, window and drain.
    pub count: u64,
}
