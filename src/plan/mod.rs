//! The plan: what exactly will be driven, resolved against the devices and cores that were found.
//!
//! Owns placement (core → target → queue pair), division of depth over cores, and every refusal that needs facts.
//! Pure: a function of job and facts; knows no driver, does no I/O. Nothing below it sees a flag.

mod error;
mod guard;
mod map;
mod ops;
mod payload;
mod placement;
mod region;
mod resolve;
mod sizes;
mod streams;
mod volume;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::PlanError;
pub use guard::write_allowed;
pub use map::describe;
pub use payload::{PayloadPlan, ReductionPlan};
pub use placement::queue_pairs;
pub use region::region_bytes;
pub use resolve::resolve;
pub use sizes::{CellBytes, OpSizes};
pub use streams::{band_places, places};

pub use crate::spec::{
    Access, Arrivals, Band, Load, Op, OpMix, OpenLoad, Overload, Scope, SizeMix, SizeShare, ThinkSpread, ThinkTime,
    Volume,
};
use crate::units::Bytes;

/// A workload with everything resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadPlan {
    /// Its name, unique in the plan.
    pub name: String,
    /// Indices of the targets it runs on, into the plan's targets, rising.
    pub targets: Vec<usize>,
    /// Bytes of each I/O, or of the greatest; a multiple of each target's LBA size.
    pub block_size: Bytes,
    /// The sizes of reads and writes, where not all I/Os have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<OpSizes>,
    /// Bytes whose multiples I/Os begin at; those of their own size if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Share of reads, in per cent, 0 to 100.
    pub read_percent: f64,
    /// The shares of all operations, where there are others than reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<OpMix>,
    /// Which addresses it touches, in which order.
    pub access: Access,
    /// Where each sequential or strided stream begins, in per cent of its part of the region, 0 to below 100.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_percent: f64,
    /// Its targets as one address space; each by itself if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// For each entry of `targets`: the region it touches, in blocks of that target.
    pub regions: Vec<Region>,
    /// How long each slot waits after a completion; not at all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// What its writes carry; none of a workload that only reads, nor in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadPlan>,
}

/// A span of blocks of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// First block.
    pub first_block: u64,
    /// Number of blocks; at least one aligned I/O of each size. Where all I/Os have one size, a multiple of it.
    pub blocks: u64,
}

/// One fixed load held for ramp and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointPlan {
    /// The load of each workload, in the order of the plan's workloads.
    pub loads: Vec<Load>,
}

/// A core's share of one workload: some slots that go to one target, or to any of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Positions in that workload's `targets` among which each I/O picks at random; one for `queue_depth`.
    pub targets: Vec<usize>,
    /// Which part of each region a sequential stream covers: part `part.0` of `part.1`; see [`Region::part`].
    pub part: (u32, u32),
    /// Outstanding I/Os of this lane at each point, in the order of the plan's points; 0 means idle there. In an open
    /// loop the most that may be.
    pub depths: Vec<u32>,
    /// Open loop: what arrives here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<LaneArrivals>,
    /// Which I/Os of its pattern it sends, over all points together; without end if absent. In a plan where one lane has an
    /// end all are closed loops and have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<LaneBudget>,
}

/// The I/Os of a lane that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneBudget {
    /// I/Os of the pattern that are left out at its start, since they have been done before.
    pub skip: u64,
    /// I/Os that are sent then.
    pub ios: u64,
}

/// A core's share of the arrivals of an open loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneArrivals {
    /// How they are spread over time.
    pub spread: Arrivals,
    /// Arrivals a second at each point, in the order of the plan's points.
    pub rates_per_s: Vec<f64>,
    /// How far the first of evenly spread arrivals is put off, as a share of the time between two, 0 to below 1: lanes
    /// of several cores take turns.
    pub offset: f64,
}

/// Everything one core does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorePlan {
    /// The core's number, as the operating system counts.
    pub core: usize,
    /// Its lanes; none if the load is too small to reach this core at any point.
    pub lanes: Vec<Lane>,
}

/// The whole run. Immutable; kept in the result as its provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Seed of every generator.
    pub seed: u64,
    /// Time before the window opens.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub ramp: Duration,
    /// Length of the window.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub time: Duration,
    /// Length of an interval of the series.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
    /// URIs of the targets, without secrets.
    pub targets: Vec<String>,
    /// LBA size of each target, in bytes.
    pub lba_bytes: Vec<u32>,
    /// The workloads.
    pub workloads: Vec<WorkloadPlan>,
    /// The cores, rising.
    pub cores: Vec<CorePlan>,
    /// The points, in the order they run.
    pub points: Vec<PointPlan>,
    /// What becomes of a point whose targets cannot follow its rate.
    #[serde(default)]
    pub overload: Overload,
    /// Identities that were typed to allow writing.
    pub destroy: Vec<String>,
}

impl Plan {
    /// Whether a workload is an open loop. It is one at all points or at none.
    #[must_use]
    pub fn is_open(&self, workload: usize) -> bool {
        self.points.iter().any(|point| matches!(point.loads.get(workload), Some(Load::Rate(_))))
    }

    /// The same without its first `points` points.
    #[must_use]
    pub fn after(&self, points: usize) -> Self {
        let mut plan = self.clone();
        plan.points.drain(..points.min(self.points.len()));
        for lane in plan.cores.iter_mut().flat_map(|core| &mut core.lanes) {
            lane.depths.drain(..points.min(lane.depths.len()));
            if let Some(arrivals) = &mut lane.arrivals {
                arrivals.rates_per_s.drain(..points.min(arrivals.rates_per_s.len()));
            }
        }
        plan
    }

    /// Whether its lanes come to an end of their own.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.cores.iter().flat_map(|core| &core.lanes).any(|lane| lane.budget.is_some())
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Durations as seconds in the result, so that any reader understands them.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(duration.as_secs_f64())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}
