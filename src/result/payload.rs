//! What a target could make of the payload of a workload. Owns its shape in the result; the figures are the audit's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::workload::payload::Audit;

/// The payload of a workload, audited by a sample of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadResult {
    /// The workload; what was asked for stands in its plan.
    pub workload: String,
    /// What was found in the sample.
    #[serde(flatten)]
    pub found: Audit,
}

impl PayloadResult {
    /// The payloads of a plan, those of zeroes left out; none in a build without compressors.
    #[must_use]
    #[cfg_attr(not(feature = "audit"), expect(unused_variables, reason = "nothing can be found without compressors"))]
    pub fn of(plan: &Plan) -> Vec<Self> {
        #[cfg(feature = "audit")]
        return plan
            .workloads
            .iter()
            .filter_map(|workload| {
                let payload =
                    workload.payload.filter(|payload| matches!(payload, crate::plan::PayloadPlan::Made(_)))?;
                let found = crate::workload::payload::sample(payload, plan.seed);
                Some(Self { workload: workload.name.clone(), found })
            })
            .collect();
        #[cfg(not(feature = "audit"))]
        Vec::new()
    }
}
