//! The points of a run, one plan after the other: driven, told, and saved after each.
//!
//! Owns the order of these steps and what ends them. Which plan comes next is `campaign`'s.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::ceiling;
use super::events::EventRunner;
use super::exit::Failure;
use super::fill;
use super::live::{Live, warn};
use super::save::Folder;
use super::series::SeriesFile;
use super::watch::HostWatch;
use crate::campaign::{Campaign, Stage};
use crate::clock::{Clock, Since};
use crate::driver::AnyBackend;
use crate::engine::{Event, RunControl, run_any};
use crate::fill::Filling;
use crate::plan::{CorePlan, Plan, WorkloadPlan};
use crate::report::live::View;
use crate::result::{
    self, Headroom, PointResult, PreconditionResult, Provenance, Role, RunResult, StepResult, series_of,
};
use crate::spec::EventSpec;

/// What is to be measured, and on what.
pub(super) struct Points<'a> {
    /// Which points there are.
    pub(super) campaign: &'a Campaign,
    /// What is run beside the load of each.
    pub(super) events: &'a [EventSpec],
    /// How the targets are filled before the first one.
    pub(super) filling: Option<&'a Filling>,
    /// The targets.
    pub(super) backend: &'a AnyBackend,
    /// The clock of the run.
    pub(super) clock: &'a Clock,
    /// Where the result is kept.
    pub(super) folder: &'a Folder,
    /// Whether nothing is told on the way.
    pub(super) quiet: bool,
}

/// What a run has come to before it is gone on with.
#[derive(Default)]
pub(super) struct Before {
    /// Its finished points.
    pub(super) points: Vec<PointResult>,
    /// How its targets were filled.
    pub(super) filled: Option<PreconditionResult>,
}

/// What came of it.
pub(super) struct Outcome {
    /// The result, as it is kept.
    pub(super) result: RunResult,
    /// Whether it was interrupted.
    pub(super) interrupted: bool,
    /// Whether a target was lost, or a point ended early otherwise.
    pub(super) lost: bool,
    /// Whether the series ends before the run.
    pub(super) cut_series: bool,
    /// Why the result could not be saved, if so.
    pub(super) unsaved: Option<Failure>,
}

impl Points<'_> {
    /// Runs what is left of the points; the result is saved after each, so that no finished point is lost.
    pub(super) fn run(&self, mut provenance: Provenance, before: Before) -> Result<Outcome, Failure> {
        let Self { campaign, backend, clock, folder, quiet, .. } = *self;
        let control = Arc::new(RunControl::default());
        let handler = Arc::clone(&control);
        // Ends within the drain's limit, so that one signal is enough.
        if let Err(error) = ctrlc::set_handler(move || handler.interrupt.store(true, Ordering::Relaxed)) {
            tracing::warn!("Ctrl-C cannot be caught ({error}); an interrupted run will leave no partial result");
        }
        let Before { mut points, mut filled } = before;
        let resumed = !provenance.resumed_at.is_empty();
        if let Some(filling) = self.filling.filter(|_| filled.is_none()) {
            filled = Some(fill::precondition(filling, (backend, clock), &control, quiet)?);
            // Hours may have gone into it.
            folder.save(&result_of(campaign, &provenance, &points, filled.as_ref()))?;
        }
        let since = Since::now();
        let targets = provenance.facts.targets.clone();
        let mut events = EventRunner::new(self.events, &control, quiet);
        let before = points.len();
        let mut ceilings = Ceilings::default();
        let plain = campaign.state(&points).is_none();
        if plain {
            provenance.headroom = ceiling::measure(campaign.plan(), &targets, clock, &control);
        }
        let mut series = match resumed {
            true => SeriesFile::go_on(folder.path(), &provenance, points.len())?,
            false => SeriesFile::create(folder.path(), &provenance)?,
        };
        let mut live: Option<Live> = None;
        let mut told = false;
        let mut lost = false;
        let interrupted = || control.interrupt.load(Ordering::Relaxed);
        while !interrupted() && !lost {
            let Some(Stage { plan, mut step, pause, warm_up }) = campaign.next(&points)? else { break };
            rest(pause, &interrupted);
            if interrupted() {
                break;
            }
            if let Some(step) = &mut step {
                step.headroom = ceilings.of(&plan, || ceiling::measure(&plan, &targets, clock, &control));
            }
            let offset = points.len();
            if let Some(warm_up) = &warm_up {
                let planned = campaign.state(&points).and_then(|state| state.planned);
                let view = View::new(warm_up, clock).among("unmeasured I/O before it".to_owned(), offset, planned);
                let live = shown(&mut live, view, quiet);
                let ended = match run_any(backend, warm_up, clock, &control, &mut |event| live.show(&event)) {
                    Ok(ended) => ended,
                    Err(error) => {
                        series.abandon();
                        return Err(error.into());
                    }
                };
                lost = ended.iter().any(|point| point.ended_early.is_some()) && !interrupted();
                if interrupted() || lost {
                    let why = ended.into_iter().find_map(|point| point.ended_early).unwrap_or_default();
                    live.warn(&format!("the unmeasured I/O before point {} ended early: {why}", offset + 1));
                    break;
                }
            }
            let mut watch = HostWatch::new(&plan, clock);
            let view =
                view(&plan, clock, step.as_ref(), offset, campaign.state(&points).and_then(|state| state.planned));
            let live = shown(&mut live, view, quiet);
            let figures = run_any(backend, &plan, clock, &control, &mut |event| {
                series.take((&plan, offset), clock, &event);
                live.show(&event);
                events.see((offset, clock), &event);
                events.said().iter().for_each(|line| live.say(line));
                if !backend.virtual_time() {
                    watch.see(&event);
                }
                if let Some(trouble) = series.trouble().filter(|_| !std::mem::replace(&mut told, true)) {
                    live.warn(&format!("{trouble}; the run goes on"));
                }
                if let Event::PointDone(figures) = event {
                    let step = step.clone().map(Box::new);
                    points.push(PointResult {
                        host: watch.take(),
                        step,
                        events: events.take(&plan, clock),
                        ..result::point(&plan, clock, figures)
                    });
                    check_clock(&mut provenance, &since, clock, backend);
                    let result = result_of(campaign, &provenance, &points, filled.as_ref());
                    if let Err(failure) = folder.save(&result) {
                        live.warn(&format!("{failure}; the run goes on, and it is tried again"));
                    }
                }
            });
            match figures {
                Ok(figures) => {
                    let all = figures.len() == plan.points.len();
                    lost = !all || figures.iter().any(|point| point.ended_early.is_some() && !point.overloaded);
                }
                Err(error) => {
                    // No command goes on beside a run that is over.
                    control.interrupt.store(true, Ordering::Relaxed);
                    events.finish(&mut []);
                    series.abandon();
                    return Err(error.into());
                }
            }
        }
        if let Some(live) = live {
            live.finish();
        }
        events.finish(&mut points[before..]);
        let trouble = series.finish();
        if let Some(trouble) = trouble.as_ref().filter(|_| !told) {
            warn(trouble);
        }
        check_clock(&mut provenance, &since, clock, backend);
        let result = result_of(campaign, &provenance, &points, filled.as_ref());
        let unsaved = folder.save(&result).and_then(|()| folder.export(&result)).err();
        Ok(Outcome { result, interrupted: interrupted(), lost, cut_series: trouble.is_some(), unsaved })
    }
}

