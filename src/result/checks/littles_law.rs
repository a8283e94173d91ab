//! Little's law: the mean number of outstanding I/Os is their rate times their mean latency.
//!
//! Owns the conditions under which it can be judged. Closed loops without think time
//! only: they know beforehand how many are outstanding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Judgement, cells_of};
use crate::clock::Clock;
use crate::engine::record::PointFigures;
use crate::plan::Plan;

/// Greatest deviation that is still in order, as a share of the outstanding I/Os.
const TOLERANCE: f64 = 0.01;
/// Shortest window that is judged, in seconds.
const WINDOW_S: f64 = 0.1;
/// Completions in the window for each outstanding I/O from which on it is judged. One I/O more or less in each slot is an
/// effect of the window's edges; with this many it stays within the tolerance.
const COMPLETIONS: u64 = 100;

/// The closed loops of a point, held against Little's law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LittlesLaw {
    /// Outstanding I/Os that the plan keeps; 0 when all workloads are open loops or think.
    pub outstanding: u64,
    /// Rate of all good completions times their mean service latency.
    pub rate_times_mean: f64,
    /// `rate_times_mean` against `outstanding`, as a share of `outstanding`; negative when too few.
    pub deviation: f64,
    /// What follows.
    pub judgement: Judgement,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
}

