//! The common type of all failures: what failed, why, and what to do.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use assay_model::failure::{Area, Failure as CaseFailure, refusal};
use assay_store::StoreError;

/// What went wrong, as the caller may have to distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Our bug.
    Internal,
    /// Wrong usage.
    Usage,
    /// A suite file is invalid.
    Suite,
    /// A host, library, tool, disk or measurement failed.
    Measurement,
}

/// A failure on its way to the user.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    what: String,
    why: Vec<String>,
    advice: Vec<String>,
    place: Option<Box<Place>>,
    target: Option<Box<Path>>,
}

/// Where in a file the fault lies.
#[derive(Debug)]
pub struct Place {
    pub file: String,
    /// The whole text of the file.
    pub text: String,
    pub span: Range<usize>,
}

impl Failure {
    /// `what` failed; full stop and capital letter are left out, as in all messages.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), why: vec![], advice: vec![], place: None, target: None }
    }

    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Kind::Usage, what)
    }

    pub fn measurement(what: impl Into<String>) -> Self {
        Self::new(Kind::Measurement, what)
    }

    /// Adds the error and everything it was caused by.
    pub fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            self.why.push(error.to_string());
            cause = error.source();
        }
        self
    }

    /// Adds a reason in words.
    pub fn explain(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    /// Adds something the user can do.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Adds what can be done about a refusal of the operating system, where that is known.
    pub fn with_known_advice(self) -> Self {
        match refusal::advice(&self.reason()) {
            Some(advice) => self.advise(advice),
            None => self,
        }
    }

    /// Notes the target that it is about, so that languages find the line that names it.
    pub fn of_target(mut self, path: &Path) -> Self {
        self.target = Some(path.into());
        self
    }

    /// The target that it is about, where it is about one.
    pub fn target(&self) -> Option<&Path> {
        self.target.as_deref()
    }

    /// Points at the place in a file.
    pub fn at(mut self, file: &str, text: &str, span: Range<usize>) -> Self {
        self.place =
            Some(Box::new(Place { file: file.to_owned(), text: text.to_owned(), span }));
        self
    }

    /// What failed and why, in one line.
    pub fn reason(&self) -> String {
        let parts: Vec<&str> =
            std::iter::once(&self.what).chain(&self.why).map(String::as_str).collect();
        parts.join(": ")
    }

    /// What to do, in one line; empty when nothing is known.
    pub fn advice(&self) -> String {
        self.advice.join("; or ")
    }

    /// As what ended a case of a run.
    pub fn of_case(&self, area: Area) -> CaseFailure {
        CaseFailure::Error { area, causes: vec![self.reason()], advice: self.advice() }
    }

    /// What failed, in one line.
    pub fn what(&self) -> String {
        refusal::plain(&self.what)
    }

    /// Where in a file the fault lies, if it is in one.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    /// The reasons and what to do, one a line.
    pub fn details(&self) -> String {
        let why = self.why.iter().map(|why| format!("  why: {}\n", refusal::plain(why)));
        let advice = self.advice.iter().map(|advice| format!("  help: {advice}\n"));
        why.chain(advice).collect()
    }

    /// What an unusable store amounts to.
    pub fn of_store(error: &StoreError) -> Self {
        let failure = match error {
            StoreError::NoStore { .. } => Self::usage("there are no runs yet"),
            StoreError::Mounted { run, .. } => {
                Self::measurement(format!("cannot remove run {run}"))
            }
            _ => Self::measurement("the store cannot be used"),
        };
        failure.because(error).advise(error.advice())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.what(), self.details().trim_end())
    }
}

impl Error for Failure {}
