//! How far a campaign has come.
//!
//! Owns the type. What belongs to a campaign is told by the job, which point comes next by `campaign`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run whose points are steps of a campaign: each has a plan of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CampaignResult {
    /// Points that are planned; none where that depends on what is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    /// Whether every point was run that had to be.
    pub finished: bool,
    /// What was left out and why, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
