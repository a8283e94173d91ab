//! How a person names an archived result: by its number, or by how recent it is. Owns the spelling.

use std::fmt;

/// A result of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// By number.
    Id(i64),
    /// The latest (0), the one before (1) and so on, by when they were begun.
    Latest(u64),
}

impl Reference {
    /// Reads `17`, `latest` or `latest~2`; none when it is something else, such as a path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(back) = text.strip_prefix("latest") {
            return match back.strip_prefix('~') {
                None if back.is_empty() => Some(Self::Latest(0)),
                None => None,
                Some(back) => back.parse().ok().map(Self::Latest),
            };
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_numbers_or_how_recent() {
        for text in ["17", "latest", "latest~2"] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "latest~", "latest~x", "latest2", "run-1/result.json", "./17"] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
    }
}
