//! Connections that carry one request and one response each: connect, send, receive, close.
//!
//! The far end closes first, as a server that answers one request for each connection does. So the
//! wait for late segments (TIME-WAIT) takes place there, and occupies no port of this end. Nothing
//! is reset (`SO_LINGER`): each connection ends with a FIN of both ends.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::descriptors;
use super::progress::STOP_CHECK_INTERVAL;
use super::socket;
use super::thread_refusal::ThreadRefusal;
use crate::clock;

/// Limits of a test; the first one that a stream reaches ends it for all.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits<'a> {
    /// Deadline by the clock, in nanoseconds: no connection begins after it.
    pub deadline_ns: u64,
    /// Maximum number of connections of one stream; also bounds the memory for their times.
    pub connections: usize,
    /// Flag of the caller that ends it.
    pub cancel: &'a AtomicBool,
}

/// Times of one connection, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Time by the clock at which its socket was requested.
    pub start_ns: u64,
    /// Time until it was connected.
    pub connect_ns: u64,
    /// Time until the response had arrived.
    pub total_ns: u64,
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transactions {
    /// Completed transactions of all streams, by the time of their response.
    pub list: Vec<Transaction>,
    /// Time from the first connection to the end of the last one, in nanoseconds.
    pub total_ns: u64,
}

/// Timeout of a connection attempt: two retransmissions of the request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest time without a byte in either direction.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time after the deadline within which the last connections end.
const LATE_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest message that one segment carries on any path. Nagle's algorithm would hold back the end
/// of a longer one.
const SEGMENT_BYTES: usize = 536;
/// Initial capacity of the list of times; growing it copies it, which would distort a time.
const INITIAL_CAPACITY: usize = 1 << 18;

/// Opens one connection after the other to each remote address, all addresses at the same time.
///
/// # Errors
/// A connection failed, or a response did not arrive or differs from its request. A cancelled test
/// returns the transactions before.
pub fn transact(
    remotes: &[SocketAddr],
    message_bytes: usize,
    until: ConnectionLimits<'_>,
) -> io::Result<Transactions> {
    let (failed, enough) = (AtomicBool::new(false), AtomicBool::new(false));
    let flags = StreamFlags { failed: &failed, enough: &enough };
    let results = thread::scope(|scope| {
        let start = |remote: &SocketAddr| {
            let remote = *remote;
            let work = move || {
                descriptors::isolate(None);
                let stream = RequestStream::new(remote, message_bytes, until, flags).run();
                flags.failed.fetch_or(stream.is_err(), Ordering::Relaxed);
                stream
            };
            let started = thread::Builder::new().spawn_scoped(scope, work);
            flags.failed.fetch_or(started.is_err(), Ordering::Relaxed);
            started.map_err(ThreadRefusal::wrap)
        };
        let threads: Vec<_> = remotes.iter().map(start).collect();
        let join = |started: io::Result<thread::ScopedJoinHandle<'_, io::Result<_>>>| {
            started?.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
        };
        threads.into_iter().map(join).collect::<Vec<io::Result<StreamResult>>>()
    });
    Ok(merge_streams(results.into_iter().collect::<io::Result<_>>()?))
}

/// Answers connections of `peer` with their requests until `stop`; closes those of other hosts.
/// Returns the number of answered ones.
///
/// # Errors
/// The system's error, except those that mean that a client ended its connection.
pub fn answer(
    listener: &TcpListener,
    peer: IpAddr,
    message_bytes: usize,
    stop: &AtomicBool,
) -> io::Result<u64> {
    socket::set_timeouts(listener, STOP_CHECK_INTERVAL)?;
    let answered = thread::scope(|scope| {
        let work = || {
            descriptors::isolate(Some(listener.as_raw_fd()));
            answer_all(listener, peer, message_bytes, stop)
        };
        let worker = thread::Builder::new().spawn_scoped(scope, work);
        io::Result::Ok(worker.map_err(ThreadRefusal::wrap)?.join())
    });
    answered?.unwrap_or_else(|cause| panic::resume_unwind(cause))
}

/// Result of one stream: its transactions, its first and its last time by the clock.
struct StreamResult {
    done: Vec<Transaction>,
    start_ns: u64,
    end_ns: u64,
}

/// Flags that the streams of a test share.
#[derive(Clone, Copy)]
struct StreamFlags<'a> {
    /// A stream has failed.
    failed: &'a AtomicBool,
    /// A stream has as many connections as are stored: no other connection begins.
    enough: &'a AtomicBool,
}

