//! Control connections: listening, sending and receiving, always with a time limit.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use assay_kernels::network::socket;

use super::error::NetworkError;

/// Default timeout of replies that the protocol requires.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which a peer must accept one whole message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes per read; results of many streams take several reads.
const READ_BYTES: usize = 16 * 1024;

/// Deadline of one protocol step, however many reads it takes.
#[derive(Debug, Clone, Copy)]
pub struct StepDeadline {
    timeout: Duration,
    deadline: Instant,
}

impl StepDeadline {
    /// Starts a step now.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Instant::now() + timeout }
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the error for a peer that missed the deadline.
    pub fn timeout_error(&self, peer: &str, expected: &str) -> NetworkError {
        let (peer, expected) = (peer.to_owned(), expected.to_owned());
        NetworkError::Timeout { peer, expected, seconds: self.timeout.as_secs_f64() }
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.remaining().is_zero()
    }
}

/// Opens a non-blocking listening socket.
pub fn listen(address: SocketAddr) -> Result<TcpListener, NetworkError> {
    let listener = socket::listen(address);
    let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
    listener.map_err(|source| NetworkError::Listen { address, source })
}

/// Control connection, with the name of the peer for messages.
#[derive(Debug)]
pub struct ControlConnection {
    stream: TcpStream,
    pub peer: String,
}

impl ControlConnection {
    pub fn new(stream: TcpStream, peer: String) -> Result<Self, NetworkError> {
        let control = Self { stream, peer };
        control
            .stream
            .set_nodelay(true)
            .map_err(|source| control.broken_error("the beginning", source))?;
        Ok(control)
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), NetworkError> {
        let step = StepDeadline::new(SEND_TIMEOUT);
        let mut rest = bytes;
        while !rest.is_empty() {
            let left = step.remaining();
            if left.is_zero() {
                return Err(step.timeout_error(&self.peer, "room for a message"));
            }
            let written = self
                .stream
                .set_write_timeout(Some(left))
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
        /// Interval of checks for cancellation.
        const CANCEL_CHECK: Duration = Duration::from_millis(50);
        loop {
            if is_cancelled() {
                return Err(NetworkError::Interrupted);
            }
            if step.is_over() {
                return Err(step.timeout_error(&self.peer, expected));
            }
            if let Some(bytes) = self.poll(CANCEL_CHECK, READ_BYTES, expected)? {
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
    use super::*;

    #[test]
    fn step_deadline_covers_all_reads() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut control =
            ControlConnection::new(listener.accept().unwrap().0, "peer".to_owned()).unwrap();
        let sender = std::thread::spawn(move || {
            // Ends when the other end closes the connection.
            while peer.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let step = StepDeadline::new(Duration::from_millis(300));
        let message = loop {
            match control.receive(&step, "a whole message", &|| false) {
                Ok(piece) => assert!(piece.len() < 1000, "the peer goes on for ever"),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(message, "a whole message did not come from peer within 0.3 s");
        drop(control);
        sender.join().unwrap();
    }
}
