//! Charts as SVG: one drawing that a page shows, a printer prints and a paper includes.
//!
//! Owns how figures become lines, bars and cells. Knows neither results nor pages: whoever calls brings numbers, labels
//! and units. Colours are classes, so that a page may be light or dark; a chart on its own carries a style sheet.

mod axis;
mod band;
mod draw;
mod heat;
mod mark;
mod range;

pub use axis::{Axis, Scale, Unit};
pub use band::Band;
pub use draw::{STYLE, svg};
pub use heat::{Heat, HeatCell, HeatColumn};
pub use mark::Mark;
pub use range::{Extent, robust};

/// A chart.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// What it shows, in a few words.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub layers: Vec<Layer>,
    /// Moments or limits marked by a line: vertical at `x`, or horizontal at `y`.
    pub marks: Vec<Mark>,
}

/// One thing that is drawn.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Points joined by lines, in the order given.
    Line(Line),
    /// The range in which repeats lie.
    Band(Band),
    /// Bars from `low` to `high` of the horizontal axis, up to `value`.
    Bars(Bars),
    /// Cells that are the darker the more they hold.
    Heat(Heat),
}

/// Points joined by lines.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Name in the legend; empty: not there.
    pub name: String,
    /// Number of its colour; equal numbers belong together.
    pub colour: usize,
    /// Broken into dashes.
    pub dashed: bool,
    /// Whether each point is marked, for curves of few points.
    pub dots: bool,
    /// Left to right; a value that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
}

/// Bars of a histogram.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// Name in the legend; empty: not there.
    pub name: String,
    /// Number of its colour.
    pub colour: usize,
    /// Lower edge, upper edge, value.
    pub bars: Vec<(f64, f64, f64)>,
}

impl Chart {
    /// Whether anything would be drawn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| match layer {
            Layer::Line(line) => !line.points.iter().any(|(x, y)| x.is_finite() && y.is_finite()),
            Layer::Band(band) => band.points.is_empty(),
            Layer::Bars(bars) => bars.bars.is_empty(),
            Layer::Heat(heat) => heat.is_empty(),
        })
    }

    /// All values on the vertical axis.
    fn ys(&self) -> impl Iterator<Item = f64> + '_ {
        self.layers.iter().flat_map(|layer| -> Box<dyn Iterator<Item = f64> + '_> {
            match layer {
                Layer::Line(line) => Box::new(line.points.iter().map(|point| point.1)),
                Layer::Band(band) => Box::new(band.points.iter().flat_map(|point| [point.1, point.2])),
                Layer::Bars(bars) => Box::new(bars.bars.iter().map(|bar| bar.2)),
                Layer::Heat(heat) => Box::new(heat.y_edges().into_iter()),
            }
        })
    }

    /// All values on the horizontal axis.
    fn xs(&self) -> impl Iterator<Item = f64> + '_ {
        self.layers.iter().flat_map(|layer| -> Box<dyn Iterator<Item = f64> + '_> {
            match layer {
                Layer::Line(line) => Box::new(line.points.iter().map(|point| point.0)),
                Layer::Band(band) => Box::new(band.points.iter().map(|point| point.0)),
                Layer::Bars(bars) => Box::new(bars.bars.iter().flat_map(|bar| [bar.0, bar.1])),
                Layer::Heat(heat) => Box::new(heat.x_edges().into_iter()),
            }
        })
    }

    /// The extents of both axes, as they are fixed or as the figures demand: all of them, or without the outliers of the
    /// vertical axis.
    fn extents(&self, full: bool) -> (Extent, Extent) {
        let x = self.x.extent.unwrap_or_else(|| Extent::of(self.xs()));
        let y = self.y.extent.unwrap_or_else(|| {
            let bars = self.layers.iter().any(|layer| matches!(layer, Layer::Bars(_)));
            let values = || self.ys();
            let all = Extent::of(values());
            let shows_all = full || bars || self.y.scale != Scale::Linear;
            let extent = if shows_all { all } else { robust(values()).unwrap_or(all) };
            if self.y.scale == Scale::Linear { extent.with_zero().with_head_room() } else { extent }
        });
        (x, y)
    }

    /// Whether outliers make the full vertical range so much larger that it deserves a drawing of its own.
    #[must_use]
    pub fn has_outliers(&self) -> bool {
        let ((_, usual), (_, full)) = (self.extents(false), self.extents(true));
        full.high > usual.high * 1.001
    }
}
