//! From a job to the plan of its fill: one workload for the whole blocks of the region, and one write for what is left of
//! it at either end.
//!
//! Owns that division, the defaults that need facts, and the plan of each pass. Sends nothing.

use std::time::Duration;

use super::{FillError, TargetId, What};
use crate::facts::DeviceFacts;
use crate::plan::{self, Access, Lane, LaneBudget, PayloadPlan, Plan, PlanError, region_bytes};
use crate::spec::{FillOrder, Job, PayloadSpec, Precondition, Reduction, RegionSpec, Run, TargetRef, Until, Workload};
use crate::units::Bytes;
use crate::workload::{Generator, stream_seed};

/// Bytes of a write where nothing is stated.
const DEFAULT_BLOCK_SIZE: u64 = 256 << 10;
/// Length of a slice. What is written in one is lost to the state if the process is killed.
const SLICE: Duration = Duration::from_secs(3);
/// Slices that are planned at a time.
const SLICES: usize = 256;

/// A fill, resolved.
#[derive(Debug, Clone)]
pub struct Filling {
    plan: Plan,
    what: What,
    bytes_per_pass: u64,
    /// A round of random writes, and how many there may be.
    rounds: Option<(Plan, u32)>,
}

impl Filling {
    /// That of a job, as its `[precondition]` says, or with every default.
    ///
    /// # Errors
    /// Whatever the plan refuses, and workloads that leave open what is to be written.
    pub fn of(job: &Job, targets: &[DeviceFacts], cores_available: &[usize]) -> Result<Self, FillError> {
        let stated = job.precondition.clone().unwrap_or_default();
        // A sweep may give its steps regions and payloads of their own.
        let plain = job.sweep.as_ref().is_none_or(|sweep| sweep.plain().is_some());
        let steps = if plain { Vec::new() } else { job.steps().unwrap_or_default() };
        let steps = steps.into_iter().map(|step| step.job);
        let jobs: Vec<Job> = if plain { vec![job.clone()] } else { steps.collect() };
        let region = match stated.region {
            Some(region) => region,
            None => only(jobs.iter().flat_map(|job| job.workloads().into_owned()).map(|workload| workload.region()))
                .ok_or(FillError::Differ("region"))?,
        };
        let payload = match stated.payload {
            Some(payload) => payload,
            None => {
                let written =
                    jobs.iter().flat_map(|job| &job.workload).filter(|workload| workload.read_percent() < 100.0);
                let written: Vec<PayloadSpec> = written.map(Workload::payload).collect();
                let unstated = || PayloadSpec::Made(Reduction::default());
                if written.is_empty() {
                    unstated()
                } else {
                    only(written.into_iter()).ok_or(FillError::Differ("payload"))?
                }
            }
        };
        let block_size = stated.block_size.unwrap_or_else(|| default_block_size(targets));
        if let PayloadSpec::Made(Reduction { unit: Some(unit), .. }) = payload {
            if block_size.0 % unit.0 != 0 {
                return Err(FillError::Unit { unit, block_size });
            }
        }
        let run =
            Run { ramp: Some(Duration::ZERO), time: Some(SLICE), interval: None, overload: None, ..job.run.clone() };
        let workload = workloads(&stated, region, payload, block_size, targets);
        let fill = Job { destroy: job.destroy.clone(), target: job.target.clone(), workload, run, ..Job::default() };
        let plan = plan::resolve(&fill, targets, cores_available).map_err(refusal)?;
        let rounds = stated.until.map(|Until::Steady| {
            let mut round = fill.clone();
            (round.run.time, round.run.interval) = (Some(stated.round_time()), None);
            round.workload.truncate(1);
            round.workload.iter_mut().for_each(|workload| workload.access = Some(Access::Random));
            plan::resolve(&round, targets, cores_available).map(|plan| (plan, stated.max_rounds()))
        });
        let rounds = rounds.transpose()?;
        let what = What {
            targets: targets.iter().map(id).collect(),
            region: region.to_string(),
            passes: stated.passes(),
            order: stated.order(),
            block_size,
            payload: plan.workloads.first().and_then(|workload| workload.payload),
            seed: plan.seed,
            streams: streams(&plan),
        };
        let bytes = |target| {
            let (first, end) = region_bytes(region, target);
            end.saturating_sub(first)
        };
        Ok(Self { plan, what, bytes_per_pass: targets.iter().map(bytes).sum(), rounds })
    }

    /// The same with slices of another length.
    #[must_use]
    pub fn in_slices_of(mut self, slice: Duration) -> Self {
        self.plan.time = slice;
        self.plan.interval = self.plan.interval.min(slice);
        self
    }

    /// Which fill it is.
    #[must_use]
    pub fn what(&self) -> &What {
        &self.what
    }

    /// Where it writes, and from which cores.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What is written.
    #[must_use]
    pub fn payload(&self) -> Option<PayloadPlan> {
        self.what.payload
    }

    /// Bytes of one pass.
    #[must_use]
    pub fn bytes_per_pass(&self) -> u64 {
        self.bytes_per_pass
    }

    /// How many rounds may follow the passes; none if none do.
    #[must_use]
    pub fn rounds_max(&self) -> Option<u32> {
        self.rounds.as_ref().map(|(_, most)| *most)
    }

    /// The plan of a round, from 0.
    pub(super) fn round(&self, round: usize) -> Option<Plan> {
        let (plan, most) = self.rounds.as_ref()?;
        let seed = stream_seed(self.what.seed, round, usize::MAX - 1);
        (round < *most as usize).then(|| Plan { seed, ..plan.clone() })
    }

