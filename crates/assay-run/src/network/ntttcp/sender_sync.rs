//! Synchronisation of a sender with its receiver.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_dialects::wire::ntttcp::{self, NumberReader, SyncNumber, SyncRequest};

use super::{NtttcpEvent, NtttcpTest};
use crate::network::control::{ControlConnection, REPLY_TIMEOUT};
use crate::network::error::NetworkError;
use crate::network::target::NetworkTarget;

/// Interval of checks whether the user has ended the test.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Connection for the synchronisation.
pub(super) struct SenderSync<'a> {
    control: ControlConnection,
    /// Ends a wait for an answer; `None` after the user has ended the test.
    cancel: Option<&'a AtomicBool>,
}

impl<'a> SenderSync<'a> {
    pub(super) fn connect(
        test: &NtttcpTest,
        target: &NetworkTarget,
        cancel: &'a AtomicBool,
    ) -> Result<Self, NetworkError> {
        let target = NetworkTarget { port: test.base_port.saturating_sub(1), ..target.clone() };
        let (stream, address) = target.connect(cancel).map_err(NetworkError::of_ntttcp)?;
        let control = ControlConnection::new(stream, address.to_string())?;
        Ok(Self { control, cancel: Some(cancel) })
    }

    fn protocol_error(&self, source: ntttcp::NtttcpProtocolError) -> NetworkError {
        NetworkError::Ntttcp { peer: self.control.peer.clone(), source }
    }

    fn ask(
        &mut self,
        request: SyncRequest,
        expected: &str,
    ) -> Result<SyncNumber, NetworkError> {
        self.control.send(&request.encode())?;
        self.receive(REPLY_TIMEOUT, expected)
    }

    fn receive(
        &mut self,
        timeout: Duration,
        expected: &str,
    ) -> Result<SyncNumber, NetworkError> {
        let step = self.control.start_step(timeout);
        let mut reader = NumberReader::default();
        loop {
            if self.cancel.is_some_and(|it| it.load(Ordering::Relaxed)) {
                return Err(NetworkError::Interrupted);
            }
            if step.is_over() {
                return Err(step.timeout_error(&self.control.peer, expected));
            }
            let room = reader.room();
            let Some(bytes) = self.control.poll(CHECK_INTERVAL, room.len(), expected)? else {
                continue;
            };
            room[..bytes.len()].copy_from_slice(&bytes);
            if let Some(number) = reader.add(bytes.len()) {
                return Ok(number);
            }
        }
    }

    /// Checks that the receiver is free, and agrees on the seconds of the test.
    pub(super) fn agree(&mut self, test: &NtttcpTest) -> Result<u32, NetworkError> {
        let state = self.ask(SyncRequest::State, "its state")?;
        ntttcp::check_state(state).map_err(|source| self.protocol_error(source))?;
        let proposed = SyncNumber::try_from(test.cycle_s()).unwrap_or(SyncNumber::MAX);
        let answer = self.ask(SyncRequest::Seconds(proposed), "the length of the test")?;
        ntttcp::read_seconds(answer, test.warm_up_s)
            .map_err(|source| self.protocol_error(source))
    }

    /// Asks to start, and waits for the last of several senders if necessary.
    pub(super) fn start(
        &mut self,
        is_last: bool,
        observe: &mut dyn FnMut(NtttcpEvent),
    ) -> Result<(), NetworkError> {
        /// Longest wait for the last of several senders.
        const WAIT_LIMIT: Duration = Duration::from_secs(24 * 3600);
        let mut answer = self.ask(SyncRequest::Start { is_last }, "the start of the test")?;
        loop {
            if ntttcp::read_start(answer).map_err(|source| self.protocol_error(source))? {
                return Ok(());
            }
            observe(NtttcpEvent::AwaitsLast);
            answer = self.receive(WAIT_LIMIT, "the last sender")?;
        }
    }

    /// Ends the test at the receiver; returns whether it confirms that.
    pub(super) fn exit(&mut self) -> bool {
        /// The user has already interrupted, and does not want to wait.
        const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
        self.cancel = None;
        let sent = self.control.send(&SyncRequest::Exit.encode());
        let answer = sent.and_then(|()| self.receive(EXIT_TIMEOUT, "its end"));
        answer.is_ok_and(|it| it == ntttcp::NtttcpState::Finished as SyncNumber)
    }
}
