//! Socket of sockperf's messages.

use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Interval in which a blocked send or receive checks whether the test is over.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Connected socket.
#[derive(Debug)]
pub(in crate::network) enum MessageSocket {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl MessageSocket {
    /// Makes calls return at once, or after a short time.
    pub(in crate::network) fn prepare(&self, is_polling: bool) -> io::Result<()> {
        let timeout = Some(CHECK_INTERVAL);
        match self {
            Self::Tcp(it) if is_polling => it.set_nonblocking(true),
            Self::Udp(it) if is_polling => it.set_nonblocking(true),
            Self::Tcp(it) => {
                it.set_read_timeout(timeout).and_then(|()| it.set_write_timeout(timeout))
            }
            Self::Udp(it) => {
                it.set_read_timeout(timeout).and_then(|()| it.set_write_timeout(timeout))
            }
        }
    }

    /// Sends a whole message; false if `is_over` before that, which is told the time without progress.
    pub(in crate::network) fn send(
        &self,
        message: &[u8],
        is_over: impl Fn(Duration) -> bool,
    ) -> io::Result<bool> {
        let mut rest = message;
        let mut blocked_at = None;
        while !rest.is_empty() {
            let sent = match self {
                Self::Tcp(stream) => (&*stream).write(rest),
                Self::Udp(socket) => socket.send(rest),
            };
            match sent {
                Ok(bytes) => {
                    rest = &rest[bytes.min(rest.len())..];
                    blocked_at = None;
                }
                Err(error) if !is_no_data(&error) => return Err(error),
                Err(_) => {
                    if is_over(blocked_at.get_or_insert_with(Instant::now).elapsed()) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Receives the arrived bytes; `None` if there are none.
    ///
    /// # Errors
    /// The system's error; `ConnectionReset` if the peer has closed the connection.
    pub(in crate::network) fn receive(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let received = match self {
            Self::Tcp(stream) => (&*stream).read(room),
            Self::Udp(socket) => socket.recv(room),
        };
        match received {
            Ok(0) if matches!(self, Self::Tcp(_)) => {
                Err(io::Error::from(io::ErrorKind::ConnectionReset))
            }
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_no_data(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether a call only has to be repeated.
pub(in crate::network) fn is_no_data(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
