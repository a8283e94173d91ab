//! The commands of `[[event]]`: run at their moment beside the load, each waited for by a thread of its own.
//!
//! Owns the processes, their output and their end. The threads are made while the engine keeps all others off the polled
//! cores, and they and what they run stay there. Nothing here makes the collector wait.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::child;
use super::live::warn;
use crate::clock::Clock;
use crate::engine::{Event, RunControl};
use crate::plan::Plan;
use crate::result::{EventBook, EventOutcome, EventResult, PointResult};
use crate::spec::{EventSpec, redact};
use crate::units::format_duration;

/// How often it is looked whether a command has ended; its end is known as well as that.
const LOOK: Duration = Duration::from_millis(2);
/// Bytes of its output that are kept.
const OUTPUT_MAX: usize = 64 << 10;

/// Runs the events of each point.
pub(super) struct EventRunner {
    /// By moment.
    events: Vec<EventSpec>,
    control: Arc<RunControl>,
    quiet: bool,
    book: EventBook,
    /// Of each point so far.
    points: Vec<Arc<Running>>,
    threads: Vec<JoinHandle<()>>,
}

/// The events of one point, as their threads and the collector see them.
struct Running {
    events: Vec<EventSpec>,
    zero: Instant,
    over: AtomicBool,
    outcomes: Mutex<Vec<EventOutcome>>,
    said: Mutex<Vec<String>>,
}

impl EventRunner {
    pub(super) fn new(events: &[EventSpec], control: &Arc<RunControl>, quiet: bool) -> Self {
        let mut events = events.to_vec();
        events.sort_by_key(|event| event.at);
        let control = Arc::clone(control);
        Self { events, control, quiet, book: EventBook::default(), points: Vec::new(), threads: Vec::new() }
    }

    /// Starts the clock of a point's events with it, the points of a plan coming behind `offset` others; counts its intervals; begins no more events once it is over.
    pub(super) fn see(&mut self, (offset, clock): (usize, &Clock), event: &Event<'_>) {
        if self.events.is_empty() {
            return;
        }
        match event {
            Event::PointStarted(point) => self.begin(offset + *point),
            Event::Interval(_, interval) => {
                if let Some(running) = self.points.last() {
                    self.book.take(clock, interval, &lock(&running.outcomes));
                }
            }
            Event::PointDone(_) => self.points.iter().for_each(|running| running.over.store(true, Ordering::Relaxed)),
        }
    }

    fn begin(&mut self, point: usize) {
        let events: Vec<EventSpec> = self.events.iter().filter(|event| event.is_at(point)).cloned().collect();
        let outcomes = Mutex::new(vec![EventOutcome::default(); events.len()]);
        let said = Mutex::default();
        self.book = EventBook::new(events.len());
        let running = Arc::new(Running { events, zero: Instant::now(), over: AtomicBool::new(false), outcomes, said });
        for (index, event) in running.events.iter().enumerate() {
            let (running, event, control) = (Arc::clone(&running), event.clone(), Arc::clone(&self.control));
            self.threads.push(spawn(move || running.conduct(index, &event, &control)));
        }
        self.points.push(running);
    }

    /// What is to be said since it was last asked.
    pub(super) fn said(&self) -> Vec<String> {
        let said = self.points.iter().flat_map(|running| std::mem::take(&mut *lock(&running.said)));
        if self.quiet {
            said.for_each(drop)
        } else {
            return said.collect();
        }
        Vec::new()
    }

    /// The events of the point that is over; one that still runs has no end yet.
    pub(super) fn take(&self, plan: &Plan, clock: &Clock) -> Vec<EventResult> {
        let Some(running) = self.points.last() else { return Vec::new() };
        let outcomes = lock(&running.outcomes);
        let result = |(index, (event, outcome)): (usize, (&EventSpec, &EventOutcome))| {
            let [before, during, after] = self.book.figures(plan, clock, index);
            let (label, run) = (event.label(), event.run.to_string());
            EventResult { label, run, outcome: outcome.clone(), before, during, after }
        };
        running.events.iter().zip(outcomes.iter()).enumerate().map(result).collect()
    }

    /// Waits for what still runs, and completes the events of all points.
    pub(super) fn finish(self, points: &mut [PointResult]) {
        if !self.quiet && self.threads.iter().any(|thread| !thread.is_finished()) {
            eprintln!("waiting for the commands of events that still run");
        }
        self.threads.into_iter().for_each(|thread| drop(thread.join()));
        for (point, running) in points.iter_mut().zip(&self.points) {
            for (event, outcome) in point.events.iter_mut().zip(lock(&running.outcomes).iter()) {
                event.outcome = outcome.clone();
                if let Some(trouble) = &outcome.trouble {
                    warn(&format!("event `{}` {trouble}", event.label));
                }
            }
        }
    }
}

