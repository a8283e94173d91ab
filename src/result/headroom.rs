//! What limited a point: the host, the array, the load that was offered, or what cannot be told.
//!
//! Owns the verdict of a point, its thresholds and its wording; `docs/method.md`, "Headroom", says why they are what
//! they are. A function of figures: measures nothing.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::point::{CoreResult, OpFigures, PointResult};
use crate::facts::DeviceFacts;
use crate::plan::{Load, Plan};
use crate::spec::Uri;
use crate::units::{format_count, format_latency};

/// Busy share of a core from which on it is the limit: all else made faster would bring less than a ninth.
const BUSY_HOST: f64 = 0.9;
/// Busy share up to which the host is not the limit: a core waits for completions in three tenths of its time.
const BUSY_ARRAY: f64 = 0.7;
/// Share of the ceiling that decides between the two: no device costs a core less than Rigel's own work does.
const CEILING_HOST: f64 = 0.5;
/// An offered rate was served when fewer arrivals than come in this time are left over, in seconds.
const SERVED_BACKLOG_S: f64 = 0.1;

/// Share of their slots' time from which on it is the workloads' own think time that limits their rate.
const THINKING: f64 = 0.5;

/// What the generator can do at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headroom {
    /// IOPS of the run's plan, at its greatest depths, on Rigel's null driver.
    pub null_iops: f64,
}

/// What limited a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The host that generates the load.
    Host,
    /// The targets and the path to them.
    Array,
    /// Neither: an open loop offered no more than was served, or the slots thought for most of the time.
    None,
    /// It cannot be told.
    Unknown,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host-bound",
            Self::Array => "array-bound",
            Self::None => "not at its limit",
            Self::Unknown => "network/unknown",
        })
    }
}

/// The verdict on a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PointVerdict {
    /// What limited it.
    pub bound: Bound,
    /// Why, in words and figures.
    pub reason: String,
}

/// The verdict on a point against `targets`; `virtual_time` when its clock is a driver's own.
pub(super) fn verdict(
    point: &PointResult,
    (plan, targets): (&Plan, &[DeviceFacts]),
    headroom: Option<&Headroom>,
    virtual_time: bool,
) -> PointVerdict {
    let judged = |bound, reason| PointVerdict { bound, reason };
    let busiest = point.cores.iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
    let Some(core) = busiest.filter(|_| point.total.completions > 0) else {
        let polled = point.cores.iter().any(|core| core.polls > 0);
        let why = if polled { "" } else { ", and no core polled in it: other programs or the hypervisor had them" };
        return judged(Bound::Unknown, format!("nothing completed in the window{why}"));
    };
    if let Some(rate) = served(point) {
        return judged(Bound::None, format!("the offered {} arrivals/s were served", format_count(rate)));
    }
    if core.busy < BUSY_HOST
        && let Some(share) = thinking_share(plan, point).filter(|share| *share >= THINKING)
    {
        return judged(Bound::None, format!("the slots thought for {:.1} % of the time", share * 100.0));
    }
    if virtual_time {
        let reason = "time is the array model's own, and Rigel takes none of it".to_owned();
        return judged(Bound::Array, reason);
    }
    let figures = figures(core, point.share_of_ceiling, headroom);
    let reason = |what: &str| format!("{what}: {figures}");
    if core.busy >= BUSY_HOST {
        return judged(Bound::Host, reason(&format!("core {} had no time left", core.core)));
    }
    if let Some((floor_ns, bound)) = host_served(point, targets) {
        let (floor, count) = (format_latency(floor_ns as f64), point.load.total_outstanding);
        return judged(
            bound,
            reason(&format!(
                "the target is a program of this host, and its fastest I/O ({floor}) took no longer than processors \
                 need for {count} at once"
            )),
        );
    }
    if core.busy <= BUSY_ARRAY {
        return judged(Bound::Array, reason(&format!("core {} waited for completions", core.core)));
    }
    match point.share_of_ceiling {
        Some(share) if share >= CEILING_HOST => {
            judged(Bound::Host, reason(&format!("core {} is near what it can do", core.core)))
        }
        _ => judged(Bound::Unknown, reason(&format!("core {} had little time left, but some", core.core))),
    }
}

