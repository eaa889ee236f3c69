//! Bytes that have arrived and not been understood yet.

use super::ProtocolError;

/// Grows with what arrives, never with what is announced.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn peek(&self) -> &[u8] {
        &self.bytes
    }

    /// One byte, when there is one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// `count` bytes, when all of them are there.
    pub(super) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.bytes.len() >= count).then(|| self.bytes.drain(..count).collect())
    }

    /// A message behind its length of 32 bits, when all of it is there.
    pub(super) fn message(
        &mut self,
        what: &'static str,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ProtocolError> {
        let Some(head) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let announced = u32::from_be_bytes(*head) as usize;
        if announced > limit {
            return Err(ProtocolError::TooLong { what, announced, limit });
        }
        Ok(self.take(4 + announced).map(|message| message[4..].to_vec()))
    }
}

/// A message with its length before it.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("our own messages are far below 4 GiB");
    [&length.to_be_bytes(), message].concat()
}
