//! The folder of a study of pairs: what it was made for, the runs it holds, and how often it was looked at.
//!
//! Owns `study.json` and the names of the runs' folders. A study that is gone on with must be the same one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::super::args::AbArgs;
use super::super::exit::{Exit, Failure};
use super::super::find::{self, Found};
use super::super::run::read_job;
use super::super::save::{RESULT, put};
use crate::plan::PlanError;
use crate::spec::{Job, Overrides, redact};

/// Where a study says what it is.
const STUDY: &str = "study.json";
/// Version of the shape of `study.json`.
const SCHEMA: u32 = 1;

/// Why a study ends; the text names the remedy.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum StudyError {
    /// The command between runs failed.
    #[error(
        "--switch: `{command}` failed ({reason}); the pairs before are kept, mend it and give the command again with --out"
    )]
    Switch {
        /// The command.
        command: String,
        /// How.
        reason: String,
    },
    /// A run could not be started.
    #[error("cannot start a run: {0}")]
    Start(String),
    /// A run failed.
    #[error("pair {pair}, {label}: the run failed ({how}); the pairs before are kept. {said}")]
    Run {
        /// Number of the pair, from 1.
        pair: usize,
        /// The side.
        label: String,
        /// How it ended.
        how: String,
        /// What it said.
        said: String,
        /// Its exit code.
        code: Option<i32>,
    },
    /// The folder holds something else.
    #[error("--out {folder}: {reason}; name another folder, or repeat the command that made it")]
    Other {
        /// The folder.
        folder: String,
        /// In what it differs.
        reason: String,
    },
    /// Both sides are the same.
    #[error("A and B are the same; say what differs with --a and --b, or with --switch")]
    Same,
    /// Labels that are none.
    #[error("--labels: `{0}`; write two different names of letters, digits, `.`, `_` and `-`, such as off,on")]
    Labels(String),
    /// A specification that is none.
    #[error("`{0}` is not FIELD=VALUE; write block_size=8k, target=URI or workload.oltp.read_percent=100")]
    Spec(String),
    /// What the study sets itself for each run.
    #[error("`{0}`: the study gives each run its seed and its folder; use --seed and --out")]
    NotItsOwn(String),
    /// Ended before there was anything to compare.
    #[error("interrupted after {done} pair(s); two are needed to compare. Give the command again with --out to go on")]
    Interrupted {
        /// Pairs that are there.
        done: usize,
    },
    /// Asked for too little.
    #[error("{done} pair(s); two are needed to compare")]
    TooFew {
        /// Pairs that are there.
        done: usize,
    },
}

