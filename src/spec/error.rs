//! What is wrong with a job, and where.
//!
//! Owns the error type of the layer and the removal of secrets from its texts. Each text names the field or flag and
//! the remedy.

use std::fmt;

/// Why a job or a flag cannot be used; prints as `place: what is wrong; what to do`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SpecError {
    /// Where the fault is.
    pub place: Place,
    /// The fault and its remedy, without any secret.
    pub message: String,
}

impl SpecError {
    pub(super) fn new(place: Place, message: &str) -> Self {
        let place = match place {
            Place::Flag(flag) => Place::Flag(redact(&flag)),
            place => place,
        };
        Self { place, message: redact(message) }
    }
}

/// Where in the user's input a fault is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A place in a job file.
    File {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// A command-line flag, such as `--block-size` or `--set run.time`.
    Flag(String),
    /// A field of a job that came from no file, as a dotted path.
    Field(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Field(path) if path.is_empty() => f.write_str("job"),
            Self::Field(path) => f.write_str(path),
        }
    }
}

/// The text without the secret of any URI in it: everything from the `%` behind a user's name to the last `@`.
///
/// Where no `@` follows, an iSCSI URI is cut at the `%`: a mistyped URI must not print its secret either.
#[must_use]
pub fn redact(text: &str) -> String {
    let Some(scheme_end) = text.find("://") else { return text.to_owned() };
    let Some(percent) = text[scheme_end..].find('%').map(|at| scheme_end + at) else { return text.to_owned() };
    let end = match text[percent..].rfind('@') {
        Some(at) => percent + at,
        None if text[..scheme_end].to_lowercase().contains("iscsi") => {
            let quote = text[percent..].find(['`', '"', '\'']);
            quote.map_or(text.len(), |at| percent + at)
        }
        None => return text.to_owned(),
    };
    format!("{}%***{}", &text[..percent], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_carries_a_secret() {
        for (text, printed) in [
            ("found \"iscsi://u%s3cret@h/iqn/0\"", "found \"iscsi://u%***@h/iqn/0\""),
            ("`iscsi://u%s3@cret@h`", "`iscsi://u%***@h`"),
            ("`iscsi://u%s3cret` has no host", "`iscsi://u%***` has no host"),
            ("`icsi://u%s3cret@h`", "`icsi://u%***@h`"),
            ("nvme-tcp://[fe80::1%eth0]:4420/nqn", "nvme-tcp://[fe80::1%eth0]:4420/nqn"),
            ("50% of it", "50% of it"),
        ] {
            assert_eq!(redact(text), printed);
        }
    }
}
