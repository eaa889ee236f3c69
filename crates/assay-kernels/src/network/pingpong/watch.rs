//! The thread of a ping-pong, and the end of a receive that would sleep for ever.
//!
//! Two things beside the messages would be seen in a round trip over loopback, 1 to 3 % each (Zen 4,
//! Linux 6.18). A receive with its own timeout sets a timer for every message and takes it back;
//! a stream is therefore received from without one, and closed for reading by a watcher when its time
//! is over: a sleeping receive then returns. And a system call of a process with several threads counts
//! the users of its descriptor, up and down; the messages therefore go from a thread whose table of
//! descriptors is its own and holds the socket alone.

use std::ffi::{c_int, c_uint};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::RawFd;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::super::progress::LOOK_EVERY;
use crate::clock;

/// When a receive has slept enough.
pub(super) struct Bounds<'a> {
    /// Reading of the clock after which nobody has to answer any more.
    pub(super) deadline_ns: u64,
    /// The same, told from outside.
    pub(super) stop: &'a AtomicBool,
    /// Longest wait for one answer; `None` = until the deadline.
    pub(super) answer_timeout: Option<Duration>,
}

/// What the watched thread waits for: another value for every message, 0 while for none.
#[derive(Debug, Default)]
pub(super) struct Beat(AtomicU64);

impl Beat {
    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Runs `work` in a thread that has no descriptor but `socket`. Its receives from `stream` may sleep
/// without a timeout; with `None` they look after themselves.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn watched<T: Send>(
    (socket, stream): (RawFd, Option<&TcpStream>),
    bounds: &Bounds<'_>,
    beat: &Beat,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    /// A receive that was shut returns at once; who has not by then hangs in a send that nobody takes.
    const ENOUGH: Duration = Duration::from_millis(500);
    let watcher = thread::current();
    let finished = thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            keep_only(socket);
            let result = work();
            watcher.unpark();
            result
        })?;
        if let Some(stream) = stream {
            watch(bounds, beat, || worker.is_finished());
            if !worker.is_finished() {
                // A connection that has gone already needs no end.
                drop(stream.shutdown(Shutdown::Read));
                let shut_ns = clock::now_ns();
                while !worker.is_finished() {
                    thread::park_timeout(LOOK_EVERY);
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

/// Gives the calling thread a table of descriptors of its own with `socket` alone in it: what other
/// threads close meanwhile is not kept open by it. A kernel before 5.9 refuses, which costs time only.
fn keep_only(socket: RawFd) {
    /// `CLOSE_RANGE_UNSHARE` of the kernel.
    const UNSHARE: c_int = 1 << 1;
    let Ok(socket) = c_uint::try_from(socket) else { return };
    let close = |first: c_uint, last: c_uint| {
        // SAFETY: the call takes plain numbers; with `UNSHARE` it changes no table but this thread's,
        // and this thread uses no descriptor but `socket` until it ends.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, UNSHARE) }
    };
    if close(socket.saturating_add(1), c_uint::MAX) == 0 && socket > 0 {
        close(0, socket - 1);
    }
}

/// Returns when the work is done or when it has waited for one message beyond the bounds.
fn watch(bounds: &Bounds<'_>, beat: &Beat, is_done: impl Fn() -> bool) {
    let (mut seen, mut since_ns) = (0, clock::now_ns());
    while !is_done() {
        let (now, now_ns) = (beat.0.load(Ordering::Relaxed), clock::now_ns());
        if now == 0 || now != seen {
            (seen, since_ns) = (now, now_ns);
        } else if is_over(bounds, since_ns, now_ns) {
            return;
        }
        thread::park_timeout(LOOK_EVERY);
    }
}

/// The same message has been waited for since one look ago at least, so nothing that is just under
/// way is cut off.
fn is_over(bounds: &Bounds<'_>, since_ns: u64, now_ns: u64) -> bool {
    let waited_ns = u128::from(now_ns.saturating_sub(since_ns));
    bounds.stop.load(Ordering::Relaxed)
        || now_ns >= bounds.deadline_ns
        || bounds.answer_timeout.is_some_and(|longest| waited_ns >= longest.as_nanos())
}