impl StudyError {
    pub(in crate::cli) fn exit(&self) -> Exit {
        match self {
            Self::Switch { .. } | Self::Start(_) => Exit::SetUp,
            Self::Run { code: Some(2), .. } => Exit::Usage,
            Self::Run { code: Some(4), .. } => Exit::IoErrors,
            Self::Run { .. } => Exit::SetUp,
            Self::Interrupted { .. } => Exit::Interrupted,
            Self::Other { .. } | Self::Same | Self::NotItsOwn(_) => Exit::Usage,
            Self::Labels(_) | Self::Spec(_) | Self::TooFew { .. } => Exit::Usage,
        }
    }
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Design {
    /// What A and B are called.
    labels: [String; 2],
    /// Their jobs, without secrets.
    jobs: [serde_json::Value; 2],
    /// The command between them.
    switch: Option<String>,
    /// Seed of the order, and of the runs where the job has none.
    seed: u64,
}

impl Design {
    /// The design that was typed; both jobs are checked as `run` would.
    pub(super) fn of(args: &AbArgs) -> Result<Self, Failure> {
        if let Some(spec) = args.a.iter().chain(&args.b).find(|spec| is_the_studys(spec)) {
            return Err(StudyError::NotItsOwn(redact(spec)).into());
        }
        let job = |specs: &[String]| -> Result<Job, Failure> {
            let mut job = read_job(args.job.as_deref())?;
            let mut overrides = overrides(&in_force(&args.set, specs))?;
            overrides.destroy.clone_from(&args.destroy);
            job.apply(overrides)?;
            if job.target.is_empty() {
                return Err(PlanError::NoTarget.into());
            }
            Ok(job)
        };
        let [a, b] = [job(&args.a)?, job(&args.b)?];
        if a == b && args.switch.is_none() && args.a != args.b {
            return Err(StudyError::Same.into());
        }
        let json = |job: &Job| serde_json::to_value(job).unwrap_or_default();
        let seed = args.seed.or(a.run.seed).unwrap_or(1);
        let switch = args.switch.as_deref().map(redact);
        Ok(Self { labels: labels(&args.labels)?, jobs: [json(&a), json(&b)], switch, seed })
    }
}

fn labels(typed: &str) -> Result<[String; 2], StudyError> {
    let good = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    match typed.split_once(',').map(|(a, b)| (a.trim(), b.trim())) {
        Some((a, b)) if good(a) && good(b) && a != b => Ok([a.to_owned(), b.to_owned()]),
        _ => Err(StudyError::Labels(typed.to_owned())),
    }
}

/// The specifications of one side: its own targets replace the common ones, all else is applied in order.
pub(super) fn in_force<'a>(common: &'a [String], own: &'a [String]) -> Vec<&'a String> {
    let is_target = |spec: &&String| split(spec).is_ok_and(|(field, _)| field == "target");
    let replaced = own.iter().any(|spec| is_target(&spec));
    common.iter().filter(|spec| !(replaced && is_target(spec))).chain(own).collect()
}

/// The options that a specification stands for.
fn overrides(specs: &[&String]) -> Result<Overrides, StudyError> {
    let mut overrides = Overrides::default();
    for spec in specs {
        let (field, value) = split(spec)?;
        if field == "target" {
            overrides.target.push(value.to_owned());
        } else {
            overrides.set.push(assignment(spec)?);
        }
    }
    Ok(overrides)
}

/// The flags of `rigel run` that a specification stands for.
pub(super) fn flags(spec: &str) -> Result<[String; 2], StudyError> {
    let (field, value) = split(spec)?;
    if field == "target" {
        return Ok(["--target".to_owned(), value.to_owned()]);
    }
    Ok(["--set".to_owned(), assignment(spec)?])
}

/// A specification as `--set` takes it.
fn assignment(spec: &str) -> Result<String, StudyError> {
    let (field, value) = split(spec)?;
    let path = path(field).ok_or_else(|| StudyError::Spec(redact(spec)))?;
    // A list of one core is a text too.
    let bare = field == "cores" && !value.starts_with('"');
    Ok(if bare { format!("{path}=\"{value}\"") } else { format!("{path}={value}") })
}

/// Whether a specification names what the study sets for each run.
fn is_the_studys(spec: &str) -> bool {
    let field = split(spec).map_or("", |(field, _)| field);
    ["seed", "run.seed", "run.out"].contains(&field)
}

fn split(spec: &str) -> Result<(&str, &str), StudyError> {
    match spec.split_once('=') {
        Some((field, value)) if !field.trim().is_empty() => Ok((field.trim(), value)),
        _ => Err(StudyError::Spec(redact(spec))),
    }
}

/// The path of a field; a word alone is one of the run's, or else of the first workload's.
fn path(field: &str) -> Option<String> {
    if field.contains('.') {
        return Some(field.to_owned());
    }
    let known = field.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let of_run = ["ramp", "time", "interval", "cores", "overload", "trust_clock", "seed"].contains(&field);
    known.then(|| if of_run { format!("run.{field}") } else { format!("workload.0.{field}") })
}

/// A study on the disk.
#[derive(Debug)]
pub(super) struct Study {
    folder: PathBuf,
    file: File,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct File {
    schema: u32,
    kind: String,
    design: Design,
    /// How many pairs there were each time it was looked at.
    looks: Vec<usize>,
}

impl Study {
    /// Makes the folder of a study, or goes on with the one that is there.
    pub(super) fn open(asked: Option<&Path>, design: Design, now: SystemTime) -> Result<Self, Failure> {
        let folder = asked.map_or_else(|| super::usual_folder(now), Path::to_path_buf);
        let other =
            |reason: &str| StudyError::Other { folder: folder.display().to_string(), reason: reason.to_owned() };
        if folder.join(RESULT).exists() {
            return Err(other("it holds the result of a run").into());
        }
        let file = match fs::read(folder.join(STUDY)) {
            Ok(bytes) => {
                let file: File = serde_json::from_slice(&bytes).map_err(|error| other(&error.to_string()))?;
                if file.schema != SCHEMA {
                    return Err(
                        other(&format!("its study has schema {}, this rigel knows {SCHEMA}", file.schema)).into()
                    );
                }
                if file.design != design {
                    return Err(other(differ(&file.design, &design)).into());
                }
                file
            }
            Err(_) => File { schema: SCHEMA, kind: "rigel-ab".to_owned(), design, looks: Vec::new() },
        };
        let study = Self { folder, file };
        fs::create_dir_all(&study.folder).map_err(|error| Failure::write(&study.folder, error))?;
        study.save()?;
        Ok(study)
    }

