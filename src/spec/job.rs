//! The job as data: exactly what was written, and what it means where nothing was written.
//!
//! Owns the fields and their defaults. A field holds `None` where the user left it out, so that a job prints as it was
//! written; the methods give the value in force. Knows no device.

use std::borrow::Cow;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accept::{self, Accept};
use super::access::Access;
use super::arrivals::Arrivals;
use super::cores::CoreList;
use super::event::EventSpec;
use super::load::{self, Load, Op};
use super::mix::OpMix;
use super::nearest::{hint, list};
use super::open::{self, OpenLoad, Overload};
use super::payload::{PayloadSpec, Reduction};
use super::precondition::Precondition;
use super::region::RegionSpec;
use super::scalar;
use super::schema;
use super::search::Search;
use super::sizes::SizeMix;
use super::sweep::{Axis, Sweep, Values};
use super::target_ref::{self, TargetRef};
use super::think::ThinkTime;
use super::uri::Uri;
use super::volume::Volume;
use crate::units::Bytes;

/// Queue depth of a workload that states no load.
pub const DEFAULT_QUEUE_DEPTH: u32 = 32;

/// A job: targets, the workloads on them, and how long to hold each load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Title for reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Identities (serial, NGUID, or `IQN:LUN`) of the targets that may be written to.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "scalar::strings")]
    #[schemars(schema_with = "schema::strings")]
    pub destroy: Vec<String>,
    /// What must hold for the run to be accepted: texts such as `p99.9 read <= 500us`, or tables of `that` and `at`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "accept::list")]
    #[schemars(schema_with = "accept::schema")]
    pub accept: Vec<Accept>,
    /// The targets, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "scalar::tables")]
    pub target: Vec<Target>,
    /// The workloads as written; see [`Job::workloads`] for those in force.
    #[schemars(description = "The workloads; one with every default if absent.")]
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "scalar::tables")]
    pub workload: Vec<Workload>,
    /// Durations, cores, seed, output.
    #[serde(default, skip_serializing_if = "Run::is_empty")]
    pub run: Run,
    /// What the points step through: loads, which replace the load of every workload, and any other field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Looks for the highest load that keeps a limit; with a sweep once at each of its points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// How the targets are filled before the first point; not if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// Commands that are run at a moment of each point.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "scalar::tables")]
    pub event: Vec<EventSpec>,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Where it is.
    pub uri: Uri,
    /// Name by which workloads may refer to it; unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A workload as written.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::exclusive_fields)]
pub struct Workload {
    /// Its name, unique; `workload-1`, `workload-2` … by position if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The targets it runs on, each once; all if absent.
    #[schemars(schema_with = "schema::target_refs")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "target_ref::target_refs")]
    pub targets: Option<Vec<TargetRef>>,
    /// Bytes of each I/O, 1 to 64 MiB, or several sizes with their shares; 4 KiB if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size: Option<SizeMix>,
    /// The same for reads only; 4 KiB if absent. Excludes `block_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_block_size: Option<SizeMix>,
    /// The same for writes only; 4 KiB if absent. Excludes `block_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_block_size: Option<SizeMix>,
    /// Bytes whose multiples I/Os begin at, 1 to 64 MiB; those of their own size if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::block_size", serialize_with = "scalar::write_size")]
    #[schemars(schema_with = "schema::size")]
    pub align: Option<Bytes>,
    /// Share of reads, in per cent, 0 to 100; 100 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::percent", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::percent")]
    pub read_percent: Option<f64>,
    /// Shares of the operations, in per cent, where there are others than reads and writes; excludes `read_percent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<OpMix>,
    /// Which addresses it touches, in which order; random if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Random access touches no block again before it has touched all: another way to write `access = "permutation"`;
    /// not if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "scalar::yes_or_no")]
    pub no_repeat: Option<bool>,
    /// Where each stream of sequential or strided access begins, in per cent of its part of the region, 0 to below 100;
    /// if absent, streams of several workloads on one target begin at different places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    #[schemars(schema_with = "schema::share")]
    pub start: Option<f64>,
    /// Outstanding I/Os on each target, 1 to 65,535; excludes `outstanding`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "load::queue_depth")]
    #[schemars(schema_with = "schema::queue_depth")]
    pub queue_depth: Option<u32>,
    /// Outstanding I/Os over all targets, 1 to 1,048,576; excludes `queue_depth`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "load::outstanding")]
    #[schemars(schema_with = "schema::outstanding")]
    pub outstanding: Option<u32>,
    /// Open loop: arrivals a second over all targets and cores, 1 to 10^9; excludes `queue_depth` and `outstanding`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "open::rate")]
    #[schemars(schema_with = "schema::rate")]
    pub rate: Option<u64>,
    /// How the arrivals are spread over time; Poisson if absent. Only with a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Most I/Os an open loop has outstanding over all targets, 1 to 1,048,576; arrivals beyond it wait, and their
    /// waiting counts as response latency. Chosen by the plan if absent. Only with a rate.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "open::max_outstanding")]
    #[schemars(schema_with = "schema::outstanding")]
    pub max_outstanding: Option<u32>,
    /// Its targets as one address space: end to end or striped; each by itself if absent. A queue depth then stands for as
    /// many on each of them, wherever they go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// Closed loop: how long each outstanding I/O waits after its completion before the next takes its place, as a user
    /// does between requests; not at all if absent. Excludes `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// The part of each target that it touches; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<RegionSpec>,
    /// What its writes carry; incompressible and all different if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadSpec>,
}

