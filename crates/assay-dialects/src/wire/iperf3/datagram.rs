//! UDP: the hello that makes a stream. The head of each datagram is written by the kernel that sends it.

/// What a client sends first on a UDP stream.
pub const HELLO: [u8; 4] = *b"9876";
/// What the server answers.
pub const HELLO_REPLY: [u8; 4] = *b"6789";
/// What servers before 3.17 answer, 987654321 with the low byte first.
const OLD_HELLO_REPLY: [u8; 4] = 987_654_321_u32.to_le_bytes();

/// Whether these are a server's answer to [`HELLO`].
#[must_use]
pub fn is_hello_reply(bytes: &[u8]) -> bool {
    bytes == HELLO_REPLY || bytes == OLD_HELLO_REPLY
}
