//! What is wrong with a parameter file, where, what to do about it, and what Vdbench itself would do.
//!
//! Nothing here decides; the code of a diagnostic never changes its meaning.

use std::fmt;
use std::sync::Arc;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot run.
    Error,
    /// The file runs, perhaps not as its author meant.
    Warning,
    /// A parameter that has no effect here.
    Note,
}

/// Where in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Characters that are meant, at least 1.
    pub length: u32,
    /// The line as it was read, variables replaced.
    pub text: Arc<str>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `V101` … `V173`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Where; `None` for what concerns the whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// What Vdbench itself does.
    pub vdbench: Option<String>,
}

impl Diagnostic {
    /// A finding without advice.
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        place: Option<Place>,
        message: impl Into<String>,
    ) -> Self {
        Self { code, severity, place, message: message.into(), help: None, vdbench: None }
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what Vdbench does.
    #[must_use]
    pub(crate) fn vdbench(mut self, does: impl Into<String>) -> Self {
        self.vdbench = Some(does.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(place) = &self.place {
            write!(f, "{place}")?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "  help: {help}")?;
        }
        if let Some(does) = &self.vdbench {
            writeln!(f, "  vdbench: {does}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer lines are shown around the place alone.
        const WIDEST: usize = 120;
        let before = self.column.saturating_sub(1) as usize;
        let skipped = before.saturating_sub(WIDEST / 2);
        let shown: String = self
            .text
            .chars()
            .skip(skipped)
            .take(WIDEST)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let carets = (self.length as usize).clamp(1, WIDEST);
        writeln!(f, "  --> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "   | {shown}")?;
        writeln!(f, "   | {}{}", " ".repeat(before - skipped), "^".repeat(carets))
    }
}
