//! Steady state: whether rates and latencies were the same in all rounds of the window, reads and writes apart.
//!
//! Owns which figures are judged and when they can be. All workloads are taken together. The measures are those of
//! `stats`; the rounds come from the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::engine::record::{PointFigures, Round, RoundCell};
use crate::plan::{Op, Plan};
use crate::stats::{ROUNDS, Trend};
use crate::units::format_count;

/// Completions over all rounds from which on a figure is judged. With fewer, Poisson arrivals at a rate that never changes
/// would be called unsteady by chance in more than one window of forty.
const COMPLETIONS: u64 = 4_000;

/// Whether the window was steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyState {
    /// What follows: unsteady if any figure is, steady if any was judged and none is.
    pub judgement: Steadiness,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
    /// Length of each round, in seconds; 0 when no interval fell into it.
    pub rounds_s: [f64; ROUNDS],
    /// Reads and writes, each with its rate and mean latencies; those with a value in all rounds.
    pub by: Vec<SteadyFigure>,
}

/// One figure over the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyFigure {
    /// Reads or writes.
    pub op: Op,
    /// Which of their figures.
    pub figure: Trending,
    /// Whether it was steady; not judged with too few completions.
    pub judgement: Steadiness,
    /// Greatest less least round, as a share of the mean.
    pub range_share: f64,
    /// What the least-squares line gains over the rounds, as a share of the mean; negative if it falls.
    pub slope_share: f64,
    /// Mean of the rounds.
    pub mean: f64,
    /// Its value in each round.
    pub rounds: [f64; ROUNDS],
}

/// Outcome of the judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Steadiness {
    /// Range and slope are within their limits.
    Steady,
    /// One is beyond.
    Unsteady,
    /// The point does not allow the judgement.
    NotJudged,
}

/// The figures that are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trending {
    /// Good completions a second.
    Iops,
    /// Mean service latency, in nanoseconds.
    ServiceMeanNs,
    /// Mean response latency of the open loops, in nanoseconds.
    ResponseMeanNs,
}

impl Default for SteadyState {
    /// For results of a version that did not judge it.
    fn default() -> Self {
        Self::not_judged("no rounds were kept", [0.0; ROUNDS])
    }
}

impl SteadyState {
    pub(super) fn of(plan: &Plan, clock: &Clock, figures: &PointFigures) -> Self {
        let rounds = &figures.rounds;
        let rounds_s = std::array::from_fn(|n| clock.ns(rounds[n].span.0 as f64) / 1e9);
        if figures.ended_early.is_some() {
            return Self::not_judged("the point ended early", rounds_s);
        }
        if figures.intervals < ROUNDS {
            return Self::not_judged("fewer than five intervals in the window", rounds_s);
        }
        if rounds.iter().any(|round| round.span.0 == 0) {
            return Self::not_judged("a round without an interval: a core was late with its figures", rounds_s);
        }
        let by: Vec<SteadyFigure> =
            [Op::Read, Op::Write].iter().flat_map(|&op| of_op(plan, clock, rounds, op)).collect();
        let any = |judgement| by.iter().any(|figure| figure.judgement == judgement);
        if any(Steadiness::Unsteady) {
            Self { judgement: Steadiness::Unsteady, reason: None, rounds_s, by }
        } else if any(Steadiness::Steady) {
            Self { judgement: Steadiness::Steady, reason: None, rounds_s, by }
        } else {
            let few = format!("fewer than {} reads or writes in the window", format_count(COMPLETIONS));
            Self { by, ..Self::not_judged(&few, rounds_s) }
        }
    }

    fn not_judged(reason: &str, rounds_s: [f64; ROUNDS]) -> Self {
        Self { judgement: Steadiness::NotJudged, reason: Some(reason.to_owned()), rounds_s, by: Vec::new() }
    }
}

