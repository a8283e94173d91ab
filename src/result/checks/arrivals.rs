//! The arrivals of an open loop: each is accounted for, and the targets followed.
//!
//! Owns both judgements. Counts come from books that the engine keeps apart: the schedule, what was sent, the completions,
//! what still waited, which slots stayed busy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judgement, cells_of};
use crate::clock::Clock;
use crate::engine::record::{ArrivalFigures, PointFigures};
use crate::plan::{Load, Plan};
use crate::units::{format_count, format_latency};

/// Greatest backlog at the end of the window, as a share of what was offered in it, with which a target has followed; one
/// arrival more, or one burst, is always allowed.
const BACKLOG_SHARE: f64 = 0.001;

/// The arrivals of one open loop over the whole point, from the first to the last completion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArrivalsCheck {
    /// Name of the workload.
    pub workload: String,
    /// Arrivals that came due in ramp and window.
    pub offered: u64,
    /// Those that were sent.
    pub sent: u64,
    /// Those that waited when the window closed, and were never sent.
    pub backlog: u64,
    /// Good completions in ramp, window and drain.
    pub completions: u64,
    /// Completions with an error status in ramp, window and drain.
    pub errors: u64,
    /// Those that were sent and never ended.
    pub unanswered: u64,
    /// Whether `offered` = `sent` + `backlog` and `sent` = `completions` + `errors` + `unanswered`.
    pub conserved: bool,
    /// Good completions in the window against the arrivals that came due in it; none without any. May be above 1: at the
    /// window's edges, and where a backlog of the ramp was worked off.
    pub achieved_share: Option<f64>,
    /// Whether the targets followed.
    pub judgement: Judgement,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
}

impl ArrivalsCheck {
    /// One for each open loop of `plan`.
    pub(super) fn of(plan: &Plan, clock: &Clock, figures: &PointFigures) -> Vec<Self> {
        let open = (0..plan.workloads.len()).filter_map(|number| {
            let window = figures.arrivals[number].as_ref()?;
            Some(of_workload(plan, clock, figures, number, window))
        });
        open.collect()
    }
}

fn of_workload(
    plan: &Plan,
    clock: &Clock,
    figures: &PointFigures,
    number: usize,
    window: &ArrivalFigures,
) -> ArrivalsCheck {
    let ramp = figures.ramp_arrivals[number].as_ref();
    let (offered_before, sent_before) = ramp.map_or((0, 0), |ramp| (ramp.offered, ramp.sent));
    let (offered, sent) = (offered_before + window.offered, sent_before + window.sent);
    let leftover = figures.leftovers[number].unwrap_or_default();
    let count = |cells| -> (u64, u64) {
        let cells = cells_of(plan, cells, |workload| workload == number);
        cells.fold((0, 0), |(good, bad), cell| (good + cell.service.count(), bad + cell.errors))
    };
    let [ramp, inside, drain] = [&figures.ramp, &figures.cells, &figures.drain].map(|cells| count(cells));
    let (completions, errors) = (ramp.0 + inside.0 + drain.0, ramp.1 + inside.1 + drain.1);
    let at_once = match plan.points[figures.point].loads.get(number) {
        Some(Load::Rate(open)) => open.arrivals.at_once(),
        _ => 1,
    };
    let (judgement, reason) = followed(clock, figures, window.offered, leftover.waiting, at_once);
    ArrivalsCheck {
        workload: plan.workloads[number].name.clone(),
        offered,
        sent,
        backlog: leftover.waiting,
        completions,
        errors,
        unanswered: leftover.unanswered,
        conserved: offered == sent + leftover.waiting && sent == completions + errors + leftover.unanswered,
        achieved_share: (window.offered > 0).then(|| inside.0 as f64 / window.offered as f64),
        judgement,
        reason,
    }
}

