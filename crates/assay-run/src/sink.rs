//! The sink: receives the events of a run as they happen.

use assay_fleet::remote::calls::Call;
use assay_model::doubt::Doubt;
use assay_model::event::RunEvent;
use assay_model::phrase::Phrase;
use assay_model::quantity::Quantity;

use crate::failure::Failure;

/// Where hosts that measure together wait for each other.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// The cases that begin, or the one that goes on.
    pub cases: &'a [&'a str],
    /// Steps of the case that have begun.
    pub step: u32,
    /// What the clock showed when the run began.
    pub run_started_ns: u64,
}

/// What went on in about a second of I/O or of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct Second<'a> {
    /// Of several hosts the one that did it.
    pub host: Option<&'a str>,
    /// The case that goes on.
    pub case: &'a str,
    /// Seconds since it began.
    pub at_s: f64,
    /// How much it was, in the units that its readers think in.
    pub rates: &'a [Quantity],
    /// Mean time of one I/O, or the round trip of the connections.
    pub latency_s: Option<f64>,
    /// Busy share of the machine's CPUs, 0 … 1.
    pub cpu: Option<f64>,
}

/// A listener. The run waits for it, but never inside a timed pass.
pub trait Sink {
    /// An event was stored; a failure ends the run.
    fn event(&mut self, event: &RunEvent) -> Result<(), Failure>;

    /// What is being done just now; replaces what was said before.
    fn progress(&mut self, said: &Phrase);

    /// What the last second was like, of what is told by the second.
    fn second(&mut self, _: &Second<'_>) {}

    /// Something worth its own line, about a case or a host where it is not about the run as a whole.
    fn note(&mut self, about: Option<&str>, said: &Phrase);

    /// Something that also those have to know who asked for quiet.
    fn warn(&mut self, said: &Phrase) {
        self.note(None, said);
    }

    /// A group of cases, or a step of one, is about to begin: returns when it may, with the moment at which all hosts
    /// begin, by this one's clock. Alone it may at once.
    fn gate(&mut self, _: &Gate<'_>) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    /// Begins a conversation with the agent of another host of the run; `None` where there is none.
    fn call(&mut self, _host: &str, _subject: &str) -> Option<Call> {
        None
    }

    /// A raw output, where no store keeps it: its hash if the listener does.
    fn raw(&mut self, _: &[u8]) -> Option<String> {
        None
    }

    /// A doubt that concerns the store and is in no run.
    fn doubt(&mut self, doubt: &Doubt);
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Sink for Silent {
    fn event(&mut self, _: &RunEvent) -> Result<(), Failure> {
        Ok(())
    }

    fn progress(&mut self, _: &Phrase) {}

    fn note(&mut self, _: Option<&str>, _: &Phrase) {}

    fn doubt(&mut self, _: &Doubt) {}
}
