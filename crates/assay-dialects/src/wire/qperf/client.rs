//! Client side of one qperf test: a state machine without I/O.

use super::{
    Buffer, QperfConfiguration, QperfProtocolError, QperfRequest, QperfStatistics,
    QperfTestKind, SYNC_AFTER, SYNC_BEFORE, UNPARSED_LIMIT,
};

/// Next action of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QperfClientEvent {
    /// Configuration of the server, the reply to the test `conf`. The test is complete.
    Configuration(QperfConfiguration),
    /// Connect the data socket to this port, then send [`SYNC_BEFORE`].
    Connect(u16),
    /// Run the test for its duration, then continue to receive.
    Run,
    /// Server's statistics: send [`SYNC_AFTER`] and close.
    Statistics(Box<QperfStatistics>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reply,
    SyncBefore,
    Statistics,
    Finished,
}

/// State machine of the client: [`QperfClient::receive`] takes bytes, [`QperfClient::next_event`]
/// returns events.
#[derive(Debug)]
pub struct QperfClient {
    request: QperfRequest,
    phase: Phase,
    buffer: Buffer,
}

impl QperfClient {
    /// Creates a client before its first message.
    pub const fn new(request: QperfRequest) -> Self {
        Self { request, phase: Phase::Reply, buffer: Buffer::new(UNPARSED_LIMIT) }
    }

    /// Returns the first message: the request.
    pub fn request_message(&self) -> Vec<u8> {
        self.request.to_bytes().to_vec()
    }

    /// Returns the message to send once the data socket is connected.
    pub fn sync_message() -> Vec<u8> {
        SYNC_BEFORE.to_vec()
    }

    /// Returns the closing message.
    pub fn closing_message() -> Vec<u8> {
        SYNC_AFTER.to_vec()
    }

    /// Takes received bytes, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Returns the next action; `None` until more bytes are received.
    ///
    /// # Errors
    /// If the server violates the protocol or rejects the test. The test is over then.
    pub fn next_event(&mut self) -> Result<Option<QperfClientEvent>, QperfProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(QperfProtocolError::TooManyBytes { limit });
        }
        match self.phase {
            Phase::Reply if self.request.test == QperfTestKind::Configuration => {
                Ok(self.buffer.array::<{ QperfConfiguration::BYTES }>().map(|bytes| {
                    self.phase = Phase::Finished;
                    QperfClientEvent::Configuration(QperfConfiguration::from_bytes(&bytes))
                }))
            }
            Phase::Reply => self.receive_port(),
            Phase::SyncBefore => self.receive_sync(),
            Phase::Statistics => {
                Ok(self.buffer.array::<{ QperfStatistics::BYTES }>().map(|bytes| {
                    self.phase = Phase::Finished;
                    QperfClientEvent::Statistics(Box::new(QperfStatistics::from_bytes(&bytes)))
                }))
            }
            Phase::Finished => Ok(None),
        }
    }

    /// Returns the error for a server that sent an out-of-band `?`, with the text received in band.
    pub fn rejection(&self) -> QperfProtocolError {
        let text = String::from_utf8_lossy(self.buffer.peek());
        let text = text.trim_matches(|c: char| c == '\0' || c == '?' || c.is_whitespace());
        QperfProtocolError::Refused { text: text.to_owned() }
    }

    fn receive_port(&mut self) -> Result<Option<QperfClientEvent>, QperfProtocolError> {
        let Some(bytes) = self.buffer.array::<4>() else { return Ok(None) };
        let port = u32::from_le_bytes(bytes);
        self.phase = Phase::SyncBefore;
        match u16::try_from(port) {
            Ok(port) if port > 0 => Ok(Some(QperfClientEvent::Connect(port))),
            _ => Err(QperfProtocolError::InvalidPort { port }),
        }
    }

    fn receive_sync(&mut self) -> Result<Option<QperfClientEvent>, QperfProtocolError> {
        let Some(bytes) = self.buffer.array::<{ SYNC_BEFORE.len() }>() else { return Ok(None) };
        self.phase = Phase::Statistics;
        if &bytes == SYNC_BEFORE {
            Ok(Some(QperfClientEvent::Run))
        } else {
            let expected = String::from_utf8_lossy(SYNC_BEFORE).into_owned();
            Err(QperfProtocolError::SyncMismatch { expected })
        }
    }
}
