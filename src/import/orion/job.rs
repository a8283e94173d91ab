//! The job that an ORION test stands for.
//!
//! Owns the way from a test to jobs: one for each point, and the text that shows the whole test to a reader. A job has
//! one load for all its workloads or a sweep of one, so a test of several kinds of point is several jobs.

use std::fmt::Write;
use std::time::Duration;

use super::points::Cell;
use super::run::{LargeLoad, OrionRun, Volume, WarmUp};
use crate::spec::{Access, Job, RegionSpec, Run, Sweep, Target, Workload};
use crate::units::format_duration;

/// Time before each point's window opens. ORION documents none; a start within the figures would be a fault of them.
const RAMP: Duration = Duration::from_secs(2);

impl OrionRun {
    /// The job of one point, with the workloads `small` and `large` as far as it has them.
    #[must_use]
    pub fn cell_job(&self, cell: Cell) -> Job {
        let small = (cell.small > 0).then(|| self.small(Some(cell.small)));
        let large = (cell.large > 0).then(|| self.large(Some(self.large_outstanding(cell.large))));
        self.job(small.into_iter().chain(large).collect(), None)
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
        let target = |uri: &crate::spec::Uri| Target { uri: uri.clone(), name: None };
        Job {
            name: Some(format!("ORION {}: {}", self.options.run.word(), self.testname)),
            target: self.targets.iter().map(target).collect(),
            workload,
            run: Run { ramp: Some(RAMP), time: Some(self.duration), ..Run::default() },
            sweep,
            ..Job::default()
        }
    }

    fn small(&self, outstanding: Option<u32>) -> Workload {
        self.workload("small", self.small_size, Access::Random, outstanding)
    }

    fn large(&self, outstanding: Option<u32>) -> Workload {
        let access = match self.large {
            LargeLoad::Random => Access::Random,
            LargeLoad::Streams { .. } => Access::Sequential,
        };
        self.workload("large", self.large_size, access, outstanding)
    }

    fn workload(&self, name: &str, size: crate::units::Bytes, access: Access, outstanding: Option<u32>) -> Workload {
        Workload {
            name: Some(name.to_owned()),
            block_size: Some(size.into()),
            read_percent: Some(f64::from(100 - self.write_percent)),
            access: Some(access),
            outstanding,
            region: Some(RegionSpec::Whole),
            ..Workload::default()
        }
    }

    /// The kinds of point (small alone, large alone, both), each as a job with what it is.
    fn kinds(&self) -> Vec<(String, Job)> {
        let cells = &self.points.cells;
        let small: Vec<u32> = cells.iter().filter(|cell| cell.large == 0).map(|cell| cell.small).collect();
        let mut large: Vec<u32> = cells.iter().filter(|cell| cell.small == 0).map(|cell| cell.large).collect();
        let both: Vec<Cell> = cells.iter().copied().filter(|cell| cell.small > 0 && cell.large > 0).collect();
        large.iter_mut().for_each(|load| *load = self.large_outstanding(*load));
        let sweep = |outstanding: Vec<u32>| Some(Sweep::outstanding(outstanding));
        let mut kinds = Vec::new();
        if !small.is_empty() {
            let what = format!("{} points of small I/O alone.", small.len());
            kinds.push((what, self.job(vec![self.small(None)], sweep(small))));
        }
        if !large.is_empty() {
            let what = format!("{} points of large I/O alone.", large.len());
            kinds.push((what, self.job(vec![self.large(None)], sweep(large))));
        }
        if let Some(last) = both.last() {
            let loads: Vec<String> = both.iter().map(|cell| format!("{}/{}", cell.small, cell.large)).collect();
            let what = format!(
                "The last of {} points of both; a job holds one. Their small/large loads: {}",
                both.len(),
                loads.join(" ")
            );
            kinds.push((what, self.cell_job(*last)));
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
        if let Volume::Raid0 { stripe } = self.volume {
            say(&format!("Striped by {stripe} over all targets; a job spreads its I/Os over them evenly instead."));
        }
        if let LargeLoad::Streams { ios } = self.large {
            say(&format!(
                "A large load of n is n streams of {ios} outstanding I/Os; a job has one stream a core and target."
            ));
        }
        match self.warm_up {
            WarmUp::None => {}
            WarmUp::For(time) => {
                say(&format!(
                    "Before each point with large I/O: random I/O for {}, unmeasured.",
                    format_duration(time)
                ));
            }
            WarmUp::Amount(amount) => {
                say(&format!("Before each point with large I/O: {amount} of random I/O, unmeasured."));
            }
        }
        if self.write_percent > 0 {
            say("It writes: name the identity of each target in `destroy`; what the target holds is then lost.");
        }
        if self.targets.iter().any(|uri| matches!(uri, crate::spec::Uri::Iscsi(iscsi) if iscsi.secret.is_some())) {
            say("Secrets are not shown: write user%SECRET@ into the URIs, the secret as env:NAME or file:/path.");
        }
        text
    }
}