/// One connection after the other to one remote address.
struct RequestStream<'a> {
    remote: SocketAddr,
    request: Vec<u8>,
    response: Vec<u8>,
    until: ConnectionLimits<'a>,
    flags: StreamFlags<'a>,
    done: Vec<Transaction>,
}

impl<'a> RequestStream<'a> {
    fn new(
        remote: SocketAddr,
        message_bytes: usize,
        until: ConnectionLimits<'a>,
        flags: StreamFlags<'a>,
    ) -> Self {
        let bytes = message_bytes.max(1);
        Self {
            remote,
            request: vec![0xCE; bytes],
            response: vec![0; bytes],
            until,
            flags,
            done: Vec::with_capacity(until.connections.min(INITIAL_CAPACITY)),
        }
    }

    fn run(mut self) -> io::Result<StreamResult> {
        let start_ns = clock::now_ns();
        let mut now_ns = start_ns;
        while now_ns < self.until.deadline_ns
            && self.done.len() < self.until.connections
            && !self.flags.enough.load(Ordering::Relaxed)
            && !self.is_stopped()
        {
            let Some(transaction) = self.exchange(now_ns)? else { break };
            self.done.push(transaction);
            now_ns = clock::now_ns();
        }
        let is_full = self.done.len() >= self.until.connections;
        self.flags.enough.fetch_or(is_full, Ordering::Relaxed);
        Ok(StreamResult { done: self.done, start_ns, end_ns: now_ns })
    }

    fn is_stopped(&self) -> bool {
        self.until.cancel.load(Ordering::Relaxed) || self.flags.failed.load(Ordering::Relaxed)
    }

    /// Performs the life of one connection; returns `None` once stopped.
    fn exchange(&mut self, start_ns: u64) -> io::Result<Option<Transaction>> {
        let socket = match self.connect() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            connected => connected?,
        };
        let connected_ns = clock::now_ns();
        let Some(replied_ns) = self.request_over(socket.as_raw_fd(), connected_ns)? else {
            return Ok(None);
        };
        Ok(Some(Transaction {
            start_ns,
            connect_ns: connected_ns - start_ns,
            total_ns: replied_ns - start_ns,
        }))
    }

    fn connect(&self) -> io::Result<OwnedFd> {
        let socket = socket::new_socket(self.remote, libc::SOCK_STREAM, 0)?;
        socket::set_timeouts(&socket, STOP_CHECK_INTERVAL)?;
        if self.request.len() > SEGMENT_BYTES {
            socket::set_no_delay(&socket)?;
        }
        match socket::connect(&socket, self.remote) {
            Ok(()) => Ok(socket),
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR)) =>
            {
                let cancel = self.until.cancel;
                socket::wait_connected(&socket, CONNECT_TIMEOUT, cancel).map(|()| socket)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends the request, receives the response, and waits until the far end has closed. Returns
    /// the time of the response by the clock.
    fn request_over(&mut self, stream: RawFd, sent_ns: u64) -> io::Result<Option<u64>> {
        let (cancel, failed) = (self.until.cancel, self.flags.failed);
        let late_ns = self.until.deadline_ns.saturating_add(LATE_TIMEOUT.as_nanos() as u64);
        let patience = Patience {
            is_stopped: || cancel.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed),
            idle_ns: IDLE_TIMEOUT.as_nanos() as u64,
            end_ns: late_ns,
            moved_ns: Cell::new(sent_ns),
        };
        let replied_ns = match send_whole(stream, &self.request, &patience)? {
            true if receive_whole(stream, &mut self.response, &patience)? => {
                patience.moved_ns.get()
            }
            _ => return self.unanswered(),
        };
        if self.response != self.request {
            return Err(invalid_data("the response differs from the request"));
        }
        match receive(stream, &mut [0; 1], &patience)? {
            Some(0) => Ok(Some(replied_ns)),
            Some(_) => Err(invalid_data("the peer sent more than the response")),
            None => self.unanswered(),
        }
    }

    fn unanswered(&self) -> io::Result<Option<u64>> {
        if self.is_stopped() {
            return Ok(None);
        }
        let text = format!(
            "no byte arrived for {} s, or the response took {} s longer than the test",
            IDLE_TIMEOUT.as_secs(),
            LATE_TIMEOUT.as_secs()
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    }
}

fn merge_streams(streams: Vec<StreamResult>) -> Transactions {
    let start_ns = streams.iter().map(|it| it.start_ns).min().unwrap_or(0);
    let end_ns = streams.iter().map(|it| it.end_ns).max().unwrap_or(0);
    let mut list: Vec<Transaction> = streams.into_iter().flat_map(|it| it.done).collect();
    list.sort_unstable_by_key(|it| it.start_ns + it.total_ns);
    Transactions { list, total_ns: end_ns.saturating_sub(start_ns) }
}

