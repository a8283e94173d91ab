//! The window in rounds: sums of each, from the intervals as they are complete.
//!
//! Owns which interval belongs to which round. Takes the same memory however long the window is; knows nothing of how
//! the rounds are judged.

use super::{IntervalFigures, Phase, Round, RoundCell};
use crate::stats::ROUNDS;
use crate::units::Ticks;

/// The rounds of one point in the making.
#[derive(Debug)]
pub(super) struct Rounds {
    t0: Ticks,
    window: Ticks,
    /// End of the last interval, from the start of the point.
    reached: Ticks,
    rounds: [Round; ROUNDS],
}

impl Rounds {
    /// Rounds of a window that opens `t0` after the start of its point and lasts `window`.
    pub(super) fn new(t0: Ticks, window: Ticks, cells: usize) -> Self {
        let round = || Round { span: Ticks(0), cells: vec![RoundCell::default(); cells] };
        Self { t0, window, reached: t0, rounds: std::array::from_fn(|_| round()) }
    }

    /// Adds an interval to the round in which most of it lies. Intervals come in the order of time; what lies between two
    /// of them, when no core looked at the clock, is time of the later one.
    pub(super) fn add(&mut self, interval: &IntervalFigures) {
        if interval.phase != Phase::Window {
            return;
        }
        let middle = (interval.start.0 + interval.end.0) / 2;
        let into = u128::from(Ticks(middle).since(self.t0).0) * ROUNDS as u128;
        let number = (into / u128::from(self.window.0.max(1))).min(ROUNDS as u128 - 1);
        let round = &mut self.rounds[number as usize];
        round.span.0 += interval.end.since(self.reached).0;
        self.reached = interval.end;
        for (sum, cell) in round.cells.iter_mut().zip(&interval.cells) {
            sum.completions += cell.service.count();
            sum.service_ticks += cell.service.sum_ticks();
            sum.response_ticks += cell.response.as_ref().map_or(0, |response| response.sum_ticks());
        }
    }

    pub(super) fn finish(self) -> [Round; ROUNDS] {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::CellFigures;

    fn interval(start: u64, end: u64, latencies: &[u64]) -> IntervalFigures {
        let mut cell = CellFigures::default();
        latencies.iter().for_each(|&latency| cell.service.record(latency));
        let (start, end) = (Ticks(start), Ticks(end));
        IntervalFigures { start, end, phase: Phase::Window, cells: vec![cell], arrivals: vec![None], backlog: vec![0] }
    }

    fn told(rounds: Rounds) -> Vec<(u64, u64, u128)> {
        let cell = |round: &Round| (round.span.0, round.cells[0].completions, round.cells[0].service_ticks);
        rounds.finish().iter().map(cell).collect()
    }

    #[test]
    fn an_interval_goes_where_most_of_it_lies() {
        // A window of 60 after a ramp of 100, in rounds of 12; intervals of 10.
        let mut rounds = Rounds::new(Ticks(100), Ticks(60), 1);
        rounds.add(&IntervalFigures { phase: Phase::Ramp, ..interval(90, 100, &[1; 9]) });
        for (n, latencies) in [&[1u64][..], &[2], &[3, 4], &[5], &[6], &[7]].into_iter().enumerate() {
            let start = 100 + n as u64 * 10;
            rounds.add(&interval(start, start + 10, latencies));
        }
        assert_eq!(told(rounds), [(10, 1, 1), (10, 1, 2), (20, 3, 12), (10, 1, 6), (10, 1, 7)]);
    }

    #[test]
    fn the_rounds_cover_the_window_though_intervals_are_missing_or_long() {
        let mut rounds = Rounds::new(Ticks(0), Ticks(100), 1);
        // 10 to 30 passed without a look at the clock; 40 to 100 came in one piece.
        rounds.add(&interval(0, 10, &[1]));
        rounds.add(&interval(30, 40, &[2]));
        rounds.add(&interval(40, 100, &[3]));
        assert_eq!(told(rounds), [(10, 1, 1), (30, 1, 2), (0, 0, 0), (60, 1, 3), (0, 0, 0)]);
    }
}
