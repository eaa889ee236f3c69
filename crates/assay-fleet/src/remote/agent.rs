//! Agent at the far end: answers requests on its standard input until that closes or stays silent
//! too long.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use super::calls::Call;
use super::coordinator_link::CoordinatorLink;
use super::frame::{self, FrameError};
use super::{AgentReply, AgentRequest, Clocks, VERSION, program};

/// Time for current work to end in good order after the pipe has closed. The caller then ends the
/// process, within the second in which an agent must be gone.
const GRACE: Duration = Duration::from_millis(600);
/// Interval of checks for a silent pipe.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Additional time that an agent waits beyond the coordinator's timeout.
const PATIENCE_MARGIN: Duration = Duration::from_secs(5);

/// Returns the time without messages after which an agent ends. A cut link closes no pipe: TCP
/// retries for many minutes (tcp(7), `tcp_retries2`), and the transport waits with it.
pub fn patience(deadline: Duration) -> Duration {
    deadline.saturating_add(PATIENCE_MARGIN)
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
    let line = Arc::new(CoordinatorLink::new(Box::new(output), starts));
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
        drop(over.send(read_requests(&listening, input, (start, requests), clock, &attend)));
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

/// Reads requests until the pipe closes; long-running ones go to `requests`.
fn read_requests(
    link: &Arc<CoordinatorLink>,
    mut input: impl Read,
    (start, requests): (Sender<u64>, Sender<AgentRequest>),
    clock: fn() -> u64,
    attend: &Arc<impl Fn(Call) + Send + Sync + 'static>,
) -> Result<(), FrameError> {
    loop {
        let heard = frame::read(&mut input);
        link.note_received();
        match heard {
            // Answered at once, so that other work does not delay the clock reading.
            Ok(AgentRequest::Clock) => {
                link.send(&AgentReply::Clock(Clocks::read(clock())));
            }
            Ok(AgentRequest::Alive) => {}
            Ok(AgentRequest::Grant(seconds)) => link.set_grant(seconds),
            Ok(AgentRequest::Start(at_ns)) => drop(start.send(at_ns)),
            Ok(AgentRequest::Letter(letter)) => link.deliver(letter, attend),
            Ok(AgentRequest::Gone(host)) => link.end_calls_with(&host),
            Ok(AgentRequest::Enough) => link.phase_end().store(true, Ordering::Relaxed),
            Ok(AgentRequest::Stop) => link.cancel_all(),
            Ok(AgentRequest::To(number, request)) => link.forward(number, Some(&request)),
            Ok(AgentRequest::Leave(number)) => link.forward(number, None),
            Ok(request) => drop(requests.send(request)),
            Err(FrameError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
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
