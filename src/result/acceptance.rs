//! What the job has to fulfil, judged: accepted, not accepted, or not judged, point by point.
//!
//! Owns the judgement. A pure function of job, plan and points; what could not be judged is not accepted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::campaign::CampaignResult;
use super::checks::Steadiness;
use super::figure::NoFigure;
use super::point::{PointLoad, PointResult};
use crate::plan::{Op, Plan};
use crate::spec::{Accept, At, Condition, Figure, Measure, Relation};

/// One thing that had to hold, and whether it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Acceptance {
    /// What, as a job would say it: `p99.9 read <= 500us at 64`.
    pub that: String,
    /// Whether it held.
    pub outcome: Accepted,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
    /// Unit of the values; none where there are none.
    pub unit: Option<Unit>,
    /// Whether one point that keeps to it is enough.
    pub any: bool,
    /// Position in `points` of the one that decides: the best where one is enough, else the worst; none without values.
    pub decisive: Option<usize>,
    /// The points it is about, in order.
    pub points: Vec<JudgedPoint>,
}

/// What became of it at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedPoint {
    /// The point: position in the points of the plan.
    pub point: usize,
    /// Its load.
    pub load: PointLoad,
    /// The settings but for the load that are its own in a campaign; empty without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub series: String,
    /// The operation that `value` is of, where the condition names none: the worse one.
    pub op: Option<Op>,
    /// What was found; none when there is no such figure.
    pub value: Option<f64>,
    /// Whether it held here.
    pub outcome: Accepted,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
}

impl JudgedPoint {
    /// What the point is called: its settings and its load.
    #[must_use]
    pub fn label(&self) -> String {
        if self.series.is_empty() { self.load.to_string() } else { format!("{}, {}", self.series, self.load) }
    }
}

/// Outcome of an acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Accepted {
    /// It held.
    Passed,
    /// It did not.
    Failed,
    /// It could not be judged, which is not accepted.
    NotJudged,
}

/// Unit of the values of an acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// I/Os a second.
    PerS,
    /// Bytes a second.
    BytesPerS,
    /// Nanoseconds.
    Ns,
    /// A number of I/Os.
    Count,
    /// Per cent.
    PerCent,
}

impl Unit {
    fn of(measure: Measure) -> Self {
        match measure {
            Measure::Iops => Self::PerS,
            Measure::BytesPerS => Self::BytesPerS,
            Measure::Mean | Measure::Max | Measure::Percentile(_) => Self::Ns,
            Measure::Errors => Self::Count,
            Measure::Cpu => Self::PerCent,
        }
    }
}

/// Judges all that `job` has to fulfil by `points`, those of `plan` that were begun.
pub(super) fn judge(
    job: &serde_json::Value,
    plan: &Plan,
    campaign: Option<&CampaignResult>,
    points: &[PointResult],
) -> Vec<Acceptance> {
    let Some(accept) = job.get("accept") else { return Vec::new() };
    let accept: Vec<Accept> = match serde_json::from_value(accept.clone()) {
        Ok(accept) => accept,
        Err(error) => return vec![unreadable(accept, &error.to_string())],
    };
    let mut judged: Vec<Acceptance> = Vec::new();
    for one in accept.iter().map(|accept| of(accept, plan, campaign, points)) {
        // Job and flag may say the same.
        if judged.iter().all(|other| other.that != one.that) {
            judged.push(one);
        }
    }
    judged
}

/// Cannot be, since a job is read before it runs; but what could not be judged must not pass in silence.
fn unreadable(accept: &serde_json::Value, error: &str) -> Acceptance {
    let reason = Some(format!("the job's `accept` cannot be read ({error})"));
    let (that, outcome) = (accept.to_string(), Accepted::NotJudged);
    Acceptance { that, outcome, reason, unit: None, any: false, decisive: None, points: Vec::new() }
}

