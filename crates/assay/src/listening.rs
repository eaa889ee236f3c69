//! What the terminal shows of a run while it goes on.

use assay_model::event::RunEvent;
use assay_run::failure::{Failure, Kind};
use assay_run::sink::Sink;

use crate::terminal::Terminal;

/// The terminal as it listens to a run.
#[derive(Debug)]
pub(crate) struct Listening<'t> {
    pub(crate) terminal: &'t mut Terminal,
    /// Whether every event is also printed as a line of JSON.
    pub(crate) echo: bool,
}

impl Sink for Listening<'_> {
    fn event(&mut self, event: &RunEvent) -> Result<(), Failure> {
        if self.echo {
            let line = serde_json::to_string(event).map_err(|error| {
                Failure::new(Kind::Internal, "an event cannot be written as JSON")
                    .because(&error)
            })?;
            self.terminal.print_line(&line);
        }
        self.show(event);
        Ok(())
    }

    fn progress(&mut self, message: &str) {
        self.terminal.progress(message);
    }

    fn note(&mut self, text: &str) {
        self.terminal.note(text);
    }
}

impl Listening<'_> {
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
            RunEvent::RunFinished { .. } => self.terminal.end_progress(),
            _ => {}
        }
    }
}
