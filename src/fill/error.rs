//! Why a fill cannot be planned or continued. Owns the wording.

use crate::plan::PlanError;
use crate::units::Bytes;

/// Why a fill cannot be planned or continued.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The devices or the machine do not allow it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The workloads of the job have several of what a fill has one of.
    #[error("the workloads of the job differ in `{0}`, and a fill has one; state it with --{0} ([precondition] {0})")]
    Differ(&'static str),
    /// The payload has a unit that lies across writes.
    #[error(
        "the payload's `unit` {unit} does not divide the block size of the fill, {block_size}; choose another with \
         --block-size ([precondition] block_size), or state the payload with --payload"
    )]
    Unit {
        /// The unit.
        unit: Bytes,
        /// Bytes of a write.
        block_size: Bytes,
    },
    /// The state is that of another fill.
    #[error(
        "the state is that of another fill: {0}; repeat the command as it was, or leave this fill's state in a file of its \
         own"
    )]
    Other(String),
    /// The state is of another version of its shape, or contradicts itself.
    #[error("the state cannot be continued: {0}; begin anew with --again")]
    Broken(String),
}
