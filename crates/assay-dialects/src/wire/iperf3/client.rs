//! Client side of iperf3's control connection.

use super::{
    Buffer, ControlState, Cookie, Iperf3Parameters, Iperf3ProtocolError, Iperf3Results,
    RESULTS_LIMIT, UNPARSED_LIMIT, frame, take_frame,
};

/// Next action of the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Iperf3ClientEvent {
    /// Send [`Iperf3Client::parameters_message`].
    SendParameters,
    /// Open all streams.
    OpenStreams,
    /// Reset clocks and counters.
    Start,
    /// Transfer data; at its end send [`Iperf3Client::end_message`].
    Run,
    /// Send [`Iperf3Client::results_message`].
    SendResults,
    /// Server's results.
    Results(Box<Iperf3Results>),
    /// The exchange is complete: send [`Iperf3Client::done_message`] and close.
    Finished,
}

/// Message that is expected next from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Parameters,
    Streams,
    Start,
    Running,
    Exchange,
    Results,
    Display,
    Finished,
}

impl Phase {
    const fn expected(self) -> &'static str {
        match self {
            Self::Parameters => "the request for parameters",
            Self::Streams => "the request to open streams",
            Self::Start => "the start of the test",
            Self::Running => "the start of the data",
            Self::Exchange => "the request for results",
            Self::Results => "the server's results",
            Self::Display => "the end of the exchange",
            Self::Finished => "nothing more",
        }
    }
}

/// State machine of the client: [`Iperf3Client::receive`] takes bytes, [`Iperf3Client::next_event`]
/// returns events.
#[derive(Debug)]
pub struct Iperf3Client {
    cookie: Cookie,
    phase: Phase,
    buffer: Buffer,
}

impl Iperf3Client {
    /// Creates a client before its first message.
    pub fn new(cookie: Cookie) -> Self {
        Self { cookie, phase: Phase::Parameters, buffer: Buffer::new(UNPARSED_LIMIT) }
    }

    /// Returns the cookie, which is sent first on the control connection and on every TCP stream.
    pub const fn cookie(&self) -> &Cookie {
        &self.cookie
    }

    /// Message for [`Iperf3ClientEvent::SendParameters`].
    pub fn parameters_message(parameters: &Iperf3Parameters) -> Vec<u8> {
        frame(&parameters.to_json())
    }

    /// Message that ends the test.
    pub fn end_message() -> Vec<u8> {
        vec![ControlState::TestEnd.byte()]
    }

    /// Message for [`Iperf3ClientEvent::SendResults`].
    pub fn results_message(results: &Iperf3Results) -> Vec<u8> {
        frame(&results.to_json())
    }

    /// Message that closes the test.
    pub fn done_message() -> Vec<u8> {
        vec![ControlState::Done.byte()]
    }

    /// Message that aborts the test.
    pub fn terminate_message() -> Vec<u8> {
        vec![ControlState::ClientTerminate.byte()]
    }

    /// Describes the message that is expected next from the server.
    pub const fn expected(&self) -> &'static str {
        self.phase.expected()
    }

    /// Takes received bytes, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Returns the next action; `None` until more bytes are received.
    ///
    /// # Errors
    /// If the server violates the protocol, denies access or aborts. The client is finished then.
    pub fn next_event(&mut self) -> Result<Option<Iperf3ClientEvent>, Iperf3ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(Iperf3ProtocolError::TooManyBytes { limit });
        }
        if self.phase == Phase::Results {
            return self.receive_results();
        }
        if self.buffer.peek().first() == Some(&ControlState::ServerError.byte()) {
            return self.receive_server_error();
        }
        let Some(byte) = self.buffer.byte() else { return Ok(None) };
        let state = ControlState::from_byte(byte)?;
        let (phase, event) = match (self.phase, state) {
            (Phase::Parameters, ControlState::ParamExchange) => {
                (Phase::Streams, Iperf3ClientEvent::SendParameters)
            }
            (Phase::Streams, ControlState::CreateStreams) => {
                (Phase::Start, Iperf3ClientEvent::OpenStreams)
            }
            (Phase::Start, ControlState::TestStart) => {
                (Phase::Running, Iperf3ClientEvent::Start)
            }
            (Phase::Running, ControlState::TestRunning) => {
                (Phase::Exchange, Iperf3ClientEvent::Run)
            }
            (Phase::Exchange, ControlState::ExchangeResults) => {
                (Phase::Results, Iperf3ClientEvent::SendResults)
            }
            (Phase::Display, ControlState::DisplayResults) => {
                (Phase::Finished, Iperf3ClientEvent::Finished)
            }
            (_, ControlState::AccessDenied) => return Err(Iperf3ProtocolError::Denied),
            (_, ControlState::ServerTerminate) => {
                return Err(Iperf3ProtocolError::Terminated { who: "server" });
            }
            (phase, state) => {
                return Err(Iperf3ProtocolError::UnexpectedState {
                    state,
                    expected: phase.expected(),
                });
            }
        };
        self.phase = phase;
        Ok(Some(event))
    }

    /// Whether the parameters are sent and the server has not replied yet.
    pub fn is_awaiting_acceptance(&self) -> bool {
        self.phase == Phase::Streams
    }

    /// Returns the error of a server that closed after only the first of its two error numbers, as
    /// iperf3 3.12 does for an unauthorized user.
    pub fn closing_error(&self) -> Option<Iperf3ProtocolError> {
        let (first, number) = self.buffer.peek().split_first_chunk::<1>()?;
        let iperf3 = i32::from_be_bytes(*number.first_chunk::<4>()?);
        (first == &[ControlState::ServerError.byte()])
            .then_some(Iperf3ProtocolError::ServerError { iperf3, system: 0 })
    }

    fn receive_results(&mut self) -> Result<Option<Iperf3ClientEvent>, Iperf3ProtocolError> {
        let Some(message) = take_frame(&mut self.buffer, "results", RESULTS_LIMIT)? else {
            return Ok(None);
        };
        self.phase = Phase::Display;
        let results = Iperf3Results::from_json(&message)?;
        Ok(Some(Iperf3ClientEvent::Results(Box::new(results))))
    }

    fn receive_server_error(
        &mut self,
    ) -> Result<Option<Iperf3ClientEvent>, Iperf3ProtocolError> {
        let Some(bytes) = self.buffer.take(9) else { return Ok(None) };
        let number = |at: usize| {
            i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Err(Iperf3ProtocolError::ServerError { iperf3: number(1), system: number(5) })
    }
}
