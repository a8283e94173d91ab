//! From job and facts to the plan.
//!
//! Owns the order of the checks: what is asked for, then what the devices allow, then whether writing is allowed.

use super::guard::check_writes;
use super::ops::check_support;
use super::payload::resolve_payload;
use super::placement::{check_depths, choose_cores, place, resolve_load};
use super::region::resolve_region;
use super::streams::{check_division, check_pattern, spread_starts};
use super::volume::check_volume;
use super::{Load, Op, OpSizes, Plan, PlanError, PointPlan, WorkloadPlan};
use crate::facts::DeviceFacts;
use crate::spec::{CoreList, Job};
use crate::units::{Bytes, format_duration};

/// Resolves a job against its targets, in the job's order, and the cores this process may use.
///
/// # Errors
/// The first thing that the devices or the machine do not allow; see [`PlanError`].
pub fn resolve(job: &Job, targets: &[DeviceFacts], cores_available: &[usize]) -> Result<Plan, PlanError> {
    check_targets(job, targets)?;
    check_durations(job)?;
    let named = job.run.cores.as_ref().map(CoreList::numbers);
    let core_numbers = choose_cores(named, cores_available, targets.len())?;
    let workloads = resolve_workloads(job, targets)?;
    let resolve_loads = |loads: Vec<Load>| PointPlan {
        loads: loads.iter().zip(&workloads).map(|(l, w)| resolve_load(*l, w, targets, core_numbers.len())).collect(),
    };
    let points: Vec<PointPlan> = job.points().into_iter().map(resolve_loads).collect();
    let cores = place(&core_numbers, &workloads, &points);
    check_division(job, &cores, &workloads, targets)?;
    check_depths(&cores, &workloads, points.len(), targets)?;
    check_support(&workloads, targets)?;
    check_writes(&workloads, targets, &job.destroy)?;
    Ok(Plan {
        seed: job.run.seed(),
        ramp: job.run.ramp(),
        time: job.run.time(),
        interval: job.run.interval(),
        targets: targets.iter().map(|target| target.uri.clone()).collect(),
        lba_bytes: targets.iter().map(|target| target.block_size).collect(),
        workloads,
        cores,
        points,
        overload: job.run.overload(),
        destroy: job.destroy.clone(),
    })
}

fn check_targets(job: &Job, targets: &[DeviceFacts]) -> Result<(), PlanError> {
    let Some(first) = targets.first().filter(|_| !job.target.is_empty()) else { return Err(PlanError::NoTarget) };
    if job.target.len() != targets.len() {
        return Err(PlanError::Facts { targets: job.target.len(), facts: targets.len() });
    }
    match targets.iter().find(|target| target.driver != first.driver) {
        None => Ok(()),
        Some(other) => Err(PlanError::MixedDrivers {
            found: format!("{} is served by {} and {} by {}", first.uri, first.driver, other.uri, other.driver),
        }),
    }
}

fn check_durations(job: &Job) -> Result<(), PlanError> {
    let (time, interval) = (job.run.time(), job.run.interval());
    if time.is_zero() {
        return Err(PlanError::NoTime);
    }
    if interval.is_zero() || interval > time {
        return Err(PlanError::Interval { interval: format_duration(interval), time: format_duration(time) });
    }
    Ok(())
}

fn resolve_workloads(job: &Job, targets: &[DeviceFacts]) -> Result<Vec<WorkloadPlan>, PlanError> {
    let resolve_one = |(workload, name): (&crate::spec::Workload, String)| {
        let indices = job.targets_of(workload).map_err(|fault| PlanError::Targets { workload: name.clone(), fault })?;
        let (block_size, sizes) = resolve_sizes(workload);
        let mut plan = WorkloadPlan {
            targets: indices,
            block_size,
            sizes,
            align: workload.align,
            read_percent: workload.read_percent(),
            mix: workload.mix.filter(|mix| !mix.is_plain()),
            access: workload.access(),
            start_percent: workload.start.unwrap_or_default(),
            volume: workload.volume,
            regions: Vec::new(),
            think_time: workload.think_time,
            payload: resolve_payload(workload),
            name,
        };
        let region = |index: &usize| resolve_region(&plan, workload.region(), &targets[*index]);
        plan.regions = plan.targets.iter().map(region).collect::<Result<_, _>>()?;
        check_pattern(&plan, targets)?;
        check_volume(&plan, targets)?;
        Ok(plan)
    };
    let mut plans = job.workloads().iter().zip(job.workload_names()).map(resolve_one).collect::<Result<Vec<_>, _>>()?;
    spread_starts(job, &mut plans);
    Ok(plans)
}

/// The greatest size, and all of them where there are several. What is never done has no size of its own.
fn resolve_sizes(workload: &crate::spec::Workload) -> (Bytes, Option<OpSizes>) {
    let [read, write] = [Op::Read, Op::Write].map(|op| workload.sizes(op));
    let writes = [Op::Write, Op::Trim, Op::WriteZeroes].iter().any(|op| workload.share(*op) > 0.0);
    let sizes = match (workload.share(Op::Read) > 0.0, writes) {
        (true, false) => OpSizes { write: read.clone(), read },
        (false, _) => OpSizes { read: write.clone(), write },
        (true, true) => OpSizes { read, write },
    };
    let greatest = sizes.read.greatest().max(sizes.write.greatest());
    let one = sizes.read == sizes.write && sizes.read.only().is_some();
    (greatest, (!one).then_some(sizes))
}