/// The figures that a verdict rests on, in words.
fn figures(core: &CoreResult, share_of_ceiling: Option<f64>, headroom: Option<&Headroom>) -> String {
    let mut text = format!("{:.1} % busy", core.busy * 100.0);
    if let (Some(share), Some(headroom)) = (share_of_ceiling, headroom) {
        let ceiling = format_count(headroom.null_iops.round() as u64);
        text.push_str(&format!(", {:.1} % of the ceiling of {ceiling} IOPS", share * 100.0));
    }
    text.push_str(&format!(", longest poll gap {}", format_latency(core.poll_gap_max_ns as f64)));
    if core.off_core >= 0.01 {
        text.push_str(&format!(", taken off for {:.1} % of the window", core.off_core * 100.0));
    }
    text
}

/// The rate that was offered, when all workloads are open loops and were served.
fn served(point: &PointResult) -> Option<u64> {
    let mut rate = 0.0;
    for workload in &point.workloads {
        let arrivals = workload.arrivals.as_ref()?;
        let burst = if let Load::Rate(open) = workload.load { f64::from(open.arrivals.at_once()) } else { 0.0 };
        if arrivals.backlog as f64 > (arrivals.offered_per_s * SERVED_BACKLOG_S).max(burst) {
            return None;
        }
        rate += arrivals.offered_per_s;
    }
    (!point.overloaded && !point.workloads.is_empty()).then_some(rate.round() as u64)
}

/// Share of the time of their slots for which workloads thought, where each of them does; none where one does not.
fn thinking_share(plan: &Plan, point: &PointResult) -> Option<f64> {
    let all = !plan.workloads.is_empty() && plan.workloads.iter().all(|workload| workload.think_time.is_some());
    let of = |op: &OpFigures| op.service.as_ref().map_or(0.0, |service| op.iops * service.mean_ns / 1e9);
    let outstanding: f64 = point.total.ops().map(|(_, op)| of(op)).sum();
    let slots = point.load.total_outstanding as f64;
    (all && slots > 0.0).then(|| (1.0 - outstanding / slots).max(0.0))
}

/// The latency of the fastest I/O, and what follows, where programs of this host serve all targets and add nothing to
/// what processors take: then those are the limit, though the polled cores wait for them. Of several targets and
/// operations the slowest one's fastest counts, so that a delay of any of them is the target's.
fn host_served(point: &PointResult, targets: &[DeviceFacts]) -> Option<(u64, Bound)> {
    let paths: Option<Vec<LocalPath>> = targets.iter().map(|target| local_path(&target.uri)).collect();
    let path = paths?.into_iter().max_by_key(|path| path.once_ns)?;
    let of_targets = point.workloads.iter().flat_map(|workload| &workload.targets);
    let ops = of_targets.flat_map(|target| target.figures.ops().map(|(_, op)| op));
    let floor_ns = ops.filter_map(|op| op.service.as_ref()).map(|latency| latency.min_ns).max()?;
    (floor_ns <= path.once_ns + EACH_NS * point.load.total_outstanding).then_some((floor_ns, path.bound))
}

/// What processors take at most for each I/O that is before another one, in nanoseconds.
const EACH_NS: u64 = 1_000;

/// A path to a program of this host.
struct LocalPath {
    /// What processors take at most to go it once, in nanoseconds.
    once_ns: u64,
    /// What follows when they take all the time.
    bound: Bound,
}

/// The path to a target; none where it is not, or not known to be, a program of this host.
fn local_path(uri: &str) -> Option<LocalPath> {
    let loopback = |host: &str| host == "localhost" || host == "::1" || host.starts_with("127.");
    let memory = LocalPath { once_ns: 10_000, bound: Bound::Host };
    // The system's network lies between, whose share cannot be told from the program's.
    let network = LocalPath { once_ns: 30_000, bound: Bound::Unknown };
    match uri.parse().ok()? {
        Uri::NvmeVfioUser { .. } => Some(memory),
        Uri::NvmeTcp(fabric) | Uri::NvmeRdma(fabric) if loopback(&fabric.host) => Some(network),
        Uri::Iscsi(iscsi) if loopback(&iscsi.host) => Some(network),
        _ => None,
    }
}