/// How the job runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Time before the window opens, up to 30 days, may be 0; 2 s if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    #[schemars(schema_with = "schema::duration")]
    pub ramp: Option<Duration>,
    /// Length of the window of each point, above 0, up to 30 days; 10 s if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    #[schemars(schema_with = "schema::duration")]
    pub time: Option<Duration>,
    /// Length of an interval of the series, 1 ms to `time`; 1 s if absent, or `time` if that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    #[schemars(schema_with = "schema::duration")]
    pub interval: Option<Duration>,
    /// Cores to use; chosen by the plan if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// Seed of every generator, 0 to 2^63 - 1; 1 if absent, so that a repeated job repeats its I/O.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "scalar::seed")]
    #[schemars(schema_with = "schema::seed")]
    pub seed: Option<u64>,
    /// What becomes of a point whose targets cannot follow its rate; it ends early if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "open::overload")]
    pub overload: Option<Overload>,
    /// Folder for the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Measure on a clock that would be refused, and say so in the result; not if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "scalar::yes_or_no")]
    pub trust_clock: Option<bool>,
}

impl Job {
    /// The workloads in force: those written, or one with every default.
    #[must_use]
    pub fn workloads(&self) -> Cow<'_, [Workload]> {
        if self.workload.is_empty() { Cow::Owned(vec![Workload::default()]) } else { Cow::Borrowed(&self.workload) }
    }

    /// The names of [`Job::workloads`], in order.
    #[must_use]
    pub fn workload_names(&self) -> Vec<String> {
        let name = |(i, w): (usize, &Workload)| w.name.clone().unwrap_or_else(|| format!("workload-{}", i + 1));
        self.workloads().iter().enumerate().map(name).collect()
    }

    /// The load of each of [`Job::workloads`] at each point, in the order the points run; a rate of 1 where only the run can
    /// tell it.
    #[must_use]
    pub fn points(&self) -> Vec<Vec<Load>> {
        let workloads = self.workloads();
        let own = || workloads.iter().map(Workload::load).collect();
        match self.sweep.as_ref().map(|sweep| (sweep, sweep.plain())) {
            _ if self.search.is_some() => self.loads_of_steps(),
            None => vec![own()],
            Some((_, Some((field, values)))) => {
                let number = |value: &toml::Value| value.as_integer().unwrap_or(1).unsigned_abs();
                let at = |value| workloads.iter().map(|w| w.load_of(field, number(value))).collect();
                values.iter().map(at).collect()
            }
            Some((_, None)) => self.loads_of_steps(),
        }
    }

    /// Whether all loads are known before the run: none is a share of the highest rate, and none is searched for.
    #[must_use]
    pub fn knows_its_loads(&self) -> bool {
        let share = |axis: &Axis| matches!(axis.values, Values::PercentOfMax(_));
        self.search.is_none() && !self.sweep.iter().flat_map(|sweep| &sweep.axes).any(share)
    }

    fn loads_of_steps(&self) -> Vec<Vec<Load>> {
        let steps = self.steps().unwrap_or_default();
        steps.iter().map(|step| step.job.workloads().iter().map(Workload::load).collect()).collect()
    }

    /// Positions of the targets that a workload runs on, rising; the error names one that the job lacks.
    pub fn targets_of(&self, workload: &Workload) -> Result<Vec<usize>, String> {
        let Some(refs) = &workload.targets else { return Ok((0..self.target.len()).collect()) };
        let mut positions = refs.iter().map(|r| self.position(r)).collect::<Result<Vec<_>, _>>()?;
        positions.sort_unstable();
        match positions.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("target {} is listed twice; list each target once", pair[0])),
            None => Ok(positions),
        }
    }

    fn position(&self, target: &TargetRef) -> Result<usize, String> {
        let count = self.target.len();
        match target {
            TargetRef::Index(index) if *index < count => Ok(*index),
            TargetRef::Index(index) => {
                Err(format!("the job has no target {index}; it has {count}, and they are counted from 0"))
            }
            TargetRef::Name(name) => {
                let known = || self.target.iter().filter_map(|t| t.name.as_deref());
                let at = self.target.iter().position(|t| t.name.as_ref() == Some(name));
                at.ok_or_else(|| match list(known()).as_str() {
                    "" => {
                        format!("no target is named `{name}`; give the [[target]] a `name`, or write its number from 0")
                    }
                    names => format!("no target is named `{name}`{}; named targets: {names}", hint(name, known())),
                })
            }
        }
    }
}

