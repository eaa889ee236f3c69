//! Writer of the events of one run; written events survive a kill.
//!
//! At the end of each case and of the run, the open file must still be the one at its path.

use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;

use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStarted, StopReason};
use assay_model::run::Run;
use fs_err as fs;

use crate::error::StoreError;
use crate::layout::{StoreLayout, is_run_id};
use crate::line;
use crate::list_entry::HeadlineSource;
use crate::listing;
use crate::raw;
use crate::regular_file::{MAX_BYTES, MAX_LINES};

/// Maximum size of the events that are written together.
const MAX_PENDING_BYTES: usize = 256 << 10;

/// Writer of one run. Every event is one line and one write; the ends of cases and of the run are
/// synced to disk unless the store syncs at the end only. Dropping it leaves a run without an end, like a kill.
#[derive(Debug)]
pub struct RunWriter {
    run: String,
    layout: StoreLayout,
    headlines: HeadlineSource,
    file: fs::File,
    /// Number of the next event.
    number: u64,
    /// Events that are not written yet; empty if each case is durable.
    pending: String,
    /// End of the last whole line, in bytes.
    valid_end: u64,
    /// Whether the file ends with a partial line that could not be removed.
    has_partial_line: bool,
    /// Whether an event is not in the file.
    has_lost_events: bool,
}

impl RunWriter {
    pub(crate) fn begin(
        layout: StoreLayout,
        headlines: HeadlineSource,
        started: RunStarted,
    ) -> Result<Self, StoreError> {
        let run = started.run.clone();
        if !is_run_id(&run) {
            return Err(StoreError::RunName { name: run });
        }
        let first = RunEvent::RunStarted(Box::new(started));
        let line = line::encode(1, &first)?;
        let file = create(&layout, &run).map_err(|source| {
            if source.kind() == io::ErrorKind::AlreadyExists {
                return StoreError::RunExists { run: run.clone() };
            }
            StoreError::Begin { run: run.clone(), path: layout.run(&run), source }
        })?;
        let mut writer = Self {
            run,
            layout,
            headlines,
            file,
            number: 1,
            pending: String::new(),
            valid_end: 0,
            has_partial_line: false,
            has_lost_events: false,
        };
        if let Err(error) = writer.write_line(&line).and_then(|()| writer.sync()) {
            // A run that never began should not be listed as unreadable.
            drop(fs::remove_file(writer.layout.events(&writer.run)));
            drop(fs::remove_dir(writer.layout.run(&writer.run)));
            return Err(error);
        }
        Ok(writer)
    }

    /// Identifier of the run.
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Appends one event.
    ///
    /// # Errors
    /// If the event cannot be read back, or writing fails. Earlier events stay intact, and
    /// appending may be retried. Also if another program has deleted, moved or replaced the file.
    pub fn append(&mut self, event: &RunEvent) -> Result<(), StoreError> {
        let line =
            line::encode(self.number, event).inspect_err(|_| self.has_lost_events = true)?;
        if self.may_wait(event, &line) {
            self.pending.push_str(&line);
            self.number += 1;
            return Ok(());
        }
        let lines = std::mem::take(&mut self.pending) + &line;
        self.write_line(&lines).inspect_err(|_| self.has_lost_events = true)?;
        if !ends_results(event) {
            return Ok(());
        }
        self.sync()?;
        self.check_place().inspect_err(|_| self.has_lost_events = true)
    }

    /// Whether an event can be written together with later ones: none of a run that is synced at
    /// its end has to survive a kill.
    fn may_wait(&self, event: &RunEvent, line: &str) -> bool {
        self.layout.is_synced_at_end()
            && !matches!(event, RunEvent::RunFinished { .. })
            && self.pending.len() + line.len() <= MAX_PENDING_BYTES
    }

    /// Checks that the file at the path is the open one.
    fn check_place(&self) -> Result<(), StoreError> {
        let path = self.layout.events(&self.run);
        let identity = |found: &std::fs::Metadata| (found.dev(), found.ino());
        let ours = self.file.metadata().map_err(|source| self.append_error(source))?;
        match path.metadata() {
            Ok(found) if identity(&found) == identity(&ours) => Ok(()),
            Ok(_) => Err(StoreError::Displaced { path }),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Displaced { path })
            }
            Err(source) => Err(self.append_error(source)),
        }
    }

    /// Stores a raw output and returns its hash, for an event that refers to it.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_raw(&self, bytes: &[u8]) -> Result<String, StoreError> {
        raw::write(&self.layout, bytes)
    }

    /// Closes the file and updates the index. `events` is the run in memory, if the caller has it:
    /// a run of many hosts need not be read again. Errors of the index do not concern the stored
    /// run, and are returned as a doubt.
    pub fn finish(mut self, events: Option<&Run>) -> Option<Doubt> {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() && self.write_line(&pending).is_err() {
            self.has_lost_events = true;
        }
        let Self { run, layout, headlines, file, has_lost_events: was_refused, .. } = self;
        drop(file);
        // After a failed write only the file has the correct events.
        listing::update_index(&layout, headlines, &run, events.filter(|_| !was_refused))
    }

    fn write_line(&mut self, line: &str) -> Result<(), StoreError> {
        // A partial line becomes a line of its own, which the reader reports and skips.
        let text = if self.has_partial_line { format!("\n{line}") } else { line.to_owned() };
        // No reader accepts a longer file.
        if self.valid_end.saturating_add(text.len() as u64) > MAX_BYTES
            || self.number > MAX_LINES as u64
        {
            return Err(self.append_error(io::ErrorKind::FileTooLarge.into()));
        }
        if let Err(source) = self.file.write_all(text.as_bytes()) {
            if self.file.set_len(self.valid_end).is_err() {
                // The partial line has used this number.
                (self.has_partial_line, self.number) = (true, self.number + 1);
            }
            return Err(self.append_error(source));
        }
        self.valid_end = if self.has_partial_line {
            self.file.metadata().map_err(|source| self.append_error(source))?.len()
        } else {
            self.valid_end + text.len() as u64
        };
        (self.has_partial_line, self.number) = (false, self.number + 1);
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.layout.sync_file(self.file.file()).map_err(|source| self.append_error(source))
    }

    fn append_error(&self, source: io::Error) -> StoreError {
        StoreError::Append { path: self.layout.events(&self.run), source }
    }
}

