//! Exit codes and the rendering of failures.

use std::ops::Range;

use assay_run::failure::{CommandFailure, FailureKind, FailureLocation};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

/// Exit status of a command. Of several, the greatest is reported: the order is that of the
/// variants, from success to a bug.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Everything was done and met.
    #[default]
    Success,
    /// A comparison or an expectation could not be decided.
    Undecided,
    /// A comparison found a regression, or an expectation is missed.
    Regression,
    /// Wrong usage.
    WrongUsage,
    /// A suite file is invalid.
    InvalidSuite,
    /// A host, library, tool, disk or measurement failed.
    Failed,
    /// Bug of assay.
    Bug,
}

impl ExitStatus {
    /// Returns the status of a failure of this kind.
    pub const fn from_failure(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Internal => Self::Bug,
            FailureKind::Usage => Self::WrongUsage,
            FailureKind::Suite => Self::InvalidSuite,
            FailureKind::Measurement => Self::Failed,
        }
    }

    /// Returns the exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Bug => 1,
            Self::WrongUsage => 2,
            Self::InvalidSuite => 3,
            Self::Failed => 4,
            Self::Regression => 5,
            Self::Undecided => 6,
        }
    }
}

/// Exit codes with their meaning.
pub const EXIT_CODES: [(u8, &str); 7] = [
    (0, "success"),
    (1, "a bug in assay"),
    (
        2,
        "wrong usage: an unknown command, option, suite, run, placement or unit, an impossible value, or a target that assay must not use",
    ),
    (3, "a suite file is malformed, or refers to something that does not exist"),
    (
        4,
        "a host, library, tool, disk or measurement failed, the run was interrupted, or `doctor --strict` found a deviation",
    ),
    (
        5,
        "a comparison found a regression, a value misses what `--expect` asks for, `lint` has findings, or with `--strict` a host is worse than its peers",
    ),
    (
        6,
        "a comparison or `--expect` cannot tell, or with `--strict` a run is not to be trusted",
    ),
];

/// Returns the exit code of a failure of this kind.
pub const fn exit_code(kind: FailureKind) -> u8 {
    ExitStatus::from_failure(kind).code()
}

/// Renders a failure as text: the failed operation with its source location, the reason, and
/// advice.
pub fn render(failure: &CommandFailure, colour: bool) -> String {
    let excerpt =
        failure.location().map(|location| render_excerpt(location, colour)).unwrap_or_default();
    format!("error: {}\n{excerpt}{}", failure.message(), failure.details())
}

fn render_excerpt(location: &FailureLocation, colour: bool) -> String {
    let theme =
        if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler =
        GraphicalReportHandler::new_themed(theme).with_width(96).without_cause_chain();
    let text = miette::NamedSource::new(&location.file, location.text.clone());
    let excerpt = SourceExcerpt { text, span: location.span.clone() };
    let mut text = String::new();
    match handler.render_report(&mut text, &excerpt) {
        // The handler prints the empty message on a line of its own first.
        Ok(()) => {
            text.lines().skip_while(|line| !line.contains('╭')).collect::<Vec<_>>().join("\n")
                + "\n"
        }
        Err(_) => format!("  in {} at byte {}\n", location.file, location.span.start),
    }
}

/// Source excerpt in the form that miette renders.
#[derive(Debug, thiserror::Error)]
#[error("")]
struct SourceExcerpt {
    text: miette::NamedSource<String>,
    span: Range<usize>,
}

impl Diagnostic for SourceExcerpt {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some("here".into()), self.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A failure is reported before a verdict, and a missed value before an undecided one.
    #[test]
    fn greatest_status_is_reported() {
        let order = [
            ExitStatus::Success,
            ExitStatus::Undecided,
            ExitStatus::Regression,
            ExitStatus::WrongUsage,
            ExitStatus::InvalidSuite,
            ExitStatus::Failed,
            ExitStatus::Bug,
        ];
        assert!(order.is_sorted());
        assert_eq!(order.map(ExitStatus::code), [0, 6, 5, 2, 3, 4, 1]);
        assert!(EXIT_CODES.iter().all(|(code, _)| order.iter().any(|it| it.code() == *code)));
    }
}
