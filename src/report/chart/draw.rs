//! The drawing: from a chart to SVG text.
//!
//! Owns sizes, the grid, the legend and the names of the classes. A line of many points is thinned to the columns of the
//! drawing, each keeping its first, least, greatest and last value, so that no peak is lost.

use std::fmt::Write as _;

use super::{Bars, Chart, Extent, Heat, Layer, Line, Scale, band, mark};

/// Size of a drawing, and of its margins.
pub(super) const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
pub(super) const LEFT: f64 = 74.0;
pub(super) const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Height of a line of the legend, and about how wide a character is.
const LEGEND_LINE: f64 = 18.0;
pub(super) const CHARACTER: f64 = 6.6;
/// Number of colours.
pub(super) const COLOURS: usize = 8;

/// The style of a chart on its own: light, for paper. Colours after M. Okabe and K. Ito, distinguishable by everybody.
pub const STYLE: &str = "\
.chart{--ink:#1b1f24;--dim:#57606a;--grid:#d8dee4;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;\
--c4:#7a5c00;--c5:#56b4e9;--c6:#8250df;--c7:#57606a;font:12px system-ui,sans-serif}\
.chart text{fill:var(--dim)}.chart .title{fill:var(--ink);font-weight:600}\
.chart .grid{stroke:var(--grid);stroke-width:1}.chart .frame{stroke:var(--dim);stroke-width:1;fill:none}\
.chart .line{fill:none;stroke-width:1.6;stroke-linejoin:round}.chart .dash{stroke-dasharray:5 3}\
.chart .mark{stroke:var(--dim);stroke-dasharray:2 3}.chart .note{font-size:11px}\
.k0{--k:var(--c0)}.k1{--k:var(--c1)}.k2{--k:var(--c2)}.k3{--k:var(--c3)}\
.k4{--k:var(--c4)}.k5{--k:var(--c5)}.k6{--k:var(--c6)}.k7{--k:var(--c7)}\
.chart .line,.chart .key{stroke:var(--k)}.chart .dot{fill:var(--k)}.chart .bar{fill:var(--k)}.chart .band{fill:var(--k);opacity:.18}.chart .heat{fill:var(--c0)}\
.h1{opacity:.14}.h2{opacity:.24}.h3{opacity:.34}.h4{opacity:.46}.h5{opacity:.58}.h6{opacity:.7}.h7{opacity:.85}";

