//! Diagnostics of parameter files: message, location, help, and Vdbench's own behaviour.
//!
//! The meaning of a diagnostic's code never changes.

use std::fmt;
use std::sync::Arc;

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticSeverity {
    /// The file cannot run.
    Error,
    /// The file runs, perhaps not as intended.
    Warning,
    /// Parameter without effect here.
    Note,
}

/// Location in a parameter file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// File name as given.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters, at least 1.
    pub length: u32,
    /// Line as parsed, with variables replaced.
    pub text: Arc<str>,
}

/// Error, warning or note about a parameter file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Code, `V101` … `V174`.
    pub code: &'static str,
    /// Severity.
    pub severity: DiagnosticSeverity,
    /// Location; `None` if the diagnostic concerns all files.
    pub location: Option<SourceLocation>,
    /// Description of the problem.
    pub message: String,
    /// Recommended action.
    pub help: Option<String>,
    /// Behaviour of Vdbench itself.
    pub vdbench: Option<String>,
}

impl Diagnostic {
    /// Creates a diagnostic without help.
    pub(crate) fn new(
        severity: DiagnosticSeverity,
        code: &'static str,
        location: Option<SourceLocation>,
        message: impl Into<String>,
    ) -> Self {
        Self { code, severity, location, message: message.into(), help: None, vdbench: None }
    }

    /// Adds a recommended action.
    pub(crate) fn add_help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a recommended action and Vdbench's own behaviour.
    pub(crate) fn advise(&mut self, help: impl Into<String>, does: impl Into<String>) {
        self.add_help(help).add_vdbench_behaviour(does);
    }

    /// Adds Vdbench's own behaviour.
    pub(crate) fn add_vdbench_behaviour(&mut self, does: impl Into<String>) -> &mut Self {
        self.vdbench = Some(does.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Note => "note",
        };
        writeln!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(place) = &self.location {
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

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum width; longer lines are cut around the location.
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
