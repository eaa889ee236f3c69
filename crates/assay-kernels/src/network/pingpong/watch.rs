//! Thread of a ping-pong, and a watcher that ends a receive without a timeout.
//!
//! Two costs unrelated to the messages would increase a round trip over loopback, by 1 to 3 % each
//! (Zen 4, Linux 6.18). First, a receive with a timeout sets and cancels a timer for every message.
//! So a stream is received from without a timeout, and a watcher shuts it down for reading at the
//! end: a sleeping receive then returns. Second, a system call of a process with several threads
//! counts the users of its descriptor, up and down. So the messages are sent from a thread that has
//! its own table of descriptors with only the socket.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::RawFd;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::super::descriptors;
use super::super::progress::STOP_CHECK_INTERVAL;
use super::super::thread_refusal::ThreadRefusal;
use crate::clock;

/// Limits of the wait of a receive.
pub(super) struct WaitBounds<'a> {
    /// Deadline by the clock, after which no reply is expected.
    pub(super) deadline_ns: u64,
    /// Flag of the caller that ends it.
    pub(super) stop: &'a AtomicBool,
    /// Longest wait for one reply; `None` = until the deadline.
    pub(super) reply_timeout: Option<Duration>,
}

/// Message that the watched thread waits for: a different value for every message, 0 for none.
#[derive(Debug, Default)]
pub(super) struct PendingMessage(AtomicU64);

impl PendingMessage {
    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Runs `work` in a thread that has no descriptor but `socket`. Its receives from `stream` may
/// sleep without a timeout; with `None` their ends are not watched.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn run_watched<T: Send>(
    (socket, stream): (RawFd, Option<&TcpStream>),
    bounds: &WaitBounds<'_>,
    beat: &PendingMessage,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    /// Time after shutdown for reading until shutdown for writing: a receive returns at once, so a
    /// thread that still runs then hangs in a send to a peer that does not read.
    const ENOUGH: Duration = Duration::from_millis(500);
    let watcher = thread::current();
    let finished = thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, || {
            descriptors::isolate(Some(socket));
            let result = work();
            watcher.unpark();
            result
        });
        let worker = started.map_err(ThreadRefusal::wrap)?;
        if let Some(stream) = stream {
            watch(bounds, beat, || worker.is_finished());
            if !worker.is_finished() {
                // A connection that is already closed needs no shutdown.
                drop(stream.shutdown(Shutdown::Read));
                let shut_ns = clock::now_ns();
                while !worker.is_finished() {
                    thread::park_timeout(STOP_CHECK_INTERVAL);
                    if clock::now_ns() - shut_ns > ENOUGH.as_nanos() as u64 {
                        drop(stream.shutdown(Shutdown::Both));
                    }
                }
            }
        }
        io::Result::Ok(worker.join())
    });
    Ok(finished?.unwrap_or_else(|cause| panic::resume_unwind(cause)))
}

/// Returns when the work is done or when it has waited for one message beyond the bounds.
fn watch(bounds: &WaitBounds<'_>, beat: &PendingMessage, is_done: impl Fn() -> bool) {
    let (mut seen, mut since_ns) = (0, clock::now_ns());
    while !is_done() {
        let (now, now_ns) = (beat.0.load(Ordering::Relaxed), clock::now_ns());
        if now == 0 || now != seen {
            (seen, since_ns) = (now, now_ns);
        } else if is_over(bounds, since_ns, now_ns) {
            return;
        }
        thread::park_timeout(STOP_CHECK_INTERVAL);
    }
}

/// Whether the wait has exceeded the bounds. The thread has waited for the same message since the
/// last check at least, so no message that has just been sent is cut off.
fn is_over(bounds: &WaitBounds<'_>, since_ns: u64, now_ns: u64) -> bool {
    let waited_ns = u128::from(now_ns.saturating_sub(since_ns));
    bounds.stop.load(Ordering::Relaxed)
        || now_ns >= bounds.deadline_ns
        || bounds.reply_timeout.is_some_and(|longest| waited_ns >= longest.as_nanos())
}
