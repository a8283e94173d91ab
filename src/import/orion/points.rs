//! The load points of a test, in the order they run.
//!
//! Owns the ranges of load, how they are thinned, and the shapes of the matrix. Knows no target.
//!
//! What is known, and from where:
//! - Small loads go up to 5 a disk, large ones to 2 a disk. Published totals: 8 points for 1 disk (5 + 2 + 1), 38 for 8
//!   disks (21 + 16 + 1, so that 21 of the 40 small loads are left).
//! - A published matrix for a range of 50 has the small loads 1, 2, 4, 6 … 50.
//! - `oltp` on 1 disk runs 1 … 20. A published test of three volumes was announced with the same 24 minutes, hence as
//!   many points: 20 loads whatever the number of disks.
//! - The point without any I/O is counted and does not run: 21 points for those 20 loads.
//! - Small loads run before large ones; a published log has small 1, large 0 as point 2.

use super::options::{Matrix, Options, RunLevel};

/// Most loads before a range is thinned. Chosen: it gives every published list above.
const UNTHINNED: u32 = 25;
/// Loads of an `oltp` test.
const OLTP_LOADS: u32 = 20;

/// One point: the outstanding small I/Os and the outstanding large ones (or streams), not both 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Outstanding small I/Os.
    pub small: u32,
    /// Outstanding large I/Os; streams of them if they are sequential.
    pub large: u32,
}

/// Which part of the matrix is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// First row and first column.
    Basic,
    /// All combinations.
    Full,
    /// One large load, all small ones.
    Row,
    /// One small load, all large ones.
    Column,
    /// One point.
    Point,
}

/// The points of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    /// Which part of the matrix they are.
    pub shape: Shape,
    /// The points, in the order they run.
    pub cells: Vec<Cell>,
    /// How many ORION counts: the point without any I/O is one, if it is within the shape.
    pub total: usize,
}

impl Points {
    /// The small loads that occur, rising.
    #[must_use]
    pub fn small_loads(&self) -> Vec<u32> {
        rising(self.cells.iter().map(|cell| cell.small))
    }

    /// The large loads that occur, rising.
    #[must_use]
    pub fn large_loads(&self) -> Vec<u32> {
        rising(self.cells.iter().map(|cell| cell.large))
    }
}

