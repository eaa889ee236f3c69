//! Errors in fio job files and command lines, with their place.
//!
//! Never prints: the caller has the text and shows the place.

use thiserror::Error;

/// Where something stands: a text by name and the bytes in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Name of the file, or `command line`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the whole text: first and one past the last.
    pub span: (usize, usize),
}

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}:{}:{}: {kind}", .origin.file, .origin.line, .origin.column)]
pub struct Fault {
    /// Where.
    pub origin: Origin,
    /// What.
    pub kind: Box<FaultKind>,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// No option of fio.
    #[error("fio has no option `{name}`")]
    Unknown {
        /// As written.
        name: String,
        /// The nearest option that exists.
        near: Option<&'static str>,
    },
    /// An option of fio that would change the result and is not carried out.
    #[error("assay does not carry out fio's `{name}`: {why}")]
    Refuse {
        /// The option, with its value where that is what is refused.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A value that the option cannot have.
    #[error("`{value}` is no value of `{name}`: {why}")]
    Value {
        /// The option.
        name: String,
        /// As written.
        value: String,
        /// What it should be.
        why: String,
    },
    /// A line that is neither a section nor an option.
    #[error("this line cannot be read: {why}")]
    Line {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file that was named cannot be read.
    #[error("cannot read {path}: {why}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// Options that are each fine and do not fit together.
    #[error("job `{section}`: {why}")]
    Combine {
        /// The job.
        section: String,
        /// What does not fit.
        why: String,
        /// What to do.
        hint: &'static str,
    },
    /// `--section` names a job that no file has.
    #[error("no section is called `{name}`")]
    NoSection {
        /// As typed.
        name: String,
        /// The nearest that is there.
        near: Option<String>,
    },
    /// Nothing to do.
    #[error("no job is defined")]
    Empty,
}

impl Origin {
    /// The place of `start..end` in `text`.
    #[must_use]
    pub fn of(file: &str, text: &str, start: usize, end: usize) -> Self {
        let start = floor(text, start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            span: (start, floor(text, end).max(start)),
        }
    }
}

impl Fault {
    pub(super) fn new(origin: Origin, kind: FaultKind) -> Self {
        Self { origin, kind: Box::new(kind) }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &*self.kind {
            FaultKind::Unknown { near: Some(near), .. } => format!("did you mean `{near}`?"),
            FaultKind::NoSection { near: Some(near), .. } => format!("did you mean `{near}`?"),
            FaultKind::NoSection { near: None, .. } => {
                "name a section of the job file as it stands between its brackets".to_owned()
            }
            FaultKind::Unknown { near: None, .. } => {
                "`man fio` lists fio's options; docs/fio.md says which of them run".to_owned()
            }
            FaultKind::Refuse { .. } => {
                "remove it, or run this job with fio itself; docs/fio.md lists what runs".to_owned()
            }
            FaultKind::Value { .. } => "see `man fio` for the values of this option".to_owned(),
            FaultKind::Line { .. } => {
                "a job file has lines `[name]`, `option=value`, `option` and comments with ; or #"
                    .to_owned()
            }
            FaultKind::Read { .. } => "check the path and the permissions".to_owned(),
            FaultKind::Combine { hint, .. } => (*hint).to_owned(),
            FaultKind::Empty => {
                "name a job file with a section like [job], or say --name=job --rw=randread \
                 --size=1g"
                    .to_owned()
            }
        }
    }
}

/// The nearest boundary of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
