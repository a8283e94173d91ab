//! Operation, closed-loop load and the lists a sweep steps through.
//!
//! Owns their spelling and their limits. Knows nothing of targets or cores.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};

use super::open::{DEFAULT_MAX_OUTSTANDING, OpenLoad};
use super::scalar::Whole;
use crate::units::format_count;

/// Greatest queue depth on one target.
pub const QUEUE_DEPTH_MAX: u32 = 65_535;
/// Greatest number of I/Os outstanding over all targets.
pub const OUTSTANDING_MAX: u32 = 1_048_576;
/// Most points of one sweep.
pub const SWEEP_POINTS_MAX: usize = 10_000;

/// What an I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads blocks.
    Read,
    /// Writes blocks.
    Write,
    /// Gives blocks back to the target (deallocate, unmap).
    Trim,
    /// Lets blocks be zeroes, without sending them.
    WriteZeroes,
    /// Lets the target put to its medium what it has been sent.
    Flush,
}

impl Op {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Trim, Self::WriteZeroes, Self::Flush];

    /// Its name, as a job has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::WriteZeroes => "write_zeroes",
            Self::Flush => "flush",
        }
    }

    /// Whether it changes what a target holds.
    #[must_use]
    pub fn destroys(self) -> bool {
        !matches!(self, Self::Read | Self::Flush)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The fixed load of one workload at one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Closed loop: outstanding I/Os on each target, at least 1.
    QueueDepth(u32),
    /// Closed loop: outstanding I/Os over all targets together, at least 1.
    Outstanding(u32),
    /// Open loop: arrivals at a rate, whatever the targets do.
    Rate(OpenLoad),
}

impl fmt::Display for Load {
    /// `queue depth 32`, `outstanding 64`, or `50,000 arrivals/s (Poisson, at most 256 outstanding)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueDepth(depth) => write!(f, "queue depth {depth}"),
            Self::Outstanding(count) => write!(f, "outstanding {count}"),
            Self::Rate(OpenLoad { rate_per_s, arrivals, max_outstanding }) => {
                let most = max_outstanding.map(|most| format!(", at most {most} outstanding")).unwrap_or_default();
                write!(f, "{} arrivals/s ({arrivals}{most})", format_count(*rate_per_s))
            }
        }
    }
}

impl Load {
    /// I/Os that are outstanding, on each target or over all; in an open loop the most that may be.
    #[must_use]
    pub fn depth(self) -> u32 {
        match self {
            Self::QueueDepth(depth) | Self::Outstanding(depth) => depth,
            Self::Rate(open) => open.max_outstanding.unwrap_or(DEFAULT_MAX_OUTSTANDING),
        }
    }
}

fn queue_depth_value() -> Whole {
    Whole {
        expecting: "a number of outstanding I/Os on each target, 1 to 65535, such as 32",
        range: 1..=u64::from(QUEUE_DEPTH_MAX),
    }
}

fn outstanding_value() -> Whole {
    Whole {
        expecting: "a number of outstanding I/Os over all targets, 1 to 1048576, such as 64",
        range: 1..=u64::from(OUTSTANDING_MAX),
    }
}

/// Reads a queue depth.
pub(super) fn queue_depth<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    queue_depth_value().deserialize(d).map(|depth| u32::try_from(depth).ok())
}

/// Reads a number of outstanding I/Os.
pub(super) fn outstanding<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u32>, D::Error> {
    outstanding_value().deserialize(d).map(|depth| u32::try_from(depth).ok())
}

/// Reads a list of queue depths.
pub(super) fn queue_depths<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<u32>>, D::Error> {
    narrow(list::read(d, "a list of queue depths, such as [1, 2, 4, 8]", queue_depth_value()))
}

/// Reads a list of numbers of outstanding I/Os.
pub(super) fn outstandings<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<u32>>, D::Error> {
    narrow(list::read(d, "a list of numbers of outstanding I/Os, such as [16, 32, 64]", outstanding_value()))
}

/// Counts whose range fits into 32 bits.
fn narrow<E>(counts: Result<Option<Vec<u64>>, E>) -> Result<Option<Vec<u32>>, E> {
    let narrow = |counts: Vec<u64>| counts.into_iter().filter_map(|count| u32::try_from(count).ok()).collect();
    counts.map(|counts| counts.map(narrow))
}

/// Lists of whole numbers with at least one and at most [`SWEEP_POINTS_MAX`] entries.
pub(super) mod list {
    use std::fmt;

    use serde::Deserializer;
    use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};

    use super::SWEEP_POINTS_MAX;

    pub fn read<'de, D, W>(d: D, expecting: &'static str, each: W) -> Result<Option<Vec<u64>>, D::Error>
    where
        D: Deserializer<'de>,
        W: DeserializeSeed<'de, Value = u64> + Clone,
    {
        d.deserialize_any(List { expecting, each }).map(Some)
    }

    struct List<W> {
        expecting: &'static str,
        each: W,
    }

    impl<'de, W: DeserializeSeed<'de, Value = u64> + Clone> Visitor<'de> for List<W> {
        type Value = Vec<u64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expecting)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u64>, A::Error> {
            let mut out = Vec::new();
            while let Some(value) = seq.next_element_seed(self.each.clone())? {
                out.push(value);
                if out.len() > SWEEP_POINTS_MAX {
                    return Err(A::Error::custom(format!(
                        "the sweep has more than {SWEEP_POINTS_MAX} points; write fewer"
                    )));
                }
            }
            if out.is_empty() {
                return Err(A::Error::custom(format!("the sweep is empty; write {}", self.expecting)));
            }
            Ok(out)
        }
    }
}
