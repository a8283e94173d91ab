//! From a plan to running cores and back: threads, pinning, the common start of each point, the collector's loop.
//!
//! Owns the one `match` on the backend; behind it everything is monomorphic. Knows no file and prints nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, channel};
use std::thread::Scope;
use std::time::Duration;

use super::book::{Book, Pages};
use super::collect::Collector;
use super::core_loop::{CoreLoop, Progress};
use super::gate::{Gate, Start};
use super::handover::{Packet, Receiver, Sender, pair};
use super::housekeeping::Housekeeping;
use super::lane::{BudgetLanes, Lanes, Source};
use super::off_core::OffCore;
use super::schedule::{DRAIN_LIMIT_S, Schedule};
use super::silence::Watch;
use super::stop::{Reason, Stop};
use super::turn::Turn;
use super::{IntervalFigures, PointFigures};
use crate::clock::Clock;
use crate::driver::{AnyBackend, Backend, CoreOrder, DriverError};
use crate::plan::{CorePlan, Load, Plan};
use crate::units::{Ticks, format_count};

/// How far the tick of a completion may lie before the moment the loop handled it (docs/method.md, "Ticks").
const TICK_ERROR: Duration = Duration::from_nanos(250);

/// How long after the last core is there a point begins.
const START_LEAD: Duration = Duration::from_micros(300);

/// Why a run could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A driver could not be opened.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A thread could not be pinned.
    #[error(
        "core {0} cannot be had for polling (--cores, [run] cores); is this process confined to other cores (taskset, cgroup)?"
    )]
    Pin(usize),
    /// A thread could not be started, or ended unasked.
    #[error("the thread of core {core}: {reason}")]
    Thread {
        /// The core.
        core: usize,
        /// What the system said.
        reason: String,
    },
}

