//! Protocol between two ends and its carriers: a TCP connection with one JSON object a line, the
//! pipes of a run with several hosts, where no port is open, or a channel between threads of this
//! process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_fleet::remote::calls::{Call, CallError};
use assay_kernels::rdma::{Endpoint, PeerInfo};
use assay_model::benchmark::RdmaTest;
use assay_model::workload::{RdmaConnection, RdmaDevice};
use serde::{Deserialize, Serialize};

use super::RdmaTestError;
use crate::network::control::{ControlConnection, StepDeadline};
use crate::network::error::NetworkError;

/// Maximum length of a line; the numbers of 16384 queue pairs take 144 KiB.
const LINE_LIMIT_BYTES: usize = 256 << 10;
/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub(super) enum RdmaMessage {
    /// Leading end: requests a test.
    Hello(Box<RdmaHello>),
    /// Far end: accepts the test.
    Welcome {
        card: WirePeerInfo,
        /// Device that the far end chose.
        chosen: ChosenDevice,
    },
    /// Far end: refuses or aborts the test.
    Failed { reason: String, advice: String },
    /// Leading end: announces the next size and number of messages.
    Next { bytes: u64, iterations: u64 },
    /// Far end: has prepared the size; if both ends send, the leading end replies with the same.
    Ready,
    /// Leading end: has completed the size.
    Done,
    /// Far end: has compared contents; includes its counts of a pass with many requests in flight.
    Checked {
        is_right: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<FarEndCounts>,
    },
    /// Leading end: requests perftest's server for a test.
    Perftest(Box<PerftestRequest>),
    /// Far end: perftest's server listens on this TCP port.
    Listening { port: u16 },
    /// Leading end: there are no more sizes.
    Over,
}

/// Request of the leading end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RdmaHello {
    /// Version; both ends must have the same.
    pub(super) assay: String,
    pub(super) test: RdmaTest,
    pub(super) connection: RdmaConnection,
    /// Largest message in bytes.
    pub(super) most_bytes: u64,
    pub(super) depth: u64,
    pub(super) queue_pairs: u32,
    pub(super) both: bool,
    pub(super) moderation: Option<u64>,
    /// Far end's device, used between agents only; other far ends have their own options.
    pub(super) device: RdmaDevice,
    pub(super) card: WirePeerInfo,
}

/// Device of the far end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChosenDevice {
    pub(super) device: String,
    pub(super) port: u8,
    pub(super) gid_index: Option<u32>,
}

impl ChosenDevice {
    pub(super) fn from_endpoint(end: &Endpoint) -> Self {
        Self { device: end.device.clone(), port: end.port, gid_index: end.gid_index }
    }
}

/// Counts of the far end for one pass, as `(messages, ns)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FarEndCounts {
    pub(super) sent: Vec<(u64, u64)>,
    pub(super) received: Vec<(u64, u64)>,
    pub(super) arrived: u64,
    /// Fastest window of the messages it sent, or of datagrams received.
    pub(super) peak: Option<(u64, u64)>,
}

/// Request for perftest's server, with the parameters of its client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PerftestRequest {
    /// Version; both ends must have the same.
    pub(super) assay: String,
    pub(super) test: RdmaTest,
    pub(super) connection: RdmaConnection,
    pub(super) bytes: u64,
    pub(super) iterations: u64,
    pub(super) depth: u64,
    pub(super) queue_pairs: u32,
    pub(super) both: bool,
    /// Far end's device, as in [`RdmaHello`].
    pub(super) device: RdmaDevice,
}

/// Serialized form of a [`PeerInfo`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WirePeerInfo {
    lid: u16,
    numbers: Vec<u32>,
    sequence: u32,
    gid: [u8; 16],
    mtu: u32,
    address: u64,
    source: u64,
    key: u32,
    reads: u8,
}

impl From<&PeerInfo> for WirePeerInfo {
    fn from(card: &PeerInfo) -> Self {
        let PeerInfo { lid, sequence, gid, mtu, address, source, key, reads, .. } = *card;
        let numbers = card.numbers.clone();
        Self { lid, numbers, sequence, gid, mtu, address, source, key, reads }
    }
}

impl From<WirePeerInfo> for PeerInfo {
    fn from(names: WirePeerInfo) -> Self {
        let WirePeerInfo { lid, numbers, sequence, gid, mtu, address, source, key, reads } =
            names;
        // Other values have no code; the clamp also prevents a division by zero.
        let mtu = mtu.clamp(256, 4096);
        Self { lid, numbers, sequence, gid, mtu, address, source, key, reads }
    }
}

