//! Which figures are compared, and their values in each run.
//!
//! Owns the choice. Rates that follow from another one (bytes from I/Os, one operation's from both) and the use of
//! processors are told without a word, so that the others need no stricter proof for their sake.

use super::judge::Sample;
use super::limit::Limit;
use super::points::{At, Matched};
use super::{CompareError, Design, within};
use crate::result::{NoFigure, PointResult};
use crate::spec::{Figure, Measure};

/// The latencies that are compared.
const LATENCIES: [Measure; 4] =
    [Measure::Mean, Measure::Percentile(50.0), Measure::Percentile(99.0), Measure::Percentile(99.9)];

/// All samples of matched points, the figures of `limits` among them.
pub(super) fn samples(
    matched: &[Matched<'_>],
    limits: &[Limit],
    design: Design,
    notes: &mut Vec<String>,
) -> Result<Vec<Sample>, CompareError> {
    let mut samples = Vec::new();
    for matched in matched {
        let first = matched.base[0].point;
        let mut asked = usual(first);
        for limit in limits {
            for figure in of_limit(limit, matched)? {
                match asked.iter_mut().find(|(known, _)| *known == figure) {
                    Some((_, judged)) => *judged = true,
                    None => asked.push((figure, true)),
                }
            }
        }
        for (figure, judged) in asked {
            let values = |side: &[At<'_>]| -> Vec<f64> {
                side.iter().filter_map(|at| at.point.value(&figure).ok()).filter(|value| *value > 0.0).collect()
            };
            let (base, new) = (values(&matched.base), values(&matched.new));
            let all = base.len() == matched.base.len() && new.len() == matched.new.len();
            if !all && judged {
                notes.push(format!("{}: not every run has {figure} above 0", matched.load));
            }
            if base.is_empty() || new.is_empty() || (design == Design::Paired && !all) {
                continue;
            }
            let single = |side: &[At<'_>]| match side {
                [one] => one.run.series.and_then(|series| within::error(series, one.index, one.point, &figure)),
                _ => None,
            };
            let within = [single(&matched.base), single(&matched.new)];
            let paired = design == Design::Paired;
            let (point, load) = (matched.number, matched.load.clone());
            let sound = all && matched.base.iter().chain(&matched.new).all(|at| is_whole(at.point));
            samples.push(Sample { point, load, figure, base, new, paired, within, judged, sound });
        }
    }
    Ok(samples)
}

/// Whether the figures of a point are those of its whole window.
fn is_whole(point: &PointResult) -> bool {
    (point.ended_early.is_none() || point.overloaded) && point.checks.conservation.ok
}

/// The figures of every comparison, and whether there is a word on each.
fn usual(point: &PointResult) -> Vec<(Figure, bool)> {
    let mut figures = Vec::new();
    let mut of = |workload: Option<String>| {
        let figure = |measure| Figure { workload: workload.clone(), measure, op: None, kind: None };
        figures.push((figure(Measure::Iops), true));
        figures.push((figure(Measure::BytesPerS), false));
        for op in point.ops_of(&figure(Measure::Mean)).unwrap_or_default() {
            figures.extend(LATENCIES.map(|measure| (Figure { op, ..figure(measure) }, true)));
        }
    };
    of(None);
    if point.workloads.len() > 1 {
        point.workloads.iter().for_each(|workload| of(Some(workload.name.clone())));
    }
    figures.push((Figure { workload: None, measure: Measure::Cpu, op: None, kind: None }, false));
    figures
}

/// The figures that a limit is about at a point: one for each operation where it names none.
pub(super) fn of_limit(limit: &Limit, matched: &Matched<'_>) -> Result<Vec<Figure>, CompareError> {
    let lacks = |reason: NoFigure| CompareError::NoFigure {
        figure: limit.figure.to_string(),
        reason: format!("{}: {reason}", matched.load),
    };
    let mut figures: Vec<Figure> = Vec::new();
    let mut lacking = None;
    for at in matched.base.iter().chain(&matched.new) {
        for op in at.point.ops_of(&limit.figure).map_err(lacks)? {
            let figure = Figure { op, ..limit.figure.clone() };
            match at.point.value(&figure) {
                Ok(_) if !figures.contains(&figure) => figures.push(figure),
                Ok(_) => {}
                Err(reason) => lacking = Some(reason),
            }
        }
    }
    // What no run has is a limit on nothing; what some have not is seen when they are compared.
    match lacking {
        Some(reason) if figures.is_empty() => Err(lacks(reason)),
        _ => Ok(figures),
    }
}
