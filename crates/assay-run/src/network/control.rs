//! Control connections: where they are accepted, bytes out, bytes in, and never a wait without an end.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use assay_kernels::network::socket;

use super::error::NetworkError;

/// How long a peer may take to answer what both agreed on, unless told otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may take to accept what is sent to it.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes taken at once; results of many streams come in several pieces.
const PIECE_BYTES: usize = 16 * 1024;

/// A listening socket, or why there is none.
pub fn listen(address: SocketAddr) -> Result<TcpListener, NetworkError> {
    let listener = socket::listen(address);
    let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
    listener.map_err(|source| NetworkError::Listen { address, source })
}

/// The connection and the peer's name for messages.
#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    pub peer: String,
}

impl Control {
    pub fn new(stream: TcpStream, peer: String) -> Result<Self, NetworkError> {
        let control = Self { stream, peer };
        control
            .stream
            .set_nodelay(true)
            .and_then(|()| control.stream.set_write_timeout(Some(SEND_TIMEOUT)))
            .map_err(|source| control.broken("the beginning", source))?;
        Ok(control)
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), NetworkError> {
        self.stream.write_all(bytes).map_err(|source| self.broken("an answer", source))
    }

    /// What arrives within `wait`, at most `most` bytes; `None` when nothing does.
    pub fn poll(
        &mut self,
        wait: Duration,
        most: usize,
        expected: &str,
    ) -> Result<Option<Vec<u8>>, NetworkError> {
        if !socket::wait_readable(&self.stream, wait) {
            return Ok(None);
        }
        let mut piece = vec![0; most.min(PIECE_BYTES)];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(NetworkError::Closed {
                peer: self.peer.clone(),
                expected: expected.to_owned(),
            }),
            Ok(bytes) => {
                piece.truncate(bytes);
                Ok(Some(piece))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(source) => Err(self.broken(expected, source)),
        }
    }

    /// What arrives next; an error after `timeout` or when `is_cancelled`.
    pub fn wait(
        &mut self,
        timeout: Duration,
        expected: &str,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, NetworkError> {
        /// How soon an interruption is noticed.
        const LOOK: Duration = Duration::from_millis(50);
        let deadline = Instant::now() + timeout;
        loop {
            if is_cancelled() {
                return Err(NetworkError::Interrupted);
            }
            if let Some(bytes) = self.poll(LOOK, PIECE_BYTES, expected)? {
                return Ok(bytes);
            }
            if Instant::now() >= deadline {
                return Err(NetworkError::Silent {
                    peer: self.peer.clone(),
                    expected: expected.to_owned(),
                    seconds: timeout.as_secs(),
                });
            }
        }
    }

    /// Whether the peer has closed and has said nothing that was not taken yet.
    pub fn has_ended(&self) -> bool {
        socket::wait_readable(&self.stream, Duration::ZERO)
            && self.stream.peek(&mut [0; 1]).map_or(true, |bytes| bytes == 0)
    }

    fn broken(&self, expected: &str, source: io::Error) -> NetworkError {
        NetworkError::Broken { peer: self.peer.clone(), expected: expected.to_owned(), source }
    }
}