    /// The plan of what is left of a pass; `done` says how much each stream has written of it.
    pub(super) fn pass(&self, pass: u32, done: &[u64]) -> Plan {
        let mut plan = self.plan.clone();
        plan.seed = stream_seed(self.what.seed, pass as usize, usize::MAX);
        plan.points = vec![plan.points[0].clone(); SLICES];
        let periods = |lane| Generator::new(&plan, lane, 0).period().unwrap_or(0);
        let periods: Vec<u64> = plan.cores.iter().flat_map(|core| &core.lanes).map(periods).collect();
        let lanes = plan.cores.iter_mut().flat_map(|core| &mut core.lanes);
        for ((lane, period), &done) in lanes.zip(periods).zip(done) {
            lane.depths = vec![lane.depths[0]; SLICES];
            lane.budget = Some(LaneBudget { skip: done, ios: period.saturating_sub(done) });
        }
        plan
    }
}

/// What each lane writes, core by core: a count of one must never be taken for that of another.
fn streams(plan: &Plan) -> Vec<String> {
    let lanes = plan.cores.iter().flat_map(|core| &core.lanes);
    let of = |lane: &Lane| {
        let workload = &plan.workloads[lane.workload];
        let targets: Vec<String> = lane.targets.iter().map(|&at| workload.targets[at].to_string()).collect();
        format!("{} of [{}], part {} of {}", workload.name, targets.join(" "), lane.part.0 + 1, lane.part.1)
    };
    lanes.map(of).collect()
}

/// What all have in common; none if they differ.
fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// A refusal with the remedies of a fill, whose workloads nobody has written.
fn refusal(error: PlanError) -> PlanError {
    match error {
        PlanError::WriteRefused(text) => {
            let rest = text.split("\nto leave the data alone").next().unwrap_or_default();
            PlanError::WriteRefused(format!("{rest}\nto leave the data alone: no `rigel fill`, no [precondition]"))
        }
        other => other,
    }
}

fn id(target: &DeviceFacts) -> TargetId {
    TargetId {
        uri: target.uri.clone(),
        identity: target.identities.first().cloned().unwrap_or_default(),
        bytes: target.blocks.saturating_mul(u64::from(target.block_size)),
    }
}

/// The usual size, or the greatest below it that all targets take at once.
fn default_block_size(targets: &[DeviceFacts]) -> Bytes {
    let limits = targets.iter().map(|target| target.max_io_bytes).filter(|limit| *limit > 0);
    let most = limits.fold(DEFAULT_BLOCK_SIZE, u64::min);
    let lba_bytes = targets.iter().map(|target| u64::from(target.block_size)).max().unwrap_or(1).max(1);
    let most = if lba_bytes.is_power_of_two() { 1 << most.ilog2() } else { most / lba_bytes * lba_bytes };
    Bytes(most.max(lba_bytes))
}

/// The workloads of a fill: whole blocks on all targets whose region holds any, then the ends target by target.
fn workloads(
    stated: &Precondition,
    region: RegionSpec,
    payload: PayloadSpec,
    block_size: Bytes,
    targets: &[DeviceFacts],
) -> Vec<Workload> {
    let access = match stated.order() {
        FillOrder::Sequential => Access::Sequential,
        FillOrder::Random => Access::Permutation,
    };
    let (mut whole, mut least, mut ends) = (Vec::new(), u64::MAX, Vec::new());
    for (index, target) in targets.iter().enumerate() {
        let lba_bytes = u64::from(target.block_size).max(1);
        let (first, end) = region_bytes(region, target);
        let (from, to) = (first.next_multiple_of(block_size.0), end / block_size.0 * block_size.0);
        let capacity = target.blocks.saturating_mul(lba_bytes);
        // What the plan refuses is left to it.
        if from < to || end > capacity || block_size.0 % lba_bytes != 0 || first >= end {
            whole.push(TargetRef::Index(index));
            least = least.min(to.saturating_sub(from) / block_size.0).max(1);
        }
        let spans = if from <= to { vec![(first, from), (to, end)] } else { vec![(first, end)] };
        let spans = spans.into_iter().filter(|(first, end)| first < end && *end <= capacity);
        ends.extend(spans.map(|(first, end)| (index, lba_bytes, Bytes(first), Bytes(end))));
    }
    let common = Workload { read_percent: Some(0.0), payload: Some(payload), ..Workload::default() };
    let main = Workload {
        name: Some("fill".to_owned()),
        targets: Some(whole.clone()),
        block_size: Some(block_size.into()),
        access: Some(access),
        region: Some(region),
        queue_depth: Some(u64::from(stated.queue_depth()).min(least) as u32),
        ..common.clone()
    };
    let undivided = match payload {
        PayloadSpec::Made(reduction) => PayloadSpec::Made(Reduction { unit: None, ..reduction }),
        PayloadSpec::Zeroes => PayloadSpec::Zeroes,
    };
    let end = |(index, lba_bytes, first, end): (usize, u64, Bytes, Bytes)| Workload {
        name: Some(format!("end at byte {} of target {index}", first.0)),
        targets: Some(vec![TargetRef::Index(index)]),
        block_size: Some(Bytes(end.0 - first.0).into()),
        align: Some(Bytes(lba_bytes)),
        access: Some(Access::Permutation),
        region: Some(RegionSpec::Bytes { first, end }),
        queue_depth: Some(1),
        payload: Some(undivided),
        ..common.clone()
    };
    let main = Some(main).filter(|_| !whole.is_empty());
    main.into_iter().chain(ends.into_iter().map(end)).collect()
}
