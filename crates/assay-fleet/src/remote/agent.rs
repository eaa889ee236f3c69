//! The far end: answers requests on its standard input until that closes.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::agents::Way;
use super::calls::{Call, Calls};
use super::frame::{self, FrameError};
use super::{Clocks, Reply, Request, VERSION, program};

/// How long what is being done may take to end in good order once the pipe is closed. What has not ended then
/// is ended by the caller, within the second in which an agent is to be gone.
const GRACE: Duration = Duration::from_millis(600);
/// After so long without a word an agent says that it is there.
const SILENCE: Duration = Duration::from_secs(1);

/// What a request is answered through.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct Line {
    output: Mutex<Output>,
    starts: Mutex<Receiver<u64>>,
    cancel: Arc<AtomicBool>,
    enough: Arc<AtomicBool>,
    pub(super) calls: Calls,
    /// Ways to the hosts that this one reaches for the controller.
    pub(super) beyond: Mutex<Vec<Way>>,
    is_in_touch: AtomicBool,
}

/// The pipe, and when something was last said.
struct Output {
    pipe: Box<dyn Write + Send>,
    spoke: Instant,
}

impl Line {
    /// Hands a message on; `false` when nobody reads any more.
    pub fn say(&self, reply: &Reply) -> bool {
        let mut output = lock(&self.output);
        output.spoke = Instant::now();
        frame::write(&mut output.pipe, reply).is_ok()
    }

    /// Waits until the controller names a moment to start at; `None` when there will be none.
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

    /// Set when what is being done is to end.
    #[must_use]
    pub const fn cancel(&self) -> &Arc<AtomicBool> {
        &self.cancel
    }

    /// Set when the phase that is being done has done enough.
    #[must_use]
    pub const fn enough(&self) -> &Arc<AtomicBool> {
        &self.enough
    }

    /// Says to a host beyond what the controller says; without words it is left.
    fn pass(&self, number: usize, request: Option<&Request>) {
        let way = lock(&self.beyond).get(number).cloned();
        match (way, request) {
            (Some(way), Some(request)) => way.report(request),
            (Some(way), None) => way.leave(),
            (None, _) => {}
        }
    }

    fn end(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Says that this host is still there whenever nothing else was said for a second, for as long as the pipe is.
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

/// Serves until the pipe closes, and returns soon then: whoever calls this ends the process, with whatever is
/// still being done. `clock` is the clock of measurements, `attend` does what other agents begin a conversation about.
///
/// # Errors
/// [`FrameError`] when something else than requests comes in.
pub fn serve(
    mut input: impl Read,
    output: impl Write + Send + 'static,
    clock: fn() -> u64,
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
    let ended = loop {
        match frame::read(&mut input) {
            // Whoever asks for the time does not wait for anything else.
            Ok(Request::Clock) => drop(line.say(&Reply::Clock(Clocks::with(clock())))),
            Ok(Request::Start(at_ns)) => drop(start.send(at_ns)),
            Ok(Request::Letter(letter)) => line.deliver(letter, &attend),
            Ok(Request::Gone(host)) => line.is_gone(&host),
            Ok(Request::Enough) => line.enough.store(true, Ordering::Relaxed),
            Ok(Request::Stop) => line.end(),
            Ok(Request::To(number, request)) => line.pass(number, Some(&request)),
            Ok(Request::Leave(number)) => line.pass(number, None),
            Ok(request) => drop(requests.send(request)),
            Err(FrameError::Closed) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    line.end();
    drop((start, requests));
    // It says nothing: it is over when its end is dropped.
    let _ = idle.recv_timeout(GRACE);
    ended
}
