//! What both text and page say of events: the parts of the window around one, and how it went.

use crate::result::{EventFigures, EventResult, Figures, Latency, OpFigures};

/// Before, during and after, with their names.
pub(super) fn parts(event: &EventResult) -> [(&'static str, Option<&EventFigures>); 3] {
    [("before", event.before.as_ref()), ("during", event.during.as_ref()), ("after", event.after.as_ref())]
}

/// Reads and writes, those that were done or failed.
pub(super) fn ops(figures: &Figures) -> impl Iterator<Item = (&'static str, &OpFigures)> {
    let all = [("read", &figures.read), ("write", &figures.write)];
    all.into_iter().filter(|(_, op)| op.completions > 0 || op.errors > 0)
}

/// The latency users see: from the arrival in an open loop, else from the submission.
pub(super) fn latency(op: &OpFigures) -> Option<&Latency> {
    op.response.as_ref().or(op.service.as_ref())
}

/// When it was, how long it took and how it ended.
pub(super) fn state(event: &EventResult) -> String {
    let outcome = &event.outcome;
    let Some(start_s) = outcome.start_s else { return "not begun".to_owned() };
    let Some(end_s) = outcome.end_s else { return format!("{start_s:.3} s, still running") };
    let ended = outcome.exit_status.map_or_else(|| "killed".to_owned(), |status| format!("exit status {status}"));
    format!("{start_s:.3} s, took {:.3} s, {ended}", end_s - start_s)
}
