//! What a reader must know before trusting the figures, in sentences.
//!
//! Owns the wording and the order. Says nothing when nothing stands against a point.

use super::checks::Judgement;
use super::point::PointResult;
use crate::units::format_count;

/// Share of the window from which on it is said that a core was taken away, or its sibling used.
const OFF_CORE: f64 = 0.05;
/// Use of a sibling from which on it is said.
const SIBLING_BUSY: f64 = 0.5;

/// The sentences that follow from `points`, of `planned` points in the plan.
pub(super) fn sentences(points: &[PointResult], planned: usize) -> Vec<String> {
    let mut out = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let label = format!("point {} of {planned} ({})", index + 1, point.load);
        out.extend(of_point(point).into_iter().map(|sentence| format!("{label}: {sentence}")));
    }
    if points.len() < planned {
        out.push(format!("only {} of {planned} points were run", points.len()));
    }
    out
}

fn of_point(point: &PointResult) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(reason) = &point.ended_early {
        out.push(format!("ended early ({reason}); its figures cover {:.3} s of its window", point.window_s));
    }
    let failed: u64 = point.errors.iter().map(|error| error.count).sum();
    if failed > 0 {
        let mut kinds: Vec<(&str, u64)> = Vec::new();
        for error in &point.errors {
            match kinds.iter_mut().find(|(status, _)| *status == error.status) {
                Some((_, count)) => *count += error.count,
                None => kinds.push((&error.status, error.count)),
            }
        }
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let kinds: Vec<String> = kinds.iter().map(|(status, n)| format!("{status}: {}", format_count(*n))).collect();
        out.push(format!(
            "{} I/Os failed ({}); they count in no IOPS and no latency",
            format_count(failed),
            kinds.join("; ")
        ));
    }
    let conservation = &point.checks.conservation;
    if !conservation.ok {
        out.push(format!(
            "conservation is violated: {} completions in the histograms, {} over the intervals; do not \
             use these figures",
            format_count(conservation.completions),
            format_count(conservation.interval_completions)
        ));
    }
    let law = &point.checks.littles_law;
    if law.judgement == Judgement::Off {
        let waits: u64 = point.cores.iter().map(|core| core.back_pressure).sum();
        let cause = match waits {
            0 => "the load was not kept up all the time".to_owned(),
            n => format!("a full queue refused {} submissions, so the depth was not reached", format_count(n)),
        };
        out.push(format!(
            "Little's law is off by {:+.1} %: {} outstanding, but rate x mean latency is {:.2}; {cause}",
            law.deviation * 100.0,
            law.outstanding,
            law.rate_times_mean
        ));
    }
    out.extend(disturbances(point));
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
