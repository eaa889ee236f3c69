//! The client's side of one test.

use super::{
    AFTER, BEFORE, Buffer, Configuration, ProtocolError, Request, Statistics, Test,
    WAITING_LIMIT,
};

/// What the client has to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// The answer to `conf`; nothing follows.
    Configuration(Configuration),
    /// Connect the data socket to this port, then send [`BEFORE`].
    Connect(u16),
    /// Run the test for its time; then go on receiving.
    Run,
    /// What the server saw: send [`AFTER`] and close.
    Statistics(Box<Statistics>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Answer,
    Before,
    Statistics,
    Finished,
}

/// The machine: bytes in by [`Client::receive`], events out by [`Client::next_event`].
#[derive(Debug)]
pub struct Client {
    request: Request,
    phase: Phase,
    buffer: Buffer,
}

impl Client {
    /// A test that has not begun.
    #[must_use]
    pub const fn new(request: Request) -> Self {
        Self { request, phase: Phase::Answer, buffer: Buffer::new(WAITING_LIMIT) }
    }

    /// What to send first.
    #[must_use]
    pub fn hello(&self) -> Vec<u8> {
        self.request.to_bytes().to_vec()
    }

    /// What to send once the data socket is connected.
    #[must_use]
    pub fn ready() -> Vec<u8> {
        BEFORE.to_vec()
    }

    /// The last words.
    #[must_use]
    pub fn goodbye() -> Vec<u8> {
        AFTER.to_vec()
    }

    /// Takes what the server sent, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// What to do next; `None` until more has arrived.
    ///
    /// # Errors
    /// When the server breaks the protocol or refuses. The test is over then.
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

    /// The failure that the server's out-of-band `?` announces; its text has come in band.
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
