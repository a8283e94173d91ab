//! A map of counts over time and latency. Owns how counts become shades.

/// Counts in cells of columns (horizontal) and rows (vertical).
#[derive(Debug, Clone, Default)]
pub struct Heat {
    /// Left to right.
    pub columns: Vec<HeatColumn>,
}

/// A column of a map: left edge, right edge, cells.
pub type HeatColumn = (f64, f64, Vec<HeatCell>);
/// A cell of a column: lower edge, upper edge, count.
pub type HeatCell = (f64, f64, u64);

impl Heat {
    /// Whether nothing is counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(|(.., cells)| cells.is_empty())
    }

    pub(super) fn x_edges(&self) -> Vec<f64> {
        self.columns.iter().flat_map(|(left, right, _)| [*left, *right]).collect()
    }

    pub(super) fn y_edges(&self) -> Vec<f64> {
        self.columns.iter().flat_map(|(.., cells)| cells.iter().flat_map(|(low, high, _)| [*low, *high])).collect()
    }

    /// A cell's shade, 1 to 8: by the logarithm of its share of its column, so that one slow I/O among a million is seen.
    pub(super) fn shade(count: u64, column: u64) -> u8 {
        let share = count as f64 / column.max(1) as f64;
        (8.0 + share.max(1e-12).log10() * 1.4).round().clamp(1.0, 8.0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_cells_are_still_seen() {
        assert_eq!((Heat::shade(1_000, 1_000), Heat::shade(1, 1_000_000)), (8, 1));
        assert!((2..8).contains(&Heat::shade(10, 1_000)));
    }
}
