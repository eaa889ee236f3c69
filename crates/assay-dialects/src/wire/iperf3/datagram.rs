//! Handshake of a UDP stream. The sending kernel writes the header of each datagram.

/// First datagram of a client on a UDP stream.
pub const HELLO: [u8; 4] = *b"9876";
/// Server's reply.
pub const HELLO_REPLY: [u8; 4] = *b"6789";
/// Reply of servers before 3.17: 987654321, low byte first.
const OLD_HELLO_REPLY: [u8; 4] = 987_654_321_u32.to_le_bytes();

/// Whether these bytes are a server's reply to [`HELLO`].
pub fn is_hello_reply(bytes: &[u8]) -> bool {
    bytes == HELLO_REPLY || bytes == OLD_HELLO_REPLY
}
