//! Progress of a run on stderr: on a terminal one line redrawn in place, elsewhere one line an interval. Owns the
//! terminal while a run is on.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::clock::Clock;
use crate::engine::Event;
use crate::plan::Plan;
use crate::report::live;

/// Intervals may be as short as milliseconds; people read at most about four lines a second.
const LEAST_GAP: Duration = Duration::from_millis(250);

/// Shows the events of a run.
pub(super) struct Live<'a> {
    plan: &'a Plan,
    clock: &'a Clock,
    bar: Option<ProgressBar>,
    quiet: bool,
    shown: Option<Instant>,
}

impl<'a> Live<'a> {
    pub(super) fn new(plan: &'a Plan, clock: &'a Clock, quiet: bool) -> Self {
        let terminal = !quiet && std::io::stderr().is_terminal();
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.set_style(style);
            bar
        });
        Self { plan, clock, bar, quiet, shown: None }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        if self.quiet {
            return;
        }
        if let Event::Interval(point, interval) = event {
            if self.shown.is_some_and(|shown| shown.elapsed() < LEAST_GAP) {
                return;
            }
            self.shown = Some(Instant::now());
            let line = live::line(self.plan, self.clock, *point, interval);
            match &self.bar {
                Some(bar) => {
                    bar.set_message(line);
                    bar.tick();
                }
                None => eprintln!("{line}"),
            }
        }
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
