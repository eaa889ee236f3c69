//! Sink of a run: receives its events as they happen.

use assay_fleet::remote::calls::Call;
use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_model::phrase::Phrase;
use assay_model::quantity::Quantity;

use crate::failure::CommandFailure;

/// Synchronisation point of hosts that measure together.
#[derive(Debug, Clone, Copy)]
pub struct StartGate<'a> {
    /// Cases that begin, or the one that continues.
    pub cases: &'a [&'a str],
    /// Number of steps of the case that have begun.
    pub step: u32,
    /// Clock time at which the run began.
    pub run_started_ns: u64,
}

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
pub trait Sink {
    /// Receives an event that was stored; a failure ends the run.
    fn event(&mut self, event: &RunEvent) -> Result<(), CommandFailure>;

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

    /// Waits until a group of cases, or a step of a case, may begin; returns the common start of
    /// all hosts by this host's clock. A single host need not wait.
    fn wait_for_start(&mut self, _: &StartGate<'_>) -> Result<Option<u64>, CommandFailure> {
        Ok(None)
    }

    /// Opens a call to the agent of another host of the run; returns `None` if there is none.
    fn call(&mut self, _host: &str, _subject: &str) -> Option<Call> {
        None
    }

    /// Stores a raw output of a run without a store; returns its hash if it was stored.
    fn store_raw(&mut self, _: &[u8]) -> Option<String> {
        None
    }

    /// Reports a doubt about the store, which belongs to no run.
    fn doubt(&mut self, doubt: &Doubt);
}

/// Sink that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct SilentSink;

impl Sink for SilentSink {
    fn event(&mut self, _: &RunEvent) -> Result<(), CommandFailure> {
        Ok(())
    }

    fn progress(&mut self, _: &Phrase) {}

    fn note(&mut self, _: Option<&str>, _: &Phrase) {}

    fn doubt(&mut self, _: &Doubt) {}
}
