//! Errors in fio job files and command lines, with their locations.
//!
//! Never prints: the caller has the source text and prints the excerpt.

use thiserror::Error;

use crate::option::UnsupportedOption;

/// Location in a named source text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FioLocation {
    /// Name of the file, or `command line`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte range in the text: start and end (exclusive).
    pub span: (usize, usize),
}

/// Error with its location.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}:{}:{}: {kind}", .origin.file, .origin.line, .origin.column)]
pub struct FioJobError {
    /// Location of the error.
    pub origin: FioLocation,
    /// Kind of the error.
    pub kind: Box<FioJobErrorKind>,
}

/// Kinds of errors in job files and command lines.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FioJobErrorKind {
    /// Not an option of fio.
    #[error("fio has no option `{name}`")]
    UnknownOption {
        /// Name as written.
        name: String,
        /// Nearest existing option.
        near: Option<&'static str>,
    },
    /// Option of fio that would change the result and is not supported.
    #[error(transparent)]
    Unsupported(UnsupportedOption),
    /// Invalid value of an option.
    #[error("invalid value `{value}` for `{name}`: {why}")]
    InvalidValue {
        /// Option name.
        name: String,
        /// Value as written.
        value: String,
        /// Expected value.
        why: String,
    },
    /// Line that is neither a section nor an option.
    #[error("malformed line: {why}")]
    MalformedLine {
        /// Reason.
        why: &'static str,
    },
    /// Named file that cannot be read.
    #[error("cannot read {path}: {why}")]
    UnreadableFile {
        /// File path.
        path: String,
        /// Error message of the system.
        why: String,
    },
    /// Options that are valid on their own but conflict.
    #[error("job `{section}`: {why}")]
    Conflict {
        /// Job name.
        section: String,
        /// Description of the conflict.
        why: String,
        /// Advice.
        hint: &'static str,
    },
    /// `--section` with a name that no job file contains.
    #[error("section `{name}` not found")]
    UnknownSection {
        /// Name as typed.
        name: String,
        /// Nearest existing section.
        near: Option<String>,
    },
    /// No job defined.
    #[error("no job is defined")]
    Empty,
}

impl FioLocation {
    /// Returns the location of `start..end` in `text`.
    pub fn locate(file: &str, text: &str, start: usize, end: usize) -> Self {
        let start = floor_char_boundary(text, start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            span: (start, floor_char_boundary(text, end).max(start)),
        }
    }

    /// Returns the location of `start..end` in the line of this number, which begins at the offset
    /// `line_start`. Visits only the line.
    pub(super) fn in_line(
        file: &str,
        (number, line_start, line): (usize, usize, &str),
        (start, end): (usize, usize),
    ) -> Self {
        let before = &line[..start - line_start];
        #[cfg(test)]
        tests::VISITED.set(tests::VISITED.get() + before.len() + 1);
        let column = before.chars().count() + 1;
        Self { file: file.to_owned(), line: number, column, span: (start, end) }
    }
}

impl FioJobError {
    pub(super) fn new(origin: FioLocation, kind: FioJobErrorKind) -> Self {
        Self { origin, kind: Box::new(kind) }
    }

    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> String {
        match &*self.kind {
            FioJobErrorKind::UnknownOption { near: Some(near), .. } => format!("did you mean `{near}`?"),
            FioJobErrorKind::UnknownSection { near: Some(near), .. } => format!("did you mean `{near}`?"),
            FioJobErrorKind::UnknownSection { near: None, .. } => {
                "give a section name of the job file as written between its brackets".to_owned()
            }
            FioJobErrorKind::UnknownOption { near: None, .. } => {
                "see `man fio` for fio's options and docs/fio.md for the supported ones".to_owned()
            }
            FioJobErrorKind::Unsupported(refusal) => refusal.instead.to_owned(),
            FioJobErrorKind::InvalidValue { .. } => "see `man fio` for the values of this option".to_owned(),
            FioJobErrorKind::MalformedLine { .. } => {
                "a job file has lines `[name]`, `option=value`, `option` and comments with ; or #"
                    .to_owned()
            }
            FioJobErrorKind::UnreadableFile { .. } => "check the path and the permissions".to_owned(),
            FioJobErrorKind::Conflict { hint, .. } => (*hint).to_owned(),
            FioJobErrorKind::Empty => {
                "name a job file with a section like [job], or give --name=job --rw=randread \
                 --size=1g"
                    .to_owned()
            }
        }
    }
}

/// Returns the nearest character boundary at or before `index`.
fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt::Write as _;

    use crate::fio::command_line::parse;
    use crate::fio::jobfile::FioParseContext;

    thread_local! {
        /// Bytes visited to locate settings, and one for each setting.
        pub(super) static VISITED: Cell<usize> = const { Cell::new(0) };
    }

    /// Returns the number of visited bytes of a file with so many sections.
    fn count_visited(sections: usize) -> usize {
        let mut text = String::new();
        for at in 0..sections {
            let _ = write!(text, "[job{at:0>6}]\n  rw=read ; é\n");
        }
        VISITED.set(0);
        let context = FioParseContext {
            read_file: &|_| Ok(text.clone()),
            variable: &|_| None,
            page_bytes: 4096,
            memory_mib: 1,
            cpus: 1,
        };
        let request = parse(&["jobs.fio".to_owned()], &context).unwrap();
        assert_eq!(request.sections.len(), sections);
        let last = &request.sections[sections - 1].own[0].origin;
        assert_eq!((last.line, last.column), (2 * sections, 3));
        assert_eq!(&text[last.span.0..last.span.1], "rw=read");
        VISITED.get()
    }

    /// Twice as many sections take twice as many steps, not four times.
    #[test]
    fn steps_grow_with_number_of_sections() {
        let (half, whole) = (count_visited(1000), count_visited(2000));
        assert_eq!(whole, 2 * half);
    }
}