fn of(accept: &Accept, plan: &Plan, campaign: Option<&CampaignResult>, points: &[PointResult]) -> Acceptance {
    let names: Vec<&str> = plan.workloads.iter().map(|workload| workload.name.as_str()).collect();
    let judged: Vec<JudgedPoint> = match campaign {
        None => {
            let mine = (0..plan.points.len()).filter(|index| accept.covers(&plan.points[*index].loads, &names));
            mine.map(|index| match points.get(index) {
                Some(point) => at(&accept.that, index, point),
                None => not_run(index, PointLoad::of(plan, index)),
            })
            .collect()
        }
        Some(_) => {
            let loads = |point: &PointResult| point.workloads.iter().map(|workload| workload.load).collect::<Vec<_>>();
            let mine = points.iter().enumerate().filter(|(_, point)| point.is_of_curve());
            let mine = mine.filter(|(_, point)| accept.covers(&loads(point), &names) && may_have(point, accept));
            mine.map(|(index, point)| at(&accept.that, index, point)).collect()
        }
    };
    let any = accept.at == At::Any;
    let (mut outcome, mut reason) = overall(&judged, any);
    // A point to come may break what all have to keep, and keep what one has to.
    let open = campaign.is_some_and(|campaign| !campaign.finished);
    let decided = if any { Accepted::Passed } else { Accepted::Failed };
    if open && outcome != decided {
        (outcome, reason) = (Accepted::NotJudged, Some("the campaign is not finished".to_owned()));
    }
    let unit = match &accept.that {
        Condition::Steady => None,
        Condition::Bound { figure, .. } => Some(Unit::of(figure.measure)),
    };
    let decisive = decisive(accept, &judged, outcome);
    Acceptance { that: accept.to_string(), outcome, reason, unit, any, decisive, points: judged }
}

/// Whether a step does what the condition is about: a sweep over shares of reads has steps without any.
fn may_have(point: &PointResult, accept: &Accept) -> bool {
    let (Condition::Bound { figure, .. }, Some(step)) = (&accept.that, &point.step) else { return true };
    let mine = |name: &str| figure.workload.as_deref().is_none_or(|asked| asked == name);
    let mut workloads = step.plan.workloads.iter().filter(|workload| mine(&workload.name));
    figure.op.is_none_or(|op| workloads.any(|workload| workload.does(op)))
}

fn not_run(point: usize, load: PointLoad) -> JudgedPoint {
    let reason = Some("it was not run".to_owned());
    JudgedPoint { point, load, series: String::new(), op: None, value: None, outcome: Accepted::NotJudged, reason }
}

/// One failure decides over all, one success over any; else one point that was not judged leaves it open.
fn overall(judged: &[JudgedPoint], any: bool) -> (Accepted, Option<String>) {
    let is = |outcome: Accepted| move |point: &&JudgedPoint| point.outcome == outcome;
    let (decides, otherwise) = match any {
        true => (Accepted::Passed, Accepted::Failed),
        false => (Accepted::Failed, Accepted::Passed),
    };
    if judged.iter().any(|point| point.outcome == decides) {
        return (decides, None);
    }
    match judged.iter().find(is(Accepted::NotJudged)) {
        Some(open) => {
            let reason = open.reason.as_deref().unwrap_or("no reason given");
            (Accepted::NotJudged, Some(format!("{}: {reason}", open.label())))
        }
        None if judged.is_empty() => (Accepted::NotJudged, Some("no point has this load".to_owned())),
        None => (otherwise, None),
    }
}

/// The point of the most extreme value among those that were judged; without values the first with this outcome.
fn decisive(accept: &Accept, judged: &[JudgedPoint], outcome: Accepted) -> Option<usize> {
    let Condition::Bound { relation, .. } = &accept.that else {
        let first = || judged.iter().position(|point| point.outcome == outcome);
        return (outcome != Accepted::NotJudged).then(first).flatten();
    };
    let greatest = relation.wants_less() != (accept.at == At::Any);
    let told = judged.iter().enumerate().filter(|(_, point)| point.outcome != Accepted::NotJudged);
    let told = told.filter_map(|(index, point)| Some((index, point.value?)));
    worse(told, greatest).map(|(index, _)| index)
}

/// The first of the greatest values, or of the least.
fn worse<T>(values: impl Iterator<Item = (T, f64)>, greatest: bool) -> Option<(T, f64)> {
    values.reduce(|a, b| if (b.1 > a.1) == greatest && b.1 != a.1 { b } else { a })
}

fn at(that: &Condition, index: usize, point: &PointResult) -> JudgedPoint {
    let (op, value, outcome, reason) = match that {
        Condition::Steady => steady(point),
        Condition::Bound { figure, relation, bound } => bounded(point, figure, *relation, *bound),
    };
    JudgedPoint { point: index, load: point.load, series: point.series(), op, value, outcome, reason }
}

type Found = (Option<Op>, Option<f64>, Accepted, Option<String>);

/// Whether a point keeps a condition: its value, the judgement, and why it could not be judged.
#[must_use]
pub fn judged(that: &Condition, point: &PointResult) -> (Option<f64>, Accepted, Option<String>) {
    let JudgedPoint { value, outcome, reason, .. } = at(that, 0, point);
    (value, outcome, reason)
}