impl Workload {
    /// Share of reads, in per cent, 0 to 100.
    #[must_use]
    pub fn read_percent(&self) -> f64 {
        self.mix.map_or(self.read_percent.unwrap_or(100.0), |mix| mix.share(Op::Read))
    }

    /// Share of an operation, in per cent, 0 to 100.
    #[must_use]
    pub fn share(&self, op: Op) -> f64 {
        match (op, &self.mix) {
            (_, Some(mix)) => mix.share(op),
            (Op::Read, None) => self.read_percent(),
            (Op::Write, None) => 100.0 - self.read_percent(),
            (_, None) => 0.0,
        }
    }

    /// Which addresses it touches.
    #[must_use]
    pub fn access(&self) -> Access {
        match self.access.clone().unwrap_or(Access::Random) {
            Access::Random if self.no_repeat == Some(true) => Access::Permutation,
            access => access,
        }
    }

    /// The part of each target that it touches.
    #[must_use]
    pub fn region(&self) -> RegionSpec {
        self.region.unwrap_or_default()
    }

    /// What its writes carry.
    #[must_use]
    pub fn payload(&self) -> PayloadSpec {
        self.payload.unwrap_or(PayloadSpec::Made(Reduction::default()))
    }

    /// Its own load; a sweep replaces it.
    #[must_use]
    pub fn load(&self) -> Load {
        match (self.rate, self.outstanding) {
            (Some(rate), _) => self.open_load(rate),
            (None, Some(total)) => Load::Outstanding(total),
            (None, None) => Load::QueueDepth(self.queue_depth.unwrap_or(DEFAULT_QUEUE_DEPTH)),
        }
    }

    /// The load that a field of this name states.
    fn load_of(&self, field: &str, number: u64) -> Load {
        let depth = u32::try_from(number).unwrap_or(u32::MAX);
        match field {
            "queue_depth" => Load::QueueDepth(depth),
            "outstanding" => Load::Outstanding(depth),
            _ => self.open_load(number),
        }
    }

    /// Its load at a given rate.
    fn open_load(&self, rate_per_s: u64) -> Load {
        let arrivals = self.arrivals.unwrap_or_default();
        Load::Rate(OpenLoad { rate_per_s, arrivals, max_outstanding: self.max_outstanding })
    }
}

impl Run {
    /// Time before the window opens.
    #[must_use]
    pub fn ramp(&self) -> Duration {
        self.ramp.unwrap_or(Duration::from_secs(2))
    }

    /// Length of the window of each point.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time.unwrap_or(Duration::from_secs(10))
    }

    /// Length of an interval of the series.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or(Duration::from_secs(1).min(self.time()))
    }

    /// What becomes of a point whose targets cannot follow its rate.
    #[must_use]
    pub fn overload(&self) -> Overload {
        self.overload.unwrap_or_default()
    }

    /// Whether a clock that would be refused is measured on all the same.
    #[must_use]
    pub fn trust_clock(&self) -> bool {
        self.trust_clock.unwrap_or(false)
    }

    /// Seed of every generator.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