fn rising(loads: impl Iterator<Item = u32>) -> Vec<u32> {
    loads.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// The points of a test on a number of disks.
#[must_use]
pub fn points(options: &Options, disks: u32) -> Points {
    let (small, large) = (thinned(5 * disks), thinned(2 * disks));
    let (num_small, num_large) = (options.num_small.unwrap_or(0), options.num_large.unwrap_or(0));
    match (options.run, options.matrix()) {
        (RunLevel::Simple, _) | (RunLevel::Advanced, Matrix::Basic) => basic(&small, &large),
        (RunLevel::Normal, _) | (RunLevel::Advanced, Matrix::Detailed) => {
            full(Shape::Full, &from_zero(&small), &from_zero(&large))
        }
        (RunLevel::Oltp, _) => {
            let loads: Vec<u32> = (0..=OLTP_LOADS).map(|step| step * disks).collect();
            full(Shape::Row, &loads, &[0])
        }
        // The reference gives no range of its own for `dss`, so that of large loads holds.
        (RunLevel::Dss, _) => full(Shape::Column, &[0], &from_zero(&large)),
        (RunLevel::Advanced, Matrix::Point) => full(Shape::Point, &[num_small], &[num_large]),
        (RunLevel::Advanced, Matrix::Row) => full(Shape::Row, &from_zero(&small), &[num_large]),
        (RunLevel::Advanced, Matrix::Col) => full(Shape::Column, &[num_small], &from_zero(&large)),
        (RunLevel::Advanced, Matrix::Max) => {
            full(Shape::Full, &from_zero(&thinned(num_small)), &from_zero(&thinned(num_large)))
        }
    }
}

/// The loads from 1 to `max`: all of a short range; of a longer one 1, the multiples of a step, and `max`.
fn thinned(max: u32) -> Vec<u32> {
    let step = max.div_ceil(UNTHINNED).max(1);
    let ends = [1, max].into_iter().filter(|load| *load <= max && *load > 0);
    rising((1..=max / step).map(|at| at * step).chain(ends))
}

fn from_zero(loads: &[u32]) -> Vec<u32> {
    std::iter::once(0).chain(loads.iter().copied()).collect()
}

fn basic(small: &[u32], large: &[u32]) -> Points {
    let row = small.iter().map(|small| Cell { small: *small, large: 0 });
    let column = large.iter().map(|large| Cell { small: 0, large: *large });
    let cells: Vec<Cell> = row.chain(column).collect();
    Points { shape: Shape::Basic, total: cells.len() + 1, cells }
}

/// All combinations, row by row. The reference gives no order for these; this one begins as the simple test does.
fn full(shape: Shape, small: &[u32], large: &[u32]) -> Points {
    let all = large.iter().flat_map(|large| small.iter().map(|small| Cell { small: *small, large: *large }));
    let cells: Vec<Cell> = all.filter(|cell| cell.small > 0 || cell.large > 0).collect();
    Points { shape, total: small.len() * large.len(), cells }
}

#[cfg(test)]
mod tests {
    use super::super::options::Dialect;
    use super::*;

    fn of(run: RunLevel, disks: u32) -> Points {
        points(&Options::new(Dialect::V11_2, run), disks)
    }

    fn advanced(matrix: Matrix, num_small: Option<u32>, num_large: Option<u32>, disks: u32) -> Points {
        let options = Options::new(Dialect::V11_2, RunLevel::Advanced);
        points(&Options { matrix: Some(matrix), num_small, num_large, ..options }, disks)
    }

    fn cells(points: &Points) -> Vec<(u32, u32)> {
        points.cells.iter().map(|cell| (cell.small, cell.large)).collect()
    }

    #[test]
    fn a_simple_test_runs_the_first_row_then_the_first_column() {
        let one = of(RunLevel::Simple, 1);
        assert_eq!(cells(&one), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1), (0, 2)]);
        assert_eq!(one.total, 8);
        assert_eq!(advanced(Matrix::Basic, None, None, 1), one);
    }

    #[test]
    fn many_disks_thin_the_loads_as_published() {
        let eight = of(RunLevel::Simple, 8);
        assert_eq!(eight.total, 38);
        assert_eq!(eight.large_loads(), (0..=16).collect::<Vec<_>>());
        assert_eq!(eight.small_loads().last(), Some(&40));
        let ten: Vec<u32> = [0, 1].into_iter().chain((2..=50).step_by(2)).collect();
        assert_eq!(of(RunLevel::Simple, 10).small_loads(), ten);
        assert_eq!(of(RunLevel::Simple, 4).total, 29);
        assert_eq!(of(RunLevel::Simple, 6).total, 29);
        assert_eq!(thinned(51), [vec![1], (3..=51).step_by(3).collect()].concat());
        assert_eq!(thinned(52).last(), Some(&52));
        assert!(thinned(0).is_empty());
    }

    #[test]
    fn oltp_runs_twenty_small_loads_and_dss_the_large_ones() {
        let one = of(RunLevel::Oltp, 1);
        assert_eq!((one.small_loads(), one.large_loads(), one.total), ((1..=20).collect(), vec![0], 21));
        let fifty = of(RunLevel::Oltp, 50);
        assert_eq!((fifty.cells[0].small, fifty.cells[19].small, fifty.total), (50, 1_000, 21));
        let dss = of(RunLevel::Dss, 2);
        assert_eq!((cells(&dss), dss.total), (vec![(0, 1), (0, 2), (0, 3), (0, 4)], 5));
    }

    #[test]
    fn a_normal_test_runs_all_combinations_row_by_row() {
        let normal = of(RunLevel::Normal, 1);
        assert_eq!((normal.cells.len(), normal.total), (17, 18));
        assert_eq!(cells(&normal)[4..8], [(5, 0), (0, 1), (1, 1), (2, 1)]);
        assert_eq!(advanced(Matrix::Detailed, None, None, 1), normal);
    }

    #[test]
    fn an_advanced_test_runs_the_shape_that_is_asked_for() {
        for (matrix, small, large, expected, total) in [
            (Matrix::Point, Some(3), Some(2), vec![(3, 2)], 1),
            (Matrix::Row, None, Some(2), vec![(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)], 6),
            (Matrix::Row, None, Some(0), vec![(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)], 6),
            (Matrix::Col, Some(7), None, vec![(7, 0), (7, 1), (7, 2)], 3),
            (Matrix::Col, Some(0), None, vec![(0, 1), (0, 2)], 3),
            (Matrix::Max, Some(2), Some(1), vec![(1, 0), (2, 0), (0, 1), (1, 1), (2, 1)], 6),
            (Matrix::Max, Some(0), Some(2), vec![(0, 1), (0, 2)], 3),
        ] {
            let points = advanced(matrix, small, large, 1);
            assert_eq!((cells(&points), points.total), (expected, total), "{matrix:?} {small:?} {large:?}");
        }
    }
}
