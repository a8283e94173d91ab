//! How far a fill has come, on stderr: on a terminal a line redrawn in place, elsewhere a line every two seconds.
//!
//! Owns the rate shown, which is that of the last two seconds at least, and the time left that follows from it.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time over which the rate is taken.
const SPAN: Duration = Duration::from_secs(2);

/// A fill under way.
pub(super) struct Progress {
    all: u64,
    /// When the rate was taken last, and what was written by then.
    mark: (Instant, u64),
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    pub(super) fn new(all: u64, written: u64, quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { all, mark: (Instant::now(), written), bar, quiet }
    }

    /// So much is written by now.
    pub(super) fn show(&mut self, written: u64) {
        let (since, before) = self.mark;
        if self.quiet || since.elapsed() < SPAN {
            return;
        }
        let per_s = written.saturating_sub(before) as f64 / since.elapsed().as_secs_f64();
        self.mark = (Instant::now(), written);
        let line = line(written, self.all, per_s);
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => eprintln!("{line}"),
        }
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `filled 12.0 GB of 80.0 GB (15.0 %), 2.1 GB/s, 33 s left`.
fn line(written: u64, all: u64, per_s: f64) -> String {
    let share = 100.0 * written as f64 / all.max(1) as f64;
    let left = match all.saturating_sub(written) as f64 / per_s {
        seconds if seconds.is_finite() => format!("{} left", span(seconds)),
        _ => "stalled".to_owned(),
    };
    format!("filled {} of {} ({share:.1} %), {}/s, {left}", bytes(written), bytes(all), bytes(per_s as u64))
}

fn span(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// Bytes in decimal units with one digit.
pub(super) fn bytes(bytes: u64) -> String {
    let unit = ["B", "kB", "MB", "GB", "TB", "PB"];
    let power = (0..unit.len() - 1).find(|power| bytes < 1000u64.pow(*power as u32 + 1)).unwrap_or(unit.len() - 1);
    if power == 0 {
        format!("{bytes} B")
    } else {
        format!("{:.1} {}", bytes as f64 / 1000f64.powi(power as i32), unit[power])
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        assert_eq!(
            line(12_000_000_000, 80_000_000_000, 2e9),
            "filled 12.0 GB of 80.0 GB (15.0 %), 2.0 GB/s, 34 s left"
        );
        assert_eq!(line(0, 8_000_000_000_000, 1e9), "filled 0 B of 8.0 TB (0.0 %), 1.0 GB/s, 2 h 13 min left");
        assert_eq!(line(5, 10, 0.0), "filled 5 B of 10 B (50.0 %), 0 B/s, stalled");
    }
}
