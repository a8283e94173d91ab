//! The jobs that an ORION test stands for.
//!
//! Owns the way from a test to jobs: one for each point and one for what warms the cache before it, and the text that shows
//! the whole test to a reader. A sweep steps through loads of the same workloads, so a test of several kinds of point is
//! several jobs there.

use std::fmt::Write;
use std::time::Duration;

use toml::Value;

use super::points::Cell;
use super::run::{LargeLoad, OrionRun, Volume, WarmUp};
use crate::spec::{self, Access, Axis, Job, RegionSpec, Run, Setting, Sweep, Target, TargetRef, Values, Workload};
use crate::units::{Bytes, format_duration};

/// Time before each point's window opens. ORION documents none; a start within the figures would be a fault of them.
const RAMP: Duration = Duration::from_secs(2);
/// Outstanding I/Os of a warm-up, for each disk. Chosen: it keeps a disk busy and is no more than any target takes.
const WARM_UP_EACH: u32 = 4;
/// Longest warm-up by amount: what fills no cache within an hour is left at that.
const WARM_UP_LONGEST: Duration = Duration::from_secs(3_600);

impl OrionRun {
    /// The job of one point: with the workload `small`, and with `large` or one workload for each stream, `large-1`,
    /// `large-2` and so on, as far as the point has them.
    #[must_use]
    pub fn cell_job(&self, cell: Cell) -> Job {
        let small = (cell.small > 0).then(|| self.small(Some(cell.small)));
        let large = match self.large {
            LargeLoad::Random => (cell.large > 0).then(|| self.large(Some(cell.large))).into_iter().collect(),
            LargeLoad::Streams { ios } => self.streams(cell.large, ios),
        };
        self.job(small.into_iter().chain(large).collect(), None)
    }

    /// What a point is called by: its small load and its large one.
    #[must_use]
    pub fn settings(cell: Cell) -> Vec<Setting> {
        let setting = |field: &str, load: u32| Setting { field: field.to_owned(), value: Value::Integer(load.into()) };
        let (small, large) = (setting("small", cell.small), setting("large", cell.large));
        // The last one is the axis that its curve is over.
        if cell.small == 0 { vec![small, large] } else { vec![large, small] }
    }

    /// What is done before a point and not measured: a job, and how many bytes of it are enough. None before points
    /// without sequential I/O.
    #[must_use]
    pub fn warm_up_job(&self, cell: Cell) -> Option<(Job, Option<Bytes>)> {
        let (time, amount) = match self.warm_up {
            _ if cell.large == 0 => return None,
            WarmUp::None => return None,
            WarmUp::For(time) => (time, None),
            WarmUp::Amount(amount) => (WARM_UP_LONGEST, Some(amount)),
        };
        let outstanding = Some(self.disks.saturating_mul(WARM_UP_EACH));
        let random = self.whole("warm-up", self.large_size, outstanding);
        let mut job = self.job(vec![random], None);
        (job.run.ramp, job.run.time) = (Some(Duration::ZERO), Some(time));
        Some((job, amount))
    }

    /// The test as a job file for a reader. Its first kind of point is the job; further kinds follow as comments, each a
    /// job of its own without the leading `# `.
    #[must_use]
    pub fn job_toml(&self) -> String {
        let mut text = self.heading();
        for (at, (what, job)) in self.kinds().into_iter().enumerate() {
            let toml = toml::to_string(&job).expect("a job is always a table of plain values");
            let part = format!("# {what}\n{toml}");
            if at == 0 {
                text += &part;
                continue;
            }
            text += "\n# ---- another job: take this line and the leading `# ` below away ----\n";
            for line in part.lines() {
                let _ = writeln!(text, "# {line}");
            }
        }
        text
    }

    fn job(&self, workload: Vec<Workload>, sweep: Option<Sweep>) -> Job {
        let target = |uri: &spec::Uri| Target { uri: uri.clone(), name: None };
        Job {
            name: Some(format!("ORION {}", self.options.command_line())),
            destroy: self.destroy.clone(),
            target: self.targets.iter().map(target).collect(),
            workload,
            run: Run { ramp: Some(RAMP), time: Some(self.duration), cores: self.cores.clone(), ..Run::default() },
            sweep,
            ..Job::default()
        }
    }

    fn small(&self, outstanding: Option<u32>) -> Workload {
        self.whole("small", self.small_size, outstanding)
    }

    fn large(&self, outstanding: Option<u32>) -> Workload {
        self.whole("large", self.large_size, outstanding)
    }

    /// Random I/O on all volumes together.
    fn whole(&self, name: &str, size: Bytes, outstanding: Option<u32>) -> Workload {
        let volume = match self.volume {
            Volume::Concat => spec::Volume::Concat,
            Volume::Raid0 { stripe } => spec::Volume::Stripe(stripe),
        };
        Workload {
            name: Some(name.to_owned()),
            block_size: Some(size.into()),
            read_percent: Some(f64::from(100 - self.write_percent)),
            access: Some(Access::Random),
            outstanding,
            volume: (self.targets.len() > 1).then_some(volume),
            region: Some(RegionSpec::Whole),
            ..Workload::default()
        }
    }

