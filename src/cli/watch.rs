//! The host while a point's window is open: processors and polling threads, read at its opening and at its end.
//!
//! Owns when it is read. Both readings are made on the main thread when it hears of these moments, some tens of
//! milliseconds late; `proc` knows the files' formats.

use std::fs::{read_dir, read_to_string};
use std::time::{Duration, Instant};

use super::proc::{CpuTimes, ThreadTimes, cpu_times, polled_core, siblings, thread_times};
use crate::clock::Clock;
use crate::engine::Event;
use crate::engine::record::Phase;
use crate::plan::Plan;
use crate::result::{CoreUse, HostUse, SiblingUse, WorkerUse};
use crate::units::Ticks;

/// Watches the host through the events of a run.
pub(super) struct HostWatch {
    /// The polled cores with their siblings.
    polled: Vec<(usize, Vec<usize>)>,
    ramp: Ticks,
    /// From the start of a point to the end of its window.
    whole: Ticks,
    opened: Option<Sample>,
    closed: Option<Sample>,
}

/// One reading.
struct Sample {
    at: Instant,
    cpus: Vec<(Option<usize>, CpuTimes)>,
    threads: Vec<(usize, ThreadTimes)>,
}

impl HostWatch {
    /// For the points of `plan`.
    pub(super) fn new(plan: &Plan, clock: &Clock) -> Self {
        let polled = plan.cores.iter().map(|core| (core.core, siblings_of(core.core))).collect();
        let whole = clock.ticks(plan.ramp).plus(clock.ticks(plan.time));
        Self { polled, ramp: clock.ticks(plan.ramp), whole, opened: None, closed: None }
    }

    /// Reads the host if the event opens or ends a window.
    pub(super) fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::PointStarted(_) => {
                self.closed = None;
                self.opened = (self.ramp == Ticks(0)).then(Sample::read);
            }
            Event::Interval(_, interval) if interval.phase == Phase::Ramp && interval.end >= self.ramp => {
                self.opened = Some(Sample::read());
            }
            Event::Interval(_, interval) if interval.phase == Phase::Window && interval.end >= self.whole => {
                self.closed = Some(Sample::read());
            }
            // An interrupted window ends with its point.
            Event::PointDone(_) if self.closed.is_none() => self.closed = Some(Sample::read()),
            Event::Interval(..) | Event::PointDone(_) => {}
        }
    }

    /// What the host did in the window that has been seen; none if it never opened, or was too short for the system's
    /// counters to move.
    pub(super) fn take(&mut self) -> Option<HostUse> {
        let (opened, closed) = (self.opened.take()?, self.closed.take()?);
        closed.since(&opened, &self.polled)
    }
}

impl Sample {
    fn read() -> Self {
        let text = |path: String| read_to_string(path).unwrap_or_default();
        let tasks = read_dir("/proc/self/task").into_iter().flatten().flatten();
        let threads = tasks.filter_map(|task| {
            let of = |file: &str| text(format!("{}/{file}", task.path().display()));
            let core = polled_core(&of("comm"))?;
            Some((core, thread_times(&of("status"), &of("sched"), &of("schedstat"))?))
        });
        Self { threads: threads.collect(), cpus: cpu_times(&text("/proc/stat".to_owned())), at: Instant::now() }
    }

    fn since(&self, earlier: &Self, polled: &[(usize, Vec<usize>)]) -> Option<HostUse> {
        let shares = |number: Option<usize>| {
            let find = |cpus: &[(Option<usize>, CpuTimes)]| cpus.iter().find(|(n, _)| *n == number).map(|(_, t)| *t);
            find(&self.cpus)?.since(find(&earlier.cpus)?).shares()
        };
        let (busy, steal) = shares(None)?;
        let sibling = |&core: &usize| shares(Some(core)).map(|(busy, _)| SiblingUse { core, busy });
        let core = |(core, siblings): &(usize, Vec<usize>)| {
            let (busy, steal) = shares(Some(*core))?;
            Some(CoreUse { core: *core, busy, steal, siblings: siblings.iter().filter_map(sibling).collect() })
        };
        let worker = |(core, _): &(usize, Vec<usize>)| {
            let find = |threads: &[(usize, ThreadTimes)]| threads.iter().find(|(c, _)| c == core).map(|(_, t)| *t);
            Some(worker_use(*core, find(&self.threads)?, find(&earlier.threads)?))
        };
        let span: Duration = self.at.duration_since(earlier.at);
        Some(HostUse {
            sampled_s: span.as_secs_f64(),
            busy,
            steal,
            cores: polled.iter().filter_map(core).collect(),
            workers: polled.iter().filter_map(worker).collect(),
        })
    }
}

fn worker_use(core: usize, now: ThreadTimes, before: ThreadTimes) -> WorkerUse {
    let between = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
    WorkerUse {
        core,
        voluntary_switches: now.voluntary_switches.saturating_sub(before.voluntary_switches),
        involuntary_switches: now.involuntary_switches.saturating_sub(before.involuntary_switches),
        migrations: between(now.migrations, before.migrations),
        waited_ns: between(now.waited_ns, before.waited_ns),
    }
}

fn siblings_of(core: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    siblings(&read_to_string(path).unwrap_or_default(), core)
}