/// Creates the run's folder, which only one process can, and its file, locked while it is open.
fn create(layout: &StoreLayout, run: &str) -> io::Result<fs::File> {
    fs::create_dir_all(layout.runs())?;
    fs::create_dir(layout.run(run))?;
    let file = fs::OpenOptions::new().create_new(true).append(true).open(layout.events(run))?;
    // On a file system without locks, others cannot distinguish a running run from a killed one,
    // which is no reason to fail.
    drop(file.file().lock());
    layout.sync_folder(&layout.run(run));
    layout.sync_folder(&layout.runs());
    Ok(file)
}

/// Whether an event ends results that should survive a kill. After the budget, dozens of cases are left
/// out, each of which would wait for the disk.
const fn ends_results(event: &RunEvent) -> bool {
    match event {
        RunEvent::CaseFinished { stopped, .. } => !matches!(stopped, StopReason::Cut),
        RunEvent::CaseFailed { .. } | RunEvent::RunFinished { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use assay_model::event::RunStatus;
    use assay_model::facts::HostState;

    use super::*;
    use crate::Store;

    #[test]
    fn only_results_wait_for_the_disk() {
        for (stopped, expected) in
            [(StopReason::Precise, true), (StopReason::Budget, true), (StopReason::Cut, false)]
        {
            let event = RunEvent::CaseFinished { case: "a".to_owned(), stopped };
            assert_eq!(ends_results(&event), expected, "{stopped:?}");
        }
    }

    /// Events that are written together are those that are written one by one.
    #[test]
    fn pending_events_reach_the_file() {
        let started = r#"{"format":2,"run":"RUN","started":"","command":[],
            "plan":{"suite":"s","budget_s":1.0,"cases":[],"omitted":[]}}"#;
        let write = |store: &Store, run: &str, is_finished: bool| {
            let mut started: RunStarted = serde_json::from_str(started).unwrap();
            started.run = run.to_owned();
            let mut writer = store.begin(started).unwrap();
            for number in 0..3 {
                writer
                    .append(&RunEvent::CaseStarted { case: format!("case {number}") })
                    .unwrap();
            }
            if is_finished {
                let (finished, status) = (String::new(), RunStatus::Complete);
                let state = HostState::default();
                writer.append(&RunEvent::RunFinished { finished, status, state }).unwrap();
            }
            assert!(writer.finish(None).is_none());
            assert!(store.read(run).unwrap().is_whole());
            fs::read_to_string(store.folder().join("runs").join(run).join("events.jsonl"))
                .unwrap()
        };
        for is_finished in [true, false] {
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let [each, end] = folders.each_ref().map(|it| Store::open(it.path()).unwrap());
            let (each, end) =
                (write(&each, "a", is_finished), write(&end.sync_at_end(), "a", is_finished));
            assert_eq!(each, end);
        }
    }

    /// A run that no reader would accept is not written.
    #[test]
    fn refuses_events_beyond_the_limits_of_readers() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let started = r#"{"format":2,"run":"long","started":"","command":[],
            "plan":{"suite":"s","budget_s":1.0,"cases":[],"omitted":[]}}"#;
        let started: RunStarted = serde_json::from_str(started).unwrap();
        let mut writer = store.begin(started).unwrap();
        let event = RunEvent::CaseStarted { case: "case".to_owned() };
        writer.append(&event).unwrap();
        let (end, number) = (writer.valid_end, writer.number);
        for (end, number) in [(MAX_BYTES - 4, number), (end, MAX_LINES as u64 + 1)] {
            (writer.valid_end, writer.number) = (end, number);
            let error = writer.append(&event).unwrap_err();
            assert!(error.source().unwrap().to_string().contains("large"), "{error:?}");
        }
        assert!(store.read("long").unwrap().is_whole());
    }
}