/// Places on the drawing.
pub(super) struct Frame<'a> {
    pub(super) chart: &'a Chart,
    pub(super) x: Extent,
    pub(super) y: Extent,
    /// Vertical places of the drawing area.
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The chart as an SVG element. `full` shows all values, else outliers lie beyond the upper edge and their number is
/// told. `alone` adds the style sheet, for a file of its own.
#[must_use]
pub fn svg(chart: &Chart, full: bool, alone: bool) -> String {
    let legend = legend(chart);
    let top = TOP + if chart.title.is_empty() || !alone { 0.0 } else { LEGEND_LINE } + legend.height;
    let height = HEIGHT + top - TOP;
    let (x, y) = chart.extents(full);
    let frame = Frame { chart, x, y, top, bottom: height - BOTTOM };
    let mut out = format!(
        "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(&chart.title)
    );
    if alone {
        let _ = write!(out, "<style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
        let _ =
            write!(out, "<text class=\"title\" x=\"{LEFT}\" y=\"{:.1}\">{}</text>", TOP + 4.0, escape(&chart.title));
    }
    out.push_str(&legend.at(top - legend.height - 2.0));
    frame.grid(&mut out);
    let hidden: usize = chart.layers.iter().map(|layer| frame.layer(&mut out, layer)).sum();
    mark::draw(&mut out, &frame, &chart.marks);
    let (w, h) = (WIDTH - LEFT - RIGHT, frame.bottom - top);
    let _ = write!(out, "<rect class=\"frame\" x=\"{LEFT}\" y=\"{top}\" width=\"{w}\" height=\"{h}\"/>");
    if hidden > 0 {
        let text = if hidden == 1 { "1 value above".to_owned() } else { format!("{hidden} values above") };
        let (x, y) = (WIDTH - RIGHT - 4.0, top + 13.0);
        let _ = write!(out, "<text class=\"note\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">▲ {text}</text>");
    }
    out.push_str("</svg>");
    out
}

impl Frame<'_> {
    pub(super) fn px(&self, value: f64) -> f64 {
        LEFT + self.chart.x.scale.place(self.x, value) * (WIDTH - LEFT - RIGHT)
    }

    pub(super) fn py(&self, value: f64) -> f64 {
        self.bottom - self.chart.y.scale.place(self.y, value) * (self.bottom - self.top)
    }

    fn grid(&self, out: &mut String) {
        let (axis_x, axis_y) = (&self.chart.x, &self.chart.y);
        let (right, middle) = (WIDTH - RIGHT, (self.top + self.bottom) / 2.0);
        for value in axis_y.ticks(self.y, 7) {
            let y = self.py(value);
            let _ = write!(out, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>");
            let label = axis_y.unit.write(value);
            let _ = write!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, y + 4.0);
        }
        for value in axis_x.ticks(self.x, 9) {
            let x = self.px(value);
            let (top, bottom) = (self.top, self.bottom);
            let _ = write!(out, "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>");
            let label = axis_x.unit.write(value);
            let _ = write!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>", bottom + 17.0);
        }
        let (x, y) = (f64::midpoint(LEFT, right), self.bottom + 37.0);
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", escape(&axis_x.label));
        let _ = write!(
            out,
            "<text transform=\"translate(14 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&axis_y.label)
        );
    }

    /// Draws one layer; how many of its values lie beyond the upper edge.
    fn layer(&self, out: &mut String, layer: &Layer) -> usize {
        match layer {
            Layer::Line(line) => self.line(out, line),
            Layer::Band(band) => band::draw(out, self, band),
            Layer::Bars(bars) => self.bars(out, bars),
            Layer::Heat(heat) => self.heat(out, heat),
        }
    }

    fn line(&self, out: &mut String, line: &Line) -> usize {
        let drawable = |&(x, y): &(f64, f64)| {
            let positive = |scale: Scale, value: f64| scale != Scale::Log || value > 0.0;
            x.is_finite() && y.is_finite() && positive(self.chart.x.scale, x) && positive(self.chart.y.scale, y)
        };
        let hidden = line.points.iter().filter(|point| drawable(point) && point.1 > self.y.high).count();
        let colour = line.colour % COLOURS;
        let dash = if line.dashed { " dash" } else { "" };
        let mut path = String::new();
        for stretch in line.points.split(|point| !drawable(point)) {
            let places: Vec<_> = stretch.iter().map(|&(x, y)| (self.px(x), self.clamp(self.py(y)))).collect();
            for (index, (x, y)) in thin(&places).into_iter().enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
            }
        }
        if !path.is_empty() {
            let _ = write!(out, "<path class=\"line k{colour}{dash}\" d=\"{path}\"/>");
        }
        if line.dots {
            for &(x, y) in line.points.iter().filter(|point| drawable(point) && point.1 <= self.y.high) {
                let name = if line.name.is_empty() { String::new() } else { format!("{}: ", escape(&line.name)) };
                let (x_text, y_text) = (self.chart.x.unit.write(x), self.chart.y.unit.write(y));
                let (x, y) = (self.px(x), self.py(y));
                let _ = write!(out, "<circle class=\"dot k{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\">");
                let _ = write!(out, "<title>{name}{y_text} at {x_text}</title></circle>");
            }
        }
        hidden
    }

    fn bars(&self, out: &mut String, bars: &Bars) -> usize {
        let colour = bars.colour % COLOURS;
        let mut path = String::new();
        for &(low, high, value) in &bars.bars {
            let (left, right, top) = (self.px(low), self.px(high), self.clamp(self.py(value)));
            let width = (right - left).max(0.6);
            let _ = write!(path, "M{left:.1} {:.1}V{top:.1}h{width:.2}V{:.1}z", self.bottom, self.bottom);
        }
        let _ = write!(out, "<path class=\"bar k{colour}\" d=\"{path}\"/>");
        0
    }

    fn heat(&self, out: &mut String, heat: &Heat) -> usize {
        let mut shades: [String; 9] = Default::default();
        for (left, right, cells) in &heat.columns {
            let column: u64 = cells.iter().map(|cell| cell.2).sum();
            let (x, width) = (self.px(*left), (self.px(*right) - self.px(*left)).max(0.5));
            for &(low, high, count) in cells.iter().filter(|cell| cell.2 > 0) {
                let (top, bottom) = (self.clamp(self.py(high)), self.clamp(self.py(low)));
                let path = &mut shades[usize::from(Heat::shade(count, column))];
                let _ = write!(path, "M{x:.1} {bottom:.1}V{top:.1}h{width:.2}V{bottom:.1}z");
            }
        }
        for (shade, path) in shades.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let _ = write!(out, "<path class=\"heat h{shade}\" d=\"{path}\"/>");
        }
        0
    }

    /// A place within the drawing area.
    pub(super) fn clamp(&self, y: f64) -> f64 {
        y.clamp(self.top, self.bottom)
    }
}

