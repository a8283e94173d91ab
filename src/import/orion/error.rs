//! What is wrong with an ORION command line or `.lun` file, and where.
//!
//! Owns the error type of the two. Each text names the option or line and the remedy.

/// Why a command line or a `.lun` file cannot be used; prints as `place: what is wrong; what to do`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct OrionError {
    /// The option as it is documented (`-num_disks`), or `file:line`.
    pub place: String,
    /// The fault and its remedy, without any secret.
    pub message: String,
}

impl OrionError {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}
