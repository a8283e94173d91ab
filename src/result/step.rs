//! What a point of a campaign has of its own: the settings that make it, and the plan they come to.
//!
//! Owns these types, and how a point is called among others. Knows not which point comes next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::headroom::Headroom;
use super::point::PointResult;
use crate::plan::Plan;
use crate::spec::Setting;
use crate::units::{parse_rate, parse_size};

/// The settings of a point, beyond what the whole run has in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepResult {
    /// Number of the step among those of the job, from 0, in the order of the sweep's lists.
    pub number: usize,
    /// The fields of the sweep with their values, in the sweep's order.
    pub settings: Vec<SettingResult>,
    /// Which repeat it is, from 1; with rounds the number of the round.
    pub repeat: u32,
    /// What it was run for.
    pub role: Role,
    /// What was driven.
    pub plan: Plan,
    /// The generator's ceiling for this plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
}

/// A field and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingResult {
    /// The field of the job, or `percent_of_max`; `small` and `large` of an ORION test.
    pub field: String,
    /// Its value, as a job has it.
    pub value: String,
}

impl From<&Setting> for SettingResult {
    fn from(setting: &Setting) -> Self {
        Self { field: setting.field.clone(), value: setting.text() }
    }
}

/// What a point of a campaign was run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is one of the job's points.
    Point,
    /// To find the highest rate: a closed loop as deep as the open loops may get.
    Max,
    /// It is a load that a search tried.
    Tried,
}

/// The fields that a point's load tells anyway.
const LOADS: [&str; 3] = ["queue_depth", "outstanding", "rate"];

impl StepResult {
    /// The settings but for the load, in words: `block_size 8k, targets 2`; empty where the load is all.
    #[must_use]
    pub fn series(&self) -> String {
        series(&self.settings)
    }
}

/// Settings but for loads, in words.
#[must_use]
pub fn series(settings: &[SettingResult]) -> String {
    let others = settings.iter().filter(|setting| !LOADS.contains(&setting.field.as_str()) && setting.field != PERCENT);
    others.map(|setting| format!("{} {}", setting.field, setting.value)).collect::<Vec<_>>().join(", ")
}

/// The setting of a point whose rate is a share of the highest one.
pub const PERCENT: &str = "percent_of_max";

/// What a point of ORION's is called by: its numbers of outstanding small and large I/Os, which are loads too.
const CELL: [&str; 2] = ["small", "large"];

/// Where a point stands on its curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The load, or the value of the field that the curve is about: a number, bytes, or per cent.
    pub value: f64,
    /// The field, where it is another than the load.
    pub field: Option<String>,
}

/// The setting that a curve is about where it is no load: the last one of the sweep, if its value is a number.
fn axis(step: &StepResult) -> Option<(f64, &SettingResult)> {
    let last = step.settings.last().filter(|_| step.role == Role::Point)?;
    if LOADS.contains(&last.field.as_str()) || last.field == PERCENT {
        return None;
    }
    let text = last.value.trim();
    let number = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    let as_load = || parse_rate(text).ok().map(|rate| rate as f64);
    let as_size = || parse_size(text).ok().map(|size| size.0 as f64);
    let named = if is_load_by_path(&last.field) { as_load() } else { as_size() };
    Some((number.or(named)?, last))
}

/// Whether a path leads to the load of one workload.
fn is_load_by_path(field: &str) -> bool {
    field.rsplit_once('.').is_some_and(|(_, last)| LOADS.contains(&last))
}

impl PointResult {
    /// Where it stands on its curve.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.step.as_deref().and_then(axis) {
            Some((value, setting)) => {
                let field = Some(setting.field.clone()).filter(|field| !CELL.contains(&field.as_str()));
                Place { value, field }
            }
            None => match self.percent_of_max().filter(|_| !self.load.is_common()) {
                Some(percent) => Place { value: percent, field: Some(PERCENT.to_owned()) },
                None => Place { value: self.load.number(), field: None },
            },
        }
    }

    /// What its curve is called: the settings that all of the curve have in common; empty where there is but one.
    #[must_use]
    pub fn curve(&self) -> String {
        let Some(step) = &self.step else { return String::new() };
        let Some((_, axis)) = axis(step) else { return step.series() };
        let others = step.settings.iter().filter(|setting| *setting != axis);
        others.map(|setting| format!("{} {}", setting.field, setting.value)).collect::<Vec<_>>().join(", ")
    }

    /// What it is called: its load, and before that the settings that are its own.
    #[must_use]
    pub fn label(&self) -> String {
        let load = match &self.step {
            Some(step) if step.role == Role::Max => format!("highest rate, {}", self.load),
            _ => match self.percent_of_max().filter(|_| !self.load.is_common()) {
                Some(percent) => format!("{percent} % of the highest rate"),
                None => self.load.to_string(),
            },
        };
        match self.series() {
            series if series.is_empty() => load,
            series => format!("{series}, {load}"),
        }
    }

    /// Which share of the highest rate it offers, in per cent, where it was asked for so.
    #[must_use]
    pub fn percent_of_max(&self) -> Option<f64> {
        let settings = self.step.iter().flat_map(|step| &step.settings);
        settings.filter(|setting| setting.field == PERCENT).find_map(|setting| setting.value.parse().ok())
    }

    /// The settings but for the load that are its own, in words; points that agree in them make one curve.
    #[must_use]
    pub fn series(&self) -> String {
        self.step.as_ref().map_or_else(String::new, |step| step.series())
    }

    /// Whether it belongs to a curve: it was not run only to find the highest rate.
    #[must_use]
    pub fn is_of_curve(&self) -> bool {
        self.step.as_ref().is_none_or(|step| step.role != Role::Max)
    }
}
