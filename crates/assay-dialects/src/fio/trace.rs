//! Traces of recorded I/O that fio reads (`read_iolog`): versions 2 and 3 of its text format.
//!
//! Version 3 begins each line with a time in µs; version 2 has lines `wait`. Rules are those of fio
//! 3.33 (`iolog.c`).

use std::collections::{HashMap, HashSet};

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{ReplayTime, ReplayedIo};

use super::section_options::ReplayOptions;

/// Maximum number of I/O of a trace; a plan with more takes too much memory.
pub(super) const MAX_IOS: usize = 2_000_000;

/// Maximum number of files of a trace.
const MAX_FILES: usize = 1024;

/// Recorded I/O with the names of its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct IoTrace {
    /// Names of the files with any I/O.
    pub(super) files: Vec<String>,
    /// I/O in order.
    pub(super) ios: Vec<ReplayedIo>,
    /// Whether there are syncs, and whether all of them are of the data only.
    pub(super) syncs: bool,
    pub(super) syncs_data_only: bool,
}

/// Error in a trace: its line, from 0, and the reason.
pub(super) type TraceError = (usize, String);

/// Parses a trace.
pub(super) fn parse(text: &str, options: &ReplayOptions) -> Result<IoTrace, TraceError> {
    let mut lines = text.lines().enumerate();
    let is_timed = match lines.next().map(|(_, line)| line.trim_end()) {
        Some("fio version 2 iolog") => false,
        Some("fio version 3 iolog") => true,
        _ => {
            let why = "it must begin with `fio version 2 iolog` or `fio version 3 iolog`";
            return Err((0, why.to_owned()));
        }
    };
    let mut reader = TraceReader { is_timed, ..TraceReader::new(options) };
    for (number, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            reader.read_line(&words).map_err(|why| (number, why))?;
        }
    }
    let mut trace = reader.trace;
    if trace.ios.is_empty() {
        return Err((0, "it has no read and no write".to_owned()));
    }
    trace.syncs_data_only &= trace.syncs;
    Ok(trace)
}

struct TraceReader<'a> {
    options: &'a ReplayOptions,
    is_timed: bool,
    trace: IoTrace,
    /// Names that were added.
    added: HashSet<String>,
    /// Indices of the files.
    indices: HashMap<String, usize>,
    last_us: u64,
    /// Pause before the next I/O.
    pause_ns: u64,
    starts_ns: Option<u64>,
    sync_before: Option<usize>,
}

impl<'a> TraceReader<'a> {
    fn new(options: &'a ReplayOptions) -> Self {
        Self {
            options,
            is_timed: false,
            trace: IoTrace { syncs_data_only: true, ..IoTrace::default() },
            added: HashSet::new(),
            indices: HashMap::new(),
            last_us: 0,
            pause_ns: 0,
            starts_ns: None,
            sync_before: None,
        }
    }

    fn read_line(&mut self, words: &[&str]) -> Result<(), String> {
        let words = match (self.is_timed, words) {
            (false, words) => words,
            (true, [time, words @ ..]) => {
                let time_us =
                    time.parse().map_err(|_| format!("`{time}` is not a time in µs"))?;
                self.note_time(time_us);
                words
            }
            (true, []) => return Ok(()),
        };
        match words {
            [name, "add"] => {
                self.added.insert((*name).to_owned());
                Ok(())
            }
            [_, "open" | "close"] => Ok(()),
            [name, action, offset, bytes] => {
                let number = |text: &str| {
                    text.parse::<u64>()
                        .map_err(|_| format!("`{text}` is not a number of bytes"))
                };
                self.read_io(name, action, (number(offset)?, number(bytes)?))
            }
            _ => {
                let start = if self.is_timed { "time file" } else { "file" };
                Err(format!(
                    "expected `{start} action offset bytes`, or add, open or close of a file"
                ))
            }
        }
    }

    /// Adds the pause since the line before, as fio does: none before the first time above 0.
    fn note_time(&mut self, time_us: u64) {
        if self.last_us > 0 && time_us > self.last_us && !self.options.skips_pauses {
            let pause_us = (time_us - self.last_us) as f64;
            let scaled_us = pause_us * 100.0 / self.options.speed_percent as f64;
            self.pause_ns = self.pause_ns.saturating_add((scaled_us * 1e3) as u64);
        }
        self.last_us = time_us;
    }

    fn read_io(
        &mut self,
        name: &str,
        action: &str,
        (offset, bytes): (u64, u64),
    ) -> Result<(), String> {
        let operation = match action {
            "read" => IoOperation::Read,
            "write" => IoOperation::Write,
            "sync" | "datasync" => {
                if self.sync_before.is_some() {
                    return Err("a sync directly after another is not repeated: leave one out"
                        .to_owned());
                }
                let has_other = self.trace.syncs_data_only != (action == "datasync");
                if self.trace.syncs && has_other {
                    return Err(
                        "sync and datasync of one trace are not repeated: make them one kind"
                            .to_owned(),
                    );
                }
                self.trace.syncs = true;
                self.trace.syncs_data_only &= action == "datasync";
                self.sync_before = Some(self.find_file(name)?);
                return Ok(());
            }
            // fio waits until as many milliseconds after its start.
            "wait" if !self.is_timed => {
                self.starts_ns = Some(offset.saturating_mul(1_000_000))
                    .filter(|_| !self.options.skips_pauses);
                return Ok(());
            }
            // fio skips it in version 3.
            "wait" => return Ok(()),
            "trim" => return Err("trims of a trace are not repeated".to_owned()),
            other => return Err(format!("`{other}` is not an action of a trace")),
        };
        if bytes == 0 {
            return Err("an I/O of 0 bytes cannot be repeated".to_owned());
        }
        if self.trace.ios.len() >= MAX_IOS {
            return Err(format!("a trace may have {MAX_IOS} I/O"));
        }
        let offset = offset / self.options.divisor.max(1);
        let offset = match self.options.align_bytes {
            0 => offset,
            align => offset & !(align - 1),
        };
        offset.checked_add(bytes).ok_or("its end exceeds the largest offset")?;
        let pause = ReplayTime::AfterPrevious(std::mem::take(&mut self.pause_ns));
        let io = ReplayedIo {
            due: self.starts_ns.take().map_or(pause, ReplayTime::AfterStart),
            sync_before: self.sync_before.take(),
            file: self.find_file(name)?,
            operation,
            offset,
            bytes,
        };
        self.trace.ios.push(io);
        Ok(())
    }

    /// Returns the index of a file that was added.
    fn find_file(&mut self, name: &str) -> Result<usize, String> {
        if !self.added.contains(name) {
            return Err(format!("no line before adds the file `{name}`"));
        }
        let name = self.options.redirect.as_deref().unwrap_or(name);
        if let Some(at) = self.indices.get(name) {
            return Ok(*at);
        }
        let at = self.trace.files.len();
        if at >= MAX_FILES {
            return Err(format!("a trace may have {MAX_FILES} files"));
        }
        self.indices.insert(name.to_owned(), at);
        self.trace.files.push(name.to_owned());
        Ok(at)
    }
}

#[cfg(test)]
mod tests;
