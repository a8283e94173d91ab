//! What a reader must know before trusting the figures, in sentences.
//!
//! Owns the wording, the order, and how much each weighs. Says nothing when nothing stands against a point.

use super::campaign::CampaignResult;
use super::checks::{ArrivalsCheck, Judgement, Steadiness, SteadyFigure, Trending};
use super::point::{PointResult, WorkloadResult};
use crate::plan::Plan;
use crate::units::format_count;

/// Share of the window from which on it is said that a core was taken away, or its sibling used.
const OFF_CORE: f64 = 0.05;
/// Use of a sibling from which on it is said.
const SIBLING_BUSY: f64 = 0.5;

/// How much stands against the figures of a point; the greater one outweighs the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// They moved within the window, or something else used the cores.
    Unsteady,
    /// They are incomplete, contradict each other, or are not those of the load.
    Failed,
}

impl PointResult {
    /// The weight of the heaviest sentence that stands against this point; none when there is none.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        of_point(self).iter().map(|(mark, _)| *mark).max()
    }
}

/// The sentences that follow from `points`, those of `plan` that were begun.
pub(super) fn sentences(plan: &Plan, campaign: Option<&CampaignResult>, points: &[PointResult]) -> Vec<String> {
    let planned = campaign.map_or(Some(plan.points.len()), |campaign| campaign.planned);
    let of = planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
    let mut out = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let label = format!("point {}{of} ({})", index + 1, point.label());
        out.extend(of_point(point).into_iter().map(|(_, sentence)| format!("{label}: {sentence}")));
    }
    match campaign {
        None => {
            if let Some(planned) = planned.filter(|planned| points.len() < *planned) {
                out.push(format!("only {} of {planned} points were run", points.len()));
            }
        }
        Some(campaign) => {
            out.extend(campaign.left_out.iter().cloned());
            if !campaign.finished {
                out.push(format!("the campaign is not finished: {}{of} points were run", points.len()));
            }
        }
    }
    out
}

fn of_point(point: &PointResult) -> Vec<(Mark, String)> {
    let mut out = Vec::new();
    if let Some(reason) = &point.ended_early {
        out.push(format!("ended early ({reason}); its figures cover {:.3} s of its window", point.window_s));
    }
    out.extend(failed(point));
    let conservation = &point.checks.conservation;
    if !conservation.ok {
        out.push(format!(
            "conservation is violated: {} completions in the histograms, {} over the intervals; do not \
             use these figures",
            format_count(conservation.completions),
            format_count(conservation.interval_completions)
        ));
    }
    out.extend(littles_law(point));
    let open = point.workloads.iter().filter(|workload| workload.arrivals.is_some());
    for (workload, check) in open.zip(&point.checks.arrivals) {
        out.extend(arrivals(point, workload, check));
    }
    for event in &point.events {
        out.extend(event.outcome.trouble.iter().map(|trouble| format!("event `{}` {trouble}", event.label)));
    }
    let mut out: Vec<_> = out.into_iter().map(|sentence| (Mark::Failed, sentence)).collect();
    let lesser = disturbances(point).into_iter().chain(unsteady(point));
    out.extend(lesser.map(|sentence| (Mark::Unsteady, sentence)));
    out
}

fn failed(point: &PointResult) -> Option<String> {
    let failed: u64 = point.errors.iter().map(|error| error.count).sum();
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for error in &point.errors {
        match kinds.iter_mut().find(|(status, _)| *status == error.status) {
            Some((_, count)) => *count += error.count,
            None => kinds.push((&error.status, error.count)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<String> = kinds.iter().map(|(status, n)| format!("{status}: {}", format_count(*n))).collect();
    let (failed_text, kinds) = (format_count(failed), kinds.join("; "));
    (failed > 0).then(|| format!("{failed_text} I/Os failed ({kinds}); they count in no IOPS and no latency"))
}

fn littles_law(point: &PointResult) -> Option<String> {
    let law = &point.checks.littles_law;
    if law.judgement != Judgement::Off {
        return None;
    }
    let waits: u64 = point.cores.iter().map(|core| core.back_pressure).sum();
    let cause = match waits {
        0 => "the load was not kept up all the time".to_owned(),
        n => format!("a full queue refused {} submissions, so the depth was not reached", format_count(n)),
    };
    Some(format!(
        "Little's law is off by {:+.1} %: {} outstanding, but rate x mean latency is {:.2}; {cause}",
        law.deviation * 100.0,
        law.outstanding,
        law.rate_times_mean
    ))
}

fn arrivals(point: &PointResult, workload: &WorkloadResult, check: &ArrivalsCheck) -> Vec<String> {
    let mut out = Vec::new();
    let of = if point.workloads.len() > 1 { format!(" {}", check.workload) } else { String::new() };
    if !check.conserved {
        out.push(format!(
            "arrivals{of} are not accounted for: {} offered, {} sent and {} waiting; of those sent {} completed, {} \
             failed, {} unanswered; do not use these figures",
            format_count(check.offered),
            format_count(check.sent),
            format_count(check.backlog),
            format_count(check.completions),
            format_count(check.errors),
            format_count(check.unanswered)
        ));
    }
    if check.judgement == Judgement::Off {
        let per_s = |rate: f64| format!("{}/s", format_count(rate.round() as u64));
        let offered = workload.arrivals.as_ref().map_or(0.0, |arrivals| arrivals.offered_per_s);
        let rates = match point.window_s > 0.0 {
            true => format!("{} of {} offered; ", per_s(workload.figures.iops), per_s(offered)),
            false => String::new(),
        };
        let waiting = format_count(check.backlog);
        out.push(format!(
            "the targets did not follow{of}: {rates}{waiting} arrivals were still waiting and are in no latency"
        ));
    }
    out
}

/// What else took the polled cores, in whole or in part.
fn disturbances(point: &PointResult) -> Vec<String> {
    let taken = point.cores.iter().filter(|core| core.off_core >= OFF_CORE).map(|core| {
        format!(
            "other programs or the hypervisor had core {} for {:.1} % of the window, so IOPS are lower and latencies \
             higher than on a quiet host",
            core.core,
            core.off_core * 100.0
        )
    });
    let cores = point.host.iter().flat_map(|host| &host.cores);
    let siblings = cores.flat_map(|core| core.siblings.iter().map(move |sibling| (core.core, sibling)));
    let shared = siblings.filter(|(_, sibling)| sibling.busy >= SIBLING_BUSY).map(|(core, sibling)| {
        format!(
            "core {core} shared its physical core with core {}, which was in use for {:.0} % of the time",
            sibling.core,
            sibling.busy * 100.0
        )
    });
    taken.chain(shared).collect()
}

fn unsteady(point: &PointResult) -> Option<String> {
    let unsteady = |by: &&SteadyFigure| by.judgement == Steadiness::Unsteady;
    let told: Vec<String> = point.checks.steady_state.by.iter().filter(unsteady).map(moved).collect();
    let (limits, told) = ("steady is a range up to 20 % and a slope up to 10 % of the mean", told.join(", "));
    (!told.is_empty()).then(|| format!("unsteady over five rounds: {told}; {limits}"))
}

/// `read IOPS (range 34 %, slope -12 %)`.
fn moved(by: &SteadyFigure) -> String {
    let op = by.op;
    let figure = match by.figure {
        Trending::Iops => "IOPS",
        Trending::ServiceMeanNs => "mean service latency",
        Trending::ResponseMeanNs => "mean response latency",
    };
    let [range, slope] = [by.range_share, by.slope_share].map(|share| share * 100.0);
    format!("{op} {figure} (range {range:.1} %, slope {slope:+.1} %)")
}
