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

use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use super::line::lock;

/// Number of bytes kept of a pipe.
const KEPT: usize = 4096;
const STACK: usize = 128 << 10;

/// End of a pipe's output, shared with its reader until the pipe closes.
pub(super) type Tail = Arc<Mutex<Vec<u8>>>;

/// Returns whether the pipe is still open.
pub(super) fn is_open(tail: &Tail) -> bool {
    Arc::strong_count(tail) > 1
}

struct Listener {
    /// Epoll instance that wakes the thread (epoll(7)); pipes can be added while it waits.
    ready: OwnedFd,
    heard: Mutex<BTreeMap<u64, (ChildStderr, Tail)>>,
}

static LISTENER: Mutex<Option<Arc<Listener>>> = Mutex::new(None);

/// Captures the output of a pipe from now on.
pub(super) fn listen_to(pipe: ChildStderr) -> io::Result<Tail> {
    let listener = Listener::get()?;
    let tail = Tail::default();
    let mut heard = lock(&listener.heard);
    let number = u64::try_from(pipe.as_raw_fd()).unwrap_or_default();
    let data = epoll::EventData::new_u64(number);
    epoll::add(&listener.ready, &pipe, data, epoll::EventFlags::IN)?;
    heard.insert(number, (pipe, Arc::clone(&tail)));
    drop(heard);
    Ok(tail)
}

impl Listener {
    fn get() -> io::Result<Arc<Self>> {
        let mut known = lock(&LISTENER);
        if let Some(listener) = &*known {
            return Ok(Arc::clone(listener));
        }
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let listener = Arc::new(Self { ready, heard: Mutex::default() });
        let listening = Arc::clone(&listener);
        thread::Builder::new().stack_size(STACK).spawn(move || listening.listen())?;
        Ok(Arc::clone(known.insert(listener)))
    }

    fn listen(&self) {
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            // A signal may interrupt the wait.
            let _ready = epoll::wait(&self.ready, spare_capacity(&mut events), None);
            for event in &events {
                self.hear(event.data.u64());
            }
        }
    }

    /// Reads from a pipe that is readable or closed, so that it does not block.
    fn hear(&self, number: u64) {
        let mut heard = lock(&self.heard);
        let Some((pipe, tail)) = heard.get_mut(&number) else { return };
        let mut chunk = [0; 1024];
        if let Ok(read @ 1..) = pipe.read(&mut chunk) {
            let mut kept = lock(tail);
            kept.extend_from_slice(&chunk[..read]);
            let surplus = kept.len().saturating_sub(KEPT);
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
    fn the_end_of_what_many_say_is_kept_until_each_has_ended() {
        let say = |number: usize| {
            let text = format!("head -c 100000 /dev/zero >&2; echo said {number} >&2");
            let child = Command::new("sh").args(["-c", &text]).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let tail = listen_to(child.stderr.take().unwrap()).unwrap();
            (child, tail)
        };
        let all: Vec<_> = (0..20).map(say).collect();
        for (number, (mut child, tail)) in all.into_iter().enumerate() {
            child.wait().unwrap();
            while is_open(&tail) {
                thread::sleep(Duration::from_millis(1));
            }
            let kept = lock(&tail);
            assert_eq!(kept.len(), KEPT);
            assert!(kept.ends_with(format!("said {number}\n").as_bytes()));
        }
    }
}