impl LittlesLaw {
    pub(super) fn of(plan: &Plan, clock: &Clock, figures: &PointFigures) -> Self {
        let thinks = |workload: usize| plan.workloads[workload].think_time.is_some();
        let closed = |workload| !plan.is_open(workload) && !thinks(workload);
        let lanes = plan.cores.iter().flat_map(|core| &core.lanes).filter(|lane| closed(lane.workload));
        let outstanding: u64 = lanes.map(|lane| u64::from(lane.depths[figures.point])).sum();
        let cells = || cells_of(plan, &figures.cells, closed);
        let completions: u64 = cells().map(|cell| cell.service.count()).sum();
        let errors: u64 = cells().map(|cell| cell.errors).sum();
        // Rate times mean is the sum of all latencies over the window's length; both are in ticks.
        let latency_ticks: f64 = cells().map(|cell| cell.service.sum_ticks() as f64).sum();
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let rate_times_mean = share(latency_ticks, figures.window.0 as f64);
        let deviation = share(rate_times_mean - outstanding as f64, outstanding as f64);
        // Each slot has at most one I/O across each edge: what of it lies outside t0 counts too much, beyond t1 too little.
        let across = cells().chain(cells_of(plan, &figures.drain, closed)).filter_map(|cell| cell.service.max_ticks());
        let edge = share(across.max().unwrap_or(0) as f64, figures.window.0 as f64);
        let within = |tolerance: f64| deviation.abs() <= tolerance;
        let reason = if outstanding == 0 && (0..plan.workloads.len()).any(thinks) {
            Some("think time: slots that think have nothing outstanding".to_owned())
        } else if outstanding == 0 {
            Some("open loop: no number of outstanding I/Os is given".to_owned())
        } else if figures.ended_early.is_some() {
            Some("the point ended early".to_owned())
        } else if clock.ns(figures.window.0 as f64) / 1e9 < WINDOW_S {
            Some("the window is shorter than 100 ms".to_owned())
        } else if errors > 0 {
            Some("failed I/Os held slots and have no latency".to_owned())
        } else if completions < COMPLETIONS * outstanding {
            Some(format!("fewer than {COMPLETIONS} completions for each outstanding I/O"))
        } else if !within(TOLERANCE) && within(TOLERANCE + edge) {
            let percent = edge * 100.0;
            Some(format!("an I/O lasted {percent:.1} % of the window, and the window's edges may account for as much"))
        } else {
            None
        };
        let judgement = match (&reason, within(TOLERANCE)) {
            (Some(_), _) => Judgement::NotJudged,
            (None, true) => Judgement::Ok,
            (None, false) => Judgement::Off,
        };
        Self { outstanding, rate_times_mean, deviation, judgement, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_plan::{figures, plan};
    use super::*;
    use crate::engine::record::CellFigures;
    use crate::plan::{Arrivals, Load, OpenLoad};
    use crate::units::Ticks;

    /// The law of a plan with four outstanding.
    fn of_four(figures: &PointFigures) -> LittlesLaw {
        LittlesLaw::of(&plan(4), &Clock::virtual_ns(), figures)
    }

    #[test]
    fn a_closed_loop_that_keeps_its_depth_is_in_order() {
        // 4 outstanding, 1 ms each: 4,000 a second.
        let law = of_four(&figures(4_000, 1_000_000));
        assert_eq!((law.judgement, law.reason), (Judgement::Ok, None));
        assert!((law.rate_times_mean - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_loop_that_leaves_slots_idle_is_off() {
        let law = of_four(&figures(3_900, 1_000_000));
        assert_eq!(law.judgement, Judgement::Off);
        assert!((law.deviation + 0.025).abs() < 1e-9);
    }

    #[test]
    fn a_long_io_across_an_edge_is_not_held_against_the_law() {
        // A slot of the four waits for 40 ms at the end: its I/O completes in the drain, and 1 % is missing.
        let mut long = figures(3_955, 1_000_000);
        assert_eq!(of_four(&long).judgement, Judgement::Off);
        long.drain[0].service.record(40_000_000);
        let law = of_four(&long);
        assert_eq!(law.judgement, Judgement::NotJudged);
        assert!(law.reason.is_some_and(|reason| reason.contains("4.0 % of the window")));
        // More than the edges can account for.
        let mut idle = long;
        idle.cells = figures(3_700, 1_000_000).cells;
        assert_eq!(of_four(&idle).judgement, Judgement::Off);
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let sound = figures(4_000, 1_000_000);
        let mut failed = sound.clone();
        failed.cells[0].errors = 1;
        let short = PointFigures { window: Ticks(50_000_000), ..sound.clone() };
        let early = PointFigures { ended_early: Some("interrupted".to_owned()), ..sound };
        for (figures, reason) in
            [(early, "ended early"), (failed, "failed"), (short, "100 ms"), (figures(0, 1), "fewer than 100")]
        {
            let law = of_four(&figures);
            assert_eq!(law.judgement, Judgement::NotJudged);
            assert!(law.reason.as_ref().is_some_and(|told| told.contains(reason)), "{law:?}");
        }
    }

    #[test]
    fn beside_an_open_loop_only_the_closed_one_is_judged() {
        let mut plan = plan(4);
        let mut open = plan.workloads[0].clone();
        open.name = "open".to_owned();
        plan.workloads.insert(0, open);
        plan.cores[0].lanes[0].workload = 1;
        let mut lane = plan.cores[0].lanes[0].clone();
        (lane.workload, lane.depths) = (0, vec![1_024]);
        plan.cores[0].lanes.push(lane);
        let rate = OpenLoad { rate_per_s: 10, arrivals: Arrivals::Poisson, max_outstanding: Some(1_024) };
        plan.points[0].loads.insert(0, Load::Rate(rate));
        let mut figures = figures(4_000, 1_000_000);
        let open = CellFigures { errors: 1, ..CellFigures::default() };
        figures.cells.splice(0..0, [open.clone(), open]);
        figures.drain.splice(0..0, [CellFigures::default(), CellFigures::default()]);
        let law = LittlesLaw::of(&plan, &Clock::virtual_ns(), &figures);
        assert_eq!((law.outstanding, law.judgement), (4, Judgement::Ok), "{law:?}");

        plan.points[0].loads[1] = Load::Rate(rate);
        let law = LittlesLaw::of(&plan, &Clock::virtual_ns(), &figures);
        assert_eq!((law.outstanding, law.judgement), (0, Judgement::NotJudged));
        assert!(law.reason.is_some_and(|reason| reason.starts_with("open loop: ")));
    }
}