fn steady(point: &PointResult) -> Found {
    let state = &point.checks.steady_state;
    let (outcome, reason) = match state.judgement {
        Steadiness::Steady => (Accepted::Passed, None),
        Steadiness::Unsteady => (Accepted::Failed, None),
        Steadiness::NotJudged => {
            let why = state.reason.as_deref().unwrap_or("too few completions");
            (Accepted::NotJudged, Some(format!("steady state was not judged: {why}")))
        }
    };
    (None, None, outcome, reason)
}

fn bounded(point: &PointResult, figure: &Figure, relation: Relation, bound: f64) -> Found {
    let (op, value) = match value(point, figure, relation) {
        Ok(found) => found,
        Err(none) => return (None, None, Accepted::NotJudged, Some(none)),
    };
    let holds = relation.holds(value, bound);
    // Errors that were counted stay counted, however the point ended.
    let certain = figure.measure == Measure::Errors && !holds && relation.wants_less();
    let doubt = match &point.ended_early {
        Some(why) => Some(format!("it ended early ({why})")),
        None => (!point.checks.conservation.ok).then(|| "conservation is violated".to_owned()),
    };
    match doubt.filter(|_| !certain) {
        Some(doubt) => (op, Some(value), Accepted::NotJudged, Some(doubt)),
        None => (op, Some(value), if holds { Accepted::Passed } else { Accepted::Failed }, None),
    }
}

/// The value that decides here, and its operation where the figure names none.
fn value(point: &PointResult, figure: &Figure, relation: Relation) -> Result<(Option<Op>, f64), String> {
    let ops = point.ops_of(figure).map_err(|none| none.to_string())?;
    let mut values = Vec::new();
    let mut closed = None;
    for op in ops {
        match point.value(&Figure { op, ..figure.clone() }) {
            Ok(value) => values.push((op.filter(|_| figure.op.is_none()), value)),
            // Of the operations of open and closed loops beside each other, those with a response are meant.
            Err(none @ NoFigure::Closed) if figure.op.is_none() => closed = Some(none),
            Err(none) => return Err(none.to_string()),
        }
    }
    let none = || closed.map_or("no I/O completed".to_owned(), |none| none.to_string());
    worse(values.into_iter(), relation.wants_less()).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(outcomes: &[(Accepted, f64)]) -> Vec<JudgedPoint> {
        let load = PointLoad { queue_depth: Some(1), outstanding: None, rate_per_s: None, total_outstanding: 1 };
        let one = |(point, (outcome, value)): (usize, &(Accepted, f64))| {
            let reason = (*outcome == Accepted::NotJudged).then(|| "it was not run".to_owned());
            JudgedPoint { point, load, series: String::new(), op: None, value: Some(*value), outcome: *outcome, reason }
        };
        outcomes.iter().enumerate().map(one).collect()
    }

    #[test]
    fn one_failure_decides_over_all_and_one_success_over_any() {
        use Accepted::{Failed, NotJudged, Passed};
        for (outcomes, all, any) in [
            (&[Passed, Passed][..], Passed, Passed),
            (&[Passed, Failed], Failed, Passed),
            (&[Failed, Failed], Failed, Failed),
            (&[Passed, NotJudged], NotJudged, Passed),
            (&[Failed, NotJudged], Failed, NotJudged),
            (&[NotJudged], NotJudged, NotJudged),
            (&[], NotJudged, NotJudged),
        ] {
            let points: Vec<_> = outcomes.iter().map(|outcome| (*outcome, 0.0)).collect();
            let points = judged(&points);
            assert_eq!((overall(&points, false).0, overall(&points, true).0), (all, any), "{outcomes:?}");
            let reason = overall(&points, false).1;
            assert_eq!(reason.is_some(), all == NotJudged, "{reason:?}");
        }
        assert_eq!(overall(&judged(&[(NotJudged, 0.0)]), false).1.as_deref(), Some("QD 1: it was not run"));
    }

    #[test]
    fn the_decisive_point_is_the_worst_or_where_one_is_enough_the_best() {
        use Accepted::{Failed, NotJudged, Passed};
        let points = judged(&[(Passed, 5.0), (Failed, 9.0), (Failed, 9.0), (Passed, 1.0), (NotJudged, 99.0)]);
        let decides = |text: &str| decisive(&text.parse().unwrap(), &points, Failed);
        assert_eq!(decides("p99 <= 6ns"), Some(1));
        assert_eq!(decides("p99 <= 6ns at any"), Some(3));
        assert_eq!(decides("iops >= 6"), Some(3));
        assert_eq!(decides("iops >= 6 at any"), Some(1));
        assert_eq!(decides("steady"), Some(1));
        assert_eq!(decisive(&"iops >= 6".parse().unwrap(), &[], NotJudged), None);
    }
}
