//! Exit codes and the failures they stand for. Owns the one mapping between them.

use std::path::Path;
use std::process::ExitCode;

use super::ab::StudyError;
use crate::campaign::CampaignError;
use crate::clock::ClockError;
use crate::compare::CompareError;
use crate::driver::DriverError;
use crate::engine::EngineError;
use crate::fill::FillError;
use crate::import::orion::OrionError;
use crate::plan::PlanError;
use crate::spec::SpecError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// All done.
    Done = 0,
    /// What is to hold does not, or could not be judged: an acceptance of the job, a limit of a comparison.
    NotAccepted = 1,
    /// Wrong usage or job.
    Usage = 2,
    /// A target or the set-up.
    SetUp = 3,
    /// I/O errors in the run, or what it measured could not all be written.
    IoErrors = 4,
    /// Interrupted; the partial result is saved.
    Interrupted = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The job or a flag is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A flag that belongs to no field of a job.
    #[error("{flag}: {reason}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// ORION's options, or its list of volumes.
    #[error(transparent)]
    Orion(#[from] OrionError),
    /// Results that cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A study of pairs that came to an end.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Devices or machine do not allow it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The points of the job.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// What is to be filled, or continued.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The targets of a run could not be filled.
    #[error("the targets could not be filled as [precondition] says: {0}")]
    Precondition(String),
    /// A target.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The run itself.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The clock.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// A file named by the user that cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        reason: std::io::Error,
    },
    /// A file named by the user that is not what it should be; the reason tells the remedy.
    #[error("{path}: {reason}")]
    Kept {
        /// The file or folder.
        path: String,
        /// Why.
        reason: String,
    },
    /// Two results would be written to one place.
    #[error("two of the results are named {0}; export them one by one, each with its own --out")]
    SameName(String),
    /// An export cannot be written.
    #[error("cannot write the export to {path}: {reason}; choose another folder with --out")]
    Export {
        /// The file or folder.
        path: String,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The result is kept, but cannot be shown.
    #[error("cannot write to stdout: {0}; a result that was measured is in its folder")]
    Stdout(std::io::Error),
    /// The archive.
    #[cfg(feature = "archive")]
    #[error(transparent)]
    Archive(#[from] crate::archive::ArchiveError),
    /// The result cannot be kept.
    #[error("cannot write the result to {path}: {reason}; choose another folder with --out")]
    Write {
        /// The file or folder.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Failure {
    /// A [`Failure::Write`].
    pub(super) fn write(path: &Path, reason: impl ToString) -> Self {
        Self::Write { path: path.display().to_string(), reason: reason.to_string() }
    }

    /// The code that says what kind of failure it is.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Spec(_) | Self::Plan(_) | Self::Driver(DriverError::Mixed { .. }) => Exit::Usage,
            Self::Flag { .. } | Self::Orion(_) | Self::Compare(_) | Self::Fill(_) | Self::Campaign(_) => Exit::Usage,
            Self::Precondition(_) => Exit::IoErrors,
            Self::Study(error) => error.exit(),
            Self::Read { .. } | Self::Kept { .. } | Self::SameName(_) => Exit::Usage,
            #[cfg(feature = "archive")]
            Self::Archive(
                crate::archive::ArchiveError::NoSuch { .. }
                | crate::archive::ArchiveError::None { .. }
                | crate::archive::ArchiveError::NoPin { .. }
                | crate::archive::ArchiveError::PinName { .. },
            ) => Exit::Usage,
            #[cfg(feature = "archive")]
            Self::Archive(_) => Exit::SetUp,
            Self::Driver(_) | Self::Engine(_) | Self::Clock(_) => Exit::SetUp,
            Self::Stdout(_) | Self::Write { .. } | Self::Export { .. } => Exit::SetUp,
        }
    }
}
