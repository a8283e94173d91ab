//! What was run beside the load, and the figures before, during and after it. Owns the wording and the choice of figures.

use super::{Style, ascii};
use crate::report::columns::{NONE, decimal};
use crate::report::events::{latency, ops, parts, state};
use crate::result::RunResult;
use crate::units::format_latency;

/// A few lines for each event; empty without any.
pub(super) fn events(result: &RunResult, style: Style) -> String {
    let mut out = String::new();
    for (index, point) in result.points.iter().enumerate() {
        for event in &point.events {
            line!(&mut out, "event `{}` at point {} ({}): {}", event.label, index + 1, point.load, state(event));
            for (part, figures) in parts(event) {
                let Some(figures) = figures else { continue };
                let mut words = format!("  {part:6} {} s", decimal(figures.seconds, 3));
                for (op, op_figures) in ops(&figures.figures) {
                    let of = |figure: fn(&crate::result::Latency) -> u64| {
                        latency(op_figures).map_or(NONE.to_owned(), |latency| format_latency(figure(latency) as f64))
                    };
                    words.push_str(&format!(
                        "; {op} {} IOPS, p99 {}, max {}",
                        decimal(op_figures.iops, 0),
                        of(|l| l.p99_ns),
                        of(|l| l.max_ns)
                    ));
                }
                line!(&mut out, "{words}");
            }
        }
    }
    if style.unicode { out } else { ascii(&out) }
}
