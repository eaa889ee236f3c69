//! Standard error of transports: keeps the end of it, which explains failures.
//!
//! A single thread reads from all of them. The pipes may stay open forever if a transport leaves
//! background processes, so they are not waited for.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex};
use std::thread;

use assay_model::poisoned_lock::PoisonedLock as _;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;

/// Number of bytes kept of a pipe.
const TAIL_BYTES: usize = 4096;
const THREAD_STACK: usize = 128 << 10;

/// End of a pipe's output, shared with its reader until the pipe closes.
pub(super) type StderrTail = Arc<Mutex<Vec<u8>>>;

/// Returns whether the pipe is still open.
pub(super) fn is_open(tail: &StderrTail) -> bool {
    Arc::strong_count(tail) > 1
}

struct StderrListener {
    /// Epoll instance that wakes the thread (epoll(7)); pipes can be added while it waits.
    ready: OwnedFd,
    pipes: Mutex<BTreeMap<u64, (ChildStderr, StderrTail)>>,
}

static LISTENER: Mutex<Option<Arc<StderrListener>>> = Mutex::new(None);

/// Captures the output of a pipe from now on.
pub(super) fn capture_tail(pipe: ChildStderr) -> io::Result<StderrTail> {
    let listener = StderrListener::get()?;
    let tail = StderrTail::default();
    let mut heard = listener.pipes.lock().even_if_poisoned();
    let number = u64::try_from(pipe.as_raw_fd()).unwrap_or_default();
    let data = epoll::EventData::new_u64(number);
    epoll::add(&listener.ready, &pipe, data, epoll::EventFlags::IN)?;
    heard.insert(number, (pipe, Arc::clone(&tail)));
    drop(heard);
    Ok(tail)
}

impl StderrListener {
    fn get() -> io::Result<Arc<Self>> {
        let mut known = LISTENER.lock().even_if_poisoned();
        if let Some(listener) = &*known {
            return Ok(Arc::clone(listener));
        }
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let listener = Arc::new(Self { ready, pipes: Mutex::default() });
        let listening = Arc::clone(&listener);
        thread::Builder::new().stack_size(THREAD_STACK).spawn(move || listening.listen())?;
        Ok(Arc::clone(known.insert(listener)))
    }

    fn listen(&self) {
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            // A signal may interrupt the wait.
            let _ready = epoll::wait(&self.ready, spare_capacity(&mut events), None);
            for event in &events {
                self.read_pipe(event.data.u64());
            }
        }
    }

    /// Reads from a pipe that is readable or closed, so that it does not block.
    fn read_pipe(&self, number: u64) {
        let mut heard = self.pipes.lock().even_if_poisoned();
        let Some((pipe, tail)) = heard.get_mut(&number) else { return };
        let mut chunk = [0; 1024];
        if let Ok(read @ 1..) = pipe.read(&mut chunk) {
            let mut kept = tail.lock().even_if_poisoned();
            kept.extend_from_slice(&chunk[..read]);
            let surplus = kept.len().saturating_sub(TAIL_BYTES);
            kept.drain(..surplus);
            return;
        }
        let _is_known = epoll::delete(&self.ready, &*pipe);
        drop(heard.remove(&number));
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    #[test]
    fn keeps_tails_of_many_pipes() {
        let say = |number: usize| {
            let text = format!("head -c 100000 /dev/zero >&2; echo said {number} >&2");
            let child = Command::new("sh").args(["-c", &text]).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let tail = capture_tail(child.stderr.take().unwrap()).unwrap();
            (child, tail)
        };
        let all: Vec<_> = (0..20).map(say).collect();
        for (number, (mut child, tail)) in all.into_iter().enumerate() {
            child.wait().unwrap();
            while is_open(&tail) {
                thread::sleep(Duration::from_millis(1));
            }
            let kept = tail.lock().even_if_poisoned();
            assert_eq!(kept.len(), TAIL_BYTES);
            assert!(kept.ends_with(format!("said {number}\n").as_bytes()));
        }
    }
}
