//! Where in a user's file something is wrong.

use std::ops::Range;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its line, from 1.
    pub line: usize,
    /// Its bytes.
    pub span: Range<usize>,
}

impl Place {
    pub(crate) fn of(text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        Self { line: 1 + before.matches('\n').count(), span }
    }

    /// Where a text is no TOML of what is expected, and why.
    pub(crate) fn of_toml(text: &str, error: &toml::de::Error) -> (Self, String) {
        let message = error.message().replace("unknown field", "unknown key");
        (Self::of(text, error.span().unwrap_or(0..0)), message)
    }
}
