//! Common type of all failures, with message, reasons and advice.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;

use assay_model::failure::{ErrorArea, FailureReason, os_error};
use assay_store::{ResolveError, StoreError};

/// Category of a failure, for callers that treat them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Bug of assay.
    Internal,
    /// Wrong usage.
    Usage,
    /// A suite file is invalid.
    Suite,
    /// A host, library, tool, disk or measurement failed.
    Measurement,
}

/// Failure that is reported to the user, with reasons and advice.
#[derive(Debug)]
pub struct CommandFailure {
    pub kind: FailureKind,
    what: String,
    why: Vec<String>,
    advice: Vec<String>,
    place: Option<Box<FailureLocation>>,
    target: Option<Box<Path>>,
}

/// Location of an error in a file.
#[derive(Debug)]
pub struct FailureLocation {
    pub file: String,
    /// Complete text of the file.
    pub text: String,
    pub span: Range<usize>,
}

impl CommandFailure {
    /// Creates a failure from its message, without a full stop or an initial capital, as in all
    /// messages.
    pub fn new(kind: FailureKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), why: vec![], advice: vec![], place: None, target: None }
    }

    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, what)
    }

    pub fn measurement(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Measurement, what)
    }

    /// Creates the failure of an interrupted run.
    pub fn interrupted() -> Self {
        Self::measurement("the run was interrupted")
    }

    /// Creates the failure of a system that refuses another thread.
    pub fn from_thread_error(error: &io::Error) -> Self {
        Self::measurement("cannot start a thread").with_cause(error).advise(
            "end other programs, or raise the limit of processes (ulimit -u, `pids.max` of the control group)",
        )
    }

    /// Adds the error and the chain of its sources.
    pub fn with_cause(mut self, error: &(dyn Error + 'static)) -> Self {
        self.why.extend(FailureReason::error_chain(error));
        self
    }

    /// Adds a reason as text.
    pub fn with_reason(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    /// Adds an action for the user.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        let advice = advice.into();
        if !self.advice.contains(&advice) {
            self.advice.push(advice);
        }
        self
    }

    /// Adds advice on an error of the operating system, if there is any.
    pub fn with_known_advice(self) -> Self {
        match os_error::advice(&self.reason()) {
            Some(advice) => self.advise(advice),
            None => self,
        }
    }

    /// Notes the target concerned, so that job languages find the line that names it.
    pub fn with_target(mut self, path: &Path) -> Self {
        self.target = Some(path.into());
        self
    }

    /// Target concerned, if there is one.
    pub fn target(&self) -> Option<&Path> {
        self.target.as_deref()
    }

    /// Adds the location in a file.
    pub fn at_span(mut self, file: &str, text: &str, span: Range<usize>) -> Self {
        self.place = Some(Box::new(FailureLocation {
            file: file.to_owned(),
            text: text.to_owned(),
            span,
        }));
        self
    }

    /// Message and reasons, in one line.
    pub fn reason(&self) -> String {
        let parts: Vec<&str> =
            std::iter::once(&self.what).chain(&self.why).map(String::as_str).collect();
        parts.join(": ")
    }

    /// Advice in one line; empty if there is none.
    pub fn advice(&self) -> String {
        self.advice.join("; or ")
    }

    /// Converts the failure into one that ended a case of a run.
    pub fn to_case_failure(&self, area: ErrorArea) -> FailureReason {
        FailureReason::Error { area, causes: vec![self.reason()], advice: self.advice() }
    }

    /// Message in one line.
    pub fn message(&self) -> String {
        os_error::simplify_message(&self.what)
    }

    /// Location in a file, if the error is in one.
    pub fn location(&self) -> Option<&FailureLocation> {
        self.place.as_deref()
    }

    /// Reasons and advice, one per line.
    pub fn details(&self) -> String {
        let why =
            self.why.iter().map(|why| format!("  why: {}\n", os_error::simplify_message(why)));
        let advice = self.advice.iter().map(|advice| format!("  help: {advice}\n"));
        why.chain(advice).collect()
    }

    /// Creates the failure of a file of the user that cannot be written.
    pub fn from_write_error(path: &Path, error: &io::Error) -> Self {
        // The error contains the path of the temporary file, which the user does not need.
        let why = error.to_string();
        let why = why.split(" at path \"").next().unwrap_or_default();
        let kind = match error.kind() {
            // A name that no file can have is an impossible value.
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory => FailureKind::Usage,
            _ => FailureKind::Measurement,
        };
        let failure =
            Self::new(kind, format!("cannot write {}", path.display())).with_reason(why);
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                failure.advise("name a file in a folder that exists")
            }
            io::ErrorKind::PermissionDenied => {
                failure.advise("name a file in a folder that you may write to")
            }
            io::ErrorKind::IsADirectory => failure.advise("name a file in that folder"),
            io::ErrorKind::StorageFull => {
                failure.advise("free some space, or name a file on another file system")
            }
            _ => failure.with_known_advice(),
        }
    }
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        let failure = match &error {
            StoreError::NoStore { .. } => Self::usage("there are no runs yet"),
            StoreError::Mounted { run, .. } => {
                Self::measurement(format!("cannot remove run {run}"))
            }
            _ => Self::measurement("cannot use the store"),
        };
        failure.with_cause(&error).advise(error.advice())
    }
}

impl From<ResolveError> for CommandFailure {
    /// Converts the error of a name that denotes no run, or several where one is needed.
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::Store(error) => error.into(),
            ResolveError::SeveralRuns { .. } => {
                Self::usage(error.to_string()).advise("name one of them")
            }
            ResolveError::Unknown { ref name, .. } if name.contains('~') => Self::usage(
                error.to_string(),
            )
            .advise(
                "only latest counts back: latest~1; `assay list` shows the runs of each label",
            ),
            ResolveError::NoRuns { .. }
            | ResolveError::Ambiguous { .. }
            | ResolveError::Unknown { .. }
            | ResolveError::TooFarBack { .. } => Self::usage(error.to_string()).advise(
                "`assay list` shows the stored runs and their labels; latest and latest~1 name \
                 the newest two",
            ),
        }
    }
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message(), self.details().trim_end())
    }
}

impl Error for CommandFailure {}
