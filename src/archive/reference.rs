//! How a person names an archived result: by its number, how recent it is, or a pin. Owns the spelling.

use std::fmt;

use super::pin::is_name;

/// A result of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// By number.
    Id(i64),
    /// The latest (0), the one before (1) and so on, by when they were begun.
    Latest(u64),
    /// The one pinned by this name.
    Pin(String),
}

impl Reference {
    /// Reads `17`, `latest`, `latest~2` or what may be the name of a pin; none when it is something else, such as a path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "latest" {
            return Some(Self::Latest(0));
        }
        if let Some(back) = text.strip_prefix("latest~") {
            return back.parse().ok().map(Self::Latest);
        }
        if is_name(text) {
            return Some(Self::Pin(text.to_owned()));
        }
        text.parse().ok().filter(|id| *id > 0).map(Self::Id)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Latest(0) => f.write_str("latest"),
            Self::Latest(back) => write!(f, "latest~{back}"),
            Self::Pin(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_numbers_how_recent_or_names() {
        for text in ["17", "latest", "latest~2", "nightly", "latest2", "v1.2-rc_3"] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "latest~", "latest~x", "2nd", "run-1/result.json", "./17"] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }
}
