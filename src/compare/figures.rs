//! Which figures are compared, and their values in each run.
//!
//! Owns the choice. Rates that follow from another one (bytes from I/Os, one operation's from both) and the use of
//! processors are told without a word, so that the others need no stricter proof for their sake.

use super::judge::Sample;
use super::limit::Limit;
use super::points::{At, Matched};
use super::{CompareError, Design, within};
use crate::result::PointResult;
use crate::spec::{Figure, Measure};

/// The latencies that are compared.
const LATENCIES: [Measure; 4] =
    [Measure::Mean, Measure::Percentile(50.0), Measure::Percentile(99.0), Measure::Percentile(99.9)];

/// All samples of matched points, the figures of `limits` among them.
pub(super) fn samples(matched: &[Matched<'_>], limits: &[Limit], design: Design) -> Result<Vec<Sample>, CompareError> {
    let mut samples = Vec::new();
    for (point, matched) in matched.iter().enumerate() {
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
            if base.is_empty() || new.is_empty() || (design == Design::Paired && !all) {
                continue;
            }
            let single = |side: &[At<'_>]| match side {
                [one] => one.run.series.and_then(|series| within::error(series, one.index, one.point, &figure)),
                _ => None,
            };
            let within = [single(&matched.base), single(&matched.new)];
            let paired = design == Design::Paired;
            samples.push(Sample { point, load: matched.load.clone(), figure, base, new, paired, within, judged });
        }
    }
    Ok(samples)
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
fn of_limit(limit: &Limit, matched: &Matched<'_>) -> Result<Vec<Figure>, CompareError> {
    let lacks = |reason: String| CompareError::NoFigure { figure: limit.figure.to_string(), reason };
    let first = matched.base[0].point;
    let ops = first.ops_of(&limit.figure).map_err(|reason| lacks(reason.to_string()))?;
    let figures: Vec<Figure> = ops.into_iter().map(|op| Figure { op, ..limit.figure.clone() }).collect();
    for figure in &figures {
        for at in matched.base.iter().chain(&matched.new) {
            let value = at.point.value(figure).map_err(|reason| lacks(format!("{}: {reason}", matched.load)))?;
            // A ratio to nothing is none; the acceptances of a job take numbers as they are.
            if value <= 0.0 {
                return Err(lacks(format!("{}: it is 0, and nothing is so many per cent of 0", matched.load)));
            }
        }
    }
    Ok(figures)
}
