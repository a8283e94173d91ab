//! Whether the figures of a point agree with each other: conservation and Little's law.
//!
//! Owns both checks and the conditions under which each can be judged. Compares figures only; what follows from a
//! failure is said in `verdict`.

use serde::{Deserialize, Serialize};

use crate::engine::record::PointFigures;

/// Greatest deviation from Little's law that is still in order, as a share of the outstanding I/Os.
const LITTLE_TOLERANCE: f64 = 0.01;
/// Shortest window in which Little's law is judged, in seconds.
const LITTLE_WINDOW_S: f64 = 0.1;
/// Completions in the window for each outstanding I/O from which on Little's law is judged. One I/O more or less in
/// each slot is an effect of the window's edges; with this many it stays within the tolerance.
const LITTLE_COMPLETIONS: u64 = 100;

/// The checks of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// Nothing was lost between the intervals and the whole.
    pub conservation: Conservation,
    /// Rate and latency account for the load.
    pub littles_law: LittlesLaw,
}

/// Completions of the window, counted in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conservation {
    /// Number of intervals in the window.
    pub intervals: u64,
    /// Completions summed over those intervals.
    pub interval_completions: u64,
    /// Completions in the window's histograms.
    pub completions: u64,
    /// Whether the two are equal.
    pub ok: bool,
}

/// Little's law: the mean number of outstanding I/Os is their rate times their mean latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LittlesLaw {
    /// Outstanding I/Os that the plan keeps.
    pub outstanding: u64,
    /// Rate of all good completions times their mean service latency.
    pub rate_times_mean: f64,
    /// `rate_times_mean` against `outstanding`, as a share of `outstanding`; negative when too few.
    pub deviation: f64,
    /// What follows.
    pub judgement: Judgement,
    /// Why it was not judged; none when it was.
    pub reason: Option<String>,
}

/// Outcome of a check that cannot always be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Within the tolerance.
    Ok,
    /// Beyond it.
    Off,
    /// The point does not allow the check.
    NotJudged,
}

impl Checks {
    /// The checks of a closed-loop point that should have kept `outstanding` I/Os in flight over `window_s` seconds.
    #[must_use]
    pub fn of(figures: &PointFigures, window_s: f64, outstanding: u64) -> Self {
        let completions = figures.cells.iter().map(|cell| cell.service.count()).sum();
        let interval_completions = figures.interval_completions;
        Self {
            conservation: Conservation {
                intervals: figures.intervals as u64,
                interval_completions,
                completions,
                ok: interval_completions == completions,
            },
            littles_law: littles_law(figures, window_s, outstanding, completions),
        }
    }
}

