//! Server side of one qperf test.

use super::{
    Buffer, QperfConfiguration, QperfProtocolError, QperfRequest, QperfStatistics, SYNC_AFTER,
    SYNC_BEFORE, UNPARSED_LIMIT,
};

/// Message received from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QperfServerEvent {
    /// Request: reply with [`QperfServer::configuration_message`] or [`QperfServer::port_message`].
    Request(QperfRequest),
    /// Connected data socket: reply with [`QperfServer::sync_message`], run the test for its
    /// duration, then send [`QperfServer::statistics_message`].
    Run,
    /// Client's closing message.
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Request,
    SyncBefore,
    SyncAfter,
    Finished,
}

/// State machine of the server: [`QperfServer::receive`] takes bytes, [`QperfServer::next_event`]
/// returns events.
#[derive(Debug)]
pub struct QperfServer {
    phase: Phase,
    buffer: Buffer,
}

impl Default for QperfServer {
    fn default() -> Self {
        Self { phase: Phase::Request, buffer: Buffer::new(UNPARSED_LIMIT) }
    }
}

impl QperfServer {
    /// Reply to `conf`.
    pub fn configuration_message(configuration: &QperfConfiguration) -> Vec<u8> {
        configuration.to_bytes().to_vec()
    }

    /// Reply to a test request, with the port of the data socket.
    pub fn port_message(port: u16) -> Vec<u8> {
        u32::from(port).to_le_bytes().to_vec()
    }

    /// Reply to a connected data socket.
    pub fn sync_message() -> Vec<u8> {
        SYNC_BEFORE.to_vec()
    }

    /// Message with the server's measurements.
    pub fn statistics_message(statistics: &QperfStatistics) -> Vec<u8> {
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
    pub fn next_event(&mut self) -> Result<Option<QperfServerEvent>, QperfProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(QperfProtocolError::TooManyBytes { limit });
        }
        match self.phase {
            Phase::Request => {
                let Some(bytes) = self.buffer.array::<{ QperfRequest::BYTES }>() else {
                    return Ok(None);
                };
                self.phase = Phase::SyncBefore;
                QperfRequest::from_bytes(&bytes)
                    .map(|request| Some(QperfServerEvent::Request(request)))
            }
            Phase::SyncBefore => {
                self.receive_sync(SYNC_BEFORE, Phase::SyncAfter, QperfServerEvent::Run)
            }
            Phase::SyncAfter => {
                self.receive_sync(SYNC_AFTER, Phase::Finished, QperfServerEvent::Finished)
            }
            Phase::Finished => Ok(None),
        }
    }

    fn receive_sync<const N: usize>(
        &mut self,
        due: &[u8; N],
        next: Phase,
        event: QperfServerEvent,
    ) -> Result<Option<QperfServerEvent>, QperfProtocolError> {
        let Some(bytes) = self.buffer.array::<N>() else { return Ok(None) };
        self.phase = next;
        if &bytes == due {
            Ok(Some(event))
        } else {
            let expected = String::from_utf8_lossy(due).into_owned();
            Err(QperfProtocolError::SyncMismatch { expected })
        }
    }
}
