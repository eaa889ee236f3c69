//! Location of an error in a user's file.

use std::ops::Range;

/// Location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Byte span.
    pub span: Range<usize>,
}

impl Place {
    pub(crate) fn of(text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        Self { line: 1 + before.matches('\n').count(), span }
    }

    /// Returns the location and message of a TOML error.
    pub(crate) fn of_toml(text: &str, error: &toml::de::Error) -> (Self, String) {
        let message = error.message().replace("unknown field", "unknown key");
        (Self::of(text, error.span().unwrap_or(0..0)), message)
    }
}
