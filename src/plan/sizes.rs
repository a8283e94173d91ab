//! The sizes of a workload's I/Os on the targets that were found: which there are, where they may begin, how many bytes
//! completions have moved.
//!
//! Owns the rule that bytes are a count of their own where sizes are mixed, and completions × size where they are not.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Op, Plan, SizeMix, WorkloadPlan};
use crate::units::{Bytes, greatest_divisor};

/// The sizes of each direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpSizes {
    /// Of reads.
    pub read: SizeMix,
    /// Of writes, and of trims and the like.
    pub write: SizeMix,
}

impl WorkloadPlan {
    /// The sizes of the I/Os of one direction.
    #[must_use]
    pub fn sizes_of(&self, op: Op) -> Cow<'_, SizeMix> {
        match (&self.sizes, op) {
            (None, _) => Cow::Owned(self.block_size.into()),
            (Some(sizes), Op::Read) => Cow::Borrowed(&sizes.read),
            (Some(sizes), Op::Write | Op::Trim | Op::WriteZeroes | Op::Flush) => Cow::Borrowed(&sizes.write),
        }
    }

    /// Every size of either direction, once.
    #[must_use]
    pub fn all_sizes(&self) -> Vec<Bytes> {
        let of = |op| self.sizes_of(op).sizes().iter().map(|part| part.size).collect::<Vec<_>>();
        let mut all = [of(Op::Read), of(Op::Write)].concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The sizes for people: `8k`, `4k:60,64k:40`, `read 4k, write 64k`.
    #[must_use]
    pub fn sizes_text(&self) -> String {
        match &self.sizes {
            None => self.block_size.to_string(),
            Some(OpSizes { read, write }) if read == write => read.to_string(),
            Some(OpSizes { read, write }) => format!("read {read}, write {write}"),
        }
    }

    /// Bytes whose multiples an I/O of this size begins at.
    #[must_use]
    pub fn align_of(&self, size: Bytes) -> Bytes {
        self.align.unwrap_or(size)
    }

    /// Bytes whose multiples the regions begin and end at.
    #[must_use]
    pub fn grain(&self) -> Bytes {
        self.align.unwrap_or_else(|| Bytes(self.all_sizes().into_iter().map(|size| size.0).fold(0, greatest_divisor)))
    }

    /// Bytes that hold an aligned I/O of any of the sizes wherever twice as many begin.
    #[must_use]
    pub fn stream_unit(&self) -> Bytes {
        Bytes(self.block_size.0.max(self.align.map_or(0, |align| align.0)))
    }
}

/// How many bytes the good completions of a cell have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellBytes {
    /// So many each: they all have one size.
    PerCompletion(u64),
    /// So many for each of the blocks that were counted with them.
    PerBlock(u64),
}

impl CellBytes {
    /// Bytes of this many completions, which had this many blocks together.
    #[must_use]
    pub fn of(self, completions: u64, blocks: u64) -> u64 {
        match self {
            Self::PerCompletion(bytes) => completions * bytes,
            Self::PerBlock(bytes) => blocks * bytes,
        }
    }
}

impl Plan {
    /// How the bytes of a cell are told; the cell is that of [`Plan::cell`].
    #[must_use]
    pub fn cell_bytes(&self, workload: usize, position: usize, op: Op) -> CellBytes {
        let workload = &self.workloads[workload];
        if op == Op::Flush {
            return CellBytes::PerCompletion(0);
        }
        match workload.sizes_of(op).only() {
            Some(size) => CellBytes::PerCompletion(size.0),
            None => CellBytes::PerBlock(u64::from(self.lba_bytes[workload.targets[position]])),
        }
    }
}
