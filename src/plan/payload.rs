//! What the writes of a workload carry, resolved: every default filled in.
//!
//! Owns the shape that the result keeps. Knows neither how the bytes are made nor any device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{Op, PayloadSpec, Scope, Workload};
use crate::units::Bytes;

/// What the writes of a workload carry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PayloadPlan {
    /// Nothing but zeroes.
    Zeroes,
    /// Bytes that can be reduced as far as stated.
    Made(ReductionPlan),
}

/// How far a payload can be reduced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReductionPlan {
    /// Ratio N:1 by which it compresses.
    pub compression: f64,
    /// Ratio N:1 of units to different ones.
    pub dedupe: f64,
    /// Bytes of a unit of dedupe; divides the block size.
    pub unit: Bytes,
    /// Between which targets duplicates are shared.
    pub scope: Scope,
}

/// The payload of a workload; none of one that never writes.
pub(super) fn resolve_payload(workload: &Workload) -> Option<PayloadPlan> {
    let made = |spec| match spec {
        PayloadSpec::Zeroes => PayloadPlan::Zeroes,
        PayloadSpec::Made(reduction) => PayloadPlan::Made(ReductionPlan {
            compression: reduction.compression(),
            dedupe: reduction.dedupe(),
            unit: reduction.unit(workload.write_grain()),
            scope: reduction.scope(),
        }),
    };
    (workload.share(Op::Write) > 0.0).then(|| made(workload.payload()))
}
