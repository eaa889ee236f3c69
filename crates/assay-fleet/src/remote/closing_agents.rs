//! Agents with closed pipes: each may take a moment to end and print its reason, without delaying
//! the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::connection_options::ConnectionOptions;
use super::failure::HostFailure;
use super::host_events::{CHECK_INTERVAL, EventBatch, TransportTarget};
use super::stderr::{self, StderrTail};
use super::transport::{EXIT_GRACE, TransportProcess};

/// Interval of checks for ended processes.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Agent whose pipe has closed.
pub(super) struct ClosingAgent<'h> {
    target: TransportTarget<'h>,
    line: Arc<TransportProcess>,
    stderr_tail: StderrTail,
    pub(super) failure: HostFailure,
    since: Instant,
}

impl<'h> ClosingAgent<'h> {
    pub(super) fn new(
        target: TransportTarget<'h>,
        line: Arc<TransportProcess>,
        stderr_tail: StderrTail,
        failure: HostFailure,
    ) -> Self {
        Self { target, line, stderr_tail, failure, since: Instant::now() }
    }

    /// Returns whether its standard error is complete or the grace period is over. Error output
    /// arrives shortly after the pipe closes, and background processes may hold that pipe open.
    fn is_over(&self) -> bool {
        self.since.elapsed() >= EXIT_GRACE
            || !(stderr::is_open(&self.stderr_tail) || self.line.is_running())
    }
}

/// Waits for closing agents, kills those that do not end, and reports the loss of each, until
/// everything is over.
pub(super) fn await_exits<'h>(
    coming: &Receiver<ClosingAgent<'h>>,
    heard: &SyncSender<EventBatch>,
    (course, over): (&ConnectionOptions<'_>, &AtomicBool),
) {
    let mut under_way: Vec<ClosingAgent<'h>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let wait = if under_way.is_empty() { CHECK_INTERVAL } else { POLL_INTERVAL };
        match coming.recv_timeout(wait) {
            Ok(one) => under_way.push(one),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        under_way.extend(coming.try_iter());
        for ended in under_way.extract_if(.., |it| it.is_over()) {
            let ClosingAgent { target, line, stderr_tail: said, failure, .. } = ended;
            let losses = target.lost_events(line.explain(failure, &said, course));
            drop(line);
            // The receiver is gone at shutdown.
            let _is_heard = heard.send(losses);
        }
    }
}
