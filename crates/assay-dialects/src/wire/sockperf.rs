//! sockperf's protocol: every message, over UDP and TCP, begins with a header of 14 bytes.
//!
//! A client numbers its messages from 1 and requests a reply to some of them. The server returns
//! such a message as it came, without the mark of the client. There is no control connection: a
//! server learns nothing about a test, and a client nothing about the server.

use thiserror::Error;

/// Port of a server.
pub const DEFAULT_PORT: u16 = 11_111;
/// Largest message over UDP: that of a datagram over IPv4.
pub const MAX_DATAGRAM_BYTES: usize = 65_507;
/// Largest message over TCP.
pub const MAX_STREAM_BYTES: usize = (1 << 20) - 1;

/// Whether a message can have this length, over UDP or TCP.
pub fn is_message_length(length: u32) -> bool {
    (SockperfHeader::BYTES..=MAX_STREAM_BYTES).contains(&(length as usize))
}

/// Header of a message, in network byte order: number, flags, length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SockperfHeader {
    /// Number of the message; the first one has 1.
    pub sequence: u64,
    /// Whether a client sent it.
    pub is_from_client: bool,
    /// Whether the client requests a reply.
    pub requests_reply: bool,
    /// Whether it only warms up the path and does not count.
    pub is_warm_up: bool,
    /// Length of the whole message in bytes.
    pub length: u32,
}

/// Violation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SockperfProtocolError {
    /// The length is below that of the header, or above the limit of this end.
    #[error("a message has {length} bytes, expected {} to {limit}", SockperfHeader::BYTES)]
    Length {
        /// Length by the header.
        length: u32,
        /// Largest permitted length.
        limit: usize,
    },
    /// A reply to a message that was not sent.
    #[error("a reply has the number {sequence}, but only {sent} messages were sent")]
    Sequence {
        /// Number of the reply.
        sequence: u64,
        /// Number of the last sent message.
        sent: u64,
    },
    /// A reply that arrived before its request was sent.
    #[error("the reply to message {sequence} arrived before that was sent")]
    Early {
        /// Number of the message.
        sequence: u64,
    },
    /// A reply with another content than its request.
    #[error("the reply to message {sequence} has other data")]
    Data {
        /// Number of the message.
        sequence: u64,
    },
}

impl SockperfHeader {
    /// Length of the header, and of the smallest message.
    pub const BYTES: usize = 14;
    const CLIENT: u16 = 1;
    const REPLY: u16 = 2;
    const WARM_UP: u16 = 4;

    /// Writes the header to the beginning of a message; does nothing if the message is shorter.
    pub fn encode(&self, message: &mut [u8]) {
        let flags = [
            (self.is_from_client, Self::CLIENT),
            (self.requests_reply, Self::REPLY),
            (self.is_warm_up, Self::WARM_UP),
        ];
        let flags =
            flags.iter().filter(|(is_set, _)| *is_set).fold(0, |sum, (_, bit)| sum | bit);
        let Some(head) = message.first_chunk_mut::<{ Self::BYTES }>() else { return };
        head[..8].copy_from_slice(&self.sequence.to_be_bytes());
        head[8..10].copy_from_slice(&u16::to_be_bytes(flags));
        head[10..].copy_from_slice(&self.length.to_be_bytes());
    }

    /// Reads the header of a message; `None` if fewer bytes have arrived.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let (sequence, rest) = message.split_first_chunk()?;
        let (flags, rest) = rest.split_first_chunk()?;
        let length = rest.first_chunk()?;
        let flags = u16::from_be_bytes(*flags);
        Some(Self {
            sequence: u64::from_be_bytes(*sequence),
            is_from_client: flags & Self::CLIENT != 0,
            requests_reply: flags & Self::REPLY != 0,
            is_warm_up: flags & Self::WARM_UP != 0,
            length: u32::from_be_bytes(*length),
        })
    }
}

/// Buffer that cuts received bytes into messages.
#[derive(Debug)]
pub struct SockperfReceiver {
    buffer: Vec<u8>,
    /// Received bytes that are no message yet.
    unread: std::ops::Range<usize>,
    max_message_bytes: usize,
}

impl SockperfReceiver {
    /// Creates a buffer for messages up to this length.
    pub fn new(max_message_bytes: usize) -> Self {
        let max_message_bytes = max_message_bytes.max(SockperfHeader::BYTES);
        // A receive beyond the message is a datagram that is too long.
        Self { buffer: vec![0; max_message_bytes + 1], unread: 0..0, max_message_bytes }
    }

    /// Returns the room for the next receive from a stream, which is never empty after all messages
    /// were taken.
    pub fn room(&mut self) -> &mut [u8] {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        &mut self.buffer[self.unread.end..]
    }

    /// Returns the room for a datagram, and drops what was left of the one before.
    pub fn room_for_datagram(&mut self) -> &mut [u8] {
        self.unread = 0..0;
        &mut self.buffer
    }

