//! The checks of a run by name, each passed, failed or not judged: what a test report and a metric are made of.
//!
//! Owns the list of a point's own checks and the sentences of their failures. Whoever has further checks, such as limits
//! to be kept, adds them to the suites.

use crate::report::accepted;
use crate::result::{Acceptance, Accepted, JudgedPoint, Judgement, PointResult, RunResult};

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

/// A suite for each point of the run that was begun, with what had to hold there; one for each that was not begun, if
/// something had to; and one of the run, for what had to hold at any of them.
#[must_use]
pub fn of_result(result: &RunResult) -> Vec<Suite> {
    let mut suites = Vec::new();
    for index in 0..result.planned().unwrap_or(0).max(result.points.len()) {
        let accepted = accepted_at(result, index);
        let (label, time_s, mut checks) = match (result.points.get(index), accepted.first()) {
            (Some(point), _) => (point.label(), point.window_s, of_point(point)),
            (None, Some((_, point))) => (point.label(), 0.0, Vec::new()),
            (None, None) => continue,
        };
        checks.extend(accepted.iter().map(|(acceptance, point)| accept(acceptance, point)));
        suites.push(Suite { name: format!("point {} ({label})", index + 1), time_s, checks });
    }
    let of_run = result.acceptances.iter().filter(|acceptance| acceptance.any || acceptance.points.is_empty());
    let checks: Vec<Check> = of_run.map(accept_of_run).collect();
    if !checks.is_empty() {
        suites.push(Suite { name: "run".to_owned(), time_s: 0.0, checks });
    }
    suites
}

/// What had to hold at a point.
fn accepted_at(result: &RunResult, index: usize) -> Vec<(&Acceptance, &JudgedPoint)> {
    let at_points = result.acceptances.iter().filter(|acceptance| !acceptance.any);
    at_points.filter_map(|a| Some((a, a.points.iter().find(|point| point.point == index)?))).collect()
}

fn accept(acceptance: &Acceptance, point: &JudgedPoint) -> Check {
    let outcome = match (point.outcome, &point.reason) {
        (Accepted::Passed, _) => Outcome::Passed,
        (Accepted::Failed, _) => Outcome::Failed(
            accepted::found(acceptance, point).map_or_else(|| "it is not".to_owned(), |v| format!("found {v}")),
        ),
        // What could not be judged is not accepted.
        (Accepted::NotJudged, reason) => {
            Outcome::Failed(format!("not judged: {}", reason.as_deref().unwrap_or("no reason given")))
        }
    };
    Check { name: name_of(acceptance), outcome }
}

fn accept_of_run(acceptance: &Acceptance) -> Check {
    let outcome = match acceptance.outcome {
        Accepted::Passed => Outcome::Passed,
        _ => Outcome::Failed(accepted::sentence(acceptance)),
    };
    Check { name: name_of(acceptance), outcome }
}

fn name_of(acceptance: &Acceptance) -> String {
    format!("accept: {}", acceptance.that)
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
