//! Bytes that have arrived and not been understood yet. Grows with what arrives, never with what is
//! announced, and never beyond what the protocol can need at once.

#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    limit: usize,
    is_exceeded: bool,
}

impl Buffer {
    /// At most `limit` bytes wait to be understood; the rest of what arrives is dropped and remembered as
    /// a breach.
    pub(super) const fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, is_exceeded: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(self.limit - self.bytes.len());
        self.is_exceeded |= taken < bytes.len();
        self.bytes.extend_from_slice(&bytes[..taken]);
    }

    /// The limit, once more has come than it allows.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.is_exceeded.then_some(self.limit)
    }

    pub(super) fn peek(&self) -> &[u8] {
        &self.bytes
    }

    /// One byte, when there is one.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// `N` bytes, when all of them are there.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.bytes.first_chunk::<N>()?;
        self.bytes.drain(..N);
        Some(taken)
    }

    /// `count` bytes, when all of them are there.
    pub(super) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.bytes.len() >= count).then(|| self.bytes.drain(..count).collect())
    }
}
