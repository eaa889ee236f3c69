//! Server side of one qperf test.

use super::{
    AFTER, BEFORE, Buffer, Configuration, ProtocolError, Request, Statistics, WAITING_LIMIT,
};

/// Message received from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEvent {
    /// Request: reply with [`QperfServer::configuration_message`] or [`QperfServer::port_message`].
    Request(Request),
    /// Connected data socket: reply with [`QperfServer::sync_message`], run the test for its
    /// duration, then send [`QperfServer::statistics_message`].
    Run,
    /// Client's closing message.
    Goodbye,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Request,
    Before,
    After,
    Finished,
}

/// State machine of the server: [`QperfServer::receive`] takes bytes, [`QperfServer::next_event`]
/// returns events.
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
    /// Reply to `conf`.
    #[must_use]
    pub fn configuration(configuration: &Configuration) -> Vec<u8> {
        configuration.to_bytes().to_vec()
    }

    /// Reply to a test request, with the port of the data socket.
    #[must_use]
    pub fn port(port: u16) -> Vec<u8> {
        u32::from(port).to_le_bytes().to_vec()
    }

    /// Reply to a connected data socket.
    #[must_use]
    pub fn ready() -> Vec<u8> {
        BEFORE.to_vec()
    }

    /// Message with the server's measurements.
    #[must_use]
    pub fn statistics(statistics: &Statistics) -> Vec<u8> {
        statistics.to_bytes().to_vec()
    }

    /// Takes received bytes, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Returns the next message of the client; `None` until more bytes are received.
    ///
    /// # Errors
    /// If the client violates the protocol or requests an unsupported test. The test is over then.
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
