//! Pass after pass, slice after slice.
//!
//! Owns when what was sent counts as done: when every write of a slice has ended well, on all cores.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Filling, State};
use crate::clock::Clock;
use crate::engine::{CellFigures, EngineError, Event, PointFigures, RunControl};
use crate::plan::{Lane, Plan};
use crate::units::{Ticks, format_count};

/// Runs a plan: [`crate::engine::run`] on some backend.
pub type Drive<'d> =
    dyn FnMut(&Plan, &RunControl, &mut dyn FnMut(Event<'_>)) -> Result<Vec<PointFigures>, EngineError> + 'd;

/// What happens in a fill.
#[derive(Debug)]
pub enum Told<'a> {
    /// So many bytes are written by now, some of them in a slice that is not over.
    Written(u64),
    /// A slice is over, and this is done.
    Slice(&'a State),
}

/// How a fill, or what was left of it, ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All is written.
    Done,
    /// Someone asked for it; the state says what is done.
    Interrupted,
    /// Writes failed, or were never answered: the slice does not count.
    Failed(String),
}

impl Filling {
    /// Writes what `state` has left. An interruption waits for what has been sent, and counts it.
    ///
    /// # Errors
    /// Whatever keeps the engine from running.
    pub fn run(
        &self,
        state: &mut State,
        (clock, virtual_time): (&Clock, bool),
        control: &RunControl,
        drive: &mut Drive<'_>,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Outcome, EngineError> {
        while !state.is_done() {
            if control.interrupt.load(Ordering::Relaxed) {
                return Ok(Outcome::Interrupted);
            }
            let plan = self.pass(state.passes_done, &state.done);
            let (mut failed, mut unrecorded, mut since, mut last) = (None, 0, Instant::now(), Ticks(0));
            drive(&plan, control, &mut |event| match event {
                Event::PointStarted(_) => {}
                Event::Interval(_, interval) => {
                    unrecorded += bytes(&plan, &interval.cells);
                    last = interval.end;
                    tell(Told::Written(state.bytes + unrecorded));
                }
                Event::PointDone(figures) if failed.is_none() => {
                    unrecorded = 0;
                    match take(&plan, figures, state) {
                        Ok(()) => {
                            let real_s = std::mem::replace(&mut since, Instant::now()).elapsed().as_secs_f64();
                            state.seconds += if virtual_time { clock.ns(last.0 as f64) / 1e9 } else { real_s };
                            tell(Told::Slice(state));
                        }
                        Err(why) => {
                            failed = Some(why);
                            control.interrupt.store(true, Ordering::Relaxed);
                        }
                    }
                }
                Event::PointDone(_) => {}
            })?;
            if let Some(why) = failed {
                return Ok(Outcome::Failed(why));
            }
        }
        Ok(Outcome::Done)
    }
}

/// Counts a slice, if every write of it ended well.
fn take(plan: &Plan, figures: &PointFigures, state: &mut State) -> Result<(), String> {
    let budgets = plan.cores.iter().flat_map(|core| &core.lanes).map(|lane: &Lane| lane.budget);
    let left: Vec<u64> = figures.cores.iter().flat_map(|core| &core.left).copied().collect();
    let drawn = budgets.zip(&left).map(|(budget, left)| budget.map_or(0, |b| b.skip + b.ios - left));
    let done: Vec<u64> = drawn.collect();
    let phases = [&figures.ramp, &figures.cells, &figures.drain];
    let cells = || phases.into_iter().flatten();
    let (good, errors) =
        cells().fold((0, 0), |(good, errors), cell| (good + cell.service.count(), errors + cell.errors));
    let sent = done.iter().sum::<u64>() - state.done.iter().sum::<u64>();
    if errors > 0 || good != sent || done.len() != state.done.len() {
        let kinds = figures.errors.iter().map(|error| format!("{}: {}", error.status, format_count(error.count)));
        let kinds: Vec<String> = kinds.chain(figures.ended_early.clone()).collect();
        let (sent, lost) = (format_count(sent), format_count(sent.saturating_sub(good)));
        return Err(format!("{lost} of {sent} writes of a slice did not end well ({})", kinds.join("; ")));
    }
    state.bytes += phases.into_iter().map(|cells| bytes(plan, cells)).sum::<u64>();
    state.done = done;
    if left.iter().all(|left| *left == 0) {
        state.passes_done += 1;
        state.done.fill(0);
    }
    Ok(())
}

/// Bytes of the good completions.
fn bytes(plan: &Plan, cells: &[CellFigures]) -> u64 {
    let sizes = plan.workloads.iter().flat_map(|w| std::iter::repeat_n(w.block_size.0, w.targets.len() * 2));
    cells.iter().zip(sizes).map(|(cell, size)| cell.service.count() * size).sum()
}
