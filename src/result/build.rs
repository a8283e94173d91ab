//! From the engine's figures of a point, in ticks, to the result's.
//!
//! Owns the one conversion of units and the sums over targets and workloads. Every count comes from a histogram and
//! every sum from merged histograms, so that no figure of the result can disagree with the distribution beside it.

use super::blank::BlankReads;
use super::checks::Checks;
use super::footprint::footprint;
use super::latency::Latency;
use super::point::{
    ArrivalsResult, CoreResult, ErrorResult, Figures, OpFigures, PhaseCount, PointLoad, PointResult, TargetResult,
    WorkloadResult,
};
use crate::clock::Clock;
use crate::engine::record::{self, ArrivalFigures, CellFigures, CoreFigures, ErrorCount, PointFigures};
use crate::plan::{Lane, Op, Plan};

/// The result of one point of `plan`, whose figures are in ticks of `clock`.
///
/// # Panics
/// When the figures are not of this plan (another number of cells or points).
#[must_use]
pub fn point(plan: &Plan, clock: &Clock, figures: &PointFigures) -> PointResult {
    let window_s = clock.ns(figures.window.0 as f64) / 1e9;
    let load = PointLoad::of(plan, figures.point);
    let mut total = Sums::default();
    let mut workloads = Vec::with_capacity(plan.workloads.len());
    for (w, workload) in plan.workloads.iter().enumerate() {
        let mut sums = Sums::default();
        let mut targets = Vec::with_capacity(workload.targets.len());
        for (position, &target) in workload.targets.iter().enumerate() {
            let mut here = Sums::default();
            for op in workload.ops() {
                let cell = &figures.cells[plan.cell(w, position, op)];
                let bytes = plan.cell_bytes(w, position, op).of(cell.service.count(), cell.blocks);
                here.0[op as usize] = Some(Sum { cell: cell.clone(), bytes });
            }
            targets.push(TargetResult {
                uri: plan.targets[target].clone(),
                figures: here.figures(clock, window_s),
                blank_reads: BlankReads::of(lanes(plan, figures, w, Some(position))),
            });
            sums.merge(&here);
        }
        total.merge(&sums);
        workloads.push(WorkloadResult {
            name: workload.name.clone(),
            load: plan.points[figures.point].loads[w],
            figures: sums.figures(clock, window_s),
            footprint: Some(footprint(plan, clock, figures, w)),
            arrivals: figures.arrivals[w].as_ref().map(|window| {
                let backlog = figures.leftovers[w].unwrap_or_default().waiting;
                arrivals(clock, window_s, window, backlog)
            }),
            blank_reads: BlankReads::of(lanes(plan, figures, w, None)),
            targets,
        });
    }
    PointResult {
        load,
        step: None,
        window_s,
        ramp: phase_count(&figures.ramp),
        drain: phase_count(&figures.drain),
        total: total.figures(clock, window_s),
        workloads,
        cores: figures.cores.iter().map(|core| core_result(clock, core)).collect(),
        errors: figures.errors.iter().map(|error| error_result(plan, error)).collect(),
        checks: Checks::of(plan, clock, figures),
        host: None,
        share_of_ceiling: None,
        verdict: None,
        ended_early: figures.ended_early.clone(),
        overloaded: figures.overloaded,
        events: Vec::new(),
    }
}

/// What was found on the lanes of a workload; with a position, on those that go to that one of its targets only.
fn lanes<'a>(
    plan: &'a Plan,
    figures: &'a PointFigures,
    workload: usize,
    position: Option<usize>,
) -> impl Iterator<Item = &'a record::BlankReads> {
    let lanes =
        plan.cores.iter().zip(&figures.cores).flat_map(|(core, found)| core.lanes.iter().zip(&found.blank_reads));
    let own = move |lane: &Lane| {
        lane.workload == workload && position.is_none_or(|position| lane.targets.as_slice() == [position])
    };
    lanes.filter(move |(lane, _)| own(lane)).map(|(_, found)| found)
}

