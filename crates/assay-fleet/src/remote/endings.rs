//! Agents with closed pipes: each may take a moment to end and print its reason, without delaying
//! the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::agents::{Batch, ROUND, Target};
use super::controller::Course;
use super::failure::HostFailure;
use super::line::{LAST_SECOND, Line};
use super::stderr::{self, Tail};

/// Interval of checks for ended processes.
const LOOK: Duration = Duration::from_millis(5);

/// Agent whose pipe has closed.
pub(super) struct Ending<'h> {
    target: Target<'h>,
    line: Arc<Line>,
    said: Tail,
    pub(super) failure: HostFailure,
    since: Instant,
}

impl<'h> Ending<'h> {
    pub(super) fn new(
        target: Target<'h>,
        line: Arc<Line>,
        said: Tail,
        failure: HostFailure,
    ) -> Self {
        Self { target, line, said, failure, since: Instant::now() }
    }

    /// Returns whether its standard error is complete or the grace period is over. Error output
    /// arrives shortly after the pipe closes, and background processes may hold that pipe open.
    fn is_over(&self) -> bool {
        self.since.elapsed() >= LAST_SECOND
            || !(stderr::is_open(&self.said) || self.line.runs())
    }
}

/// Waits for closing agents, kills those that do not end, and reports the loss of each, until
/// everything is over.
pub(super) fn attend<'h>(
    coming: &Receiver<Ending<'h>>,
    heard: &SyncSender<Batch>,
    (course, over): (&Course<'_>, &AtomicBool),
) {
    let mut under_way: Vec<Ending<'h>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let wait = if under_way.is_empty() { ROUND } else { LOOK };
        match coming.recv_timeout(wait) {
            Ok(one) => under_way.push(one),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        under_way.extend(coming.try_iter());
        for ended in under_way.extract_if(.., |it| it.is_over()) {
            let Ending { target, line, said, failure, .. } = ended;
            let losses = target.losses(line.explain(failure, &said, course));
            drop(line);
            // The receiver is gone at shutdown.
            let _is_heard = heard.send(losses);
        }
    }
}