    /// Adds bytes that were received into the room.
    pub fn add(&mut self, bytes: usize) {
        self.unread.end = (self.unread.end + bytes).min(self.buffer.len());
    }

    /// Takes the next whole message; `None` until more bytes arrive.
    ///
    /// # Errors
    /// The length is impossible: the stream cannot be cut into messages any more.
    pub fn take_message(
        &mut self,
    ) -> Result<Option<(SockperfHeader, &mut [u8])>, SockperfProtocolError> {
        let unread = &self.buffer[self.unread.clone()];
        let Some(header) = SockperfHeader::decode(unread) else { return Ok(None) };
        let (length, limit) = (header.length as usize, self.max_message_bytes);
        if !(SockperfHeader::BYTES..=limit).contains(&length) {
            return Err(SockperfProtocolError::Length { length: header.length, limit });
        }
        if unread.len() < length {
            return Ok(None);
        }
        let start = self.unread.start;
        self.unread.start += length;
        Ok(Some((header, &mut self.buffer[start..start + length])))
    }

    /// Takes the message of a datagram; `None` for one that is not a whole message.
    pub fn take_datagram(&mut self) -> Option<(SockperfHeader, &mut [u8])> {
        let header = SockperfHeader::decode(&self.buffer[self.unread.clone()])?;
        let datagram = std::mem::replace(&mut self.unread, 0..0);
        (header.length as usize == datagram.len()).then(|| (header, &mut self.buffer[datagram]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First message of sockperf 3.7 `ping-pong -m 20`, as it is on the wire.
    const REQUEST: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 20];

    fn request(sequence: u64, length: u32) -> SockperfHeader {
        let requests_reply = true;
        SockperfHeader {
            sequence,
            is_from_client: true,
            requests_reply,
            is_warm_up: false,
            length,
        }
    }

    fn message(sequence: u64, length: u32) -> Vec<u8> {
        let mut bytes = vec![7; length as usize];
        request(sequence, length).encode(&mut bytes);
        bytes
    }

    #[test]
    fn header_is_that_of_sockperf() {
        assert_eq!(SockperfHeader::decode(&REQUEST), Some(request(1, 20)));
        assert_eq!(message(1, 20)[..14], REQUEST);
        assert_eq!(SockperfHeader::decode(&REQUEST[..13]), None);
        for flags in 0..8_u8 {
            let mut bytes = REQUEST;
            bytes[9] = flags;
            let header = SockperfHeader::decode(&bytes).unwrap();
            assert_eq!(header.is_from_client, flags & 1 != 0);
            assert_eq!(header.requests_reply, flags & 2 != 0);
            assert_eq!(header.is_warm_up, flags & 4 != 0);
            let mut again = [0xFF; 14];
            header.encode(&mut again);
            assert_eq!(again, bytes);
        }
        let mut short = [1; 13];
        request(1, 20).encode(&mut short);
        assert_eq!(short, [1; 13], "no room for a header");
    }

    /// Adds `bytes` in pieces of `step` and returns number and length of each message.
    fn cut(bytes: &[u8], step: usize, limit: usize) -> Vec<(u64, usize)> {
        let mut receiver = SockperfReceiver::new(limit);
        let mut found = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = receiver.room();
            let count = step.min(rest.len()).min(room.len());
            assert!(count > 0, "no room");
            room[..count].copy_from_slice(&rest[..count]);
            receiver.add(count);
            rest = &rest[count..];
            while let Some((header, message)) = receiver.take_message().unwrap() {
                found.push((header.sequence, message.len()));
            }
        }
        found
    }

    #[test]
    fn stream_is_cut_into_messages_however_it_arrives() {
        let sizes = [14_u32, 100, 15, 100, 14];
        let expected: Vec<(u64, usize)> =
            (1..).zip(sizes).map(|(number, size)| (number, size as usize)).collect();
        let bytes: Vec<u8> =
            (1..).zip(sizes).flat_map(|(number, size)| message(number, size)).collect();
        for step in 1..=bytes.len() {
            assert_eq!(cut(&bytes, step, 100), expected, "{step}");
        }
    }

    #[test]
    fn impossible_lengths_are_errors() {
        for (length, limit) in [(0, 100), (13, 100), (101, 100), (u32::MAX, 65_507)] {
            let mut receiver = SockperfReceiver::new(limit);
            request(1, length).encode(receiver.room());
            receiver.add(SockperfHeader::BYTES);
            let expected = SockperfProtocolError::Length { length, limit };
            assert_eq!(receiver.take_message(), Err(expected));
        }
    }

    #[test]
    fn datagram_is_one_whole_message() {
        for (length, arrived, is_message) in [
            (14, 14, true),
            (100, 100, true),
            (100, 99, false),
            (99, 100, false),
            (14, 13, false),
        ] {
            let mut receiver = SockperfReceiver::new(100);
            request(5, length).encode(receiver.room_for_datagram());
            receiver.add(arrived);
            assert_eq!(receiver.take_datagram().is_some(), is_message, "{length} {arrived}");
        }
    }
}
