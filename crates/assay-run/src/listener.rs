//! Listener of a run: gets its events, its progress and its notes as they happen.
//!
//! A listener answers nothing. What a run asks of others goes to its
//! [`Coordinator`](crate::coordinator::Coordinator).

use assay_fleet::remote::SecondReport;
use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_model::phrase::Phrase;

use crate::failure::CommandFailure;

/// Receiver of a run's events. The run waits for it, but never within a timed pass.
pub trait Listener {
    /// Receives an event that was stored.
    fn event(&mut self, event: &RunEvent);

    /// Returns the failure that makes the listener useless, once; it ends the run.
    fn take_failure(&mut self) -> Option<CommandFailure> {
        None
    }

    /// Reports the current activity; replaces the previous report.
    fn progress(&mut self, said: &Phrase);

    /// Reports the activity of the last second; with several hosts, that of `host`.
    fn report_second(&mut self, _host: Option<&str>, _: &SecondReport) {}

    /// Prints a line about a case or a host, or about the run if `about` is `None`.
    fn note(&mut self, about: Option<&str>, said: &Phrase);

    /// Prints a warning, even in quiet mode.
    fn warn(&mut self, said: &Phrase) {
        self.note(None, said);
    }

    /// Reports a doubt about the store, which belongs to no run.
    fn doubt(&mut self, doubt: &Doubt);
}

/// Listener that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentListener;

impl Listener for SilentListener {
    fn event(&mut self, _: &RunEvent) {}

    fn progress(&mut self, _: &Phrase) {}

    fn note(&mut self, _: Option<&str>, _: &Phrase) {}

    fn doubt(&mut self, _: &Doubt) {}
}
