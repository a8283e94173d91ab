//! What `summary.txt` says of each point's arrivals and checks.
//!
//! Owns the wording of those two sections. Judges nothing: every judgement stands in the result.

use crate::report::columns::{NONE, decimal};
use crate::result::{ArrivalsCheck, Judgement, PointResult, Steadiness, SteadyFigure, Trending};
use crate::units::{format_count, format_latency};

/// The arrivals of a point's open loops.
pub(super) fn arrivals(out: &mut String, index: usize, point: &PointResult) {
    let open = point.workloads.iter().filter_map(|workload| Some((workload, workload.arrivals.as_ref()?)));
    for ((workload, arrivals), check) in open.zip(&point.checks.arrivals) {
        let share = check.achieved_share.map(|share| format!(" ({:.2} %)", share * 100.0)).unwrap_or_default();
        let slip = |figure: &dyn Fn(&crate::result::Latency) -> u64| {
            arrivals.slip.as_ref().map_or(NONE.to_owned(), |slip| format_latency(figure(slip) as f64))
        };
        line!(
            out,
            "  point {} ({}) {}: offered {}/s, achieved {}/s{share}",
            index + 1,
            point.label(),
            workload.name,
            decimal(arrivals.offered_per_s, 1),
            decimal(workload.figures.iops, 1)
        );
        line!(
            out,
            "      slip p50 {}, p99 {}, max {}; backlog {} in the end, {} at most",
            slip(&|slip| slip.p50_ns),
            slip(&|slip| slip.p99_ns),
            slip(&|slip| slip.max_ns),
            format_count(arrivals.backlog),
            format_count(arrivals.backlog_max)
        );
    }
}

/// The checks of a point, and its errors.
pub(super) fn checks(out: &mut String, index: usize, point: &PointResult) {
    let (conservation, law) = (&point.checks.conservation, &point.checks.littles_law);
    line!(
        out,
        "  point {} ({}): window {:.3} s; ramp {}, drain {} completions",
        index + 1,
        point.label(),
        point.window_s,
        format_count(point.ramp.completions),
        format_count(point.drain.completions)
    );
    line!(
        out,
        "      conservation {}: {} completions, {} over {} intervals",
        if conservation.ok { "ok" } else { "VIOLATED" },
        format_count(conservation.completions),
        format_count(conservation.interval_completions),
        conservation.intervals
    );
    if law.outstanding > 0 {
        line!(
            out,
            "      Little's law {}: {} outstanding, rate x mean {:.3} ({:+.2} %)",
            judgement(law.judgement, law.reason.as_deref()),
            law.outstanding,
            law.rate_times_mean,
            law.deviation * 100.0
        );
    } else {
        line!(out, "      Little's law {}", judgement(law.judgement, law.reason.as_deref()));
    }
    for check in &point.checks.arrivals {
        arrivals_check(out, check);
    }
    let steady = &point.checks.steady_state;
    match (steady.judgement, &steady.reason) {
        (Steadiness::Steady, _) => line!(out, "      steady state ok: five rounds"),
        (Steadiness::Unsteady, _) => line!(out, "      steady state UNSTEADY: five rounds"),
        (Steadiness::NotJudged, reason) => {
            line!(out, "      steady state not judged: {}", reason.as_deref().unwrap_or("no reason given"));
        }
    }
    for by in &steady.by {
        steady_figure(out, by);
    }
    for error in &point.errors {
        let op = error.op;
        let count = format_count(error.count);
        line!(out, "      {count} x {} ({op}, {} on {})", error.status, error.workload, error.target);
    }
}

fn arrivals_check(out: &mut String, check: &ArrivalsCheck) {
    line!(
        out,
        "      arrivals of {} {}: {} offered = {} sent + {} waiting",
        check.workload,
        if check.conserved { "accounted for" } else { "NOT ACCOUNTED FOR" },
        format_count(check.offered),
        format_count(check.sent),
        format_count(check.backlog)
    );
    line!(
        out,
        "      sent = {} completed + {} failed + {} unanswered; targets followed: {}",
        format_count(check.completions),
        format_count(check.errors),
        format_count(check.unanswered),
        judgement(check.judgement, check.reason.as_deref())
    );
}

fn steady_figure(out: &mut String, by: &SteadyFigure) {
    let op = by.op;
    let (figure, mean) = match by.figure {
        Trending::Iops => ("IOPS", decimal(by.mean, 0)),
        Trending::ServiceMeanNs => ("service", format_latency(by.mean)),
        Trending::ResponseMeanNs => ("response", format_latency(by.mean)),
    };
    let verdict = match by.judgement {
        Steadiness::Steady => "",
        Steadiness::Unsteady => ", UNSTEADY",
        Steadiness::NotJudged => ", too few to judge",
    };
    let [range, slope] = [by.range_share, by.slope_share].map(|share| share * 100.0);
    line!(out, "        {op} {figure} mean {mean}, range {range:.1} %, slope {slope:+.1} %{verdict}");
}

fn judgement(judgement: Judgement, reason: Option<&str>) -> String {
    match judgement {
        Judgement::Ok => "ok".to_owned(),
        Judgement::Off => "OFF".to_owned(),
        Judgement::NotJudged => format!("not judged: {}", reason.unwrap_or("no reason given")),
    }
}
