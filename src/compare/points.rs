//! Which point of one run belongs to which of another.
//!
//! Owns the matching: by load, and among points of one load by their order; in pairs, whose loads may be what differs, by
//! their order alone. Knows no figure.

use std::collections::BTreeSet;

use super::{CompareError, Design, Run, Side};
use crate::plan::Load;
use crate::result::PointResult;

/// A point of the base and what it is compared with.
#[derive(Debug, Clone)]
pub(super) struct Matched<'a> {
    /// Position among the points of the base.
    pub number: usize,
    /// Its load, in words; both where they differ.
    pub load: String,
    /// The point in each run of the base.
    pub base: Vec<At<'a>>,
    /// The point in each run of the other side.
    pub new: Vec<At<'a>>,
}

/// A point of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    /// The run.
    pub run: Run<'a>,
    /// Index of the point in it.
    pub index: usize,
    /// The point.
    pub point: &'a PointResult,
}

/// The settings of a point, the loads of its workloads, and which of the points with these it is.
type Key = (String, Vec<Load>, usize);

/// A point that only one side has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Its load, in words.
    pub load: String,
    /// What to say of it.
    pub reason: String,
}

/// The points that both sides have, and those that one has. Adds to `notes` what is left out.
pub(super) fn matched<'a>(
    base: &Side<'a>,
    new: &Side<'a>,
    design: Design,
    notes: &mut Vec<String>,
) -> Result<(Vec<Matched<'a>>, Vec<LeftOut>), CompareError> {
    for side in [base, new] {
        if side.runs.is_empty() || side.runs.iter().any(|run| run.result.points.is_empty()) {
            return Err(CompareError::NoPoint(side.label.clone()));
        }
    }
    if design == Design::Paired && base.runs.len() != new.runs.len() {
        return Err(CompareError::Partners {
            base: base.label.clone(),
            new: new.label.clone(),
            base_runs: base.runs.len(),
            new_runs: new.runs.len(),
        });
    }
    let by_load = by_load(base, new);
    let by_order = match design {
        Design::Paired => true,
        // One load against one other is a question too.
        Design::Unpaired => by_load.is_empty() && [base, new].iter().all(|side| side.runs.iter().all(one_point)),
    };
    let matched = if by_order { self::by_order(base, new, notes) } else { by_load };
    if matched.is_empty() {
        return Err(CompareError::NoLoad {
            base: base.label.clone(),
            new: new.label.clone(),
            base_loads: loads(base),
            new_loads: loads(new),
        });
    }
    let mut left = Vec::new();
    if !by_order {
        for (side, other) in [(base, new), (new, base)] {
            left.extend(left_out(side, other, &matched, notes));
        }
        for point in &matched {
            for (side, at) in [(base, &point.base), (new, &point.new)] {
                if at.len() < side.runs.len() {
                    let (of, all) = (at.len(), side.runs.len());
                    notes.push(format!("{}: only {of} of {all} runs of {} have it", point.load, side.label));
                }
            }
        }
    }
    Ok((matched, left))
}

fn one_point(run: &Run<'_>) -> bool {
    run.result.points.len() == 1
}

fn by_load<'a>(base: &Side<'a>, new: &Side<'a>) -> Vec<Matched<'a>> {
    let [of_base, of_new] = [base, new].map(|side| side.runs.iter().map(|run| (*run, keys(run))).collect::<Vec<_>>());
    let find = |runs: &[(Run<'a>, Vec<Key>)], key: &Key| -> Vec<At<'a>> {
        let at = |(run, keys): &(Run<'a>, Vec<Key>)| {
            let index = keys.iter().position(|other| other == key)?;
            Some(At { run: *run, index, point: &run.result.points[index] })
        };
        runs.iter().filter_map(at).collect()
    };
    let mut seen: Vec<&Key> = Vec::new();
    let mut matched = Vec::new();
    for key in of_base.iter().flat_map(|(_, keys)| keys) {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let (base, new) = (find(&of_base, key), find(&of_new, key));
        if let (Some(first), false) = (base.first(), new.is_empty()) {
            matched.push(Matched { number: seen.len() - 1, load: first.point.label(), base, new });
        }
    }
    matched
}

fn by_order<'a>(base: &Side<'a>, new: &Side<'a>, notes: &mut Vec<String>) -> Vec<Matched<'a>> {
    let runs = || base.runs.iter().chain(&new.runs);
    let most = runs().map(|run| run.result.points.len()).max().unwrap_or(0);
    let fewest = runs().map(|run| run.result.points.len()).min().unwrap_or(0);
    if fewest < most {
        notes.push(format!("not every run has all {most} points; only the first {fewest} of each are compared"));
    }
    let at = |side: &Side<'a>, index: usize| -> Vec<At<'a>> {
        side.runs.iter().map(|run| At { run: *run, index, point: &run.result.points[index] }).collect()
    };
    let of = |index| {
        let (base, new) = (at(base, index), at(new, index));
        let [a, b] = [&base, &new].map(|side| side[0].point.label());
        Matched { number: index, load: if a == b { a } else { format!("{a} against {b}") }, base, new }
    };
    (0..fewest).map(of).collect()
}

fn keys(run: &Run<'_>) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for point in &run.result.points {
        // Shares of what each run reached are the same question, whatever rates they came to.
        let percent = point.percent_of_max();
        let series = percent.map_or_else(|| point.series(), |percent| format!("{}, {percent} %", point.series()));
        let of_max = percent.is_some() || !point.is_of_curve();
        let loads: Vec<Load> = point.workloads.iter().filter(|_| !of_max).map(|workload| workload.load).collect();
        let before = keys.iter().filter(|(known, other, _)| *known == series && *other == loads).count();
        keys.push((series, loads, before));
    }
    keys
}

/// The points of `side` that are in no run of `other`, which is said.
fn left_out(side: &Side<'_>, other: &Side<'_>, matched: &[Matched<'_>], notes: &mut Vec<String>) -> Vec<LeftOut> {
    let used = |point: &PointResult| {
        let all = matched.iter().flat_map(|m| m.base.iter().chain(&m.new));
        all.into_iter().any(|at| std::ptr::eq(at.point, point))
    };
    let points = side.runs.iter().flat_map(|run| &run.result.points);
    let left: BTreeSet<String> = points.filter(|point| !used(point)).map(|point| point.label()).collect();
    if !left.is_empty() {
        let left = left.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        notes.push(format!("only {} has {left}; compared is what {} has too", side.label, other.label));
    }
    let reason = format!("only {} has this point", side.label);
    left.into_iter().map(|load| LeftOut { load, reason: reason.clone() }).collect()
}

fn loads(side: &Side<'_>) -> String {
    let points = side.runs.iter().flat_map(|run| &run.result.points);
    let loads: BTreeSet<String> = points.map(words).collect();
    loads.into_iter().collect::<Vec<_>>().join(", ")
}

/// The loads of a point's workloads, in full.
pub(super) fn words(point: &PointResult) -> String {
    let loads: Vec<String> = point.workloads.iter().map(|workload| workload.load.to_string()).collect();
    match loads.split_first() {
        Some((first, rest)) if rest.iter().all(|load| load == first) => first.clone(),
        _ => loads.join(" + "),
    }
}
