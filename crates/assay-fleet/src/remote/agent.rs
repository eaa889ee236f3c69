//! Agent at the far end: answers requests on its standard input until that closes or stays silent
//! too long.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::agents::HostRoute;
use super::calls::{Call, OpenCalls};
use super::frame::{self, FrameError};
use super::{AgentReply, AgentRequest, Clocks, VERSION, program};

/// Time for current work to end in good order after the pipe has closed. The caller then ends the
/// process, within the second in which an agent must be gone.
const GRACE: Duration = Duration::from_millis(600);
/// Interval of checks for a silent pipe.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time without a sent message after which an agent sends a heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// Additional time that an agent waits beyond the coordinator's timeout.
const PATIENCE_MARGIN: Duration = Duration::from_secs(5);

/// Returns the time without messages after which an agent ends. A cut link closes no pipe: TCP
/// retries for many minutes (tcp(7), `tcp_retries2`), and the transport waits with it.
#[must_use]
pub fn patience(deadline: Duration) -> Duration {
    deadline.saturating_add(PATIENCE_MARGIN)
}

/// Connection of an agent to its coordinator.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct CoordinatorLink {
    output: Mutex<ReplyPipe>,
    start_times: Mutex<Receiver<u64>>,
    cancel: Arc<AtomicBool>,
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
    /// Sends a reply; returns `false` if the pipe is closed.
    pub fn send(&self, reply: &AgentReply) -> bool {
        let mut output = lock(&self.output);
        output.last_sent = Instant::now();
        frame::write(&mut output.pipe, reply).is_ok()
    }

    /// Waits until the coordinator sends a start time; `None` if there will be none.
    pub fn next_start(&self) -> Option<u64> {
        let starts = lock(&self.start_times);
        while !self.cancel.load(Ordering::Relaxed) {
            match starts.recv_timeout(Duration::from_millis(50)) {
                Ok(at_ns) => return Some(at_ns),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Returns the flag that cancels the current work.
    #[must_use]
    pub const fn cancel(&self) -> &Arc<AtomicBool> {
        &self.cancel
    }

    /// Returns the flag that ends the current phase.
    #[must_use]
    pub const fn phase_end(&self) -> &Arc<AtomicBool> {
        &self.enough
    }

    /// Forwards a request to a relayed host; `None` closes its pipe.
    fn forward(&self, number: usize, request: Option<&AgentRequest>) {
        let way = lock(&self.relay_routes).get(number).cloned();
        match (way, request) {
            (Some(way), Some(request)) => way.send(request),
            (Some(way), None) => way.close(),
            (None, _) => {}
        }
    }

    /// Reads requests until the pipe closes; long-running ones go to `requests`.
    fn read_requests(
        self: &Arc<Self>,
        mut input: impl Read,
        (start, requests): (Sender<u64>, Sender<AgentRequest>),
        clock: fn() -> u64,
        attend: &Arc<impl Fn(Call) + Send + Sync + 'static>,
    ) -> Result<(), FrameError> {
        loop {
            let heard = frame::read(&mut input);
            *lock(&self.last_received) = Instant::now();
            match heard {
                // Answered at once, so that other work does not delay the clock reading.
                Ok(AgentRequest::Clock) => {
                    self.send(&AgentReply::Clock(Clocks::read(clock())));
                }
                Ok(AgentRequest::Alive) => {}
                Ok(AgentRequest::Start(at_ns)) => drop(start.send(at_ns)),
                Ok(AgentRequest::Letter(letter)) => self.deliver(letter, attend),
                Ok(AgentRequest::Gone(host)) => self.end_calls_with(&host),
                Ok(AgentRequest::Enough) => self.enough.store(true, Ordering::Relaxed),
                Ok(AgentRequest::Stop) => self.cancel_all(),
                Ok(AgentRequest::To(number, request)) => self.forward(number, Some(&request)),
                Ok(AgentRequest::Leave(number)) => self.forward(number, None),
                Ok(request) => drop(requests.send(request)),
                Err(FrameError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn silent_for(&self) -> Duration {
        lock(&self.last_received).elapsed()
    }

    fn cancel_all(&self) {
        self.cancel.store(true, Ordering::Relaxed);
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
                let silent = lock(&line.output).last_sent.elapsed();
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

pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until the pipe closes or stays silent for `patience`, then returns soon. The caller must
/// end the process with any remaining work. `clock` is the monotonic clock; `attend` handles
/// conversations begun by other agents.
///
/// # Errors
/// [`FrameError`] if the input is malformed or silent, or the system refuses a thread.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    (clock, patience): (fn() -> u64, Duration),
    answer: impl Fn(AgentRequest, &Arc<CoordinatorLink>) + Send + 'static,
    attend: impl Fn(Call) + Send + Sync + 'static,
) -> Result<(), FrameError> {
    let (program, _) = File::open("/proc/self/exe")
        .and_then(|file| program::hash(&file))
        .map_err(FrameError::Pipe)?;
    let (start, starts) = mpsc::channel();
    let line = Arc::new(CoordinatorLink {
        output: Mutex::new(ReplyPipe { pipe: Box::new(output), last_sent: Instant::now() }),
        start_times: Mutex::new(starts),
        cancel: Arc::default(),
        enough: Arc::default(),
        calls: OpenCalls::default(),
        relay_routes: Mutex::default(),
        has_heartbeat: AtomicBool::new(false),
        last_received: Mutex::new(Instant::now()),
    });
    let attend = Arc::new(attend);
    line.send(&AgentReply::Hello(format!("{program} {VERSION}")));
    let (requests, requested) = mpsc::channel();
    let (busy, idle) = mpsc::channel::<()>();
    let working = Arc::clone(&line);
    let work = move || {
        let _busy = busy;
        requested.into_iter().for_each(|request| answer(request, &working));
    };
    thread::Builder::new().spawn(work).map_err(FrameError::Thread)?;
    let (over, ended) = mpsc::channel();
    let listening = Arc::clone(&line);
    let listen = move || {
        drop(over.send(listening.read_requests(input, (start, requests), clock, &attend)));
    };
    thread::Builder::new().spawn(listen).map_err(FrameError::Thread)?;
    let ended = loop {
        match ended.recv_timeout(POLL_INTERVAL) {
            Ok(ended) => break ended,
            Err(mpsc::RecvTimeoutError::Disconnected) => break Ok(()),
            Err(mpsc::RecvTimeoutError::Timeout) if line.silent_for() > patience => {
                break Err(FrameError::Silent { seconds: patience.as_secs() });
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    };
    line.cancel_all();
    // Nothing is sent on this channel: it closes when the worker has ended.
    let _ = idle.recv_timeout(GRACE);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve_input(
        input: impl Read + Send + 'static,
        patience: Duration,
    ) -> Result<(), FrameError> {
        serve(input, std::io::sink(), (|| 0, patience), |_, _| {}, |_| {})
    }

    #[test]
    fn agent_ends_on_closed_or_silent_pipe() {
        assert!(serve_input(std::io::empty(), Duration::MAX).is_ok());
        let (input, kept) = std::io::pipe().unwrap();
        let silent = serve_input(input, Duration::ZERO);
        assert!(matches!(silent, Err(FrameError::Silent { .. })), "{silent:?}");
        drop(kept);
        let noise = serve_input(&b"Welcome to vm1\n"[..], Duration::MAX);
        assert!(matches!(noise, Err(FrameError::TooLong { .. })), "{noise:?}");
    }
}
