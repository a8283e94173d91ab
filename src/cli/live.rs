//! Progress of a run on stderr: on a terminal a few lines redrawn in place, elsewhere one line an interval. Owns the
//! terminal while a run is on.
//!
//! On a terminal a thread of its own draws, so that one that does not take text (Ctrl-S) holds up nothing.

use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::engine::Event;
use crate::report::live::View;

/// Intervals may be as short as milliseconds; people read at most about four lines a second.
const GAP: Duration = Duration::from_millis(250);

/// Says something that does not end the run.
pub(super) fn warn(text: &str) {
    eprintln!("rigel: warning: {text}");
}

/// A spinner while the targets are being found, on a terminal; goes when dropped.
#[derive(Debug)]
pub(super) struct Connecting(Option<ProgressBar>);

impl Connecting {
    pub(super) fn show(quiet: bool) -> Self {
        Self(on_terminal(quiet).then(|| spinner("{spinner} connecting to the targets, {elapsed}", |_, _| {})))
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// Shows the events of a run.
pub(super) struct Live {
    seen: Arc<Mutex<Seen>>,
    bar: Option<ProgressBar>,
    quiet: bool,
    lines: Lines,
}

/// The run as the drawing thread finds it.
struct Seen {
    view: View,
    /// When the last of it came.
    at: Instant,
}

/// How many lines there may be by now.
#[derive(Default)]
struct Lines {
    since: Option<Instant>,
    told: u32,
}

impl Lines {
    /// Whether there may be another one: two at once, and then one each [`GAP`], so that intervals of that length always
    /// have theirs, be they told a little late or early.
    fn another(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let due = since.elapsed() + GAP * 2 > GAP * self.told;
        self.told += u32::from(due);
        due
    }
}

impl Live {
    pub(super) fn new(view: View, quiet: bool) -> Self {
        let seen = Arc::new(Mutex::new(Seen { view, at: Instant::now() }));
        let bar = on_terminal(quiet).then(|| {
            let seen = Arc::clone(&seen);
            spinner("{spinner} {frame}", move |_, out| {
                let seen = lock(&seen);
                let frame = seen.view.frame(seen.at.elapsed(), width().saturating_sub(INDENT.len()));
                let _ = out.write_str(&frame.replace('\n', &format!("\n{INDENT}")));
            })
        });
        Self { seen, bar, quiet, lines: Lines::default() }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        if self.quiet {
            return;
        }
        let mut seen = lock(&self.seen);
        seen.at = Instant::now();
        match event {
            Event::PointStarted(point) => seen.view.point_started(*point),
            Event::PointDone(_) => seen.view.point_done(),
            Event::Interval(_, interval) => {
                seen.view.take(interval);
                if self.lines.another() {
                    let line = seen.view.line();
                    if self.bar.is_none() {
                        eprintln!("{line}");
                    }
                }
            }
        }
    }

    /// Another plan begins, which is seen so.
    pub(super) fn go_on(&self, view: View) {
        let mut seen = lock(&self.seen);
        (seen.view, seen.at) = (view, Instant::now());
    }

    /// Says something that does not end the run, above what is redrawn.
    pub(super) fn warn(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| warn(text)),
            None => warn(text),
        }
    }

    /// Says what happens beside the load, above what is redrawn.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What the lines below that of the spinner begin with.
const INDENT: &str = "  ";

fn on_terminal(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

/// A bar that redraws itself; `frame` writes what `{frame}` stands for in the template.
fn spinner(
    template: &str,
    frame: impl Fn(&ProgressState, &mut dyn fmt::Write) + Send + Sync + Clone + 'static,
) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style.with_key("frame", frame));
    bar.enable_steady_tick(GAP);
    bar
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
