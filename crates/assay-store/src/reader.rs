//! Reader of the events of one run. A kill may have left the file incomplete.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::event::{FORMAT, RunEvent};
use assay_model::run::{EventContradiction, Run};
use serde::Deserialize;

use crate::decoded::Decoded;
use crate::error::StoreError;
use crate::layout::{StoreLayout, is_run_id};
use crate::line;
use crate::parallel;
use crate::problem::EventProblem;
use crate::regular_file::{self, MAX_BYTES, MAX_LINES};

/// Minimum number of lines per thread.
const MIN_LINES_PER_THREAD: usize = 2000;

/// Number of lines that are decoded together. Damaged lines of a batch take memory only until the
/// next one.
const LINES_PER_BATCH: usize = 1 << 16;

/// Line with its number and whether it has a line feed, and the number and content of its event.
type NumberedLine<'b> =
    ((usize, &'b [u8], bool), (Option<u64>, Result<RunEvent, EventProblem>));

/// Run, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRun {
    /// The run, built from the readable events.
    pub run: Run,
    /// File of events that `problems` refers to.
    pub path: PathBuf,
    /// Missing and skipped events, in the order of lines.
    pub problems: Vec<EventProblem>,
}

impl ReadRun {
    /// Whether all written events are in the run. This includes a run killed between two events,
    /// whose status is unfinished.
    pub const fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the number of lost events.
    pub fn lost_events(&self) -> u64 {
        self.problems.iter().map(EventProblem::lost_events).sum()
    }

    /// Returns a warning for each part that could not be read, with its file and line.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let path = self.path.display();
        self.problems.iter().map(move |problem| format!("warning: {path} {problem}"))
    }
}

pub(crate) fn read(layout: &StoreLayout, run: &str) -> Result<ReadRun, StoreError> {
    let path = layout.events(run);
    if !is_run_id(run) || !layout.run(run).is_dir() {
        return Err(StoreError::NoRun { run: run.to_owned(), path: layout.runs() });
    }
    let bytes = match regular_file::read(&path, MAX_BYTES) {
        Ok(bytes) if bytes.is_empty() => return Err(StoreError::Empty { path }),
        Ok(bytes) => bytes,
        Err(StoreError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Empty { path });
        }
        Err(error) => return Err(error),
    };
    let (run, problems) = decode_file(&bytes, &path)?;
    Ok(ReadRun { run, path, problems })
}

/// Decodes a run from the bytes of the file at `path`.
pub(crate) fn decode_file(
    bytes: &[u8],
    path: &Path,
) -> Result<(Run, Vec<EventProblem>), StoreError> {
    let path = || path.to_owned();
    decode(bytes).map_err(|error| match error {
        EventsFileError::Newer(found) => {
            StoreError::Newer { path: path(), found, known: FORMAT }
        }
        EventsFileError::TooManyLines => {
            StoreError::TooManyLines { path: path(), limit: MAX_LINES }
        }
        EventsFileError::FirstLine(reason) => StoreError::FirstLine { path: path(), reason },
    })
}