    /// Streams, each a workload of its own: over the stripes of all volumes, or one volume after the other for each, as
    /// ORION's summary has it ("one LUN per stream").
    fn streams(&self, count: u32, ios: u32) -> Vec<Workload> {
        let stream = |number: u32| {
            let stream = Workload {
                access: Some(Access::Sequential),
                ..self.whole(&format!("large-{}", number + 1), self.large_size, Some(ios))
            };
            match self.volume {
                Volume::Concat if self.targets.len() > 1 => {
                    let target = TargetRef::Index(number as usize % self.targets.len());
                    Workload { volume: None, targets: Some(vec![target]), ..stream }
                }
                _ => stream,
            }
        };
        (0..count).map(stream).collect()
    }

    /// The kinds of point (small alone, large alone, both), each as a job with what it is.
    fn kinds(&self) -> Vec<(String, Job)> {
        let of = |wanted: fn(&Cell) -> bool| self.points.cells.iter().copied().filter(wanted).collect::<Vec<Cell>>();
        let small = of(|cell| cell.large == 0);
        let large = of(|cell| cell.small == 0);
        let both = of(|cell| cell.small > 0 && cell.large > 0);
        let loads = |of: fn(&Cell) -> u32, cells: &[Cell]| cells.iter().map(of).collect::<Vec<u32>>();
        let mut kinds = Vec::new();
        if !small.is_empty() {
            let sweep = Sweep::outstanding(loads(|cell| cell.small, &small));
            kinds.push((points(small.len(), "small I/O alone"), self.job(vec![self.small(None)], Some(sweep))));
        }
        for (cells, what) in [(large, "large I/O alone"), (both, "both")] {
            let Some(last) = cells.last() else { continue };
            if let LargeLoad::Streams { .. } = self.large {
                let list: Vec<String> = cells.iter().map(|cell| format!("{}/{}", cell.small, cell.large)).collect();
                let what = format!(
                    "The last of {} points of {what}; a job holds one number of streams. Their small/large loads: {}",
                    cells.len(),
                    list.join(" ")
                );
                kinds.push((what, self.cell_job(*last)));
            } else if last.small == 0 {
                let sweep = Sweep::outstanding(loads(|cell| cell.large, &cells));
                kinds.push((points(cells.len(), what), self.job(vec![self.large(None)], Some(sweep))));
            } else {
                let axis = |name: &str, of: fn(&Cell) -> u32| {
                    let mut loads = loads(of, &cells);
                    loads.sort_unstable();
                    loads.dedup();
                    let values = loads.into_iter().map(|load| Value::Integer(load.into())).collect();
                    Axis { field: format!("workload.{name}.outstanding"), values: Values::Each(values) }
                };
                let axes = vec![axis("large", |cell| cell.large), axis("small", |cell| cell.small)];
                let sweep = Sweep { axes, ..Sweep::default() };
                let workloads = vec![self.small(None), self.large(None)];
                kinds.push((points(cells.len(), what), self.job(workloads, Some(sweep))));
            }
        }
        kinds
    }

    /// What the job format has no field for.
    fn heading(&self) -> String {
        let mut text = format!("# rigel orion {}\n", self.options.command_line());
        let mut say = |line: &str| {
            let _ = writeln!(text, "# {line}");
        };
        say(&format!(
            "{} points for {} disks, {} each.",
            self.points.cells.len(),
            self.disks,
            format_duration(self.duration)
        ));
        if matches!(self.large, LargeLoad::Streams { .. }) {
            say("Each stream is a workload; several cores would divide it, so that one belongs into `cores` of [run].");
        }
        match self.warm_up {
            WarmUp::None => {}
            WarmUp::For(time) => {
                say(&format!(
                    "Before each point with streams: random I/O for {}, unmeasured, which a job does not do.",
                    format_duration(time)
                ));
            }
            WarmUp::Amount(amount) => {
                say(&format!(
                    "Before each point with streams: {amount} of random I/O, unmeasured, which a job does not do."
                ));
            }
        }
        if self.write_percent > 0 && self.destroy.is_empty() {
            say("It writes: name the identity of each target in `destroy`; what the target holds is then lost.");
        }
        if self.targets.iter().any(|uri| matches!(uri, crate::spec::Uri::Iscsi(iscsi) if iscsi.secret.is_some())) {
            say("Secrets are not shown: write user%SECRET@ into the URIs, the secret as env:NAME or file:/path.");
        }
        text
    }
}

fn points(count: usize, what: &str) -> String {
    format!("{count} {} of {what}.", if count == 1 { "point" } else { "points" })
}
