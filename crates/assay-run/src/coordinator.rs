//! Coordinator of a run: answers when a step may begin, who the other hosts are, and where raw
//! outputs are kept.

use assay_fleet::remote::calls::Call;

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

/// Answers what a run cannot decide alone. A single host needs none: [`Alone`].
pub trait Coordinator {
    /// Waits until a group of cases, or a step of a case, may begin; returns the common start of
    /// all hosts by this host's clock.
    ///
    /// # Errors
    /// If the other hosts are lost.
    fn wait_for_start(&mut self, gate: &StartGate<'_>) -> Result<Option<u64>, CommandFailure>;

    /// Opens a call to the agent of another host of the run; returns `None` if there is none.
    fn call(&mut self, host: &str, subject: &str) -> Option<Call>;

    /// Seconds that the coordinator granted the group of cases that began last, to each of them; 0 if
    /// they are left out, `None` if this host decides.
    fn granted_s(&self) -> Option<f64> {
        None
    }

    /// Whether no other host measures with this one.
    fn is_alone(&self) -> bool {
        false
    }

    /// Whether the run was stopped from elsewhere: a deadline that withdraws its own request to stop
    /// does not withdraw this one.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Keeps a raw output of a run without a store; returns its hash if it was kept.
    fn store_raw(&mut self, bytes: &[u8]) -> Option<String>;
}

impl<C: Coordinator + ?Sized> Coordinator for &mut C {
    fn wait_for_start(&mut self, gate: &StartGate<'_>) -> Result<Option<u64>, CommandFailure> {
        (**self).wait_for_start(gate)
    }

    fn call(&mut self, host: &str, subject: &str) -> Option<Call> {
        (**self).call(host, subject)
    }

    fn granted_s(&self) -> Option<f64> {
        (**self).granted_s()
    }

    fn is_alone(&self) -> bool {
        (**self).is_alone()
    }

    fn is_stopped(&self) -> bool {
        (**self).is_stopped()
    }

    fn store_raw(&mut self, bytes: &[u8]) -> Option<String> {
        (**self).store_raw(bytes)
    }
}

/// Coordinator of a run on one host, which waits for nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Coordinator for Alone {
    fn wait_for_start(&mut self, _: &StartGate<'_>) -> Result<Option<u64>, CommandFailure> {
        Ok(None)
    }

    fn call(&mut self, _: &str, _: &str) -> Option<Call> {
        None
    }

    fn is_alone(&self) -> bool {
        true
    }

    fn store_raw(&mut self, _: &[u8]) -> Option<String> {
        None
    }
}
