//! The result of a run: versioned plain data, in nanoseconds, bytes and seconds, that every report is made of.
//!
//! Owns the shape of `result.json` (`docs/formats.md`), the conversion from the engine's ticks, the checks each point
//! carries and the sentences they lead to. Does no I/O, knows no path and no way of showing a figure.

mod acceptance;
mod blank;
mod build;
mod campaign;
mod checks;
mod clock;
mod curve;
mod events;
mod figure;
mod footprint;
mod headroom;
mod host;
mod latency;
mod payload;
mod point;
mod precondition;
mod read;
mod search;
pub mod series;
mod step;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use acceptance::{Acceptance, Accepted, JudgedPoint, Unit, judged};
pub use blank::BlankReads;
pub use build::point;
pub use campaign::CampaignResult;
pub use checks::{
    ArrivalsCheck, Checks, Conservation, Judgement, LittlesLaw, Steadiness, SteadyFigure, SteadyState, Trending,
};
pub use clock::ClockResult;
pub use curve::{AtLoad, Curve, CurveFigure, CurveResult, KneeResult, StabilityFigure, curves};
pub use events::{EventBook, EventFigures, EventOutcome, EventResult};
pub use figure::NoFigure;
pub use headroom::{Bound, Headroom, PointVerdict};
pub use host::{CoreUse, HostUse, SiblingUse, WorkerUse};
pub use latency::Latency;
pub use payload::PayloadResult;
pub use point::{
    ArrivalsResult, CoreResult, ErrorResult, Figures, Footprint, OpFigures, PhaseCount, PointLoad, PointResult,
    TargetResult, WorkloadResult,
};
pub use precondition::{PreconditionResult, SteadyResult};
pub use read::{ResultError, from_json};
pub use search::{SearchOutcome, SearchResult, Tried};
pub use step::{PERCENT, Place, Role, SettingResult, StepResult, series as series_of};
pub use verdict::Mark;

use crate::facts::{DeviceFacts, HostFacts};
use crate::plan::Plan;

/// Version of the shape of `result.json`. It rises when a reader of the former shape would misread a field; fields that
/// are merely added leave it as it is.
pub const SCHEMA: u32 = 1;

/// A whole run: where it comes from, what was driven, what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Version of this shape, see [`SCHEMA`].
    pub schema: u32,
    /// The program that measured.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// The job as written, with the overrides of the command line.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub job: serde_json::Value,
    /// What was driven.
    pub plan: Plan,
    /// What was found.
    pub facts: Facts,
    /// The clock, checked over the run; none in results of earlier versions.
    #[serde(default)]
    pub clock: Option<ClockResult>,
    /// The generator's ceiling; none where there is no other than the run itself.
    #[serde(default)]
    pub headroom: Option<Headroom>,
    /// What a target could make of what was written, one entry for each workload that writes anything but zeroes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payload: Vec<PayloadResult>,
    /// How the targets were filled before the first point; none where the job does not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<PreconditionResult>,
    /// When a run that had been cut off was gone on with, RFC 3339 in UTC; empty as a rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed_at: Vec<String>,
    /// How far the campaign has come; none where all points are loads of one plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<CampaignResult>,
    /// What was searched for and found, one entry for each search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchResult>,
    /// One entry for each point that was begun, in order.
    pub points: Vec<PointResult>,
    /// What the points tell as curves over the load; empty with a single load, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveResult>,
    /// What the job has to fulfil and whether it did, in the job's order; none in results of earlier versions.
    #[serde(default)]
    pub acceptances: Vec<Acceptance>,
    /// What a reader must know before trusting the figures, one sentence each; empty when nothing stands against them.
    pub verdicts: Vec<String>,
}

/// The program that measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `rigel`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Version of the SPDK it was built with; empty when built without.
    pub spdk: String,
    /// Commit it was built from; empty when unknown.
    pub git: String,
}

/// What was found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The targets, in the order of the plan's targets.
    pub targets: Vec<DeviceFacts>,
    /// The machine that generated the load.
    pub host: HostFacts,
}

/// Where a result comes from: all of [`RunResult`] but what was measured at its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The program that measures.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// The job as written, without secrets.
    pub job: serde_json::Value,
    /// What is driven.
    pub plan: Plan,
    /// What was found.
    pub facts: Facts,
    /// The clock.
    pub clock: Option<ClockResult>,
    /// The generator's ceiling.
    pub headroom: Option<Headroom>,
    /// What a target could make of what is written.
    pub payload: Vec<PayloadResult>,
    /// When it was gone on with.
    pub resumed_at: Vec<String>,
    /// How far the campaign has come.
    pub campaign: Option<CampaignResult>,
}

impl RunResult {
    /// The result of a run that measured `points`, with the verdicts that follow from them.
    #[must_use]
    pub fn new(provenance: Provenance, mut points: Vec<PointResult>) -> Self {
        let Provenance { tool, started_at, command, job, plan, facts, clock, headroom, payload, resumed_at, campaign } =
            provenance;
        let virtual_time = facts.host.clock == "virtual";
        for point in &mut points {
            let own = point.step.as_ref().map(|step| (step.plan.clone(), step.headroom.clone()));
            let (plan, headroom) = own.as_ref().map_or((&plan, headroom.as_ref()), |(plan, own)| (plan, own.as_ref()));
            point.share_of_ceiling = headroom.map(|ceiling| point.total.iops / ceiling.null_iops);
            point.verdict = Some(headroom::verdict(point, (plan, &facts.targets), headroom, virtual_time));
        }
        let mut verdicts = clock.as_ref().map(ClockResult::sentences).unwrap_or_default();
        verdicts.extend(verdict::sentences(&plan, campaign.as_ref(), &points));
        let acceptances = acceptance::judge(&job, &plan, campaign.as_ref(), &points);
        verdicts.extend(blank::sentences(&plan, &facts.targets, &points));
        let curves = curve::judge(&points, PointResult::curve);
        Self {
            schema: SCHEMA,
            tool,
            started_at,
            command,
            job,
            plan,
            facts,
            clock,
            headroom,
            payload,
            precondition: None,
            resumed_at,
            campaign,
            search: Vec::new(),
            points,
            curves,
            acceptances,
            verdicts,
        }
    }

    /// The plan of a point, and which of its points it is.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn plan_of(&self, point: usize) -> (&Plan, usize) {
        self.points[point].step.as_ref().map_or((&self.plan, point), |step| (&step.plan, 0))
    }

    /// Points that were planned; none where that depends on what is measured.
    #[must_use]
    pub fn planned(&self) -> Option<usize> {
        self.campaign.as_ref().map_or(Some(self.plan.points.len()), |campaign| campaign.planned)
    }

    /// The same with what was searched for and found.
    #[must_use]
    pub fn searched(mut self, search: Vec<SearchResult>) -> Self {
        self.verdicts.extend(
            search
                .iter()
                .filter(|found| found.outcome == SearchOutcome::NotJudged || found.is_disturbed())
                .map(|s| s.says.clone()),
        );
        self.search = search;
        self
    }

    /// Whether all that the job has to fulfil was judged and holds.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.acceptances.iter().all(|acceptance| acceptance.outcome == Accepted::Passed)
    }

    /// Whether an event failed, took too long or was never begun.
    #[must_use]
    pub fn has_failed_events(&self) -> bool {
        self.points.iter().flat_map(|point| &point.events).any(|event| event.outcome.trouble.is_some())
    }

    /// Whether any I/O failed.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.points.iter().any(|p| !p.errors.is_empty())
    }
}
