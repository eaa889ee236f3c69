//! iperf3's protocol: the control connection, the UDP datagrams and the JSON that travels.
//!
//! Facts from the source of esnet/iperf (3.12 to 3.21) and from captures of 3.12. On the control
//! connection the client sends a cookie, then the server leads with states of one byte each; the
//! parameters and both ends' results travel as JSON behind a 32-bit length. Every TCP stream begins
//! with the same cookie; every UDP stream with a hello of four bytes and its echo.
//!
//! assay adds one key, `assay`, to parameters and results. Real iperf3 ignores keys it does not
//! know, so the key tells two assays that they speak with each other, and carries the full account
//! of CPU time that iperf3 has no room for.

use thiserror::Error;

use super::buffer::Buffer;

mod client;
pub mod datagram;
pub mod login;
pub mod parameters;
pub mod results;
mod server;
mod server_error;

pub use client::{Client, ClientEvent};
pub use parameters::{Parameters, Protocol};
pub use results::{CpuPercent, Results, StreamResult};
pub use server::{Server, ServerEvent};

/// The port of a server that was not told another.
pub const DEFAULT_PORT: u16 = 5201;
/// 36 characters and the terminating zero.
pub const COOKIE_BYTES: usize = 37;
/// What the characters of a cookie are taken from; 32 of them, so that five random bits give one.
const COOKIE_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// A server's error number for a user that it does not admit (`IEAUTHTEST`).
pub const NOT_AUTHORIZED: i32 = 142;
/// iperf3 itself refuses parameters above 8 KiB since 3.18.
const PARAMETERS_LIMIT: usize = 8 * 1024;
/// 128 streams take about 30 KiB; a peer's whole report may come along when it was requested.
const RESULTS_LIMIT: usize = 4 * 1024 * 1024;
/// What may wait to be understood: results with their length and the state after them.
const WAITING_LIMIT: usize = RESULTS_LIMIT + 5;

/// Identifies one test; sent first on each of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie(pub [u8; COOKIE_BYTES]);

impl Cookie {
    /// A cookie from random bytes, of which the low five bits each are used.
    #[must_use]
    pub fn from_random(random: [u8; COOKIE_BYTES - 1]) -> Self {
        let mut cookie = [0; COOKIE_BYTES];
        for (to, from) in cookie.iter_mut().zip(random) {
            *to = COOKIE_ALPHABET[usize::from(from % 32)];
        }
        Self(cookie)
    }

    /// The characters without the terminating zero; a peer's odd bytes are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(COOKIE_BYTES);
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// The states that travel as one signed byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Both begin to keep time.
    TestStart,
    /// Data flows.
    TestRunning,
    /// The client has seen enough; it alone ends a test, whoever sends the data.
    TestEnd,
    /// The client is to send its parameters.
    ParamExchange,
    /// The client is to open its streams.
    CreateStreams,
    /// The server gives up the test.
    ServerTerminate,
    /// The client gives up the test.
    ClientTerminate,
    /// The client is to send its results, the server answers with its own.
    ExchangeResults,
    /// Nothing more to exchange.
    DisplayResults,
    /// The client's last word.
    Done,
    /// The server is busy, or a stream came with a wrong cookie.
    AccessDenied,
    /// Two numbers follow: iperf3's own error and the system's.
    ServerError,
}

impl State {
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

    /// The byte on the wire.
    #[must_use]
    pub fn byte(self) -> u8 {
        let row = Self::ALL.iter().find(|(_, state)| *state == self);
        row.map(|(byte, _)| *byte).expect("every state has its row")
    }

    fn from_byte(byte: u8) -> Result<Self, ProtocolError> {
        let row = Self::ALL.iter().find(|(known, _)| *known == byte);
        row.map(|(_, state)| *state).ok_or(ProtocolError::UnknownState { byte })
    }
}

/// The number of stream `index`, from 0: 1, 3, 4, 5 … Real iperf3 matches results by these numbers,
/// and has skipped 2 since its first release.
#[must_use]
pub const fn stream_id(index: usize) -> usize {
    if index == 0 { 1 } else { index + 2 }
}

/// How a peer broke the protocol, or ended the test.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The first bytes are no cookie.
    #[error("the peer does not speak iperf3: it began with {start}")]
    NoCookie {
        /// What it began with, in hexadecimal.
        start: String,
    },
    /// A byte that is no state.
    #[error("the peer sent {byte:#04x}, which is no state of iperf3's protocol")]
    UnknownState {
        /// The byte.
        byte: u8,
    },
    /// A state at the wrong time.
    #[error("the peer sent {state:?} while {expected} was due")]
    OutOfTurn {
        /// What came.
        state: State,
        /// What should have come, in words.
        expected: &'static str,
    },
    /// More than anything that is due can be.
    #[error("the peer sent more than {limit} bytes out of turn")]
    Flood {
        /// What may wait to be understood.
        limit: usize,
    },
    /// A message longer than any honest peer sends.
    #[error("the peer announced {what} of {announced} bytes; at most {limit} are accepted")]
    TooLong {
        /// `parameters` or `results`.
        what: &'static str,
        /// What was announced.
        announced: usize,
        /// What is accepted.
        limit: usize,
    },
    /// JSON that does not parse, or lacks what is needed.
    #[error("the peer's {what} cannot be read: {reason}")]
    Malformed {
        /// `parameters` or `results`.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// The server serves somebody else.
    #[error("denied")]
    Denied,
    /// The server gave up with its own error numbers.
    #[error("the server gave up: {}", server_error::words(*iperf3, *system))]
    Server {
        /// `i_errno` of iperf3.
        iperf3: i32,
        /// `errno` of the server.
        system: i32,
    },
    /// The other end gave up.
    #[error("terminated by the {who}")]
    Terminated {
        /// `server` or `client`.
        who: &'static str,
    },
}

/// A message with its length before it.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("our own messages are far below 4 GiB");
    [&length.to_be_bytes(), message].concat()
}

/// A message behind its length of 32 bits, when all of it is there.
fn unframed(
    buffer: &mut Buffer,
    what: &'static str,
    limit: usize,
) -> Result<Option<Vec<u8>>, ProtocolError> {
    let Some(head) = buffer.peek().first_chunk::<4>() else { return Ok(None) };
    let announced = u32::from_be_bytes(*head) as usize;
    if announced > limit {
        return Err(ProtocolError::TooLong { what, announced, limit });
    }
    Ok(buffer.take(4 + announced).map(|message| message[4..].to_vec()))
}

#[cfg(test)]
mod tests;