/// End of a two-way channel of messages.
pub(super) struct MessageChannel {
    peer: String,
    carrier: Carrier,
}

/// Carrier of the messages.
enum Carrier {
    /// TCP connection, with the bytes received of the next line.
    Tcp(ControlConnection, Vec<u8>),
    /// Agents of two hosts, over their pipes to the coordinator.
    Agents(Call),
    /// Another thread.
    Thread(Sender<String>, Receiver<String>),
}

impl MessageChannel {
    pub(super) fn over_tcp(control: ControlConnection) -> Self {
        Self { peer: control.peer.clone(), carrier: Carrier::Tcp(control, Vec::new()) }
    }

    pub(super) fn between_agents(call: Call) -> Self {
        Self { peer: call.peer().to_owned(), carrier: Carrier::Agents(call) }
    }

    /// Returns both ends, for two threads of this process.
    pub(super) fn in_process_pair() -> [Self; 2] {
        let ((to_b, from_a), (to_a, from_b)) = (mpsc::channel(), mpsc::channel());
        [(to_b, from_b), (to_a, from_a)].map(|(to, from)| Self {
            peer: "this process".to_owned(),
            carrier: Carrier::Thread(to, from),
        })
    }

    /// Whether both ends are agents of one run; the leading one then chooses the other's device.
    pub(super) const fn is_between_agents(&self) -> bool {
        matches!(self.carrier, Carrier::Agents(_))
    }

    pub(super) fn peer(&self) -> &str {
        &self.peer
    }

    pub(super) fn send(&mut self, message: &RdmaMessage) -> Result<(), NetworkError> {
        let form = || serde_json::to_string(message).expect("messages have a form");
        match &mut self.carrier {
            Carrier::Tcp(control, _) => control.send(format!("{}\n", form()).as_bytes()),
            Carrier::Agents(call) => call.send(message).map_err(NetworkError::Call),
            Carrier::Thread(to, _) => {
                to.send(form()).map_err(|_| self.closed_error("an answer"))
            }
        }
    }

