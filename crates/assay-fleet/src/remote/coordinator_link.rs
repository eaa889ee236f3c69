//! Connection of an agent to its coordinator.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;

use super::host_events::HostRoute;
use super::open_calls::OpenCalls;
use super::{AgentReply, AgentRequest, frame};

/// Time without a sent message after which an agent sends a heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Connection of an agent to its coordinator.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct CoordinatorLink {
    output: Mutex<ReplyPipe>,
    start_times: Mutex<Receiver<u64>>,
    /// Seconds granted to the case that the next start begins.
    grant: Mutex<Option<f64>>,
    cancel: Arc<AtomicBool>,
    is_stopped: AtomicBool,
    enough: Arc<AtomicBool>,
    pub(super) calls: OpenCalls,
    /// Routes to the hosts that this agent relays for the coordinator.
    pub(super) relay_routes: Mutex<Vec<HostRoute>>,
    has_heartbeat: AtomicBool,
    /// Time of the last message from the coordinator.
    last_received: Mutex<Instant>,
}

/// Pipe for replies, and the time of the last one.
struct ReplyPipe {
    pipe: Box<dyn Write + Send>,
    last_sent: Instant,
}

impl CoordinatorLink {
    /// Creates the link of an agent that replies on `output` and gets start times from `starts`.
    pub(super) fn new(output: Box<dyn Write + Send>, starts: Receiver<u64>) -> Self {
        Self {
            output: Mutex::new(ReplyPipe { pipe: output, last_sent: Instant::now() }),
            start_times: Mutex::new(starts),
            grant: Mutex::default(),
            cancel: Arc::default(),
            is_stopped: AtomicBool::new(false),
            enough: Arc::default(),
            calls: OpenCalls::default(),
            relay_routes: Mutex::default(),
            has_heartbeat: AtomicBool::new(false),
            last_received: Mutex::new(Instant::now()),
        }
    }

    /// Notes that a message arrived.
    pub(super) fn note_received(&self) {
        *self.last_received.lock().even_if_poisoned() = Instant::now();
    }

    /// Sends a reply; returns `false` if the pipe is closed.
    pub fn send(&self, reply: &AgentReply) -> bool {
        let mut output = self.output.lock().even_if_poisoned();
        output.last_sent = Instant::now();
        frame::write(&mut output.pipe, reply).is_ok()
    }

    /// Waits until the coordinator sends a start time; `None` if there will be none. The end of a turn does
    /// not end the wait: its start would begin the next step.
    pub fn next_start(&self) -> Option<u64> {
        let starts = self.start_times.lock().even_if_poisoned();
        while !self.is_stopped() {
            match starts.recv_timeout(Duration::from_millis(50)) {
                Ok(at_ns) => return Some(at_ns),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    pub(super) fn set_grant(&self, seconds: f64) {
        *self.grant.lock().even_if_poisoned() = Some(seconds);
    }

    /// Returns the seconds that the coordinator granted since the last call, before the last start.
    pub fn take_grant(&self) -> Option<f64> {
        self.grant.lock().even_if_poisoned().take()
    }

    /// Returns the flag that cancels the current work.
    pub const fn cancel(&self) -> &Arc<AtomicBool> {
        &self.cancel
    }

    /// Whether the coordinator has stopped all work. Others may set and clear the flag of
    /// [`CoordinatorLink::cancel`].
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Returns the flag that ends the current phase.
    pub const fn phase_end(&self) -> &Arc<AtomicBool> {
        &self.enough
    }

    /// Forwards a request to a relayed host; `None` closes its pipe.
    pub(super) fn forward(&self, number: usize, request: Option<&AgentRequest>) {
        let way = self.relay_routes.lock().even_if_poisoned().get(number).cloned();
        match (way, request) {
            (Some(way), Some(request)) => way.send(request),
            (Some(way), None) => way.close(),
            (None, _) => {}
        }
    }

    pub(super) fn silent_for(&self) -> Duration {
        self.last_received.lock().even_if_poisoned().elapsed()
    }

    pub(super) fn cancel_all(&self) {
        // Before the other flag, which a deadline may clear.
        self.is_stopped.store(true, Ordering::SeqCst);
        self.cancel.store(true, Ordering::SeqCst);
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Sends a heartbeat whenever nothing else was sent for a second, until the pipe closes.
    ///
    /// # Errors
    /// If the thread for it cannot be started.
    pub fn start_heartbeat(self: &Arc<Self>) -> io::Result<()> {
        if self.has_heartbeat.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let line = Arc::downgrade(self);
        let send = move || {
            while let Some(line) = line.upgrade() {
                let silent = line.output.lock().even_if_poisoned().last_sent.elapsed();
                if silent >= HEARTBEAT_INTERVAL && !line.send(&AgentReply::Alive) {
                    return;
                }
                drop(line);
                thread::sleep(
                    HEARTBEAT_INTERVAL.checked_sub(silent).unwrap_or(HEARTBEAT_INTERVAL),
                );
            }
        };
        thread::Builder::new().spawn(send).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn whose deadline fires while its host waits still takes its own start, which would otherwise
    /// begin the next step; after a stop there is none.
    #[test]
    fn deadline_leaves_no_start_to_the_next_step() {
        let (start, starts) = mpsc::channel();
        let link = CoordinatorLink::new(Box::new(io::sink()), starts);
        link.cancel().store(true, Ordering::SeqCst);
        start.send(1).unwrap();
        assert_eq!(link.next_start(), Some(1));
        link.cancel().store(false, Ordering::SeqCst);
        start.send(2).unwrap();
        assert_eq!(link.next_start(), Some(2));
        link.cancel_all();
        assert_eq!(link.next_start(), None);
    }
}
