//! iperf3's protocol: control connection, UDP datagrams and JSON messages.
//!
//! Facts are from the source of esnet/iperf (3.12 to 3.21) and from captures of 3.12. On the
//! control connection the client sends a cookie; then the server leads with states of one byte
//! each. The parameters and both ends' results are JSON with a 32-bit length prefix. Every TCP
//! stream begins with the same cookie, every UDP stream with a four-byte hello and its reply.
//!
//! assay adds one key, `assay`, to parameters and results. Real iperf3 ignores unknown keys. The
//! key identifies assay to the other end, and carries the full account of CPU time, for which
//! iperf3 has no field.

use thiserror::Error;

use super::buffer::Buffer;

mod client;
pub mod datagram;
pub mod login;
pub mod parameters;
pub mod results;
mod server;
mod server_error;

pub use client::{Iperf3Client, Iperf3ClientEvent};
pub use parameters::{Iperf3Parameters, TransportProtocol};
pub use results::{CpuPercent, Iperf3Results, SenderTcp, StreamResult};
pub use server::{Iperf3Server, Iperf3ServerEvent};

/// Default port of a server.
pub const DEFAULT_PORT: u16 = 5201;
/// Length of a cookie: 36 characters and the terminating zero.
pub const COOKIE_BYTES: usize = 37;
/// Characters of a cookie; 32 of them, so that five random bits select one.
const COOKIE_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Server's error number for an unauthorized user (`IEAUTHTEST`).
pub const NOT_AUTHORIZED: i32 = 142;
/// Maximum length of parameters; iperf3 has the same limit since 3.18.
const PARAMETERS_LIMIT: usize = 8 * 1024;
/// Maximum length of results: 128 streams take about 30 KiB, and the server's whole output may be
/// included on request.
const RESULTS_LIMIT: usize = 4 * 1024 * 1024;
/// Maximum number of unparsed bytes: results with their length prefix and the next state.
const UNPARSED_LIMIT: usize = RESULTS_LIMIT + 5;

/// Identifier of a test, sent first on each of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie(pub [u8; COOKIE_BYTES]);

impl Cookie {
    /// Creates a cookie from the low five bits of each random byte.
    pub fn from_random(random: [u8; COOKIE_BYTES - 1]) -> Self {
        let mut cookie = [0; COOKIE_BYTES];
        for (to, from) in cookie.iter_mut().zip(random) {
            *to = COOKIE_ALPHABET[usize::from(from % 32)];
        }
        Self(cookie)
    }

    /// Returns the characters without the terminating zero; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(COOKIE_BYTES);
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// States of the control connection, sent as one signed byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlState {
    /// Both ends start their clocks.
    TestStart,
    /// Data flows.
    TestRunning,
    /// The client ends the test; it always does, whichever end sends the data.
    TestEnd,
    /// The server requests the parameters.
    ParamExchange,
    /// The server requests the data streams.
    CreateStreams,
    /// The server aborts the test.
    ServerTerminate,
    /// The client aborts the test.
    ClientTerminate,
    /// The server requests the client's results and replies with its own.
    ExchangeResults,
    /// The exchange of results is complete.
    DisplayResults,
    /// The client closes the test.
    Done,
    /// The server is busy, or a stream has a wrong cookie.
    AccessDenied,
    /// The server failed; iperf3's error number and the system's `errno` follow.
    ServerError,
}

impl ControlState {
    const ALL: [(u8, Self); 12] = [
        (1, Self::TestStart),
        (2, Self::TestRunning),
        (4, Self::TestEnd),
        (9, Self::ParamExchange),
        (10, Self::CreateStreams),
        (11, Self::ServerTerminate),
        (12, Self::ClientTerminate),
        (13, Self::ExchangeResults),
        (14, Self::DisplayResults),
        (16, Self::Done),
        (0xFF, Self::AccessDenied),
        (0xFE, Self::ServerError),
    ];

    /// Returns the byte of the protocol.
    pub fn byte(self) -> u8 {
        let row = Self::ALL.iter().find(|(_, state)| *state == self);
        row.map(|(byte, _)| *byte).expect("every state has its row")
    }

    fn from_byte(byte: u8) -> Result<Self, Iperf3ProtocolError> {
        let row = Self::ALL.iter().find(|(known, _)| *known == byte);
        row.map(|(_, state)| *state).ok_or(Iperf3ProtocolError::UnknownState { byte })
    }
}

/// Returns the number of stream `index` (from 0): 1, 3, 4, 5 … Real iperf3 matches results by these
/// numbers, and has skipped 2 since its first release.
pub const fn stream_id(index: usize) -> usize {
    if index == 0 { 1 } else { index + 2 }
}

/// Protocol violation by the peer, or its abort of the test.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Iperf3ProtocolError {
    /// First bytes that are not a cookie.
    #[error("the peer did not send an iperf3 cookie; it began with {start}")]
    InvalidCookie {
        /// First bytes in hexadecimal.
        start: String,
    },
    /// Byte that is not a state.
    #[error("the peer sent {byte:#04x}, which is not a state of iperf3's protocol")]
    UnknownState {
        /// Received byte.
        byte: u8,
    },
    /// State received at the wrong time.
    #[error("the peer sent {state:?} instead of {expected}")]
    UnexpectedState {
        /// Received state.
        state: ControlState,
        /// Description of the expected message.
        expected: &'static str,
    },
    /// Flood of unparsed bytes, more than the protocol can need.
    #[error("the peer sent more than {limit} unexpected bytes")]
    TooManyBytes {
        /// Maximum number of unparsed bytes.
        limit: usize,
    },
    /// Message longer than accepted.
    #[error("the peer announced {what} of {announced} bytes; at most {limit} are accepted")]
    TooLong {
        /// `parameters` or `results`.
        what: &'static str,
        /// Announced bytes.
        announced: usize,
        /// Accepted bytes.
        limit: usize,
    },
    /// Malformed JSON, or JSON without a required key.
    #[error("the peer sent malformed {what}: {reason}")]
    Malformed {
        /// `parameters` or `results`.
        what: &'static str,
        /// Reason.
        reason: String,
    },
    /// Access denied: the server is busy with another client.
    #[error("access denied: the server is busy")]
    Denied,
    /// Failure reported by the server, with its error numbers.
    #[error("the server reported an error: {}", server_error::describe(*iperf3, *system))]
    ServerError {
        /// `i_errno` of iperf3.
        iperf3: i32,
        /// `errno` of the server.
        system: i32,
    },
    /// Abort by the other end.
    #[error("the {who} aborted the test")]
    Terminated {
        /// `server` or `client`.
        who: &'static str,
    },
}

/// Prefixes a message with its length.
fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("our own messages are far below 4 GiB");
    [&length.to_be_bytes(), message].concat()
}

/// Takes a message with its 32-bit length prefix, if all of it is available.
fn take_frame(
    buffer: &mut Buffer,
    what: &'static str,
    limit: usize,
) -> Result<Option<Vec<u8>>, Iperf3ProtocolError> {
    let Some(head) = buffer.peek().first_chunk::<4>() else { return Ok(None) };
    let announced = u32::from_be_bytes(*head) as usize;
    if announced > limit {
        return Err(Iperf3ProtocolError::TooLong { what, announced, limit });
    }
    Ok(buffer.take(4 + announced).map(|message| message[4..].to_vec()))
}

#[cfg(test)]
mod tests;
