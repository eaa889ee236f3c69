//! Where every event of a run goes: to the store, to the terminal, and into the run that is reported.

use assay_model::event::RunEvent;
use assay_model::run::Run;
use assay_model::warning::Warning;
use assay_store::RunWriter;

use crate::failure::{Failure, Kind};
use crate::stored;
use crate::terminal::Terminal;

/// The log of the run that is going on.
pub(crate) struct Log<'t> {
    writer: RunWriter,
    terminal: &'t mut Terminal,
    /// Whether every event is also printed as a line of JSON.
    echo: bool,
    past: Vec<RunEvent>,
}

impl<'t> Log<'t> {
    /// A log whose first event is stored already.
    pub(crate) fn begin(
        writer: RunWriter,
        first: RunEvent,
        terminal: &'t mut Terminal,
        echo: bool,
    ) -> Result<Self, Failure> {
        let mut log = Self { writer, terminal, echo, past: Vec::new() };
        log.tell(first)?;
        Ok(log)
    }

    /// Stores an event, then tells everybody.
    pub(crate) fn add(&mut self, event: RunEvent) -> Result<(), Failure> {
        self.writer.append(&event).map_err(|error| stored::failed(&error))?;
        self.tell(event)
    }

    /// Everything that happened so far.
    pub(crate) fn past(&self) -> &[RunEvent] {
        &self.past
    }

    /// Says on the terminal what is going on; nothing is stored.
    pub(crate) fn progress(&mut self, message: &str) {
        self.terminal.progress(message);
    }

    /// Writes a line about what is going on; nothing is stored.
    pub(crate) fn note(&mut self, text: &str) {
        self.terminal.note(text);
    }

    /// Stores a raw output and returns its hash.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Result<String, Failure> {
        self.writer.raw(bytes).map_err(|error| stored::failed(&error))
    }

    /// Doubts about the run as a whole.
    pub(crate) fn doubts(
        &mut self,
        warnings: impl IntoIterator<Item = Warning>,
    ) -> Result<(), Failure> {
        let mut doubts =
            warnings.into_iter().map(|warning| RunEvent::Doubt { case: None, warning });
        doubts.try_for_each(|doubt| self.add(doubt))
    }

    /// The run as it is stored; the terminal is free again.
    pub(crate) fn finish(self) -> Result<Run, Failure> {
        self.terminal.end_progress();
        if let Some(warning) = self.writer.finish() {
            self.terminal
                .note(&format!("warning: {}\n  help: {}", warning.text, warning.advice));
        }
        Run::fold(self.past)
            .ok_or_else(|| Failure::new(Kind::Internal, "the run has no beginning"))
    }

    fn tell(&mut self, event: RunEvent) -> Result<(), Failure> {
        if self.echo {
            let line = serde_json::to_string(&event).map_err(|error| {
                Failure::new(Kind::Internal, "an event cannot be written as JSON")
                    .because(&error)
            })?;
            self.terminal.print_line(&line);
        }
        self.show(&event);
        self.past.push(event);
        Ok(())
    }

    fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted(started) => {
                self.terminal.begin_progress(started.plan.cases.len());
            }
            RunEvent::CaseStarted { case } => self.terminal.progress(case),
            RunEvent::CaseFinished { case, .. } => {
                self.terminal.advance(&format!("  {case} done"));
            }
            RunEvent::CaseFailed { case, reason, because: Some(_), .. } => {
                self.terminal.advance(&format!("  {case} {reason}"));
            }
            RunEvent::CaseFailed { case, reason, .. } => {
                self.terminal.advance(&format!("  {case} failed: {reason}"));
            }
            RunEvent::Doubt { case: None, warning } => {
                self.terminal.note(&format!("  warning: {}", warning.text));
            }
            _ => {}
        }
    }
}