impl Running {
    /// Waits for the event's moment, runs it, and notes how it went.
    fn conduct(&self, index: usize, event: &EventSpec, control: &RunControl) {
        let note = |change: &dyn Fn(&mut EventOutcome)| change(&mut lock(&self.outcomes)[index]);
        let interrupted = || control.interrupt.load(Ordering::Relaxed);
        loop {
            let left = event.at.saturating_sub(self.zero.elapsed());
            if left.is_zero() {
                break;
            }
            if interrupted() || self.over.load(Ordering::Relaxed) {
                let trouble = "was not begun: the point ended before its moment; a shorter `at` reaches it".to_owned();
                return note(&|outcome| outcome.trouble = Some(trouble.clone()));
            }
            sleep(left.min(Duration::from_millis(20)));
        }
        let label = event.label();
        note(&|outcome| outcome.start_s = Some(self.zero.elapsed().as_secs_f64()));
        lock(&self.said).push(format!("event `{label}` begins"));
        let ended = ended(event, &interrupted);
        let end_s = ended.at.unwrap_or_else(Instant::now).duration_since(self.zero).as_secs_f64();
        note(&|outcome| {
            outcome.end_s = Some(end_s);
            (outcome.exit_status, outcome.trouble) = (ended.status, ended.trouble.clone());
            outcome.output.clone_from(&ended.output);
        });
        let how = ended.status.map_or_else(|| "killed".to_owned(), |status| format!("exit status {status}"));
        lock(&self.said).push(format!("event `{label}` has ended ({how})"));
    }
}

/// How a command ended.
#[derive(Default)]
struct Ended {
    /// When the command itself was over.
    at: Option<Instant>,
    status: Option<i32>,
    trouble: Option<String>,
    output: String,
}

/// Runs a command to its end, its timeout, or the interruption of the run; it leads a process group, which ends with it.
fn ended(event: &EventSpec, interrupted: &dyn Fn() -> bool) -> Ended {
    let failed = |what: String| Ended { trouble: Some(what), ..Ended::default() };
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(event.run.reveal())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("could not be begun: {error}; `sh` has to be in the PATH")),
    };
    let kept = Arc::new(Mutex::new(Vec::new()));
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    let reader = |pipe: Box<dyn Read + Send>| {
        let kept = Arc::clone(&kept);
        spawn(move || keep(pipe, &kept))
    };
    let readers: Vec<_> = pipes.into_iter().flatten().map(reader).collect();
    let began = Instant::now();
    let (status, killed) = loop {
        match child.try_wait() {
            Ok(Some(status)) => break (Some(status), None),
            Ok(None) => {}
            Err(error) => break (None, Some(format!("could not be waited for: {error}"))),
        }
        if began.elapsed() >= event.timeout() {
            let limit = format_duration(event.timeout());
            break (
                None,
                Some(format!(
                    "still ran after {limit} and was killed; let it end sooner, or give it a longer `timeout`"
                )),
            );
        }
        if interrupted() {
            break (None, Some("was killed: the run was interrupted".to_owned()));
        }
        sleep(LOOK);
    };
    if killed.is_some() {
        end(&mut child);
    }
    let at = Some(Instant::now());
    // What the command left in the background may hold the pipe open; it is not waited for.
    let patience = Instant::now();
    while !readers.iter().all(JoinHandle::is_finished) && patience.elapsed() < Duration::from_millis(200) {
        sleep(LOOK);
    }
    let output = String::from_utf8_lossy(&lock(&kept)).lines().map(redact).collect::<Vec<_>>().join("\n");
    let code = status.and_then(|status| status.code());
    let trouble = killed.or_else(|| {
        let how = match (code, status.and_then(|status| status.signal())) {
            (Some(0), _) => return None,
            (Some(code), _) => format!("failed with exit status {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "did not end by itself".to_owned(),
        };
        let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Some(format!("{how}: {last}; try the command in a shell, and correct `run` in [[event]]"))
    });
    Ended { at, status: code, trouble, output }
}

fn end(child: &mut Child) {
    child::signal(child, Signal::SIGKILL);
    let _ = child.wait();
}

/// Keeps the first bytes, and takes the rest so that the command does not stall.
fn keep(mut said: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = said.read(&mut bytes) {
        let mut kept = lock(kept);
        let room = OUTPUT_MAX.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&bytes[..room]);
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
