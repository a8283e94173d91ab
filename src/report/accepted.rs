//! What is said of an acceptance, everywhere the same: whether it held, and what decided.
//!
//! Owns the wording. Every judgement and every value stands in the result.

use super::columns::decimal;
use crate::result::{Acceptance, Accepted, JudgedPoint, Unit};
use crate::units::{format_count, format_latency};

/// `accepted: p99.9 read <= 500us (worst 412.3 µs at QD 32)`.
pub(super) fn sentence(acceptance: &Acceptance) -> String {
    let verdict = if acceptance.outcome == Accepted::Passed { "accepted" } else { "NOT accepted" };
    let reason = acceptance.reason.as_ref().map(|reason| format!("not judged, {reason}"));
    let told = reason.or_else(|| decided(acceptance)).map(|told| format!(" ({told})"));
    format!("{verdict}: {}{}", acceptance.that, told.unwrap_or_default())
}

/// `worst 412.3 µs at QD 32`.
fn decided(acceptance: &Acceptance) -> Option<String> {
    let point = acceptance.points.get(acceptance.decisive?)?;
    let extreme = if acceptance.any { "best" } else { "worst" };
    match found(acceptance, point) {
        Some(found) if acceptance.points.len() > 1 => Some(format!("{extreme} {found} at {}", point.label())),
        Some(found) => Some(format!("{found} at {}", point.label())),
        None if acceptance.outcome == Accepted::Failed => Some(format!("not at {}", point.label())),
        None => None,
    }
}

/// What was found at a point, in words: `412.3 µs`, and of which operation where that is not said.
pub(super) fn found(acceptance: &Acceptance, point: &JudgedPoint) -> Option<String> {
    let value = point.value?;
    let told = match acceptance.unit? {
        Unit::PerS => format!("{} IOPS", decimal(value, usize::from(value.fract() != 0.0))),
        Unit::BytesPerS => format!("{} MB/s", decimal(value / 1e6, 1)),
        Unit::Ns => format_latency(value),
        Unit::Count => format_count(value as u64),
        Unit::PerCent => format!("{} %", decimal(value, 1)),
    };
    Some(point.op.map_or(told.clone(), |op| format!("{told} of {op}s")))
}
