//! The rate of the last minute, second by second, as a row of bars.
//!
//! Owns how intervals of any length are spread over seconds. Knows no unit but completions a second.

use std::collections::VecDeque;

/// Seconds that are kept.
const SECONDS: u64 = 60;

/// The bars, from nothing to the greatest rate of the minute.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What completed in each of the last seconds.
#[derive(Debug, Default)]
pub(super) struct Minute {
    /// One a second, the last one that of `end` - 1.
    seconds: VecDeque<Second>,
    end: u64,
}

/// Completions in the part of a second that was measured.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    completions: f64,
    span_s: f64,
}

impl Second {
    fn rate(&self) -> f64 {
        if self.span_s > 0.0 { self.completions / self.span_s } else { 0.0 }
    }
}

impl Minute {
    /// Spreads `completions` evenly over `start_s..end_s`, which is later than all before.
    pub(super) fn add(&mut self, start_s: f64, end_s: f64, completions: u64) {
        if end_s <= start_s {
            return;
        }
        let (first, end) = (start_s as u64, end_s.ceil() as u64);
        for second in first.max(end.saturating_sub(SECONDS))..end {
            while self.end <= second {
                self.seconds.push_back(Second::default());
                self.end += 1;
                if self.seconds.len() as u64 > SECONDS {
                    self.seconds.pop_front();
                }
            }
            let span_s = (end_s.min(second as f64 + 1.0) - start_s.max(second as f64)).max(0.0);
            let back = (self.end - 1 - second) as usize;
            if let Some(kept) = self.seconds.iter_mut().rev().nth(back) {
                kept.completions += completions as f64 * span_s / (end_s - start_s);
                kept.span_s += span_s;
            }
        }
    }

    /// One bar a second, and the rate that a full bar stands for; none before anything was measured.
    pub(super) fn bars(&self) -> Option<(String, f64)> {
        let top = self.seconds.iter().map(Second::rate).fold(0.0, f64::max);
        let step = |rate: f64| if top > 0.0 { (rate / top * (BARS.len() - 1) as f64).round() as usize } else { 0 };
        let bars = self.seconds.iter().map(|second| BARS[step(second.rate())]).collect();
        (!self.seconds.is_empty()).then_some((bars, top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_rise_from_nothing_to_the_greatest_rate() {
        let mut minute = Minute::default();
        assert_eq!(minute.bars(), None);
        minute.add(0.0, 1.0, 0);
        assert_eq!(minute.bars(), Some(("▁".to_owned(), 0.0)));
        (1..8).for_each(|n| minute.add(n as f64, (n + 1) as f64, n * 1_000));
        assert_eq!(minute.bars(), Some(("▁▂▃▄▅▆▇█".to_owned(), 7_000.0)));
    }

    #[test]
    fn the_length_of_an_interval_does_not_matter() {
        let (mut short, mut long) = (Minute::default(), Minute::default());
        (0..800).for_each(|n| short.add(f64::from(n) / 100.0, f64::from(n + 1) / 100.0, 10));
        (0..2).for_each(|n| long.add(f64::from(n) * 4.0, f64::from(n + 1) * 4.0, 4_000));
        for minute in [short, long] {
            let (bars, top) = minute.bars().unwrap();
            assert_eq!((bars.as_str(), top.round()), ("████████", 1_000.0));
        }
    }

    #[test]
    fn only_a_minute_is_kept() {
        let mut minute = Minute::default();
        minute.add(0.0, 1.0, 1_000_000);
        minute.add(1.0, 7_201.0, 7_200);
        let (bars, top) = minute.bars().unwrap();
        assert_eq!((bars.chars().count(), top.round()), (60, 1.0));
        minute.add(7_201.0, 7_202.5, 6);
        let (bars, _) = minute.bars().unwrap();
        assert!(bars.ends_with("▃▃██") && bars.chars().count() == 60, "{bars}");
    }
}
