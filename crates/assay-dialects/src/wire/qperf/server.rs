//! The server's side of one test.

use super::{
    AFTER, BEFORE, Buffer, Configuration, ProtocolError, Request, Statistics, WAITING_LIMIT,
};

/// What the client said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEvent {
    /// What it wants: answer with [`Server::configuration`] or [`Server::port`].
    Request(Request),
    /// Its data socket is connected: answer with [`Server::ready`], run the test for its time, then
    /// send [`Server::statistics`].
    Run,
    /// Its last words.
    Goodbye,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Request,
    Before,
    After,
    Finished,
}

/// The machine: bytes in by [`Server::receive`], events out by [`Server::next_event`].
#[derive(Debug)]
pub struct Server {
    phase: Phase,
    buffer: Buffer,
}

impl Default for Server {
    fn default() -> Self {
        Self { phase: Phase::Request, buffer: Buffer::new(WAITING_LIMIT) }
    }
}

impl Server {
    /// The answer to `conf`.
    #[must_use]
    pub fn configuration(configuration: &Configuration) -> Vec<u8> {
        configuration.to_bytes().to_vec()
    }

    /// The answer to a test: where its data socket waits.
    #[must_use]
    pub fn port(port: u16) -> Vec<u8> {
        u32::from(port).to_le_bytes().to_vec()
    }

    /// The answer to a connected data socket.
    #[must_use]
    pub fn ready() -> Vec<u8> {
        BEFORE.to_vec()
    }

    /// What the server saw.
    #[must_use]
    pub fn statistics(statistics: &Statistics) -> Vec<u8> {
        statistics.to_bytes().to_vec()
    }

    /// Takes what the client sent, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// What the client said; `None` until more has arrived.
    ///
    /// # Errors
    /// When the client breaks the protocol or asks for what is not served. The test is over then.
    pub fn next_event(&mut self) -> Result<Option<ServerEvent>, ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(ProtocolError::Flood { limit });
        }
        match self.phase {
            Phase::Request => {
                let Some(bytes) = self.buffer.array::<{ Request::BYTES }>() else {
                    return Ok(None);
                };
                self.phase = Phase::Before;
                Request::from_bytes(&bytes).map(|request| Some(ServerEvent::Request(request)))
            }
            Phase::Before => self.step(BEFORE, Phase::After, ServerEvent::Run),
            Phase::After => self.step(AFTER, Phase::Finished, ServerEvent::Goodbye),
            Phase::Finished => Ok(None),
        }
    }

    fn step<const N: usize>(
        &mut self,
        due: &[u8; N],
        next: Phase,
        event: ServerEvent,
    ) -> Result<Option<ServerEvent>, ProtocolError> {
        let Some(bytes) = self.buffer.array::<N>() else { return Ok(None) };
        self.phase = next;
        if &bytes == due {
            Ok(Some(event))
        } else {
            let expected = String::from_utf8_lossy(due).into_owned();
            Err(ProtocolError::OutOfStep { expected })
        }
    }
}
