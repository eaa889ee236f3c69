//! Agent at the far end: answers requests on its standard input until that closes or stays silent
//! too long.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::agents::Way;
use super::calls::{Call, Calls};
use super::frame::{self, FrameError};
use super::{Clocks, Reply, Request, VERSION, program};

/// Time for current work to end in good order after the pipe has closed. The caller then ends the
/// process, within the second in which an agent must be gone.
const GRACE: Duration = Duration::from_millis(600);
/// Interval of checks for a silent pipe.
const LOOK: Duration = Duration::from_millis(500);
/// Time without a sent message after which an agent sends a heartbeat.
const SILENCE: Duration = Duration::from_secs(1);
/// Additional time that an agent waits beyond the coordinator's timeout.
const LONGER: Duration = Duration::from_secs(5);

/// Returns the time without messages after which an agent ends. A cut link closes no pipe: TCP
/// retries for many minutes (tcp(7), `tcp_retries2`), and the transport waits with it.
#[must_use]
pub fn patience(deadline: Duration) -> Duration {
    deadline.saturating_add(LONGER)
}

/// Connection of an agent to its coordinator.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct Line {
    output: Mutex<Output>,
    starts: Mutex<Receiver<u64>>,
    cancel: Arc<AtomicBool>,
    enough: Arc<AtomicBool>,
    pub(super) calls: Calls,
    /// Routes to the hosts that this agent relays for the coordinator.
    pub(super) beyond: Mutex<Vec<Way>>,
    is_in_touch: AtomicBool,
    /// Time of the last message from the coordinator.
    heard: Mutex<Instant>,
}

/// Pipe for replies, and the time of the last one.
struct Output {
    pipe: Box<dyn Write + Send>,
    spoke: Instant,
}

impl Line {
    /// Sends a reply; returns `false` if the pipe is closed.
    pub fn say(&self, reply: &Reply) -> bool {
        let mut output = lock(&self.output);
        output.spoke = Instant::now();
        frame::write(&mut output.pipe, reply).is_ok()
    }

    /// Waits until the coordinator sends a start time; `None` if there will be none.
    pub fn next_start(&self) -> Option<u64> {
        let starts = lock(&self.starts);
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
    pub const fn enough(&self) -> &Arc<AtomicBool> {
        &self.enough
    }

    /// Forwards a request to a relayed host; `None` closes its pipe.
    fn pass(&self, number: usize, request: Option<&Request>) {
        let way = lock(&self.beyond).get(number).cloned();
        match (way, request) {
            (Some(way), Some(request)) => way.report(request),
            (Some(way), None) => way.leave(),
            (None, _) => {}
        }
    }

    /// Reads requests until the pipe closes; long-running ones go to `requests`.
    fn listen(
        self: &Arc<Self>,
        mut input: impl Read,
        (start, requests): (Sender<u64>, Sender<Request>),
        clock: fn() -> u64,
        attend: &Arc<impl Fn(Call) + Send + Sync + 'static>,
    ) -> Result<(), FrameError> {
        loop {
            let heard = frame::read(&mut input);
            *lock(&self.heard) = Instant::now();
            match heard {
                // Answered at once, so that other work does not delay the clock reading.
                Ok(Request::Clock) => drop(self.say(&Reply::Clock(Clocks::with(clock())))),
                Ok(Request::Alive) => {}
                Ok(Request::Start(at_ns)) => drop(start.send(at_ns)),
                Ok(Request::Letter(letter)) => self.deliver(letter, attend),
                Ok(Request::Gone(host)) => self.is_gone(&host),
                Ok(Request::Enough) => self.enough.store(true, Ordering::Relaxed),
                Ok(Request::Stop) => self.end(),
                Ok(Request::To(number, request)) => self.pass(number, Some(&request)),
                Ok(Request::Leave(number)) => self.pass(number, None),
                Ok(request) => drop(requests.send(request)),
                Err(FrameError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn silence(&self) -> Duration {
        lock(&self.heard).elapsed()
    }

    fn end(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Sends a heartbeat whenever nothing else was sent for a second, until the pipe closes.
    pub fn stay_in_touch(self: &Arc<Self>) {
        if self.is_in_touch.swap(true, Ordering::Relaxed) {
            return;
        }
        let line = Arc::downgrade(self);
        thread::spawn(move || {
            while let Some(line) = line.upgrade() {
                let silent = lock(&line.output).spoke.elapsed();
                if silent >= SILENCE && !line.say(&Reply::Alive) {
                    return;
                }
                drop(line);
                thread::sleep(SILENCE.checked_sub(silent).unwrap_or(SILENCE));
            }
        });
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
/// [`FrameError`] if the input is malformed or silent.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    (clock, patience): (fn() -> u64, Duration),
    answer: impl Fn(Request, &Arc<Line>) + Send + 'static,
    attend: impl Fn(Call) + Send + Sync + 'static,
) -> Result<(), FrameError> {
    let (program, _) = File::open("/proc/self/exe")
        .and_then(|file| program::hash(&file))
        .map_err(FrameError::Pipe)?;
    let (start, starts) = mpsc::channel();
    let line = Arc::new(Line {
        output: Mutex::new(Output { pipe: Box::new(output), spoke: Instant::now() }),
        starts: Mutex::new(starts),
        cancel: Arc::default(),
        enough: Arc::default(),
        calls: Calls::default(),
        beyond: Mutex::default(),
        is_in_touch: AtomicBool::new(false),
        heard: Mutex::new(Instant::now()),
    });
    let attend = Arc::new(attend);
    line.say(&Reply::Hello(format!("{program} {VERSION}")));
    let (requests, requested) = mpsc::channel();
    let (busy, idle) = mpsc::channel::<()>();
    let working = Arc::clone(&line);
    thread::spawn(move || {
        let _busy = busy;
        requested.into_iter().for_each(|request| answer(request, &working));
    });
    let (over, ended) = mpsc::channel();
    let listening = Arc::clone(&line);
    thread::spawn(move || {
        drop(over.send(listening.listen(input, (start, requests), clock, &attend)));
    });
    let ended = loop {
        match ended.recv_timeout(LOOK) {
            Ok(ended) => break ended,
            Err(mpsc::RecvTimeoutError::Disconnected) => break Ok(()),
            Err(mpsc::RecvTimeoutError::Timeout) if line.silence() > patience => {
                break Err(FrameError::Silent { seconds: patience.as_secs() });
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    };
    line.end();
    // Nothing is sent on this channel: it closes when the worker has ended.
    let _ = idle.recv_timeout(GRACE);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(input: impl Read + Send + 'static, patience: Duration) -> Result<(), FrameError> {
        serve(input, std::io::sink(), (|| 0, patience), |_, _| {}, |_| {})
    }

    #[test]
    fn an_agent_ends_with_its_pipe_and_when_that_falls_silent() {
        assert!(served(std::io::empty(), Duration::MAX).is_ok());
        let (input, kept) = std::io::pipe().unwrap();
        let silent = served(input, Duration::ZERO);
        assert!(matches!(silent, Err(FrameError::Silent { .. })), "{silent:?}");
        drop(kept);
        let noise = served(&b"Welcome to vm1\n"[..], Duration::MAX);
        assert!(matches!(noise, Err(FrameError::TooLong { .. })), "{noise:?}");
    }
}
