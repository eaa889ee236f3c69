//! Control connections: listening, sending and receiving, always with a time limit.
//!
//! A connection has its own clock, in nanoseconds: the monotonic one, or one that a test moves.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use assay_kernels::clock;
use assay_kernels::network::socket::{self, SocketOptions};

use super::error::NetworkError;

/// Default timeout of replies that the protocol requires.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which a peer must accept one whole message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of checks for cancellation and for the deadline.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of bytes per read; results of many streams take several reads.
const READ_BYTES: usize = 16 * 1024;

/// Deadline of one protocol step, however many reads it takes.
#[derive(Debug, Clone, Copy)]
pub struct StepDeadline {
    timeout: Duration,
    deadline_ns: u64,
    clock: fn() -> u64,
}

impl StepDeadline {
    /// Starts a step now.
    pub fn new(timeout: Duration) -> Self {
        Self::from_clock(timeout, clock::now_ns)
    }

    /// Starts a step now, by this clock in nanoseconds.
    pub fn from_clock(timeout: Duration, clock: fn() -> u64) -> Self {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        Self { timeout, deadline_ns: clock().saturating_add(timeout_ns), clock }
    }

    fn remaining(&self) -> Duration {
        Duration::from_nanos(self.deadline_ns.saturating_sub((self.clock)()))
    }

    /// Returns the error for a peer that missed the deadline.
    pub fn timeout_error(&self, peer: &str, expected: &str) -> NetworkError {
        let (peer, expected) = (peer.to_owned(), expected.to_owned());
        NetworkError::Timeout { peer, expected, seconds: self.timeout.as_secs_f64() }
    }

    pub fn is_over(&self) -> bool {
        self.remaining().is_zero()
    }
}

/// Opens a non-blocking listening socket.
pub fn listen(address: SocketAddr) -> Result<TcpListener, NetworkError> {
    prepare_listener(address, socket::listen(address))
}

/// Opens a non-blocking listening socket with these options.
pub fn listen_with(
    address: SocketAddr,
    options: &SocketOptions,
) -> Result<TcpListener, NetworkError> {
    prepare_listener(address, socket::listen_with(address, options))
}

fn prepare_listener(
    address: SocketAddr,
    listener: io::Result<TcpListener>,
) -> Result<TcpListener, NetworkError> {
    let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
    listener.map_err(|source| NetworkError::Listen { address, source })
}

/// Control connection, with the name of the peer for messages.
#[derive(Debug)]
pub struct ControlConnection {
    stream: TcpStream,
    pub peer: String,
    clock: fn() -> u64,
}

impl ControlConnection {
    pub fn new(stream: TcpStream, peer: String) -> Result<Self, NetworkError> {
        Self::with_clock(stream, peer, clock::now_ns)
    }

    /// Like [`Self::new`], with deadlines by this clock in nanoseconds.
    pub fn with_clock(
        stream: TcpStream,
        peer: String,
        clock: fn() -> u64,
    ) -> Result<Self, NetworkError> {
        let control = Self { stream, peer, clock };
        control
            .stream
            .set_nodelay(true)
            .map_err(|source| control.broken_error("the beginning", source))?;
        Ok(control)
    }

    /// Starts a step of the protocol now.
    pub fn start_step(&self, timeout: Duration) -> StepDeadline {
        StepDeadline::from_clock(timeout, self.clock)
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), NetworkError> {
        let step = self.start_step(SEND_TIMEOUT);
        let mut rest = bytes;
        while !rest.is_empty() {
            let left = step.remaining();
            if left.is_zero() {
                return Err(step.timeout_error(&self.peer, "room for a message"));
            }
            let written = self
                .stream
                .set_write_timeout(Some(left.min(CHECK_INTERVAL)))
                .and_then(|()| self.stream.write(rest));
            match written {
                Ok(bytes) => rest = &rest[bytes..],
                Err(error) if is_retryable(&error) => {}
                Err(source) => return Err(self.broken_error("an answer", source)),
            }
        }
        Ok(())
    }

    /// Receives at most `max_bytes` that arrive within `wait`; returns `None` if nothing arrives.
    pub fn poll(
        &mut self,
        wait: Duration,
        max_bytes: usize,
        expected: &str,
    ) -> Result<Option<Vec<u8>>, NetworkError> {
        if !socket::wait_readable(&self.stream, wait) {
            return Ok(None);
        }
        let mut piece = vec![0; max_bytes.min(READ_BYTES)];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(NetworkError::Closed {
                peer: self.peer.clone(),
                expected: expected.to_owned(),
            }),
            Ok(bytes) => {
                piece.truncate(bytes);
                Ok(Some(piece))
            }
            Err(error) if is_retryable(&error) => Ok(None),
            Err(source) => Err(self.broken_error(expected, source)),
        }
    }

    /// Receives the next bytes; fails at the deadline of the step, or if `is_cancelled`.
    pub fn receive(
        &mut self,
        step: &StepDeadline,
        expected: &str,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, NetworkError> {
        loop {
            if is_cancelled() {
                return Err(NetworkError::Interrupted);
            }
            if step.is_over() {
                return Err(step.timeout_error(&self.peer, expected));
            }
            if let Some(bytes) = self.poll(CHECK_INTERVAL, READ_BYTES, expected)? {
                return Ok(bytes);
            }
        }
    }

    /// Whether the peer has closed the connection and all its bytes were read.
    pub fn is_closed(&self) -> bool {
        socket::wait_readable(&self.stream, Duration::ZERO)
            && self.stream.peek(&mut [0; 1]).map_or(true, |bytes| bytes == 0)
    }

    /// Whether the peer has closed the connection, or has sent unexpected data.
    pub fn has_input(&self) -> bool {
        socket::wait_readable(&self.stream, Duration::ZERO)
    }

    fn broken_error(&self, expected: &str, source: io::Error) -> NetworkError {
        NetworkError::Broken { peer: self.peer.clone(), expected: expected.to_owned(), source }
    }
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Bytes that arrive now and then do not move the deadline.
    #[test]
    fn step_deadline_covers_all_reads() {
        static NOW_NS: AtomicU64 = AtomicU64::new(0);
        let now_ns = || NOW_NS.load(Ordering::Relaxed);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = listener.accept().unwrap().0;
        let mut control =
            ControlConnection::with_clock(stream, "peer".to_owned(), now_ns).unwrap();
        let step = control.start_step(Duration::from_secs(300));
        let mut pieces = 0;
        let message = loop {
            peer.write_all(b"x").unwrap();
            NOW_NS.fetch_add(1_000_000_000, Ordering::Relaxed);
            match control.receive(&step, "a whole message", &|| false) {
                Ok(_) => pieces += 1,
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(message, "a whole message did not come from peer within 300 s");
        assert_eq!(pieces, 299);
    }
}
