//! qperf's protocol, version 0.4.11: everything little-endian, one control connection per test.
//!
//! The client sends a request of 200 bytes; the server answers a configuration, or the port of its
//! data socket. Both then exchange a text to start together, each runs its own timer, the server
//! sends its statistics and the client says goodbye. An error is one byte `?` out of band, then text.

use thiserror::Error;

use super::buffer::Buffer;

mod client;
mod messages;
mod server;

pub use client::{Client, ClientEvent};
pub use messages::{Configuration, Counts, Request, Statistics, Test, Times};
pub use server::{Server, ServerEvent};

/// The port of a server that was not told another.
pub const DEFAULT_PORT: u16 = 19765;
/// What both ends send before the data flows.
pub const BEFORE: &[u8; 27] = b"synchronization before test";
/// What the client sends after the server's statistics.
pub const AFTER: &[u8; 26] = b"synchronization after test";
/// What may wait to be understood: the longest message has 256 bytes, a refusal a few lines.
const WAITING_LIMIT: usize = 4096;

/// How a peer broke the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The first bytes are no request of this version.
    #[error("the peer asks in version {major}.{minor} of qperf's protocol; 0.4 is spoken here")]
    Version {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// A test that is not served.
    #[error("the peer asks for test {index} of qperf, which is not served here")]
    UnknownTest {
        /// `req_index`.
        index: u16,
    },
    /// A number outside its bounds.
    #[error("the peer asks for {what} of {value}; at most {limit} is served")]
    TooMuch {
        /// What.
        what: &'static str,
        /// How much.
        value: u32,
        /// The bound.
        limit: u32,
    },
    /// More than anything that is due can be.
    #[error("the peer sent more than {limit} bytes out of turn")]
    Flood {
        /// What may wait to be understood.
        limit: usize,
    },
    /// The text that both ends send is another.
    #[error("the peer lost step: `{expected}` was due")]
    OutOfStep {
        /// What was due.
        expected: String,
    },
    /// The port of the data socket cannot be one.
    #[error("the server named {port} as its data port")]
    Port {
        /// What it named.
        port: u32,
    },
    /// The server's own words.
    #[error("the server refused: {text}")]
    Refused {
        /// Its text.
        text: String,
    },
}

#[cfg(test)]
mod tests;
