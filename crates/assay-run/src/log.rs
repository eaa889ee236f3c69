//! Where every event of a run goes: to the store, to whoever listens, and into the run that is reported.

use assay_model::event::RunEvent;
use assay_model::run::Run;
use assay_model::warning::Warning;
use assay_store::RunWriter;

use crate::failure::{Failure, Kind};
use crate::sink::Sink;

/// The log of the run that is going on.
pub(crate) struct Log<'t> {
    writer: RunWriter,
    sink: &'t mut dyn Sink,
    past: Vec<RunEvent>,
}

impl<'t> Log<'t> {
    /// A log whose first event is stored already.
    pub(crate) fn begin(
        writer: RunWriter,
        first: RunEvent,
        sink: &'t mut dyn Sink,
    ) -> Result<Self, Failure> {
        let mut log = Self { writer, sink, past: Vec::new() };
        log.tell(first)?;
        Ok(log)
    }

    /// Stores an event, then tells everybody.
    pub(crate) fn add(&mut self, event: RunEvent) -> Result<(), Failure> {
        self.writer.append(&event).map_err(|error| Failure::of_store(&error))?;
        self.tell(event)
    }

    /// Everything that happened so far.
    pub(crate) fn past(&self) -> &[RunEvent] {
        &self.past
    }

    /// Says what is going on; nothing is stored.
    pub(crate) fn progress(&mut self, message: &str) {
        self.sink.progress(message);
    }

    /// Writes a line about what is going on; nothing is stored.
    pub(crate) fn note(&mut self, text: &str) {
        self.sink.note(text);
    }

    /// Stores a raw output and returns its hash.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Result<String, Failure> {
        self.writer.raw(bytes).map_err(|error| Failure::of_store(&error))
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

    /// The run as it is stored.
    pub(crate) fn finish(self) -> Result<Run, Failure> {
        if let Some(warning) = self.writer.finish() {
            self.sink.note(&format!("warning: {}\n  help: {}", warning.text, warning.advice));
        }
        Run::fold(self.past)
            .ok_or_else(|| Failure::new(Kind::Internal, "the run has no beginning"))
    }

    fn tell(&mut self, event: RunEvent) -> Result<(), Failure> {
        self.sink.event(&event)?;
        self.past.push(event);
        Ok(())
    }
}
