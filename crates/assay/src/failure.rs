//! The one shape of every failure at the edge: what failed, why, what to do, and the exit code.

use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

/// What went wrong, as the exit code tells it apart (`assay help exit-codes`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Our bug.
    Internal,
    /// Wrong usage.
    Usage,
    /// A suite file is invalid.
    Suite,
    /// A host, library, tool, disk or measurement failed.
    Measurement,
}

/// Every exit code with its meaning; 5 and 6 belong to comparisons.
pub(crate) const EXIT_CODES: [(u8, &str); 7] = [
    (0, "fine"),
    (1, "a bug in assay"),
    (
        2,
        "wrong usage: an unknown command, option, suite, run, placement or unit, or an impossible value",
    ),
    (3, "a suite file does not parse, or names what does not exist"),
    (4, "a host, library, tool, disk or measurement failed, or the run was interrupted"),
    (5, "a comparison found a regression"),
    (6, "a comparison cannot tell"),
];

impl Kind {
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Suite => 3,
            Self::Measurement => 4,
        }
    }
}

/// A failure on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    what: String,
    why: Vec<String>,
    advice: Vec<String>,
    place: Option<Box<Place>>,
}

/// Where in a file the fault lies.
#[derive(Debug)]
struct Place {
    file: String,
    text: String,
    span: Range<usize>,
}

impl Failure {
    /// `what` failed; full stop and capital letter are left out, as in all messages.
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), why: vec![], advice: vec![], place: None }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what)
    }

    pub(crate) fn measurement(what: impl Into<String>) -> Self {
        Self::new(Kind::Measurement, what)
    }

    /// Adds the error and everything it was caused by.
    pub(crate) fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            self.why.push(error.to_string());
            cause = error.source();
        }
        self
    }

    /// Adds a reason in words.
    pub(crate) fn explain(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    /// Adds something the user can do.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Points at the place in a file.
    pub(crate) fn at(mut self, file: &str, text: &str, span: Range<usize>) -> Self {
        self.place =
            Some(Box::new(Place { file: file.to_owned(), text: text.to_owned(), span }));
        self
    }

    /// What failed and why in one line, and what to do in another.
    pub(crate) fn into_lines(self) -> (String, String) {
        let what = std::iter::once(self.what).chain(self.why);
        (what.collect::<Vec<_>>().join(": "), self.advice.join("; "))
    }

    /// The failure for people: what (with the place), why, what to do.
    pub(crate) fn render(&self, colour: bool) -> String {
        let mut text = format!("error: {}\n", self.what);
        if let Some(place) = &self.place {
            text.push_str(&place.render(colour));
        }
        for why in &self.why {
            let _ = writeln!(text, "  why: {why}");
        }
        for advice in &self.advice {
            let _ = writeln!(text, "  help: {advice}");
        }
        text
    }
}

impl Place {
    fn render(&self, colour: bool) -> String {
        let theme =
            if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(96).without_cause_chain();
        let text = miette::NamedSource::new(&self.file, self.text.clone());
        let shown = Snippet { text, span: self.span.clone() };
        let mut text = String::new();
        match handler.render_report(&mut text, &shown) {
            // The handler prints the (empty) message on a line of its own first.
            Ok(()) => {
                text.lines()
                    .skip_while(|line| !line.contains('╭'))
                    .collect::<Vec<_>>()
                    .join("\n")
                    + "\n"
            }
            Err(_) => format!("  in {} at byte {}\n", self.file, self.span.start),
        }
    }
}

/// A place as miette wants it.
#[derive(Debug, thiserror::Error)]
#[error("")]
struct Snippet {
    text: miette::NamedSource<String>,
    span: Range<usize>,
}

impl Diagnostic for Snippet {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let here = LabeledSpan::new_with_span(Some("here".into()), self.span.clone());
        Some(Box::new(std::iter::once(here)))
    }
}
