//! A secret as a URI gives it: inline, or the name of where it is.
//!
//! Owns the promise that no secret is printed. Does no I/O: who opens the target looks up what is only named.

use std::fmt;
use std::path::PathBuf;

/// A secret or where to find it; its `Debug` form shows neither, and it has no other printed form.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// The secret itself.
    Inline(String),
    /// The environment variable that holds it (`env:NAME`).
    Env(String),
    /// The file whose first line it is (`file:PATH`).
    File(PathBuf),
}

impl Secret {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (secret, name) = match text.split_once(':') {
            Some(("env", name)) => (Self::Env(name.to_owned()), name),
            Some(("file", path)) => (Self::File(PathBuf::from(path)), path),
            _ => (Self::Inline(text.to_owned()), text),
        };
        if name.is_empty() {
            return Err("the secret behind `%` is empty; write env:NAME or file:PATH, or leave `%` out".to_owned());
        }
        Ok(secret)
    }

    /// The text that [`Secret::parse`] reads, with the secret in it.
    pub(super) fn reveal(&self) -> String {
        match self {
            Self::Inline(secret) => secret.clone(),
            Self::Env(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{}", path.display()),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