fn answer_all(
    listener: &TcpListener,
    peer: IpAddr,
    message_bytes: usize,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let patience = Patience {
        is_stopped: || stop.load(Ordering::Relaxed),
        idle_ns: u64::MAX,
        end_ns: u64::MAX,
        moved_ns: Cell::new(0),
    };
    let mut message = vec![0; message_bytes.max(1)];
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        let (stream, from) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if is_retryable(&error) => continue,
            Err(error) => return Err(error),
        };
        if from.ip().to_canonical() != peer.to_canonical() {
            continue;
        }
        // A connection has the listener's timeouts only if it began after they were set.
        socket::set_timeouts(&stream, STOP_CHECK_INTERVAL)?;
        let fd = stream.as_raw_fd();
        let outcome = receive_whole(fd, &mut message, &patience)
            .and_then(|is_whole| Ok(is_whole && send_whole(fd, &message, &patience)?));
        match outcome {
            Ok(is_answered) => answered += u64::from(is_answered),
            // The client has ended this connection; it may open another.
            Err(error) if is_end(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answered)
}

/// When a connection is given up: checked while it waits, and after each part of a message.
struct Patience<F> {
    is_stopped: F,
    /// Longest time without a byte, in nanoseconds.
    idle_ns: u64,
    /// Time by the clock until which the exchange must end.
    end_ns: u64,
    /// Time by the clock at which a byte has last moved.
    moved_ns: Cell<u64>,
}

impl<F: Fn() -> bool> Patience<F> {
    fn is_over(&self) -> bool {
        self.is_over_at(clock::now_ns())
    }

    fn is_over_at(&self, now_ns: u64) -> bool {
        (self.is_stopped)()
            || now_ns >= self.end_ns
            || now_ns >= self.moved_ns.get().saturating_add(self.idle_ns)
    }

    /// Notes that a part of a message has moved; returns whether the exchange goes on.
    fn goes_on(&self) -> bool {
        let now_ns = clock::now_ns();
        self.moved_ns.set(now_ns);
        !self.is_over_at(now_ns)
    }
}

/// Sends a message; false if it is given up before it is sent.
fn send_whole(
    stream: RawFd,
    message: &[u8],
    patience: &Patience<impl Fn() -> bool>,
) -> io::Result<bool> {
    let mut sent = 0;
    loop {
        let part = &message[sent..];
        // SAFETY: pointer and length describe `part`, which the call only reads.
        let send = || unsafe {
            libc::send(stream, part.as_ptr().cast(), part.len(), libc::MSG_NOSIGNAL)
        };
        let Some(bytes) = repeat_until(patience, send)? else { return Ok(false) };
        sent += bytes;
        let goes_on = patience.goes_on();
        if sent >= message.len() {
            return Ok(true);
        }
        if !goes_on {
            return Ok(false);
        }
    }
}

/// Receives a message; false if it is given up before it has arrived.
fn receive_whole(
    stream: RawFd,
    message: &mut [u8],
    patience: &Patience<impl Fn() -> bool>,
) -> io::Result<bool> {
    let mut received = 0;
    loop {
        match receive(stream, &mut message[received..], patience)? {
            Some(0) => return Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            Some(bytes) => received += bytes,
            None => return Ok(false),
        }
        let goes_on = patience.goes_on();
        if received >= message.len() {
            return Ok(true);
        }
        if !goes_on {
            return Ok(false);
        }
    }
}

/// Receives the next bytes, 0 at the end of the stream; `None` if the connection is given up before.
fn receive(
    stream: RawFd,
    part: &mut [u8],
    patience: &Patience<impl Fn() -> bool>,
) -> io::Result<Option<usize>> {
    let (pointer, length) = (part.as_mut_ptr(), part.len());
    // SAFETY: pointer and length describe `part`, which is ours to write.
    repeat_until(patience, || unsafe { libc::recv(stream, pointer.cast(), length, 0) })
}

/// Repeats a call that ended at its timeout, until the connection is given up: `None` then.
fn repeat_until(
    patience: &Patience<impl Fn() -> bool>,
    call: impl Fn() -> isize,
) -> io::Result<Option<usize>> {
    loop {
        if let Ok(bytes) = usize::try_from(call()) {
            return Ok(Some(bytes));
        }
        let error = io::Error::last_os_error();
        if !is_retryable(&error) {
            return Err(error);
        }
        if patience.is_over() {
            return Ok(None);
        }
    }
}

fn invalid_data(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn is_retryable(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted)
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}

#[cfg(test)]
mod tests;