    fn save(&self) -> Result<(), Failure> {
        let bytes = serde_json::to_vec_pretty(&self.file).unwrap_or_default();
        put(&self.folder, STUDY, &bytes).map_err(|error| Failure::write(&self.folder.join(STUDY), error))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn label(&self, side: usize) -> &str {
        &self.file.design.labels[side]
    }

    pub(super) fn seed(&self) -> u64 {
        self.file.design.seed
    }

    /// The seed of a pair's runs.
    pub(super) fn seed_of(&self, pair: usize) -> u64 {
        (self.seed().wrapping_add(pair as u64)) & (i64::MAX as u64)
    }

    /// The folder of one run.
    pub(super) fn run_folder(&self, pair: usize, side: usize) -> PathBuf {
        self.folder.join(format!("pair-{:03}-{}", pair + 1, self.label(side)))
    }

    /// How many pairs are there, from the first on without a gap.
    pub(super) fn pairs_done(&self) -> usize {
        let there = |pair: &usize| (0..2).all(|side| self.is_whole(*pair, side));
        (0..).take_while(there).count()
    }

    /// A run that was interrupted has left a result too, but not of all its points.
    fn is_whole(&self, pair: usize, side: usize) -> bool {
        let found = find::at(&self.run_folder(pair, side));
        found.is_ok_and(|found| {
            let points = &found.result.points;
            let cut = |point: &crate::result::PointResult| point.ended_early.is_some() && !point.overloaded;
            let all = match &found.result.campaign {
                Some(campaign) => campaign.finished,
                None => points.len() == found.result.plan.points.len(),
            };
            all && !points.iter().any(cut) && !found.result.has_errors()
        })
    }

    /// Moves aside what an earlier attempt at a pair has left.
    pub(super) fn make_room(&self, pair: usize) -> Result<(), Failure> {
        for side in 0..2 {
            let folder = self.run_folder(pair, side);
            if folder.exists() {
                let aside = super::super::save::free_name(
                    &self.folder.join(format!("left-out-{}", folder.file_name().unwrap_or_default().to_string_lossy())),
                );
                fs::rename(&folder, &aside).map_err(|error| Failure::write(&folder, error))?;
            }
        }
        Ok(())
    }

    /// Notes that the study is looked at with `pairs`, and says which look that is. Looking again at the same pairs is no
    /// new one.
    pub(super) fn look(&mut self, pairs: usize) -> Result<u32, Failure> {
        if !self.file.looks.contains(&pairs) {
            self.file.looks.push(pairs);
            self.save()?;
        }
        let at = self.file.looks.iter().position(|look| *look == pairs).unwrap_or(0);
        Ok(u32::try_from(at + 1).unwrap_or(u32::MAX))
    }

    /// The results of the first `pairs`.
    pub(super) fn results(&self, pairs: usize) -> Result<Vec<[Found; 2]>, Failure> {
        let of = |pair| Ok([find::at(&self.run_folder(pair, 0))?, find::at(&self.run_folder(pair, 1))?]);
        (0..pairs).map(of).collect()
    }
}

/// In what a study differs from the one that is there.
fn differ(there: &Design, typed: &Design) -> &'static str {
    match () {
        () if there.labels != typed.labels => "it holds a study with other labels",
        () if there.switch != typed.switch => "it holds a study with another --switch",
        () if there.seed != typed.seed => "it holds a study with another seed",
        () => "it holds a study of another job",
    }
}