/// Whether the targets followed, going by what waited in the end; so many arrivals come at one moment.
fn followed(
    clock: &Clock,
    figures: &PointFigures,
    offered: u64,
    backlog: u64,
    at_once: u32,
) -> (Judgement, Option<String>) {
    let many = backlog as f64 > f64::from(at_once) + offered as f64 * BACKLOG_SHARE;
    let gap = figures.cores.iter().map(|core| core.poll_gap_max).max().unwrap_or_default();
    // What came due in the longest gap was not even looked at: had that gap been the last, so much would have waited.
    let in_gap = offered as f64 * gap.0 as f64 / figures.window.0.max(1) as f64;
    let reason = if figures.overloaded && many {
        None
    } else if figures.ended_early.is_some() {
        Some("the point ended early".to_owned())
    } else if many && backlog as f64 <= in_gap {
        let gap = format_latency(clock.ns(gap.0 as f64));
        let waited = format_count(backlog);
        Some(format!("{waited} arrivals waited in the end, no more than came due in a core's longest poll gap, {gap}"))
    } else {
        None
    };
    match (&reason, many) {
        (Some(_), _) => (Judgement::NotJudged, reason),
        (None, true) => (Judgement::Off, None),
        (None, false) => (Judgement::Ok, None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_plan;
    use super::*;
    use crate::engine::record::{CoreFigures, Leftover};
    use crate::plan::{Arrivals, Load, OpenLoad};
    use crate::units::Ticks;

    fn plan() -> Plan {
        let mut plan = test_plan::plan(8);
        let load = OpenLoad { rate_per_s: 1_000, arrivals: Arrivals::Poisson, max_outstanding: Some(8) };
        plan.points[0].loads[0] = Load::Rate(load);
        plan
    }

    /// 1,000 arrivals in the window of a second, `backlog` of them never sent; another 100 in the ramp.
    fn figures(backlog: u64) -> PointFigures {
        let mut figures = test_plan::figures(1_000 - backlog, 1_000);
        (0..100).for_each(|_| figures.ramp[0].service.record(1_000));
        let arrivals = |offered, sent| Some(ArrivalFigures { offered, sent, ..ArrivalFigures::default() });
        figures.ramp_arrivals = vec![arrivals(100, 100)];
        figures.arrivals = vec![arrivals(1_000, 1_000 - backlog)];
        figures.leftovers = vec![Some(Leftover { waiting: backlog, unanswered: 0 })];
        figures
    }

    fn check(figures: &PointFigures) -> ArrivalsCheck {
        ArrivalsCheck::of(&plan(), &Clock::virtual_ns(), figures).remove(0)
    }

    #[test]
    fn arrivals_that_are_all_answered_are_in_order() {
        let check = check(&figures(0));
        assert!(check.conserved, "{check:?}");
        assert_eq!((check.judgement, check.achieved_share), (Judgement::Ok, Some(1.0)));
        assert_eq!((check.offered, check.sent, check.completions), (1_100, 1_100, 1_100));
    }

    #[test]
    fn each_way_of_losing_an_arrival_is_found() {
        let mut unsent = figures(0);
        unsent.arrivals[0].as_mut().unwrap().sent -= 1;
        let mut unseen = figures(0);
        unseen.cells[0].errors += 1;
        let mut waiting = figures(3);
        waiting.leftovers[0].as_mut().unwrap().waiting -= 1;
        for lost in [unsent, unseen, waiting] {
            assert!(!check(&lost).conserved);
        }
        let mut lost = figures(0);
        lost.arrivals[0].as_mut().unwrap().sent += 2;
        lost.arrivals[0].as_mut().unwrap().offered += 2;
        assert!(!check(&lost).conserved);
        lost.leftovers[0].as_mut().unwrap().unanswered = 2;
        assert!(check(&lost).conserved, "they were lost with their target, and that is known");
    }

    #[test]
    fn a_backlog_of_more_than_a_thousandth_is_off() {
        assert_eq!([2, 3].map(|backlog| check(&figures(backlog)).judgement), [Judgement::Ok, Judgement::Off]);
        let overloaded = PointFigures { ended_early: Some("overloaded".to_owned()), overloaded: true, ..figures(3) };
        assert_eq!(check(&overloaded).judgement, Judgement::Off);
        let interrupted = PointFigures { overloaded: false, ..overloaded };
        assert_eq!(check(&interrupted).judgement, Judgement::NotJudged);
    }

    #[test]
    fn a_core_that_was_away_in_the_end_is_not_held_against_the_targets() {
        let mut figures = figures(5);
        let mut gap = |ns| {
            figures.cores = vec![CoreFigures { poll_gap_max: Ticks(ns), ..CoreFigures::default() }];
            check(&figures)
        };
        assert_eq!(gap(4_900_000).judgement, Judgement::Off);
        let excused = gap(5_000_000);
        assert_eq!(excused.judgement, Judgement::NotJudged);
        assert!(excused.reason.is_some_and(|reason| reason.contains("longest poll gap, 5.000 ms")));
    }
}
