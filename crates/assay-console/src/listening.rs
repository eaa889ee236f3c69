//! Progress of a run on the terminal.

use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_report::words;
use assay_run::failure::{Failure, Kind};
use assay_run::sink::Sink;

use crate::options::KeepArguments;
use crate::terminal::Terminal;

/// The terminal as it listens to a run.
#[derive(Debug)]
pub struct Listening<'t> {
    pub terminal: &'t mut Terminal,
    /// Whether every event is also printed as a line of JSON.
    pub echo: bool,
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

    fn doubt(&mut self, doubt: &Doubt) {
        let said = words::doubt(doubt);
        self.terminal.note(&format!("warning: {}\n  help: {}", said.text, said.advice));
    }
}

/// A run in the language of a tool: the command prints meanwhile, and of the run only the store has
/// anything to say. Where it was stored is said last, to people alone: a tool says no such thing, and
/// scripts read what it says on either output.
#[derive(Debug)]
pub struct Silently {
    terminal: Terminal,
    stores: bool,
    /// The run that goes on.
    run: String,
    /// Runs that were stored to their end.
    stored: Vec<String>,
}

impl Silently {
    /// Beside the terminal that the command prints on.
    pub fn beside(keep: &KeepArguments) -> Self {
        let (run, stored) = (String::new(), Vec::new());
        Self { terminal: Terminal::attached(), stores: !keep.no_store, run, stored }
    }
}

impl Drop for Silently {
    fn drop(&mut self) {
        for run in &self.stored {
            self.terminal.aside(&format!("Stored as {run}: assay show {run}"));
        }
    }
}

impl Sink for Silently {
    fn event(&mut self, event: &RunEvent) -> Result<(), Failure> {
        match event {
            RunEvent::RunStarted(started) => self.run.clone_from(&started.run),
            RunEvent::RunFinished { .. } if self.stores => {
                self.stored.push(std::mem::take(&mut self.run));
            }
            _ => {}
        }
        Ok(())
    }

    fn progress(&mut self, _: &str) {}

    fn note(&mut self, _: &str) {}

    fn doubt(&mut self, doubt: &Doubt) {
        self.terminal.note(&format!("warning: {}", words::doubt(doubt).text));
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
            RunEvent::CaseFailed { case, failure, host: Some(host), .. } => {
                let reason = words::failure(failure).text;
                self.terminal.note(&format!("  {case} failed on {host}: {reason}"));
            }
            RunEvent::CaseFailed { case, failure, because, host: None } => {
                let reason = words::failure(failure).text;
                let failed = if because.is_some() { "" } else { "failed: " };
                self.terminal.advance(&format!("  {case} {failed}{reason}"));
            }
            RunEvent::Doubt { case: None, doubt } => {
                self.terminal.note(&format!("  warning: {}", words::doubt(doubt).text));
            }
            RunEvent::RunFinished { .. } => self.terminal.end_progress(),
            _ => {}
        }
    }
}