    /// Receives the next message.
    pub(super) fn receive(
        &mut self,
        expected: &str,
        patience: Duration,
        cancel: &AtomicBool,
    ) -> Result<RdmaMessage, RdmaTestError> {
        let step = StepDeadline::new(patience);
        let is_cancelled = || cancel.load(Ordering::Relaxed);
        loop {
            let text = match &mut self.carrier {
                Carrier::Tcp(control, rest) => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    if end.is_none() && rest.len() <= LINE_LIMIT_BYTES {
                        rest.extend(control.receive(&step, expected, &is_cancelled)?);
                        continue;
                    }
                    let line: Vec<u8> =
                        rest.drain(..=end.unwrap_or(LINE_LIMIT_BYTES)).collect();
                    String::from_utf8_lossy(&line).into_owned()
                }
                Carrier::Agents(call) => match call.receive::<RdmaMessage>(patience) {
                    Ok(message) => return Ok(message),
                    Err(error) => return Err(self.call_error(error, &step, expected)),
                },
                Carrier::Thread(_, from) => match from.recv_timeout(POLL_INTERVAL) {
                    Ok(text) => text,
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(self.closed_error(expected).into());
                    }
                    Err(RecvTimeoutError::Timeout) if is_cancelled() => {
                        return Err(NetworkError::Interrupted.into());
                    }
                    Err(RecvTimeoutError::Timeout) if step.is_over() => {
                        return Err(step.timeout_error(&self.peer, expected).into());
                    }
                    Err(RecvTimeoutError::Timeout) => continue,
                },
            };
            return serde_json::from_str(&text).map_err(|_| self.mismatch_error(&text));
        }
    }

    fn closed_error(&self, expected: &str) -> NetworkError {
        NetworkError::Closed { peer: self.peer.clone(), expected: expected.to_owned() }
    }

    /// Maps errors of a call to those of the other carriers.
    fn call_error(
        &self,
        error: CallError,
        step: &StepDeadline,
        expected: &str,
    ) -> RdmaTestError {
        match error {
            CallError::Over { .. } => self.closed_error(expected).into(),
            CallError::Timeout { .. } => step.timeout_error(&self.peer, expected).into(),
            CallError::Interrupted => NetworkError::Interrupted.into(),
            CallError::Malformed { source, .. } => self.mismatch_error(&source.to_string()),
        }
    }

    fn mismatch_error(&self, said: &str) -> RdmaTestError {
        /// Maximum number of characters of foreign text in an error.
        const SHOWN: usize = 60;
        let shown: String = said.chars().take(SHOWN).collect();
        let said = shown.escape_debug().to_string();
        RdmaTestError::ProtocolMismatch { peer: self.peer().to_owned(), said }
    }

    /// Returns the error for a message that was not expected.
    pub(super) fn unexpected_message(&self, message: RdmaMessage) -> RdmaTestError {
        let peer = self.peer().to_owned();
        match message {
            RdmaMessage::Failed { reason, advice } => {
                RdmaTestError::FarEnd { peer, reason, advice }
            }
            other => RdmaTestError::ProtocolMismatch { peer, said: format!("{other:?}") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let card = PeerInfo {
            lid: 7,
            numbers: vec![0x11, 0x12],
            sequence: 0x00ab_cdef,
            gid: [9; 16],
            mtu: 4096,
            address: u64::MAX,
            source: 1,
            key: 2,
            reads: 128,
        };
        assert_eq!(PeerInfo::from(WirePeerInfo::from(&card)), card);
        for message in [
            RdmaMessage::Ready,
            RdmaMessage::Next { bytes: 2, iterations: 1000 },
            RdmaMessage::Checked { is_right: false, seen: None },
            RdmaMessage::Checked {
                is_right: true,
                seen: Some(FarEndCounts {
                    sent: vec![(1, 2)],
                    received: vec![],
                    arrived: 3,
                    peak: Some((1, 1)),
                }),
            },
            RdmaMessage::Welcome {
                card: (&card).into(),
                chosen: ChosenDevice { device: "rxe0".to_owned(), port: 1, gid_index: None },
            },
            RdmaMessage::Hello(Box::new(RdmaHello {
                assay: "0.1.0".to_owned(),
                test: RdmaTest::ReadLatency,
                connection: RdmaConnection::Ud,
                most_bytes: 8 << 20,
                depth: 1,
                queue_pairs: 2,
                both: false,
                moderation: Some(100),
                device: RdmaDevice { gid_index: Some(3), ..RdmaDevice::default() },
                card: (&card).into(),
            })),
        ] {
            let text = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<RdmaMessage>(&text).unwrap(), message, "{text}");
        }
    }

    /// Returns both ends of each carrier that can be tested without agents.
    fn ends() -> [(&'static str, [MessageChannel; 2]); 2] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let there = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let streams = [listener.accept().unwrap().0, there];
        let tcp = streams.map(|stream| {
            MessageChannel::over_tcp(ControlConnection::new(stream, "peer".to_owned()).unwrap())
        });
        [("TCP", tcp), ("a thread", MessageChannel::in_process_pair())]
    }

    #[test]
    fn carriers_keep_order_and_report_closing() {
        let go_on = AtomicBool::new(false);
        for (name, [mut here, mut there]) in ends() {
            // Sends all before any is received, like a fast far end.
            for message in
                [RdmaMessage::Ready, RdmaMessage::Listening { port: 7 }, RdmaMessage::Done]
            {
                here.send(&message).unwrap();
            }
            let mut hear = || there.receive("more", Duration::from_secs(10), &go_on);
            assert_eq!(hear().unwrap(), RdmaMessage::Ready, "{name}");
            assert_eq!(hear().unwrap(), RdmaMessage::Listening { port: 7 }, "{name}");
            drop(here);
            assert_eq!(hear().unwrap(), RdmaMessage::Done, "{name}");
            let gone = hear().unwrap_err().to_string();
            assert!(
                gone.contains("closed the connection while more was due"),
                "{name}: {gone}"
            );
        }
    }

    #[test]
    fn receive_ends_at_timeout_or_cancellation() {
        for (name, [_here, mut there]) in ends() {
            let mut hear = |cancel| {
                let waited =
                    there.receive("more", Duration::from_millis(1), &AtomicBool::new(cancel));
                waited.unwrap_err().to_string()
            };
            assert!(hear(false).contains("more did not come from"), "{name}");
            assert_eq!(hear(true), "interrupted", "{name}");
        }
    }

    #[test]
    fn clamps_invalid_path_mtu() {
        let card = PeerInfo {
            lid: 0,
            numbers: vec![0],
            sequence: 0,
            gid: [0; 16],
            mtu: 0,
            address: 0,
            source: 0,
            key: 0,
            reads: 0,
        };
        assert_eq!(PeerInfo::from(WirePeerInfo::from(&card)).mtu, 256);
    }
}
