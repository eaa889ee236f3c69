//! Buffer of received bytes that are not parsed yet. It grows with received bytes, not with
//! announced lengths, up to the most that the protocol can need at once.

#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    limit: usize,
    is_exceeded: bool,
}

impl Buffer {
    /// Creates a buffer of at most `limit` bytes; it drops further bytes and records the violation.
    pub(super) const fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, is_exceeded: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(self.limit - self.bytes.len());
        self.is_exceeded |= taken < bytes.len();
        self.bytes.extend_from_slice(&bytes[..taken]);
    }

    /// Returns the limit if more bytes than that were received.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.is_exceeded.then_some(self.limit)
    }

    pub(super) fn peek(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes one byte, if available.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes `N` bytes, if all are available.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.bytes.first_chunk::<N>()?;
        self.bytes.drain(..N);
        Some(taken)
    }

    /// Takes `count` bytes, if all are available.
    pub(super) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.bytes.len() >= count).then(|| self.bytes.drain(..count).collect())
    }
}
