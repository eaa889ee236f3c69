//! Client side of iperf3's control connection.

use super::{
    Buffer, Cookie, Parameters, ProtocolError, RESULTS_LIMIT, Results, State, WAITING_LIMIT,
    framed, unframed,
};

/// Next action of the client.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientEvent {
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
    Results(Box<Results>),
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
    TheirResults,
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
            Self::TheirResults => "the server's results",
            Self::Display => "the end of the exchange",
            Self::Finished => "nothing more",
        }
    }
}

/// State machine of the client: [`Iperf3Client::receive`] takes bytes, [`Iperf3Client::next_event`]
/// returns events.
#[derive(Debug)]
pub struct Client {
    cookie: Cookie,
    phase: Phase,
    buffer: Buffer,
}

impl Client {
    /// Creates a client before its first message.
    #[must_use]
    pub fn new(cookie: Cookie) -> Self {
        Self { cookie, phase: Phase::Parameters, buffer: Buffer::new(WAITING_LIMIT) }
    }

    /// Returns the cookie, which is sent first on the control connection and on every TCP stream.
    #[must_use]
    pub const fn cookie(&self) -> &Cookie {
        &self.cookie
    }

    /// Message for [`Iperf3ClientEvent::SendParameters`].
    #[must_use]
    pub fn parameters(parameters: &Parameters) -> Vec<u8> {
        framed(&parameters.to_json())
    }

    /// Message that ends the test.
    #[must_use]
    pub fn end() -> Vec<u8> {
        vec![State::TestEnd.byte()]
    }

    /// Message for [`Iperf3ClientEvent::SendResults`].
    #[must_use]
    pub fn results(results: &Results) -> Vec<u8> {
        framed(&results.to_json())
    }

    /// Message that closes the test.
    #[must_use]
    pub fn done() -> Vec<u8> {
        vec![State::Done.byte()]
    }

    /// Message that aborts the test.
    #[must_use]
    pub fn terminate() -> Vec<u8> {
        vec![State::ClientTerminate.byte()]
    }

    /// Describes the message that is expected next from the server.
    #[must_use]
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
    pub fn next_event(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(ProtocolError::Flood { limit });
        }
        if self.phase == Phase::TheirResults {
            return self.their_results();
        }
        if self.buffer.peek().first() == Some(&State::ServerError.byte()) {
            return self.server_error();
        }
        let Some(byte) = self.buffer.byte() else { return Ok(None) };
        let state = State::from_byte(byte)?;
        let (phase, event) = match (self.phase, state) {
            (Phase::Parameters, State::ParamExchange) => {
                (Phase::Streams, ClientEvent::SendParameters)
            }
            (Phase::Streams, State::CreateStreams) => (Phase::Start, ClientEvent::OpenStreams),
            (Phase::Start, State::TestStart) => (Phase::Running, ClientEvent::Start),
            (Phase::Running, State::TestRunning) => (Phase::Exchange, ClientEvent::Run),
            (Phase::Exchange, State::ExchangeResults) => {
                (Phase::TheirResults, ClientEvent::SendResults)
            }
            (Phase::Display, State::DisplayResults) => (Phase::Finished, ClientEvent::Finished),
            (_, State::AccessDenied) => return Err(ProtocolError::Denied),
            (_, State::ServerTerminate) => {
                return Err(ProtocolError::Terminated { who: "server" });
            }
            (phase, state) => {
                return Err(ProtocolError::OutOfTurn { state, expected: phase.expected() });
            }
        };
        self.phase = phase;
        Ok(Some(event))
    }

    /// Whether the parameters are sent and the server has not replied yet.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.phase == Phase::Streams
    }

    /// Returns the error of a server that closed after only the first of its two error numbers, as
    /// iperf3 3.12 does for an unauthorized user.
    #[must_use]
    pub fn closed(&self) -> Option<ProtocolError> {
        let (first, number) = self.buffer.peek().split_first_chunk::<1>()?;
        let iperf3 = i32::from_be_bytes(*number.first_chunk::<4>()?);
        (first == &[State::ServerError.byte()])
            .then_some(ProtocolError::Server { iperf3, system: 0 })
    }

    fn their_results(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        let Some(message) = unframed(&mut self.buffer, "results", RESULTS_LIMIT)? else {
            return Ok(None);
        };
        self.phase = Phase::Display;
        let results = Results::from_json(&message)?;
        Ok(Some(ClientEvent::Results(Box::new(results))))
    }

    fn server_error(&mut self) -> Result<Option<ClientEvent>, ProtocolError> {
        let Some(bytes) = self.buffer.take(9) else { return Ok(None) };
        let number = |at: usize| {
            i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Err(ProtocolError::Server { iperf3: number(1), system: number(5) })
    }
}