/// Whether a process holds the lock on the run's events.
pub(crate) fn is_being_written(layout: &StoreLayout, run: &str) -> bool {
    let Ok(file) = regular_file::open(&layout.events(run)) else { return false };
    matches!(file.file().try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Reason why a file of events cannot be read at all.
#[derive(Debug)]
enum EventsFileError {
    Newer(u32),
    TooManyLines,
    FirstLine(String),
}

/// Fields that the first line has in every format.
#[derive(Deserialize)]
struct EventHead {
    event: String,
    #[serde(default)]
    format: u32,
}

fn decode(bytes: &[u8]) -> Result<(Run, Vec<EventProblem>), EventsFileError> {
    let first_line_error =
        |error: serde_json::Error| EventsFileError::FirstLine(error.to_string());
    if regular_file::has_too_many_lines(bytes) {
        return Err(EventsFileError::TooManyLines);
    }
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let EventHead { event, format } =
        serde_json::from_slice(first).map_err(first_line_error)?;
    if event != "run-started" {
        return Err(EventsFileError::FirstLine("it is another event".to_owned()));
    }
    if format < FORMAT {
        let reason = format!("its format {format} is not supported");
        return Err(EventsFileError::FirstLine(reason));
    }
    RunEvent::from_json(first).map_err(|error| match format > FORMAT {
        true => EventsFileError::Newer(format),
        false => first_line_error(error),
    })?;
    let mut decoded = decode_numbered(bytes, format);
    if format > FORMAT {
        decoded.problems.insert(0, EventProblem::Newer { found: format, known: FORMAT });
    }
    let (lines, events): (Vec<usize>, Vec<RunEvent>) = decoded.events.into_iter().unzip();
    let run = Run::fold(events)
        .ok_or_else(|| EventsFileError::FirstLine("it is another event".to_owned()))?;
    let mut problems = decoded.problems;
    problems.extend(run.inconsistent_events.iter().map(|misfit| {
        let line = lines[misfit.event];
        match misfit.contradiction {
            EventContradiction::NeverOpened(series) => {
                EventProblem::SeriesNeverOpened { line, series }
            }
            EventContradiction::OpenedTwice(series) => {
                EventProblem::SeriesOpenedTwice { line, series }
            }
        }
    }));
    problems.sort_by_key(EventProblem::line);
    Ok((run, problems))
}

/// Splits a file into its non-empty lines, each with its number from 1 and whether it ends with a
/// line feed.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8], bool)> {
    let ended_lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    let lines = lines.filter(|(_, text)| !text.is_empty());
    lines.map(move |(line, text)| (line, text, line <= ended_lines))
}

/// Decodes lines with number and checksum. In a newer format, lines without a checksum are decoded
/// unchecked.
fn decode_numbered(bytes: &[u8], format: u32) -> Decoded {
    let mut decoded = Decoded { events: Vec::new(), problems: Vec::new() };
    let mut expected = 1;
    // The number of a damaged line is unknown; each damaged line explains one missing event.
    let mut damaged = 0;
    let mut lines = lines(bytes);
    for ((line, text, has_end), (number, event)) in
        std::iter::from_fn(|| decode_batch(&mut lines)).flatten()
    {
        let is_unnumbered = format > FORMAT && !line::has_checksum(text);
        if !is_unnumbered {
            match number {
                None if line == 1 => {
                    decoded.problems.push(EventProblem::FirstLineChanged);
                    expected = 2;
                }
                None => {
                    damaged += 1;
                    decoded.problems.push(line_problem(line, has_end));
                    continue;
                }
                Some(number) if number < expected => {
                    decoded.problems.push(EventProblem::OutOfOrder { line, number });
                    continue;
                }
                Some(number) => {
                    let count = (number - expected).saturating_sub(damaged);
                    if count > 0 {
                        decoded.problems.push(EventProblem::Missing { line, count });
                    }
                    (expected, damaged) = (number.saturating_add(1), 0);
                }
            }
        }
        match event {
            Ok(event) => decoded.events.push((line, event)),
            Err(problem) => decoded.problems.push(problem),
        }
    }
    decoded
}

/// Decodes the next lines in parallel; `None` after the last one.
fn decode_batch<'b>(
    lines: &mut impl Iterator<Item = (usize, &'b [u8], bool)>,
) -> Option<Vec<NumberedLine<'b>>> {
    let batch: Vec<(usize, &[u8], bool)> = lines.take(LINES_PER_BATCH).collect();
    let read = parallel::parallel_map(&batch, MIN_LINES_PER_THREAD, |(line, text, has_end)| {
        (line::verified_number(text), decode_numbered_event(*line, text, *has_end))
    });
    (!batch.is_empty()).then(|| batch.into_iter().zip(read).collect())
}

const fn line_problem(line: usize, has_end: bool) -> EventProblem {
    if has_end { EventProblem::Damaged { line } } else { EventProblem::CutOff { line } }
}

/// Decodes one event, or returns the problem of the line. Most lines are samples, which are decoded
/// directly, without buffering the fields until the kind is known.
fn decode_numbered_event(
    line: usize,
    text: &[u8],
    has_end: bool,
) -> Result<RunEvent, EventProblem> {
    let sample = line::is_sample(text).then(|| serde_json::from_slice(text).ok()).flatten();
    sample.map_or_else(|| decode_event(line, text, has_end), |it| Ok(RunEvent::Sample(it)))
}

/// Decodes one event, or returns the problem of the line.
fn decode_event(line: usize, text: &[u8], has_end: bool) -> Result<RunEvent, EventProblem> {
    RunEvent::from_json(text).map_err(|error| {
        let Ok(EventHead { event, .. }) = serde_json::from_slice(text) else {
            return line_problem(line, has_end);
        };
        let reason = error.to_string();
        if reason.starts_with("unknown variant `")
            && reason.contains(&format!("`{event}`, expected"))
        {
            return EventProblem::UnknownEvent { line, event };
        }
        EventProblem::Malformed { line, event, reason }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fast path accepts and rejects the same lines as the general one.
    #[test]
    fn fast_sample_path_matches_general_one() {
        let mut samples = 0;
        for rest in [
            r#""series":3,"value":1.1e-9,"preparation":0,"at_ns":17}"#,
            r#""series":3,"value":5,"weight":0.25,"preparation":1,"at_ns":18446744073709551615}"#,
            r#""at_ns":1,"preparation":0,"value":-0.0,"series":4294967295,"later":[{}]}"#,
            r#""series":3,"value":null,"preparation":0,"at_ns":17}"#,
            r#""series":-3,"value":1,"preparation":0,"at_ns":17}"#,
            r#""series":3,"value":1,"preparation":0}"#,
            r#""series":3,"series":4,"value":1,"preparation":0,"at_ns":17}"#,
            r#""series":3,"value":1,"prep"#,
        ] {
            let line = format!(r#"{{"crc":"00000000","n":17,"event":"sample",{rest}"#);
            assert!(line::is_sample(line.as_bytes()), "{line}");
            let fast = decode_numbered_event(1, line.as_bytes(), true);
            assert_eq!(fast, decode_event(1, line.as_bytes(), true), "{line}");
            samples += usize::from(fast.is_ok());
        }
        assert_eq!(samples, 3);
        let other = r#"{"crc":"00000000","n":17,"event":"case-started","case":"sample"}"#;
        assert!(!line::is_sample(other.as_bytes()));
        assert!(!line::is_sample(br#"{"event":"sample","n":17}"#));
    }
}
