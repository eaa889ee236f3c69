//! qperf's protocol, version 0.4.11: little-endian, one control connection per test.
//!
//! The client sends a request of 200 bytes; the server replies with its configuration, or with the
//! port of its data socket. Both exchange a text to start together, and each runs its own timer.
//! Then the server sends its statistics and the client a closing text. An error is one out-of-band
//! byte `?`, followed by text.

use thiserror::Error;

use super::buffer::Buffer;

mod client;
mod messages;
mod server;

pub use client::{QperfClient, QperfClientEvent};
pub use messages::{
    CPU_LIMIT, MachineTicks, MessageCounts, QperfConfiguration, QperfRequest, QperfStatistics,
    QperfTestKind,
};
pub use server::{QperfServer, QperfServerEvent};

/// Default port of a server.
pub const DEFAULT_PORT: u16 = 19765;
/// Text that both ends send before the data.
pub const SYNC_BEFORE: &[u8; 27] = b"synchronization before test";
/// Text that the client sends after the server's statistics.
pub const SYNC_AFTER: &[u8; 26] = b"synchronization after test";
/// Maximum number of unparsed bytes: the longest message has 256 bytes, an error text a few lines.
const UNPARSED_LIMIT: usize = 4096;

/// Protocol violation by the peer, or its rejection of the test.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QperfProtocolError {
    /// Request of another protocol version.
    #[error("the peer uses version {major}.{minor} of qperf's protocol; only 0.4 is supported")]
    Version {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// Unsupported test.
    #[error("the peer requested test {index} of qperf, which is not supported")]
    UnknownTest {
        /// Test number, `req_index`.
        index: u16,
    },
    /// Number above its limit.
    #[error("the peer requested {what} of {value}; at most {limit} is supported")]
    LimitExceeded {
        /// Name of the number.
        what: &'static str,
        /// Requested value.
        value: u32,
        /// Accepted maximum.
        limit: u32,
    },
    /// Flood of unparsed bytes, more than the protocol can need.
    #[error("the peer sent more than {limit} unexpected bytes")]
    TooManyBytes {
        /// Maximum number of unparsed bytes.
        limit: usize,
    },
    /// Mismatch of the synchronization text.
    #[error("the peer did not send `{expected}`")]
    SyncMismatch {
        /// Expected text.
        expected: String,
    },
    /// Invalid port of the data socket.
    #[error("the server sent an invalid data port: {port}")]
    InvalidPort {
        /// Announced port.
        port: u32,
    },
    /// Rejection by the server.
    #[error("the server rejected the test: {text}")]
    Refused {
        /// Server's error text.
        text: String,
    },
}

#[cfg(test)]
mod tests;
