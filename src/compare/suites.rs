//! A comparison as the checks of a test report.
//!
//! Owns which of its words fail: a limit that is broken. What cannot be told is skipped, with the reason.

use super::{Cell, Comparison, LimitOutcome, LimitWord, Word};
use crate::report::export::{Check, Outcome, Suite};

/// One suite for each side and point, the limits first.
#[must_use]
pub fn suites(comparison: &Comparison) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    let mut put = |side: usize, load: &str, check: Check| {
        let name = format!("{} against {}, {load}", comparison.new[side].label, comparison.base.label);
        match suites.iter_mut().find(|suite| suite.name == name) {
            Some(suite) => suite.checks.push(check),
            None => suites.push(Suite { name, time_s: 0.0, checks: vec![check] }),
        }
    };
    for limit in &comparison.limits {
        put(limit.side, &limit.load, of_limit(limit));
    }
    for cell in &comparison.cells {
        if let Some(word) = cell.word {
            put(cell.side, &cell.load, of_cell(cell, word));
        }
    }
    suites
}

fn of_limit(limit: &LimitOutcome) -> Check {
    let found = found(limit);
    let outcome = match limit.word {
        LimitWord::Kept => Outcome::Passed,
        LimitWord::Broken => Outcome::Failed(format!("broken beyond doubt: {found}")),
        LimitWord::CannotTell => Outcome::Skipped(format!("cannot tell: {found}")),
    };
    Check { name: format!("limit {}", limit.limit), outcome }
}

fn of_cell(cell: &Cell, word: Word) -> Check {
    let outcome = match word {
        Word::Change | Word::NoChange => Outcome::Passed,
        Word::CannotTell { .. } => Outcome::Skipped(format!("{word}: {}", change(cell.change, cell.interval))),
    };
    Check { name: cell.figure.to_string(), outcome }
}

/// What was found of a limit, or why nothing was.
pub(super) fn found(limit: &LimitOutcome) -> String {
    let found = limit.change.map(|share| change(share, limit.interval));
    let told = [found, limit.reason.clone()];
    told.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `-2.31 % (-3.02 to -1.60 %)`.
pub(super) fn change(share: f64, interval: Option<(f64, f64)>) -> String {
    let change = format!("{:+.2} %", share * 100.0);
    match interval {
        Some((low, high)) => format!("{change} ({:+.2} to {:+.2} %)", low * 100.0, high * 100.0),
        None => change,
    }
}