/// The result as far as it has come.
fn result_of(
    campaign: &Campaign,
    provenance: &Provenance,
    points: &[PointResult],
    filled: Option<&PreconditionResult>,
) -> RunResult {
    let provenance = Provenance { campaign: campaign.state(points), ..provenance.clone() };
    RunResult::new(provenance, points.to_vec()).after(filled.cloned()).searched(campaign.searches(points))
}

/// How a plan is seen while it runs.
fn view(plan: &Plan, clock: &Clock, step: Option<&StepResult>, offset: usize, planned: Option<usize>) -> View {
    let view = View::new(plan, clock);
    let Some(step) = step else { return if offset == 0 { view } else { view.behind(offset) } };
    let load = crate::result::PointLoad::of(plan, 0);
    let load = if step.role == Role::Max { format!("highest rate, {load}") } else { load.to_string() };
    let label = match series_of(&step.settings) {
        series if series.is_empty() => load,
        series => format!("{series}, {load}"),
    };
    view.among(label, offset, planned)
}

/// Shows a plan from its beginning.
fn shown(live: &mut Option<Live>, view: View, quiet: bool) -> &mut Live {
    if let Some(live) = live {
        live.go_on(view);
        return live;
    }
    live.insert(Live::new(view, quiet))
}

/// Waits without I/O.
fn rest(pause: Duration, interrupted: &impl Fn() -> bool) {
    let end = Instant::now() + pause;
    while Instant::now() < end && !interrupted() {
        std::thread::sleep(Duration::from_millis(50).min(pause));
    }
}

/// The ceilings so far: steps that differ in nothing but the seed and the rate share one.
#[derive(Default)]
struct Ceilings(Vec<(Driven, Option<Headroom>)>);

/// What a ceiling is of: the workloads, and by core the depths of its lanes.
type Driven = (Vec<WorkloadPlan>, Vec<(usize, Vec<u32>)>);

impl Ceilings {
    fn of(&mut self, plan: &Plan, measure: impl FnOnce() -> Option<Headroom>) -> Option<Headroom> {
        let lanes = |core: &CorePlan| (core.core, core.lanes.iter().flat_map(|lane| lane.depths.clone()).collect());
        let driven: Driven = (plan.workloads.clone(), plan.cores.iter().map(lanes).collect());
        if let Some((_, headroom)) = self.0.iter().find(|(known, _)| *known == driven) {
            return headroom.clone();
        }
        let headroom = measure();
        self.0.push((driven, headroom.clone()));
        headroom
    }
}

/// Notes how far the clock has drifted so far; a virtual one does not.
fn check_clock(provenance: &mut Provenance, since: &Since, clock: &Clock, backend: &AnyBackend) {
    if let Some(result) = provenance.clock.as_mut().filter(|_| !backend.virtual_time()) {
        let (span, drift_ppm) = since.drift_ppm(clock);
        (result.drift_ppm, result.checked_s) = (Some(drift_ppm), span.as_secs_f64());
    }
}
