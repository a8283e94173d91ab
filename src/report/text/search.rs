//! What was searched for, in text: the answer, and the loads that were tried on the way.
//!
//! Owns the wording of the trace; the sentence of the answer is the result's.

use crate::report::columns::decimal;
use crate::result::{Accepted, RunResult, SearchResult, Tried};
use crate::units::format_count;

/// A line for each search.
#[must_use]
pub fn found(result: &RunResult) -> String {
    result.search.iter().map(|search| format!("search: {}\n", search.says)).collect()
}

/// What became of a try, in words.
pub(in crate::report) fn outcome(tried: &Tried) -> &'static str {
    match (tried.outcome, tried.disturbed) {
        (Accepted::Passed, _) => "kept",
        (Accepted::Failed, false) => "broken",
        (Accepted::Failed, true) => "broken, while other programs had the core",
        (Accepted::NotJudged, _) => "not judged",
    }
}

/// The answers, each with a line for every load that was tried.
pub(super) fn trace(result: &RunResult) -> String {
    result.search.iter().map(of_search).collect()
}

fn of_search(search: &SearchResult) -> String {
    let mut out = String::new();
    line!(&mut out, "  {}", search.says);
    if let Some(max) = search.max_iops {
        line!(&mut out, "      highest rate in a closed loop: {} IOPS a workload", format_count(max.round() as u64));
    }
    for (number, tried) in search.tried.iter().enumerate() {
        let word = outcome(tried);
        let share = tried.of_limit.map(|share| format!(", {} % of the limit", decimal(share * 100.0, 1)));
        let reason = tried.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        line!(
            &mut out,
            "      try {} at {} {}: {word}{}{reason}",
            number + 1,
            search.field,
            format_count(tried.load),
            share.unwrap_or_default()
        );
    }
    out
}