fn littles_law(figures: &PointFigures, window_s: f64, outstanding: u64, completions: u64) -> LittlesLaw {
    // Rate times mean is the sum of all latencies over the window's length; both are in ticks.
    let latency_ticks: f64 = figures.cells.iter().map(|cell| cell.service.sum_ticks() as f64).sum();
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let rate_times_mean = share(latency_ticks, figures.window.0 as f64);
    let deviation = share(rate_times_mean - outstanding as f64, outstanding as f64);
    let errors: u64 = figures.cells.iter().map(|cell| cell.errors).sum();
    // Each slot has at most one I/O across each edge: what of it lies outside t0 counts too much, beyond t1 too little.
    let across = figures.cells.iter().chain(&figures.drain).filter_map(|cell| cell.service.max_ticks()).max();
    let edge = share(across.unwrap_or(0) as f64, figures.window.0 as f64);
    let within = |tolerance: f64| deviation.abs() <= tolerance;
    let reason = if figures.ended_early.is_some() {
        Some("the point ended early".to_owned())
    } else if window_s < LITTLE_WINDOW_S {
        Some("the window is shorter than 100 ms".to_owned())
    } else if errors > 0 {
        Some("failed I/Os held slots and have no latency".to_owned())
    } else if completions < LITTLE_COMPLETIONS * outstanding {
        Some(format!("fewer than {LITTLE_COMPLETIONS} completions for each outstanding I/O"))
    } else if !within(LITTLE_TOLERANCE) && within(LITTLE_TOLERANCE + edge) {
        let percent = edge * 100.0;
        Some(format!("an I/O lasted {percent:.1} % of the window, and the window's edges may account for as much"))
    } else {
        None
    };
    let judgement = match (&reason, within(LITTLE_TOLERANCE)) {
        (Some(_), _) => Judgement::NotJudged,
        (None, true) => Judgement::Ok,
        (None, false) => Judgement::Off,
    };
    LittlesLaw { outstanding, rate_times_mean, deviation, judgement, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::CellFigures;
    use crate::units::Ticks;

    /// One second of `completions` I/Os of `latency` ticks each, in ticks of a nanosecond.
    fn figures(completions: u64, latency: u64) -> PointFigures {
        let mut cell = CellFigures::default();
        (0..completions).for_each(|_| cell.service.record(latency));
        PointFigures {
            point: 0,
            window: Ticks(1_000_000_000),
            ramp: Vec::new(),
            cells: vec![cell],
            drain: Vec::new(),
            ramp_arrivals: Vec::new(),
            arrivals: Vec::new(),
            cores: Vec::new(),
            errors: Vec::new(),
            intervals: 1,
            interval_completions: completions,
            ended_early: None,
            overloaded: false,
        }
    }

    #[test]
    fn a_closed_loop_that_keeps_its_depth_is_in_order() {
        // 4 outstanding, 1 ms each: 4,000 a second.
        let law = Checks::of(&figures(4_000, 1_000_000), 1.0, 4).littles_law;
        assert_eq!((law.judgement, law.reason), (Judgement::Ok, None));
        assert!((law.rate_times_mean - 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_loop_that_leaves_slots_idle_is_off() {
        let law = Checks::of(&figures(3_900, 1_000_000), 1.0, 4).littles_law;
        assert_eq!(law.judgement, Judgement::Off);
        assert!((law.deviation + 0.025).abs() < 1e-9);
    }

    #[test]
    fn a_long_io_across_an_edge_is_not_held_against_the_law() {
        // A slot of the four waits for 40 ms at the end: its I/O completes in the drain, and 1 % is missing.
        let mut long = figures(3_955, 1_000_000);
        assert_eq!(Checks::of(&long, 1.0, 4).littles_law.judgement, Judgement::Off);
        let mut drained = CellFigures::default();
        drained.service.record(40_000_000);
        long.drain = vec![drained];
        let law = Checks::of(&long, 1.0, 4).littles_law;
        assert_eq!(law.judgement, Judgement::NotJudged);
        assert!(law.reason.is_some_and(|reason| reason.contains("4.0 % of the window")));
        // More than the edges can account for.
        let mut idle = long;
        idle.cells = figures(3_700, 1_000_000).cells;
        assert_eq!(Checks::of(&idle, 1.0, 4).littles_law.judgement, Judgement::Off);
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let mut early = figures(4_000, 1_000_000);
        early.ended_early = Some("interrupted".to_owned());
        let mut failed = figures(4_000, 1_000_000);
        failed.cells[0].errors = 1;
        for (figures, window_s) in
            [(early, 1.0), (failed, 1.0), (figures(4_000, 1_000_000), 0.05), (figures(0, 1), 1.0)]
        {
            let law = Checks::of(&figures, window_s, 4).littles_law;
            assert_eq!(law.judgement, Judgement::NotJudged);
            assert!(law.reason.is_some());
        }
    }

    #[test]
    fn a_lost_completion_is_found() {
        let mut lost = figures(10, 1);
        assert!(Checks::of(&lost, 1.0, 1).conservation.ok);
        lost.interval_completions = 9;
        assert!(!Checks::of(&lost, 1.0, 1).conservation.ok);
    }
}
