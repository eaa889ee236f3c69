//! Listener of a run: gets its events, its progress and its notes as they happen.
//!
//! A listener answers nothing. What a run asks of others goes to its
//! [`Coordinator`](crate::coordinator::Coordinator).

use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_model::phrase::Phrase;
use assay_model::quantity::Quantity;

use crate::failure::CommandFailure;

/// Figures of about one second of I/O or of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct SecondFigures<'a> {
    /// Host that reports, in a run with several hosts.
    pub host: Option<&'a str>,
    /// Running case.
    pub case: &'a str,
    /// Seconds since the case began.
    pub at_s: f64,
    /// Rates, in the units usual for them.
    pub rates: &'a [Quantity],
    /// Mean latency of I/O, or round trip of the connections.
    pub latency_s: Option<f64>,
    /// Busy share of the host's CPUs, 0 … 1.
    pub cpu: Option<f64>,
}

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

    /// Reports the figures of the last second.
    fn report_second(&mut self, _: &SecondFigures<'_>) {}

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
