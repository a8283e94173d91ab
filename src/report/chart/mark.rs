//! Lines that mark a moment or a limit, with a label.
//!
//! Owns where the labels stand, so that those of neighbours do not cover each other. Knows nothing of what is marked.

use std::fmt::Write as _;

use super::draw::{CHARACTER, Frame, LEFT, RIGHT, WIDTH, escape};

/// A marked moment or limit: a line across the drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where: on the horizontal axis if `vertical`, else on the vertical one. Beyond the axis it is not drawn.
    pub at: f64,
    /// Whether the line stands upright.
    pub vertical: bool,
    /// What it is; may be empty.
    pub label: String,
}

impl Mark {
    /// An upright line at a value of the horizontal axis.
    #[must_use]
    pub fn vertical(at: f64, label: impl Into<String>) -> Self {
        Self { at, vertical: true, label: label.into() }
    }

    /// A level line at a value of the vertical axis.
    #[must_use]
    pub fn horizontal(at: f64, label: impl Into<String>) -> Self {
        Self { at, vertical: false, label: label.into() }
    }
}

/// Height of a row of labels.
const ROW: f64 = 13.0;
/// Rows of labels of upright lines; more than these cover each other.
const ROWS: usize = 8;

/// Draws the marks that lie within the axes.
pub(super) fn draw(out: &mut String, frame: &Frame<'_>, marks: &[Mark]) {
    let (top, bottom, right) = (frame.top, frame.bottom, WIDTH - RIGHT);
    let mut rows = [f64::NEG_INFINITY; ROWS];
    let mut upright: Vec<&Mark> = marks.iter().filter(|mark| mark.vertical && frame.x.holds(mark.at)).collect();
    upright.sort_by(|a, b| a.at.total_cmp(&b.at));
    for mark in upright {
        let x = frame.px(mark.at);
        let _ = write!(out, "<line class=\"mark\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>");
        let width = mark.label.chars().count() as f64 * CHARACTER;
        // Where there is no room on the right, it stands on the left.
        let before = x + 4.0 + width > right;
        let left = if before { x - 4.0 - width } else { x + 4.0 };
        let row = rows.iter().position(|taken| *taken < left).unwrap_or(ROWS - 1);
        rows[row] = left + width + 4.0;
        let (place, anchor) = if before { (x - 4.0, " text-anchor=\"end\"") } else { (left, "") };
        text(out, (place, bottom - 6.0 - row as f64 * ROW), anchor, &mark.label);
    }
    for mark in marks.iter().filter(|mark| !mark.vertical && frame.y.holds(mark.at)) {
        let y = frame.py(mark.at);
        let _ = write!(out, "<line class=\"mark\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>");
        // Near the upper edge it stands below its line.
        let beside = if y - 4.0 - ROW < top { y + ROW } else { y - 4.0 };
        text(out, (LEFT + 6.0, beside), "", &mark.label);
    }
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, label: &str) {
    if !label.is_empty() {
        let _ = write!(out, "<text class=\"note\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>", escape(label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, Chart, Layer, Line, Unit, svg};

    fn drawn(marks: Vec<Mark>) -> String {
        let line = Line { points: vec![(0.0, 0.0), (100.0, 1_000.0)], ..Line::default() };
        svg(
            &Chart {
                x: Axis::linear("x", Unit::Count),
                y: Axis::linear("y", Unit::Latency),
                layers: vec![Layer::Line(line)],
                marks,
                ..Chart::default()
            },
            true,
            false,
        )
    }

    /// Places of the labels that contain `part`.
    fn places(drawn: &str, part: &str) -> Vec<(f64, f64)> {
        let number = |text: &str, key: &str| text.split(&format!("{key}=\"")).nth(1)?.split('"').next()?.parse().ok();
        let notes = drawn.split("<text ").filter(|text| text.starts_with("class=\"note\"") && text.contains(part));
        notes.map(|text| (number(text, "x").expect("x"), number(text, "y").expect("y"))).collect()
    }

    #[test]
    fn marks_beyond_the_axes_are_not_drawn() {
        let drawn =
            drawn(vec![Mark::vertical(101.0, "out"), Mark::horizontal(-1.0, "out"), Mark::vertical(50.0, "<in>")]);
        assert_eq!(drawn.matches("class=\"mark\"").count(), 1);
        assert!(drawn.contains("&lt;in&gt;") && !drawn.contains("out"));
    }

    #[test]
    fn labels_of_neighbours_stand_above_each_other() {
        let drawn =
            drawn(vec![Mark::vertical(10.0, "knee A"), Mark::vertical(11.0, "knee B"), Mark::vertical(60.0, "knee C")]);
        let [a, b, c] = places(&drawn, "knee")[..] else { panic!("{drawn}") };
        assert!(a.1 - b.1 >= 12.0 && a.1 == c.1, "{a:?} {b:?} {c:?}");
    }

    #[test]
    fn labels_stay_within_the_frame() {
        let label = "a label of some length";
        let drawn = drawn(vec![Mark::vertical(100.0, label), Mark::horizontal(1_040.0, label)]);
        let width = label.len() as f64 * CHARACTER;
        let [(upright_x, _), (_, level_y)] = places(&drawn, label)[..] else { panic!("{drawn}") };
        assert!(
            drawn.contains("text-anchor=\"end\">a label") && upright_x <= WIDTH - RIGHT && upright_x - width > LEFT
        );
        assert!(level_y > 20.0, "below its line, which is near the upper edge: {level_y}");
    }
}
