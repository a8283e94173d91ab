//! The checks of a run by name, each passed, failed or not judged: what a test report and a metric are made of.
//!
//! Owns the list of a point's own checks and the sentences of their failures. Whoever has further checks, such as limits
//! to be kept, adds them to the suites.

use crate::result::{Judgement, PointResult, RunResult};

/// The checks of one point, or of anything else that is judged as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// What is judged.
    pub name: String,
    /// How long it was measured, in seconds.
    pub time_s: f64,
    /// In the order they are told.
    pub checks: Vec<Check>,
}

/// Something that was to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name, unique in its suite.
    pub name: String,
    /// Whether it held.
    pub outcome: Outcome,
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It held.
    Passed,
    /// It did not, with a sentence on what was found.
    Failed(String),
    /// It could not be judged, with the reason.
    Skipped(String),
}

/// A suite for each point of the run that was begun.
#[must_use]
pub fn of_result(result: &RunResult) -> Vec<Suite> {
    let suite = |(index, point): (usize, &PointResult)| Suite {
        name: format!("point {} ({})", index + 1, point.load),
        time_s: point.window_s,
        checks: of_point(point),
    };
    result.points.iter().enumerate().map(suite).collect()
}

/// The checks that every point carries.
#[must_use]
pub fn of_point(point: &PointResult) -> Vec<Check> {
    let conservation = &point.checks.conservation;
    let failed: u64 = point.errors.iter().map(|error| error.count).sum();
    [
        (
            "conservation",
            failed_if(!conservation.ok, || {
                format!(
                    "{} completions in the histograms, {} over the intervals",
                    conservation.completions, conservation.interval_completions
                )
            }),
        ),
        ("littles_law", littles_law(point)),
        ("no_io_errors", failed_if(failed > 0, || errors(point, failed))),
        (
            "ran_to_its_end",
            failed_if(point.ended_early.is_some(), || {
                format!("ended early: {}", point.ended_early.as_deref().unwrap_or_default())
            }),
        ),
    ]
    .map(|(name, outcome)| Check { name: name.to_owned(), outcome })
    .to_vec()
}

fn failed_if(failed: bool, message: impl FnOnce() -> String) -> Outcome {
    if failed { Outcome::Failed(message()) } else { Outcome::Passed }
}

fn littles_law(point: &PointResult) -> Outcome {
    let law = &point.checks.littles_law;
    match law.judgement {
        Judgement::Ok => Outcome::Passed,
        Judgement::Off => Outcome::Failed(format!(
            "{} outstanding, but rate x mean latency is {:.2} ({:+.1} %)",
            law.outstanding,
            law.rate_times_mean,
            law.deviation * 100.0
        )),
        Judgement::NotJudged => Outcome::Skipped(law.reason.clone().unwrap_or_default()),
    }
}

fn errors(point: &PointResult, failed: u64) -> String {
    let each = point.errors.iter().map(|error| {
        let op = error.op;
        format!("{op} of {} on {}, {}: {}", error.workload, error.target, error.status, error.count)
    });
    format!("{failed} I/Os failed: {}", each.collect::<Vec<_>>().join("; "))
}
