//! Server side of iperf3's control connection.

use super::{
    Buffer, COOKIE_ALPHABET, COOKIE_BYTES, Cookie, PARAMETERS_LIMIT, Parameters, ProtocolError,
    RESULTS_LIMIT, Results, State, WAITING_LIMIT, framed, unframed,
};

/// Message received from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// Cookie: reply with [`Iperf3Server::parameters_request`], or [`Iperf3Server::denial_message`]
    /// and close.
    Cookie(Cookie),
    /// Parameters: reply with [`Iperf3Server::streams_request`] and accept the streams, then send
    /// [`Iperf3Server::start_message`].
    Parameters(Box<Parameters>),
    /// End of the test: reply with [`Iperf3Server::results_request`].
    Ended,
    /// Client's results: reply with [`Iperf3Server::results_message`].
    Results(Box<Results>),
    /// Client's close of the test.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Cookie,
    Parameters,
    Running,
    Results,
    Done,
    Finished,
}

/// State machine of the server: [`Iperf3Server::receive`] takes bytes, [`Iperf3Server::next_event`]
/// returns events.
#[derive(Debug)]
pub struct Server {
    phase: Phase,
    buffer: Buffer,
}

impl Default for Server {
    fn default() -> Self {
        Self { phase: Phase::Cookie, buffer: Buffer::new(WAITING_LIMIT) }
    }
}

impl Server {
    /// Reply to a cookie.
    #[must_use]
    pub fn ask_parameters() -> Vec<u8> {
        vec![State::ParamExchange.byte()]
    }

    /// Reply to a client that cannot be served now.
    #[must_use]
    pub fn deny() -> Vec<u8> {
        vec![State::AccessDenied.byte()]
    }

    /// Reply to parameters.
    #[must_use]
    pub fn ask_streams() -> Vec<u8> {
        vec![State::CreateStreams.byte()]
    }

    /// Message once all streams are open: both ends start their clocks, and data flows.
    #[must_use]
    pub fn start() -> Vec<u8> {
        vec![State::TestStart.byte(), State::TestRunning.byte()]
    }

    /// Reply to the end of the test.
    #[must_use]
    pub fn ask_results() -> Vec<u8> {
        vec![State::ExchangeResults.byte()]
    }

    /// Reply to the client's results, which completes the exchange.
    #[must_use]
    pub fn results(results: &Results) -> Vec<u8> {
        let mut bytes = framed(&results.to_json());
        bytes.push(State::DisplayResults.byte());
        bytes
    }

    /// Message that aborts the test.
    #[must_use]
    pub fn terminate() -> Vec<u8> {
        vec![State::ServerTerminate.byte()]
    }

    /// Reply that rejects parameters, with iperf3's error number and the system's.
    #[must_use]
    pub fn refuse(iperf3: i32, system: i32) -> Vec<u8> {
        let mut bytes = vec![State::ServerError.byte()];
        bytes.extend(iperf3.to_be_bytes());
        bytes.extend(system.to_be_bytes());
        bytes
    }

    /// Takes received bytes, in pieces of any size.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.buffer.push(bytes);
    }

    /// Returns the next message of the client; `None` until more bytes are received.
    ///
    /// # Errors
    /// If the client violates the protocol or aborts. The server is finished then.
    pub fn next_event(&mut self) -> Result<Option<ServerEvent>, ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(ProtocolError::Flood { limit });
        }
        match self.phase {
            Phase::Cookie => self.cookie(),
            Phase::Parameters => self.parameters(),
            Phase::Running => self.state(
                State::TestEnd,
                "the end of the test",
                Phase::Results,
                ServerEvent::Ended,
            ),
            Phase::Results => self.their_results(),
            Phase::Done => {
                self.state(State::Done, "the last word", Phase::Finished, ServerEvent::Done)
            }
            Phase::Finished => Ok(None),
        }
    }

    fn cookie(&mut self) -> Result<Option<ServerEvent>, ProtocolError> {
        let so_far = self.buffer.peek();
        let so_far = &so_far[..so_far.len().min(COOKIE_BYTES - 1)];
        if so_far.iter().any(|byte| !COOKIE_ALPHABET.contains(byte)) {
            let start = so_far.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            return Err(ProtocolError::NoCookie { start });
        }
        let Some(bytes) = self.buffer.array() else { return Ok(None) };
        self.phase = Phase::Parameters;
        Ok(Some(ServerEvent::Cookie(Cookie(bytes))))
    }

    fn parameters(&mut self) -> Result<Option<ServerEvent>, ProtocolError> {
        let Some(message) = unframed(&mut self.buffer, "parameters", PARAMETERS_LIMIT)? else {
            return Ok(None);
        };
        self.phase = Phase::Running;
        let parameters = Parameters::from_json(&message)?;
        Ok(Some(ServerEvent::Parameters(Box::new(parameters))))
    }

    fn their_results(&mut self) -> Result<Option<ServerEvent>, ProtocolError> {
        let Some(message) = unframed(&mut self.buffer, "results", RESULTS_LIMIT)? else {
            return Ok(None);
        };
        self.phase = Phase::Done;
        Ok(Some(ServerEvent::Results(Box::new(Results::from_json(&message)?))))
    }

    fn state(
        &mut self,
        due: State,
        expected: &'static str,
        next: Phase,
        event: ServerEvent,
    ) -> Result<Option<ServerEvent>, ProtocolError> {
        let Some(byte) = self.buffer.byte() else { return Ok(None) };
        match State::from_byte(byte)? {
            state if state == due => {
                self.phase = next;
                Ok(Some(event))
            }
            State::ClientTerminate => Err(ProtocolError::Terminated { who: "client" }),
            state => Err(ProtocolError::OutOfTurn { state, expected }),
        }
    }
}
