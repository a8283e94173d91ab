//! The access pattern of a workload: which addresses of its region it touches, and how often.
//!
//! Owns the patterns and their words in reports; how a job spells them is `access_form`'s. Knows no capacity and no block
//! size.

use std::fmt;
use std::time::Duration;

use crate::units::{Bytes, format_duration};

/// The addresses within a region; what each pattern means exactly is defined in `docs/method.md`.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// Uniform over all aligned blocks of the region.
    Random,
    /// Rising, wrapping at the end; each core has its own part of the region.
    Sequential,
    /// In random order, each aligned block once before any comes again; each core has its own share of them.
    Permutation,
    /// Rising by a fixed stride, wrapping at the end; each core has its own part of the region.
    Strided {
        /// From the start of one I/O to that of the next.
        stride: Bytes,
    },
    /// The k-th most popular block with a probability in proportion to k^-theta.
    Zipf {
        /// Exponent, above 0.
        theta: f64,
        /// Whether popular blocks lie all over the region; else they rise from its start.
        scatter: bool,
    },
    /// Self-similar: `share` of the blocks get `1 - share` of the accesses, and so on within those; fio's `pareto`.
    Pareto {
        /// Above 0, below 0.5.
        share: f64,
        /// Whether popular blocks lie all over the region; else they rise from its start.
        scatter: bool,
    },
    /// Normal around the middle of the region.
    Normal {
        /// Standard deviation, in per cent of the region.
        deviation_percent: f64,
    },
    /// A hot band at the start of the region, uniform within it and outside of it.
    Hot {
        /// Share of the accesses that go to the band.
        accesses_percent: f64,
        /// The band's share of the region.
        space_percent: f64,
        /// How often it moves on by its own length; it stays if absent.
        moves: Option<Duration>,
    },
    /// Several bands, uniform within each; what lies in none is not touched.
    Bands(Vec<Band>),
}

/// A band of a region and its share of the accesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Share of the accesses.
    pub accesses_percent: f64,
    /// Start, in per cent of the workload's region.
    pub first_percent: f64,
    /// End, likewise.
    pub end_percent: f64,
}

impl Access {
    /// Whether it rises through the region as a stream, from a start that can be chosen.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Sequential | Self::Strided { .. })
    }

    /// Whether the cores divide the region's blocks between them.
    #[must_use]
    pub fn is_divided(&self) -> bool {
        self.is_stream() || *self == Self::Permutation
    }
}

impl fmt::Display for Access {
    /// In words, for reports.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scattered = |scatter: &bool| if *scatter { "" } else { ", from the start on" };
        match self {
            Self::Random => f.write_str("random"),
            Self::Sequential => f.write_str("sequential"),
            Self::Permutation => f.write_str("random without repeats"),
            Self::Strided { stride } => write!(f, "strided by {stride}"),
            Self::Zipf { theta, scatter } => write!(f, "Zipf {theta}{}", scattered(scatter)),
            Self::Pareto { share, scatter } => write!(f, "Pareto {share}{}", scattered(scatter)),
            Self::Normal { deviation_percent } => write!(f, "normal, deviation {deviation_percent} %"),
            Self::Hot { accesses_percent, space_percent, moves } => {
                let moves = moves.map(|every| format!(", moving every {}", format_duration(every))).unwrap_or_default();
                write!(f, "hot band, {accesses_percent} % on {space_percent} %{moves}")
            }
            Self::Bands(bands) => {
                let band = |b: &Band| format!("{} % on {}%-{}%", b.accesses_percent, b.first_percent, b.end_percent);
                write!(f, "bands, {}", bands.iter().map(band).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
