//! Reports for people who read text: the table at the end of a run and the summary of its folder.
//!
//! Owns the style of both. Knows neither terminal nor file: who calls says how wide a line may be and whether it may
//! carry colour and characters beyond ASCII.

/// Writes one line. Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{ let _ = std::fmt::Write::write_fmt($out, format_args!("{}\n", format_args!($($arg)*))); }};
}

mod checks;
mod events;
mod headroom;
mod payload;
mod rows;
mod search;
mod summary;
mod table;

pub(super) use headroom::verdicts as bounds;
pub(super) use payload::{asked as payload_asked, found as payload_found};
pub use search::found as searches;
pub(super) use search::outcome;
pub use summary::summary;
pub use table::{acceptances, table};
pub(crate) use table::{drawn, frame};

/// What the place that shows a text can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether characters beyond ASCII may be used.
    pub unicode: bool,
    /// Whether escape sequences for colour may be used.
    pub colour: bool,
    /// Columns of a line; a wider table leaves out what other columns tell too. None: any width.
    pub width: Option<u16>,
}

impl Style {
    /// For files and pipes: ASCII, no colour, any width.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }

    /// For a terminal of `width` columns.
    #[must_use]
    pub fn terminal(width: u16) -> Self {
        Self { unicode: true, colour: true, width: Some(width) }
    }
}

/// `text` in ASCII: the unit sign µ becomes u, any other foreign character `?`.
pub(crate) fn ascii(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'µ' | 'μ' => 'u',
            c if c.is_ascii() => c,
            _ => '?',
        })
        .collect()
}
