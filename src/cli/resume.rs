//! A run that was cut off and is gone on with: what of it is finished, and whether it is the same run.
//!
//! Owns `--resume`. Nothing that was finished is run again; a point that had begun is.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::args::RunArgs;
use super::exit::Failure;
use super::find;
use super::points::Before;
use super::save::{Folder, RESULT, SERIES, timestamp};
use crate::plan::Plan;
use crate::result::{Facts, PointResult, Provenance, RunResult, series};
use crate::spec::{Job, ShellCommand, Uri};

/// A run that is gone on with.
pub(super) struct Resumed {
    path: PathBuf,
    /// None where it was cut off before its first point was finished.
    result: Option<RunResult>,
    /// The job as it was written.
    job: serde_json::Value,
}

impl Resumed {
    /// The run in the folder that `--resume` names.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let path = path.to_owned();
        if path.join(RESULT).exists() {
            let result = find::at(&path)?.result;
            return Ok(Self { path, job: result.job.clone(), result: Some(result) });
        }
        if !path.join(SERIES).exists() {
            let reason = "neither result.json nor series.jsonl is in it; name the folder of a run with --resume, or, where a \
                          run was cut off before all that, begin it again with --out";
            return Err(other(&path, reason));
        }
        let bytes =
            std::fs::read(path.join(SERIES)).map_err(|reason| Failure::Read { path: SERIES.to_owned(), reason })?;
        let series = series::read(&bytes).map_err(|error| other(&path, &error.to_string()))?;
        Ok(Self { path, job: series.header.job, result: None })
    }

    /// The job, where the command names none: the run's own, but for secrets, which are kept nowhere.
    pub(super) fn job(&self, args: &RunArgs) -> Result<Option<Job>, Failure> {
        if args.job.is_some() || !args.target.is_empty() {
            return Ok(None);
        }
        if self.result.as_ref().is_some_and(|result| result.command.get(1).is_some_and(|word| word == "orion")) {
            let reason = "it is of `rigel orion`; give the command that began it, with --resume FOLDER";
            return Err(other(&self.path, reason));
        }
        let read = |error: serde_json::Error| other(&self.path, &format!("its job cannot be read ({error})"));
        let job: Job = serde_json::from_value(self.job.clone()).map_err(read)?;
        let had_secret = |uri: &Uri| matches!(uri, Uri::Iscsi(iscsi) if iscsi.user.is_some());
        let commands = || job.event.iter().map(|event| &event.run);
        if job.target.iter().any(|target| had_secret(&target.uri)) || commands().any(ShellCommand::lacks_a_secret) {
            let hidden = "secrets are kept nowhere; name the job file too, as in rigel run JOB --resume FOLDER";
            return Err(other(&self.path, hidden));
        }
        Ok(Some(job))
    }

    /// The folder, which a new result may replace.
    pub(super) fn folder(&self) -> Result<Folder, Failure> {
        Folder::reopen(&self.path)
    }

    /// What it has come to, if `job` is its job still and `plan` and `facts` are what it was planned for.
    pub(super) fn before(&self, job: &serde_json::Value, plan: &Plan, facts: &Facts) -> Result<Before, Failure> {
        let differs = |what: &str| {
            let reason =
                format!("{what} not that of the run; give the command that began it, with --resume in place of --out");
            Err(other(&self.path, &reason))
        };
        if without_folder(job) != without_folder(&self.job) {
            return differs("this job is");
        }
        let Some(result) = &self.result else { return Ok(Before::default()) };
        let identity = |facts: &Facts| -> Vec<(String, String, u64)> {
            facts.targets.iter().map(|target| (target.uri.clone(), target.serial.clone(), target.blocks)).collect()
        };
        if identity(facts) != identity(&result.facts) {
            return differs("what the targets say of themselves (serial number, size) is");
        }
        if *plan != result.plan {
            return differs("the plan (cores, regions) that this machine leads to is");
        }
        let finished = |point: &&PointResult| point.ended_early.is_none() || point.overloaded;
        let points: Vec<PointResult> = result.points.iter().take_while(finished).cloned().collect();
        // What lies in the memory of a process went with it.
        let lasting = facts.targets.iter().all(|target| !target.volatile);
        let filled = result.precondition.clone().filter(|filled| lasting && (filled.is_whole() || !points.is_empty()));
        Ok(Before { points, filled })
    }

    /// Gives a provenance the beginning that the run had.
    pub(super) fn keep_beginning(&self, provenance: &mut Provenance, now: SystemTime) {
        if let Some(result) = &self.result {
            provenance.started_at.clone_from(&result.started_at);
            provenance.command.clone_from(&result.command);
            provenance.resumed_at.clone_from(&result.resumed_at);
        }
        provenance.resumed_at.push(timestamp(now));
    }
}

/// The job but for where its result goes.
fn without_folder(job: &serde_json::Value) -> serde_json::Value {
    let mut job = job.clone();
    if let Some(fields) = job.as_object_mut() {
        if let Some(run) = fields.get_mut("run").and_then(|run| run.as_object_mut()) {
            run.remove("out");
        }
        fields.retain(|field, value| field != "run" || value.as_object().is_none_or(|run| !run.is_empty()));
    }
    job
}

fn other(path: &Path, reason: &str) -> Failure {
    Failure::Kept { path: path.display().to_string(), reason: reason.to_owned() }
}