/// At most four points a column of the drawing: its first, least, greatest and last.
fn thin(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if places.len() <= 2 * WIDTH as usize {
        return places.to_vec();
    }
    let columns = places.chunk_by(|a, b| a.0.floor() == b.0.floor());
    let of_column = |column: &[(f64, f64)]| {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut kept: Vec<(f64, f64)> =
            [column.first(), column.iter().min_by(by_height), column.iter().max_by(by_height), column.last()]
                .into_iter()
                .flatten()
                .copied()
                .collect();
        kept.sort_by(|a, b| a.0.total_cmp(&b.0));
        kept.dedup();
        kept
    };
    columns.flat_map(of_column).collect()
}

/// The names of lines and bars, in as many rows as they need.
struct Legend {
    /// Column (in characters), row, name, colour, dashed.
    entries: Vec<(usize, usize, String, usize, bool)>,
    height: f64,
}

fn legend(chart: &Chart) -> Legend {
    let width = ((WIDTH - LEFT - RIGHT) / CHARACTER) as usize;
    let names = chart.layers.iter().filter_map(|layer| match layer {
        Layer::Line(line) => Some((&line.name, line.colour, line.dashed)),
        Layer::Bars(bars) => Some((&bars.name, bars.colour, false)),
        Layer::Band(_) | Layer::Heat(_) => None,
    });
    let (mut column, mut row) = (0, 0);
    let mut entries = Vec::new();
    for (name, colour, dashed) in names.filter(|(name, ..)| !name.is_empty()) {
        let needs = name.chars().count() + 7;
        if column > 0 && column + needs > width {
            (column, row) = (0, row + 1);
        }
        entries.push((column, row, name.clone(), colour, dashed));
        column += needs;
    }
    let rows = if entries.is_empty() { 0 } else { row + 1 };
    Legend { entries, height: rows as f64 * LEGEND_LINE }
}

impl Legend {
    fn at(&self, top: f64) -> String {
        let mut out = String::new();
        for (column, row, name, colour, dashed) in &self.entries {
            let (x, y) = (LEFT + *column as f64 * CHARACTER, top + *row as f64 * LEGEND_LINE + 10.0);
            let (dash, colour) = (if *dashed { " dash" } else { "" }, colour % COLOURS);
            let _ = write!(
                out,
                "<line class=\"line key k{colour}{dash}\" x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>",
                x + 20.0
            );
            let _ = write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", x + 25.0, y + 4.0, escape(name));
        }
        out
    }
}

/// Text that means itself in SVG and HTML.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, Unit};

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let line = Line { name: "a <b>".to_owned(), points, ..Line::default() };
        Chart {
            title: "T & t".to_owned(),
            x: Axis::linear("x", Unit::Time),
            y: Axis::linear("y", Unit::Latency),
            layers: vec![Layer::Line(line)],
            marks: Vec::new(),
        }
    }

    #[test]
    fn a_peak_survives_thinning() {
        let mut points: Vec<_> = (0..100_000).map(|n| (f64::from(n), 10.0)).collect();
        points[54_321].1 = 1_000.0;
        let drawn = svg(&chart(points), true, false);
        assert!(drawn.len() < 60_000, "{} bytes", drawn.len());
        let highest = 14.0 + 18.0 + (360.0 - 18.0 - 14.0) * 0.0;
        let ys = drawn.split(['M', 'L']).filter_map(|p| p.split(' ').nth(1)?.split('"').next()?.parse::<f64>().ok());
        let least = ys.fold(f64::INFINITY, f64::min);
        assert!(least < highest + 20.0, "the peak is drawn near the top, at {least}");
    }

    #[test]
    fn outliers_are_left_out_but_told() {
        let mut points: Vec<_> = (0..100).map(|n| (f64::from(n), 100.0)).collect();
        points[50].1 = 1e6;
        let chart = chart(points);
        assert!(chart.has_outliers());
        assert!(svg(&chart, false, false).contains("▲ 1 value above"));
        assert!(!svg(&chart, true, false).contains("above"));
    }

    #[test]
    fn text_is_escaped_and_a_file_of_its_own_has_its_style() {
        let drawn = svg(&chart(vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)]), true, true);
        assert!(drawn.contains("a &lt;b&gt;") && drawn.contains("T &amp; t") && drawn.contains("<style>"));
        assert!(!drawn.contains("NaN"));
    }
}
