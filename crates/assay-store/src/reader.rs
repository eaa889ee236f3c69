//! Reads the events of one run back, from a whole file as from what a kill has left of it.

use std::fs::TryLockError;
use std::io;

use assay_model::event::{FORMAT, RunEvent};
use assay_model::run::Run;
use fs_err as fs;
use serde_json::Value;

use crate::error::StoreError;
use crate::layout::{Layout, is_run_id};

/// A run as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRun {
    /// The run.
    pub run: Run,
    /// What could not be read of it, one sentence each with the number of the line.
    pub problems: Vec<String>,
}

pub(crate) fn read(layout: &Layout, run: &str) -> Result<ReadRun, StoreError> {
    let path = layout.events(run);
    if !is_run_id(run) || !layout.run(run).is_dir() {
        return Err(StoreError::NoRun { run: run.to_owned(), path: layout.runs() });
    }
    let bytes = match fs::read(&path) {
        Ok(bytes) if bytes.is_empty() => return Err(StoreError::Empty { path }),
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Empty { path });
        }
        Err(source) => return Err(StoreError::Read { path, source }),
    };
    decode(&bytes).map_err(|trouble| match trouble {
        Trouble::Newer(found) => StoreError::Newer { path, found, known: FORMAT },
        Trouble::FirstLine(reason) => StoreError::FirstLine { path, reason },
    })
}

/// Whether some process holds the lock on the run's events.
pub(crate) fn is_being_written(layout: &Layout, run: &str) -> bool {
    let Ok(file) = fs::File::open(layout.events(run)) else { return false };
    matches!(file.file().try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Why a file of events is no run at all.
#[derive(Debug)]
enum Trouble {
    Newer(u32),
    FirstLine(String),
}

fn decode(bytes: &[u8]) -> Result<ReadRun, Trouble> {
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let first = lines.next().map_or(&[][..], |(_, line)| line);
    let started = decode_first(first)?;
    let mut problems = Vec::new();
    if let RunEvent::RunStarted(started) = &started
        && started.format > FORMAT
    {
        problems.push(format!(
            "the run was written in format {}, and this assay knows formats up to {FORMAT}: what it does not know is left out",
            started.format
        ));
    }
    let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut events = vec![started];
    for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
        match decode_line(line) {
            Ok(event) => events.push(event),
            Err(_) if index == whole => problems.push(format!(
                "line {} was cut off while it was written; it is left out",
                index + 1
            )),
            Err(reason) => {
                problems.push(format!("line {} {reason}; it is left out", index + 1));
            }
        }
    }
    let run = Run::fold(events)
        .ok_or_else(|| Trouble::FirstLine("it is another event".to_owned()))?;
    Ok(ReadRun { run, problems })
}

fn decode_first(line: &[u8]) -> Result<RunEvent, Trouble> {
    let damaged = |error: serde_json::Error| Trouble::FirstLine(error.to_string());
    match serde_json::from_slice(line) {
        Ok(RunEvent::RunStarted(started)) => Ok(RunEvent::RunStarted(started)),
        Ok(_) => Err(Trouble::FirstLine("it is another event".to_owned())),
        Err(error) => {
            let value: Value = serde_json::from_slice(line).map_err(damaged)?;
            let format = value["format"].as_u64().and_then(|format| u32::try_from(format).ok());
            match format {
                Some(found) if found > FORMAT => Err(Trouble::Newer(found)),
                _ => Err(damaged(error)),
            }
        }
    }
}

/// One event, or what is wrong with the line.
fn decode_line(line: &[u8]) -> Result<RunEvent, String> {
    serde_json::from_slice(line).map_err(|error| {
        let value: Result<Value, _> = serde_json::from_slice(line);
        match value.ok().and_then(|value| value["event"].as_str().map(str::to_owned)) {
            Some(event) => {
                format!("holds the event `{event}` in a form this assay does not know")
            }
            None => format!("is damaged ({error})"),
        }
    })
}
