//! What limited each point and what the host did meanwhile, in lines of text.
//!
//! Owns their wording. The verdicts themselves stand in the result.

use crate::report::columns::decimal;
use crate::result::{ClockResult, HostUse, PointResult, PointVerdict, RunResult};
use crate::units::{format_count, format_latency};

/// One line for each run of points with the same limit: `QD 1 to QD 8: array-bound (at QD 8: …)`.
pub(in crate::report) fn verdicts(result: &RunResult) -> String {
    let judged: Vec<_> = result.points.iter().filter_map(|point| Some((point, point.verdict.as_ref()?))).collect();
    let line = |run: &[(&PointResult, &PointVerdict)]| {
        let ((first, _), (last, verdict)) = (run.first()?, run.last()?);
        let (bound, reason) = (verdict.bound, &verdict.reason);
        let (first, last) = (first.label(), last.label());
        Some(if run.len() == 1 || first == last {
            format!("{last}: {bound} ({reason})\n")
        } else {
            format!("{first} to {last}: {bound} (at {last}: {reason})\n")
        })
    };
    let alike = |(one, a): &(&PointResult, &PointVerdict), (other, b): &(&PointResult, &PointVerdict)| {
        a.bound == b.bound && one.curve() == other.curve() && one.is_of_curve() == other.is_of_curve()
    };
    judged.chunk_by(alike).filter_map(line).collect()
}

/// How well the clock agrees with the system's: `calibrated to 0.1 ppm, drift +0.0 ppm over 10.2 s`.
pub(super) fn clock(clock: &ClockResult) -> String {
    let drift = clock.drift_ppm.map(|drift| format!(", drift {drift:+.1} ppm over {:.1} s", clock.checked_s));
    let doubt = if clock.doubt.is_some() { ", IN DOUBT" } else { "" };
    format!("calibrated to {:.1} ppm{}{doubt}", clock.calibration_error_ppm, drift.unwrap_or_default())
}

/// The ceiling, and what limited each point.
pub(super) fn headroom(result: &RunResult) -> String {
    let mut out = match &result.headroom {
        Some(headroom) => {
            let iops = format_count(headroom.null_iops.round() as u64);
            format!("  ceiling of this plan: {iops} IOPS, on the null driver at its greatest depths\n")
        }
        None if result.campaign.is_some() => String::new(),
        None => "  ceiling of this plan: not measured\n".to_owned(),
    };
    for (number, point) in (1..).zip(&result.points) {
        let Some(verdict) = &point.verdict else { continue };
        out.push_str(&format!("  point {number} ({}): {}\n      {}\n", point.label(), verdict.bound, verdict.reason));
    }
    out
}

/// What the host did at each point; empty when nothing is known of any.
pub(super) fn host(result: &RunResult) -> String {
    let known = (1..).zip(&result.points).filter_map(|(number, point)| Some((number, point, point.host.as_ref()?)));
    known.map(|(number, point, host)| format!("  point {number} ({}): {}", point.label(), use_of_host(host))).collect()
}

fn use_of_host(host: &HostUse) -> String {
    let percent = |share: f64| format!("{} %", decimal(share * 100.0, 1));
    let (busy, steal) = (percent(host.busy), percent(host.steal));
    let mut out = format!("all processors {busy} busy, {steal} stolen, over {:.3} s\n", host.sampled_s);
    for core in &host.cores {
        let siblings =
            core.siblings.iter().map(|sibling| format!("core {} {} busy", sibling.core, percent(sibling.busy)));
        let siblings = match siblings.collect::<Vec<_>>() {
            none if none.is_empty() => "none".to_owned(),
            some => some.join(", "),
        };
        let (busy, steal) = (percent(core.busy), percent(core.steal));
        out.push_str(&format!("      core {}: {busy} busy, {steal} stolen, siblings: {siblings}\n", core.core));
    }
    for worker in &host.workers {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        out.push_str(&format!(
            "      thread of core {}: switches {} voluntary, {} involuntary; migrations {}; waited for the core {}\n",
            worker.core,
            format_count(worker.voluntary_switches),
            format_count(worker.involuntary_switches),
            or_unknown(worker.migrations.map(format_count)),
            or_unknown(worker.waited_ns.map(|ns| format_latency(ns as f64))),
        ));
    }
    out
}
