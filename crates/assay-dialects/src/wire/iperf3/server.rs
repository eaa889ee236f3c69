//! Server side of iperf3's control connection.

use super::{
    Buffer, COOKIE_ALPHABET, COOKIE_BYTES, ControlState, Cookie, Iperf3Parameters,
    Iperf3ProtocolError, Iperf3Results, PARAMETERS_LIMIT, RESULTS_LIMIT, UNPARSED_LIMIT, frame,
    take_frame,
};

/// Message received from the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Iperf3ServerEvent {
    /// Cookie: reply with [`Iperf3Server::parameters_request`], or [`Iperf3Server::denial_message`]
    /// and close.
    Cookie(Cookie),
    /// Parameters: reply with [`Iperf3Server::streams_request`] and accept the streams, then send
    /// [`Iperf3Server::start_message`].
    Parameters(Box<Iperf3Parameters>),
    /// End of the test: reply with [`Iperf3Server::results_request`].
    Ended,
    /// Client's results: reply with [`Iperf3Server::results_message`].
    Results(Box<Iperf3Results>),
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
pub struct Iperf3Server {
    phase: Phase,
    buffer: Buffer,
}

impl Default for Iperf3Server {
    fn default() -> Self {
        Self { phase: Phase::Cookie, buffer: Buffer::new(UNPARSED_LIMIT) }
    }
}

impl Iperf3Server {
    /// Reply to a cookie.
    pub fn parameters_request() -> Vec<u8> {
        vec![ControlState::ParamExchange.byte()]
    }

    /// Reply to a client that cannot be served now.
    pub fn denial_message() -> Vec<u8> {
        vec![ControlState::AccessDenied.byte()]
    }

    /// Reply to parameters.
    pub fn streams_request() -> Vec<u8> {
        vec![ControlState::CreateStreams.byte()]
    }

    /// Message once all streams are open: both ends start their clocks, and data flows.
    pub fn start_message() -> Vec<u8> {
        vec![ControlState::TestStart.byte(), ControlState::TestRunning.byte()]
    }

    /// Reply to the end of the test.
    pub fn results_request() -> Vec<u8> {
        vec![ControlState::ExchangeResults.byte()]
    }

    /// Reply to the client's results, which completes the exchange.
    pub fn results_message(results: &Iperf3Results) -> Vec<u8> {
        let mut bytes = frame(&results.to_json());
        bytes.push(ControlState::DisplayResults.byte());
        bytes
    }

    /// Message that aborts the test.
    pub fn terminate_message() -> Vec<u8> {
        vec![ControlState::ServerTerminate.byte()]
    }

    /// Reply that rejects parameters, with iperf3's error number and the system's.
    pub fn error_message(iperf3: i32, system: i32) -> Vec<u8> {
        let mut bytes = vec![ControlState::ServerError.byte()];
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
    pub fn next_event(&mut self) -> Result<Option<Iperf3ServerEvent>, Iperf3ProtocolError> {
        if let Some(limit) = self.buffer.exceeded() {
            return Err(Iperf3ProtocolError::TooManyBytes { limit });
        }
        match self.phase {
            Phase::Cookie => self.receive_cookie(),
            Phase::Parameters => self.receive_parameters(),
            Phase::Running => self.receive_state(
                ControlState::TestEnd,
                "the end of the test",
                Phase::Results,
                Iperf3ServerEvent::Ended,
            ),
            Phase::Results => self.receive_results(),
            Phase::Done => self.receive_state(
                ControlState::Done,
                "the end of the session",
                Phase::Finished,
                Iperf3ServerEvent::Done,
            ),
            Phase::Finished => Ok(None),
        }
    }

    fn receive_cookie(&mut self) -> Result<Option<Iperf3ServerEvent>, Iperf3ProtocolError> {
        let so_far = self.buffer.peek();
        let so_far = &so_far[..so_far.len().min(COOKIE_BYTES - 1)];
        if so_far.iter().any(|byte| !COOKIE_ALPHABET.contains(byte)) {
            let start = so_far.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            return Err(Iperf3ProtocolError::InvalidCookie { start });
        }
        let Some(bytes) = self.buffer.array() else { return Ok(None) };
        self.phase = Phase::Parameters;
        Ok(Some(Iperf3ServerEvent::Cookie(Cookie(bytes))))
    }

    fn receive_parameters(&mut self) -> Result<Option<Iperf3ServerEvent>, Iperf3ProtocolError> {
        let Some(message) = take_frame(&mut self.buffer, "parameters", PARAMETERS_LIMIT)?
        else {
            return Ok(None);
        };
        self.phase = Phase::Running;
        let parameters = Iperf3Parameters::from_json(&message)?;
        Ok(Some(Iperf3ServerEvent::Parameters(Box::new(parameters))))
    }

    fn receive_results(&mut self) -> Result<Option<Iperf3ServerEvent>, Iperf3ProtocolError> {
        let Some(message) = take_frame(&mut self.buffer, "results", RESULTS_LIMIT)? else {
            return Ok(None);
        };
        self.phase = Phase::Done;
        Ok(Some(Iperf3ServerEvent::Results(Box::new(Iperf3Results::from_json(&message)?))))
    }

    fn receive_state(
        &mut self,
        due: ControlState,
        expected: &'static str,
        next: Phase,
        event: Iperf3ServerEvent,
    ) -> Result<Option<Iperf3ServerEvent>, Iperf3ProtocolError> {
        let Some(byte) = self.buffer.byte() else { return Ok(None) };
        match ControlState::from_byte(byte)? {
            state if state == due => {
                self.phase = next;
                Ok(Some(event))
            }
            ControlState::ClientTerminate => {
                Err(Iperf3ProtocolError::Terminated { who: "client" })
            }
            state => Err(Iperf3ProtocolError::UnexpectedState { state, expected }),
        }
    }
}