/// The figures of one operation.
fn of_op(plan: &Plan, clock: &Clock, rounds: &[Round; ROUNDS], op: Op) -> Vec<SteadyFigure> {
    let all = sums(plan, rounds, op, |_| true);
    let open = sums(plan, rounds, op, |workload| plan.is_open(workload));
    let per_s = |n: usize| all[n].completions as f64 * 1e9 / clock.ns(rounds[n].span.0 as f64);
    let mean = |ticks: u128, completions: u64| clock.ns(ticks as f64) / completions as f64;
    let service = |n: usize| mean(all[n].service_ticks, all[n].completions);
    let response = |n: usize| mean(open[n].response_ticks, open[n].completions);
    let figure = |figure, of: &[RoundCell; ROUNDS], value: &dyn Fn(usize) -> f64| {
        let values: [f64; ROUNDS] = std::array::from_fn(value);
        let trend = Trend::of(&values)?;
        let Trend { mean, range_share, slope_share } = trend;
        let judgement = match of.iter().map(|sum| sum.completions).sum() {
            0..COMPLETIONS => Steadiness::NotJudged,
            _ if trend.is_steady() => Steadiness::Steady,
            _ => Steadiness::Unsteady,
        };
        Some(SteadyFigure { op, figure, judgement, range_share, slope_share, mean, rounds: values })
    };
    let figures = [
        figure(Trending::Iops, &all, &per_s),
        figure(Trending::ServiceMeanNs, &all, &service),
        figure(Trending::ResponseMeanNs, &open, &response),
    ];
    figures.into_iter().flatten().collect()
}

/// What an operation did in each round, over the workloads that `belong`.
fn sums(plan: &Plan, rounds: &[Round; ROUNDS], op: Op, belongs: impl Fn(usize) -> bool) -> [RoundCell; ROUNDS] {
    let mine: Vec<usize> = (0..plan.workloads.len())
        .filter(|&workload| belongs(workload))
        .flat_map(|w| (0..plan.workloads[w].targets.len()).map(move |position| plan.cell(w, position, op)))
        .collect();
    std::array::from_fn(|n| {
        mine.iter().fold(RoundCell::default(), |sum, &cell| {
            let RoundCell { completions, service_ticks, response_ticks } = rounds[n].cells[cell];
            RoundCell {
                completions: sum.completions + completions,
                service_ticks: sum.service_ticks + service_ticks,
                response_ticks: sum.response_ticks + response_ticks,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_plan;
    use super::*;
    use crate::units::Ticks;

    /// Rounds of 200 ms with so many reads of so many ticks each.
    fn figures(rounds: [(u64, u128); ROUNDS]) -> PointFigures {
        let round = |(completions, ticks): (u64, u128)| {
            let cell = RoundCell { completions, service_ticks: ticks * u128::from(completions), response_ticks: 0 };
            Round { span: Ticks(200_000_000), cells: vec![cell, RoundCell::default()] }
        };
        PointFigures { intervals: 5, rounds: rounds.map(round), ..test_plan::figures(0, 1) }
    }

    fn judge(figures: &PointFigures) -> SteadyState {
        SteadyState::of(&test_plan::plan(1), &Clock::virtual_ns(), figures)
    }

    #[test]
    fn what_never_changes_is_steady() {
        let steady = judge(&figures([(2_000, 100_000); ROUNDS]));
        assert_eq!((steady.judgement, &steady.reason, steady.rounds_s), (Steadiness::Steady, &None, [0.2; ROUNDS]));
        let told: Vec<_> = steady.by.iter().map(|by| (by.op, by.figure, by.mean)).collect();
        assert_eq!(told, [(Op::Read, Trending::Iops, 10_000.0), (Op::Read, Trending::ServiceMeanNs, 100_000.0)]);
    }

    #[test]
    fn rate_and_latency_are_judged_apart() {
        let judge = |rounds| judge(&figures(rounds)).by.iter().map(|by| by.judgement).collect::<Vec<_>>();
        let (steady, unsteady) = (Steadiness::Steady, Steadiness::Unsteady);
        let (usual, slow, many) = ((2_000, 100_000), (2_000, 130_000), (2_600, 100_000));
        assert_eq!(judge([usual, usual, slow, usual, usual]), [steady, unsteady]);
        assert_eq!(judge([usual, usual, many, usual, usual]), [unsteady, steady]);
        // A round of silence has no latency, but a rate.
        assert_eq!(judge([usual, usual, (0, 0), usual, usual]), [unsteady]);
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let sound = figures([(2_000, 100_000); ROUNDS]);
        let mut holes = sound.clone();
        holes.rounds[3].span = Ticks(0);
        let few = figures([(799, 100_000); ROUNDS]);
        let intervals = PointFigures { intervals: 4, ..sound.clone() };
        let early = PointFigures { ended_early: Some("interrupted".to_owned()), ..sound };
        for (figures, reason) in [
            (early, "ended early"),
            (intervals, "fewer than five intervals"),
            (holes, "a round without an interval"),
            (few, "fewer than 4,000 reads"),
        ] {
            let told = judge(&figures);
            assert_eq!(told.judgement, Steadiness::NotJudged);
            assert!(told.reason.as_ref().is_some_and(|told| told.contains(reason)), "{told:?}");
        }
    }
}
