//! What is said of a load curve, everywhere the same: its knee, and how erratic it is.
//!
//! Owns the wording. Every figure stands in the result.

use super::columns::{NONE, decimal};
use crate::result::{CurveFigure, CurveResult, KneeResult, StabilityFigure};
use crate::units::format_latency;

/// `knee at QD 16 (QD 8 to QD 32): 160,000 IOPS at a mean latency of 100.0 µs`, or why there is none.
pub(super) fn knee(curve: &CurveResult) -> String {
    let Some(KneeResult { load, iops, mean_ns, from, to }) = &curve.knee else {
        return format!("no knee: {}", curve.no_knee.as_deref().unwrap_or("no reason given"));
    };
    let range = if from == to { String::new() } else { format!(" ({from} to {to})") };
    format!("knee at {load}{range}: {} IOPS at a mean latency of {}", decimal(*iops, 0), format_latency(*mean_ns))
}

/// The heads of the columns of [`stability`].
pub(super) const STABILITY: [&str; 4] = ["figure", "repeats vary by", "at worst", "roughness"];

/// A row for each figure whose stability is told.
pub(super) fn stability(curve: &CurveResult) -> Vec<[String; 4]> {
    let share = |share: Option<f64>| share.map_or(NONE.to_owned(), |share| format!("{} %", decimal(share * 100.0, 1)));
    let row = |found: &StabilityFigure| {
        let op = found.op.map(|op| format!("{op} ")).unwrap_or_default();
        let figure = match found.figure {
            CurveFigure::Iops => "IOPS",
            CurveFigure::MeanNs => "mean latency",
            CurveFigure::P99Ns => "p99 latency",
        };
        [format!("{op}{figure}"), share(found.variation), share(found.variation_worst), share(found.roughness)]
    };
    curve.stability.iter().map(row).collect()
}