/// The figures of all workloads and targets together, from the cells of a part of the window.
pub(super) fn total(plan: &Plan, clock: &Clock, cells: &[CellFigures], span_s: f64) -> Figures {
    let mut total = Sums::default();
    for ((w, position, op), cell) in plan.places().zip(cells) {
        let bytes = plan.cell_bytes(w, position, op).of(cell.service.count(), cell.blocks);
        let mut here = Sums::default();
        here.0[op as usize] = Some(Sum { cell: cell.clone(), bytes });
        total.merge(&here);
    }
    total.figures(clock, span_s)
}

/// Figures of one operation before conversion, summed over any number of cells.
#[derive(Default)]
struct Sum {
    cell: CellFigures,
    bytes: u64,
}

impl Sum {
    fn merge(&mut self, other: &Self) {
        let Self { cell, bytes } = other;
        self.cell.merge(cell);
        self.bytes += bytes;
    }

    fn figures(&self, clock: &Clock, window_s: f64) -> OpFigures {
        let completions = self.cell.service.count();
        OpFigures {
            completions,
            iops: per_second(completions, window_s),
            bytes_per_s: per_second(self.bytes, window_s),
            errors: self.cell.errors,
            service: Latency::from_ticks(&self.cell.service, clock),
            response: self.cell.response.as_ref().and_then(|response| Latency::from_ticks(response, clock)),
        }
    }
}

/// All operations, those that are done.
#[derive(Default)]
struct Sums([Option<Sum>; Op::ALL.len()]);

impl Sums {
    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    fn figures(&self, clock: &Clock, window_s: f64) -> Figures {
        let bytes: u64 = self.0.iter().flatten().map(|sum| sum.bytes).sum();
        let all = [0, 1, 2, 3, 4].map(|op| self.0[op].as_ref().map(|sum| sum.figures(clock, window_s)));
        let completions = all.iter().flatten().map(|op| op.completions).sum();
        let errors = all.iter().flatten().map(|op| op.errors).sum();
        let [read, write, trim, write_zeroes, flush] = all;
        let [read, write] = [read, write].map(|op| op.unwrap_or_else(|| Sum::default().figures(clock, window_s)));
        let (iops, bytes_per_s) = (per_second(completions, window_s), per_second(bytes, window_s));
        Figures { iops, bytes_per_s, completions, errors, read, write, trim, write_zeroes, flush }
    }
}

fn arrivals(clock: &Clock, window_s: f64, window: &ArrivalFigures, backlog: u64) -> ArrivalsResult {
    ArrivalsResult {
        offered: window.offered,
        offered_per_s: per_second(window.offered, window_s),
        sent: window.sent,
        backlog,
        backlog_max: window.backlog_max,
        slip: Latency::from_ticks(&window.slip, clock),
    }
}

/// A rate; 0 when the window never opened.
fn per_second(count: u64, window_s: f64) -> f64 {
    if window_s > 0.0 { count as f64 / window_s } else { 0.0 }
}

fn phase_count(cells: &[CellFigures]) -> PhaseCount {
    PhaseCount {
        completions: cells.iter().map(|cell| cell.service.count()).sum(),
        errors: cells.iter().map(|cell| cell.errors).sum(),
    }
}

fn core_result(clock: &Clock, figures: &CoreFigures) -> CoreResult {
    let &CoreFigures { core, busy, off_core, poll_gap_max, polls, completions_per_tick, back_pressure, .. } = figures;
    let poll_gap_max_ns = clock.ns(poll_gap_max.0 as f64).round() as u64;
    CoreResult { core, busy, off_core, poll_gap_max_ns, polls, completions_per_tick, back_pressure }
}

fn error_result(plan: &Plan, error: &ErrorCount) -> ErrorResult {
    let (workload, position, op) = plan.places().nth(error.cell).expect("an error belongs to a cell of the plan");
    let workload = &plan.workloads[workload];
    let target = workload.targets[position];
    ErrorResult {
        workload: workload.name.clone(),
        target: plan.targets[target].clone(),
        op,
        status: error.status.clone(),
        count: error.count,
    }
}
