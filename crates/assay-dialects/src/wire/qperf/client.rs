//! Client side of one qperf test.

use super::{
    AFTER, BEFORE, Buffer, Configuration, ProtocolError, Request, Statistics, Test,
    WAITING_LIMIT,
};

/// Next action of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// Configuration of the server, the reply to `conf`; nothing follows.
    Configuration(Configuration),
    /// Connect the data socket to this port, then send [`SYNC_BEFORE`].
    Connect(u16),
    /// Run the test for its duration, then continue to receive.
    Run,
    /// Server's statistics: send [`SYNC_AFTER`] and close.
    Statistics(Box<Statistics>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Answer,
    Before,
    Statistics,
    Finished,
}

/// State machine of the client: [`QperfClient::receive`] takes bytes, [`QperfClient::next_event`]
/// returns events.
#[derive(Debug)]
pub struct Client {
    request: Request,
    phase: Phase,
    buffer: Buffer,
}

impl Client {
    /// Creates a client before its first message.
    #[must_use]
    pub const fn new(request: Request) -> Self {
        Self { request, phase: Phase::Answer, buffer: Buffer::new(WAITING_LIMIT) }
    }

    /// Returns the request, which is sent first.
    #[must_use]
    pub fn hello(&self) -> Vec<u8> {
        self.request.to_bytes().to_vec()
    }

    /// Returns the message that follows the connection of the data socket.
    #[must_use]
    pub fn ready() -> Vec<u8> {
        BEFORE.to_vec()
    }

    /// Returns the closing message.
    #[must_use]
    pub fn goodbye() -> Vec<u8> {
        AFTER.to_vec()
    }

    /// Takes received bytes, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Returns the next action; `None` until more bytes are received.
    ///
    /// # Errors
    /// If the server violates the protocol or rejects the test. The test is over then.
    pub fn next_event(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(ProtocolError::Flood { limit });
        }
        match self.phase {
            Phase::Answer if self.request.test == Test::Configuration => {
                Ok(self.buffer.array::<{ Configuration::BYTES }>().map(|bytes| {
                    self.phase = Phase::Finished;
                    ClientEvent::Configuration(Configuration::from_bytes(&bytes))
                }))
            }
            Phase::Answer => self.port(),
            Phase::Before => self.before(),
            Phase::Statistics => {
                Ok(self.buffer.array::<{ Statistics::BYTES }>().map(|bytes| {
                    self.phase = Phase::Finished;
                    ClientEvent::Statistics(Box::new(Statistics::from_bytes(&bytes)))
                }))
            }
            Phase::Finished => Ok(None),
        }
    }

    /// Returns the error announced by the server's out-of-band `?`, with the text received in band.
    #[must_use]
    pub fn refused(&self) -> ProtocolError {
        let text = String::from_utf8_lossy(self.buffer.peek());
        let text = text.trim_matches(|c: char| c == '\0' || c == '?' || c.is_whitespace());
        ProtocolError::Refused { text: text.to_owned() }
    }

    fn port(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        let Some(bytes) = self.buffer.array::<4>() else { return Ok(None) };
        let port = u32::from_le_bytes(bytes);
        self.phase = Phase::Before;
        match u16::try_from(port) {
            Ok(port) if port > 0 => Ok(Some(ClientEvent::Connect(port))),
            _ => Err(ProtocolError::Port { port }),
        }
    }

    fn before(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        let Some(bytes) = self.buffer.array::<{ BEFORE.len() }>() else { return Ok(None) };
        self.phase = Phase::Statistics;
        if &bytes == BEFORE {
            Ok(Some(ClientEvent::Run))
        } else {
            let expected = String::from_utf8_lossy(BEFORE).into_owned();
            Err(ProtocolError::OutOfStep { expected })
        }
    }
}
