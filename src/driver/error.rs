//! Why a target cannot be driven. Owns the texts: each names the target and the remedy.

/// Why a target could not be found or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// Targets of two kinds in one job.
    #[error(
        "`{first}` and `{second}` are served by different drivers, and one run uses one; run them one after the other"
    )]
    Mixed {
        /// A target.
        first: String,
        /// Another one.
        second: String,
    },
    /// No driver in this build.
    #[error("`{uri}`: {reason}")]
    NotBuilt {
        /// The target.
        uri: String,
        /// What is missing.
        reason: String,
    },
    /// It could not be reached or attached.
    #[error("target `{uri}`: {reason}")]
    Target {
        /// The target.
        uri: String,
        /// What happened and what to do.
        reason: String,
    },
    /// The environment is not fit.
    #[error("set-up: {0}")]
    SetUp(String),
    /// A write without the right identity, found at the last moment.
    #[error("target `{uri}` is not memory, and the run would write to it: type its identity, --destroy '{identity}'")]
    NotAllowed {
        /// The target.
        uri: String,
        /// Its identity.
        identity: String,
    },
    /// Memory, queues or threads ran out.
    #[error("core {core}: {reason}")]
    Core {
        /// The core.
        core: usize,
        /// What ran out and what to do.
        reason: String,
    },
}

#[cfg(feature = "spdk")]
impl DriverError {
    /// A [`DriverError::Target`] from anything that says why.
    pub(super) fn target(uri: impl ToString, reason: impl ToString) -> Self {
        Self::Target { uri: uri.to_string(), reason: reason.to_string() }
    }

    /// A [`DriverError::Core`] from anything that says why.
    pub(super) fn core(core: usize, reason: impl ToString) -> Self {
        Self::Core { core, reason: reason.to_string() }
    }
}