/// What happens in a run, told on the caller's thread.
#[derive(Debug)]
pub enum Event<'a> {
    /// A point begins.
    PointStarted(usize),
    /// An interval is over on all cores.
    Interval(usize, &'a IntervalFigures),
    /// A point is over.
    PointDone(&'a PointFigures),
}

/// What the outside may do to a run.
#[derive(Debug, Default)]
pub struct RunControl {
    /// Set it to end the run: what is outstanding is waited for, the figures so far are kept.
    pub interrupt: AtomicBool,
}

/// State of a run that all its threads see.
struct Stage {
    gate: Gate,
    start: Start,
    stop: Stop,
    progress: Vec<Progress>,
}

/// [`run`] on whichever backend it is: the one place where that is asked.
pub fn run_any(
    backend: &AnyBackend,
    plan: &Plan,
    clock: &Clock,
    control: &RunControl,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<PointFigures>, EngineError> {
    match backend {
        AnyBackend::Null(b) => run(b, plan, clock, control, tell),
        AnyBackend::Sim(b) => run(b, plan, clock, control, tell),
        #[cfg(feature = "spdk")]
        AnyBackend::Nvme(b) => run(b, plan, clock, control, tell),
        #[cfg(feature = "spdk")]
        AnyBackend::Bdev(b) => run(b, plan, clock, control, tell),
    }
}

/// Runs every point of `plan`; returns the figures of those that were begun. Ends early when `control` says so or a
/// target is lost; the last point then says why.
pub fn run<B: Backend>(
    backend: &B,
    plan: &Plan,
    clock: &Clock,
    control: &RunControl,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<PointFigures>, EngineError> {
    let stage = Stage {
        gate: Gate::default(),
        start: Start::default(),
        stop: Stop::default(),
        progress: plan.cores.iter().map(|_| Progress::default()).collect(),
    };
    let _aside = Housekeeping::aside(plan.cores.iter().map(|core| core.core));
    let (receivers, ends): (Vec<_>, Vec<_>) = plan.cores.iter().map(|_| split(pair(plan))).unzip();
    std::thread::scope(|scope| {
        let started = start(scope, backend, plan, clock, &stage, ends);
        let points = started.and_then(|ready| conduct(backend, plan, clock, control, &stage, (receivers, ready), tell));
        stage.gate.close();
        points
    })
}

fn split((sender, receiver, packet): (Sender, Receiver, Box<Packet>)) -> (Receiver, (Sender, Box<Packet>)) {
    (receiver, (sender, packet))
}

/// Starts one thread a core; each says on the returned channel, point by point, whether it is ready.
fn start<'scope, B: Backend>(
    scope: &'scope Scope<'scope, '_>,
    backend: &'scope B,
    plan: &'scope Plan,
    clock: &'scope Clock,
    stage: &'scope Stage,
    ends: Vec<(Sender, Box<Packet>)>,
) -> Result<mpsc::Receiver<Result<(), EngineError>>, EngineError> {
    let (ready, opened) = channel();
    for (index, (core, end)) in plan.cores.iter().zip(ends).enumerate() {
        let ready = ready.clone();
        let work = move || core_thread(backend, plan, clock, (index, core), stage, end, ready);
        let name = format!("rigel-core-{}", core.core);
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, work);
        thread.map_err(|error| EngineError::Thread { core: core.core, reason: error.to_string() })?;
    }
    Ok(opened)
}

/// The caller's thread during a run: starts each point on all cores at once and collects what they send.
fn conduct<B: Backend>(
    backend: &B,
    plan: &Plan,
    clock: &Clock,
    control: &RunControl,
    stage: &Stage,
    (mut receivers, ready): (Vec<Receiver>, mpsc::Receiver<Result<(), EngineError>>),
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<PointFigures>, EngineError> {
    // Often enough for packets to come back in time, seldom enough not to be felt where it has to share a core.
    // The same for all cores, and a little ahead, so that none is past it.
    let cut_at = || {
        if backend.virtual_time() { Ticks(1) } else { crate::clock::now().plus(clock.ticks(Duration::from_millis(1))) }
    };
    let pause = (plan.interval / 4).clamp(Duration::from_millis(1), Duration::from_millis(20));
    let mut points = Vec::new();
    for point in 0..plan.points.len() {
        stage.stop.next_point();
        let ready = stage.stop.reason().is_none() && all_ready(&ready, plan.cores.len(), control)?;
        if !ready || control.interrupt.load(Ordering::Relaxed) {
            break;
        }
        stage.gate.open(point);
        tell(Event::PointStarted(point));
        let mut collector = Collector::new(point, plan, clock);
        let mut watch = Watch::new(plan.cores.len());
        while !collector.is_over() {
            let mut idle = true;
            for (core, receiver) in receivers.iter_mut().enumerate() {
                while let Some(mut packet) = receiver.receive() {
                    idle = false;
                    for interval in collector.take(core, &mut packet) {
                        tell(Event::Interval(point, &interval));
                        collector.give_back(interval);
                    }
                    receiver.give_back(packet);
                }
            }
            if control.interrupt.load(Ordering::Relaxed) {
                stage.stop.raise(Reason::Interrupted, cut_at());
            }
            if !backend.virtual_time() && watch.silent(&stage.progress) {
                let target = watch.next_target(plan.targets.len());
                if backend.is_missing(target) {
                    stage.stop.raise(Reason::Lost(first_cell(plan, target)), cut_at());
                }
            }
            if let Some(core) =
                receivers.iter().position(Receiver::is_abandoned).filter(|&core| !collector.has_ended(core))
            {
                stage.stop.raise(Reason::Interrupted, cut_at());
                let reason = "it ended in mid-point; its panic is reported above".to_owned();
                return Err(EngineError::Thread { core: plan.cores[core].core, reason });
            }
            if idle {
                std::thread::sleep(if backend.virtual_time() { Duration::from_micros(20) } else { pause });
            }
        }
        if collector.has_abandoned() {
            // Their queues could not be put away as they should: no point after this one would be sound.
            stage.stop.raise(Reason::Abandoned, cut_at());
        }
        let reason = stage.stop.reason();
        let mut figures = collector.finish(reason.and_then(|reason| why(plan, point, reason)));
        figures.overloaded = matches!(reason, Some(Reason::Overloaded(_)));
        tell(Event::PointDone(&figures));
        let over = plan.is_finite() && figures.cores.iter().flat_map(|core| &core.left).all(|left| *left == 0);
        points.push(figures);
        if over {
            break;
        }
    }
    Ok(points)
}

/// Waits until every core is ready for the next point; false when the run is interrupted meanwhile.
fn all_ready(
    ready: &mpsc::Receiver<Result<(), EngineError>>,
    cores: usize,
    control: &RunControl,
) -> Result<bool, EngineError> {
    let mut missing = cores;
    while missing > 0 {
        match ready.recv_timeout(Duration::from_millis(50)) {
            Ok(opened) => {
                opened?;
                missing -= 1;
            }
            Err(mpsc::RecvTimeoutError::Timeout) if !control.interrupt.load(Ordering::Relaxed) => {}
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// One core: pinned, then point after point, each with queues of its own, so that a point runs as it would alone.
fn core_thread<B: Backend>(
    backend: &B,
    plan: &Plan,
    clock: &Clock,
    (index, core): (usize, &CorePlan),
    stage: &Stage,
    (sender, packet): (Sender, Box<Packet>),
    ready: mpsc::Sender<Result<(), EngineError>>,
) {
    let ready = Farewell { ready, core: core.core };
    if !core_affinity::set_for_current(core_affinity::CoreId { id: core.core }) && !backend.virtual_time() {
        let _ = ready.ready.send(Err(EngineError::Pin(core.core)));
        return;
    }
    let pages = Pages { sender, packet, total: 0 };
    let (place, ready) = ((index, core), &ready.ready);
    let lanes = Lanes::all(plan, clock, core, index);
    if plan.is_finite() {
        let lanes = BudgetLanes::new(plan, clock, core, index);
        core_points(backend, plan, clock, place, stage, (lanes, pages), ready);
    } else if let Some(lane) = lanes.uniform() {
        core_points(backend, plan, clock, place, stage, (lane, pages), ready);
    } else if let Some(lane) = lanes.sole() {
        core_points(backend, plan, clock, place, stage, (lane, pages), ready);
    } else if let Some(lane) = lanes.one::<false>() {
        core_points(backend, plan, clock, place, stage, (lane, pages), ready);
    } else if let Some(lane) = lanes.one::<true>() {
        core_points(backend, plan, clock, place, stage, (lane, pages), ready);
    } else {
        match lanes.closed() {
            Ok(lanes) => core_points(backend, plan, clock, place, stage, (lanes, pages), ready),
            Err(lanes) => match lanes.restless() {
                Ok(lanes) => core_points(backend, plan, clock, place, stage, (lanes, pages), ready),
                Err(lanes) => core_points(backend, plan, clock, place, stage, (lanes, pages), ready),
            },
        }
    }
    // What the system counts of a thread goes with it, and the caller may want it after the last point.
    stage.gate.wait_closed();
}

/// The points of one core, one after the other.
fn core_points<B: Backend, L: Source>(
    backend: &B,
    plan: &Plan,
    clock: &Clock,
    (index, core): (usize, &CorePlan),
    stage: &Stage,
    (mut lanes, mut pages): (L, Pages),
    ready: &mpsc::Sender<Result<(), EngineError>>,
) {
    let ticks = |duration| clock.ticks(duration);
    let shared_ticks = !backend.virtual_time() && backend.completes_back_to_back();
    let tick_error = if shared_ticks { ticks(TICK_ERROR) } else { Ticks(0) };
    for point in 0..plan.points.len() {
        if stage.stop.ends_run() {
            return;
        }
        let opened = backend.open(&CoreOrder::of(plan, core, point));
        let told = ready.send(opened.as_ref().map(|_| ()).map_err(|error| EngineError::from(error.clone())));
        let (Ok(driver), Ok(())) = (opened, told) else { return };
        if !stage.gate.wait(point) {
            return;
        }
        // A virtual clock starts where it stands.
        let lead = ticks(START_LEAD);
        let give_up = || stage.stop.ends_run();
        let agreed = || stage.start.agree(point, plan.cores.len(), lead, give_up);
        let Some(start) = (if backend.virtual_time() { Some(Ticks(0)) } else { agreed() }) else { return };
        let drain = ticks(Duration::from_secs(DRAIN_LIMIT_S));
        let schedule = Schedule::new(start, ticks(plan.ramp), ticks(plan.time), ticks(plan.interval), drain);
        let off_core = if backend.virtual_time() { OffCore::virtual_time() } else { OffCore::watch(clock) };
        let book = Book::open(core.core, pages, schedule, tick_error, off_core);
        let turn = Turn::new(book, lanes, point, &stage.stop);
        (lanes, pages) = CoreLoop::new(driver, turn, &stage.progress[index]).run(plan, core, point);
    }
}

/// Tells the caller's thread, should a core's thread end by a panic before it has said that it is ready.
struct Farewell {
    ready: mpsc::Sender<Result<(), EngineError>>,
    core: usize,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "it panicked; the message is above".to_owned();
            let _ = self.ready.send(Err(EngineError::Thread { core: self.core, reason }));
        }
    }
}

/// Any cell of `target`: a lost target is named by one.
fn first_cell(plan: &Plan, target: usize) -> u32 {
    let place = |(number, workload): (usize, &crate::plan::WorkloadPlan)| {
        let position = workload.targets.iter().position(|&t| t == target)?;
        Some(plan.cell(number, position, crate::plan::Op::Read) as u32)
    };
    plan.workloads.iter().enumerate().find_map(place).unwrap_or(0)
}

/// The reason in words; none where the point itself says it.
fn why(plan: &Plan, point: usize, reason: Reason) -> Option<String> {
    match reason {
        Reason::Interrupted => Some("interrupted".to_owned()),
        Reason::Abandoned => None,
        Reason::Overloaded(workload) => {
            let rate = match plan.points[point].loads[workload as usize] {
                Load::Rate(open) => open.rate_per_s,
                Load::QueueDepth(_) | Load::Outstanding(_) => 0,
            };
            let (name, rate) = (&plan.workloads[workload as usize].name, format_count(rate));
            Some(format!(
                "overloaded: the targets cannot follow {rate} arrivals/s of {name}; more than a second's were waiting"
            ))
        }
        Reason::Lost(cell) => {
            let place = plan.places().nth(cell as usize);
            let target = place.map_or(0, |(workload, position, _)| plan.workloads[workload].targets[position]);
            Some(format!("target lost: {}", plan.targets.get(target).map_or("?", String::as_str)))
        }
    }
}
