//! Location of an error in a user's file.

use std::ops::Range;

/// Location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// Line, from 1.
    pub line: usize,
    /// Byte span.
    pub span: Range<usize>,
}

impl FileLocation {
    pub(crate) fn from_span(text: &str, span: Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        Self { line: 1 + before.matches('\n').count(), span }
    }

    /// Returns the location and message of a TOML error.
    pub(crate) fn from_toml_error(text: &str, error: &toml::de::Error) -> (Self, String) {
        let message = error.message().replace("unknown field", "unknown key");
        (Self::from_span(text, error.span().unwrap_or(0..0)), message)
    }
}
