//! What two ends tell each other, and what carries it: a connection over TCP, one JSON object a line; the pipes of
//! a run with several hosts, where no port is open; or this process, where both ends are in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_fleet::remote::calls::{Call, CallError};
use assay_kernels::rdma::{Card, Endpoint};
use assay_model::benchmark::RdmaTest;
use assay_model::workload::{RdmaConnection, RdmaDevice};
use serde::{Deserialize, Serialize};

use super::TestError;
use crate::network::control::{Control, Step};
use crate::network::error::NetworkError;

/// Longer lines are no message; the numbers of 16384 queue pairs have 144 KiB.
const LINE_LIMIT_BYTES: usize = 256 << 10;
/// How soon it is noticed that somebody wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub(super) enum Message {
    /// The leading end: what is wanted.
    Hello(Box<Hello>),
    /// The far end takes part.
    Welcome {
        card: Names,
        /// What it has chosen for itself.
        chosen: Chosen,
    },
    /// It does not, or no more.
    Failed { reason: String, advice: String },
    /// The leading end: so many messages of this size are next.
    Next { bytes: u64, iterations: u64 },
    /// The far end has prepared them; where both send, the leading end says so, too.
    Ready,
    /// The leading end has carried it out.
    Done,
    /// The far end has compared contents, and has seen this of a pass with many in flight.
    Checked {
        is_right: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Seen>,
    },
    /// The leading end: perftest's server for a test, please.
    Perftest(Box<Perftest>),
    /// It listens on this TCP port.
    Listening { port: u16 },
    /// There are no more sizes.
    Over,
}

/// What the leading end wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Version; both ends must have the same.
    pub(super) assay: String,
    pub(super) test: RdmaTest,
    pub(super) connection: RdmaConnection,
    /// The largest message.
    pub(super) most_bytes: u64,
    pub(super) depth: u64,
    pub(super) queue_pairs: u32,
    pub(super) both: bool,
    pub(super) moderation: Option<u64>,
    /// The far end's device, where agents talk; any other far end has its own options.
    pub(super) device: RdmaDevice,
    pub(super) card: Names,
}

/// The far end's device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub(super) device: String,
    pub(super) port: u8,
    pub(super) gid_index: Option<u32>,
}

impl Chosen {
    pub(super) fn of(end: &Endpoint) -> Self {
        Self { device: end.device.clone(), port: end.port, gid_index: end.gid_index }
    }
}

/// What the far end has seen of a pass: `(how many, ns)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) sent: Vec<(u64, u64)>,
    pub(super) received: Vec<(u64, u64)>,
    pub(super) arrived: u64,
    /// The fastest window of what it sent, or of datagrams received.
    pub(super) peak: Option<(u64, u64)>,
}

/// What perftest's server is to take part in: its client's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Perftest {
    /// Version; both ends must have the same.
    pub(super) assay: String,
    pub(super) test: RdmaTest,
    pub(super) connection: RdmaConnection,
    pub(super) bytes: u64,
    pub(super) iterations: u64,
    pub(super) depth: u64,
    pub(super) queue_pairs: u32,
    pub(super) both: bool,
    /// As in [`Hello`].
    pub(super) device: RdmaDevice,
}

/// A [`Card`] as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Names {
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

impl From<&Card> for Names {
    fn from(card: &Card) -> Self {
        let Card { lid, sequence, gid, mtu, address, source, key, reads, .. } = *card;
        let numbers = card.numbers.clone();
        Self { lid, numbers, sequence, gid, mtu, address, source, key, reads }
    }
}

impl From<Names> for Card {
    fn from(names: Names) -> Self {
        let Names { lid, numbers, sequence, gid, mtu, address, source, key, reads } = names;
        // Of anything else there is no code, and nothing is divided by it.
        let mtu = mtu.clamp(256, 4096);
        Self { lid, numbers, sequence, gid, mtu, address, source, key, reads }
    }
}

/// One end of a two-way channel of messages.
pub(super) struct Line {
    peer: String,
    carrier: Carrier,
}

/// What carries them.
enum Carrier {
    /// A connection, and what has come of the next line.
    Tcp(Control, Vec<u8>),
    /// The agents of two hosts, over their pipes to the coordinator.
    Agents(Call),
    /// Another thread.
    Thread(Sender<String>, Receiver<String>),
}

impl Line {
    pub(super) fn over_tcp(control: Control) -> Self {
        Self { peer: control.peer.clone(), carrier: Carrier::Tcp(control, Vec::new()) }
    }

    pub(super) fn between_agents(call: Call) -> Self {
        Self { peer: call.peer().to_owned(), carrier: Carrier::Agents(call) }
    }

    /// Both ends, for two threads of this process.
    pub(super) fn within() -> [Self; 2] {
        let ((to_b, from_a), (to_a, from_b)) = (mpsc::channel(), mpsc::channel());
        [(to_b, from_b), (to_a, from_a)].map(|(to, from)| Self {
            peer: "this process".to_owned(),
            carrier: Carrier::Thread(to, from),
        })
    }

    /// Whether both ends are agents of one run, of which the leading one says which device the other takes.
    pub(super) const fn is_between_agents(&self) -> bool {
        matches!(self.carrier, Carrier::Agents(_))
    }

    pub(super) fn peer(&self) -> &str {
        &self.peer
    }

    pub(super) fn say(&mut self, message: &Message) -> Result<(), NetworkError> {
        let form = || serde_json::to_string(message).expect("messages have a form");
        match &mut self.carrier {
            Carrier::Tcp(control, _) => control.send(format!("{}\n", form()).as_bytes()),
            Carrier::Agents(call) => call.say(message).map_err(NetworkError::Call),
            Carrier::Thread(to, _) => to.send(form()).map_err(|_| self.closed("an answer")),
        }
    }

    /// The next message.
    pub(super) fn hear(
        &mut self,
        expected: &str,
        patience: Duration,
        cancel: &AtomicBool,
    ) -> Result<Message, TestError> {
        let step = Step::of(patience);
        let is_cancelled = || cancel.load(Ordering::Relaxed);
        loop {
            let text = match &mut self.carrier {
                Carrier::Tcp(control, rest) => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    if end.is_none() && rest.len() <= LINE_LIMIT_BYTES {
                        rest.extend(control.wait(&step, expected, &is_cancelled)?);
                        continue;
                    }
                    let line: Vec<u8> =
                        rest.drain(..=end.unwrap_or(LINE_LIMIT_BYTES)).collect();
                    String::from_utf8_lossy(&line).into_owned()
                }
                Carrier::Agents(call) => match call.hear::<Message>(patience) {
                    Ok(message) => return Ok(message),
                    Err(error) => return Err(self.not_heard(error, &step, expected)),
                },
                Carrier::Thread(_, from) => match from.recv_timeout(LOOK) {
                    Ok(text) => text,
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(self.closed(expected).into());
                    }
                    Err(RecvTimeoutError::Timeout) if is_cancelled() => {
                        return Err(NetworkError::Interrupted.into());
                    }
                    Err(RecvTimeoutError::Timeout) if step.is_over() => {
                        return Err(step.missed(&self.peer, expected).into());
                    }
                    Err(RecvTimeoutError::Timeout) => continue,
                },
            };
            return serde_json::from_str(&text).map_err(|_| self.stranger(&text));
        }
    }

    fn closed(&self, expected: &str) -> NetworkError {
        NetworkError::Closed { peer: self.peer.clone(), expected: expected.to_owned() }
    }

    /// Whatever carries messages, the same goes wrong with it.
    fn not_heard(&self, error: CallError, step: &Step, expected: &str) -> TestError {
        match error {
            CallError::Over { .. } => self.closed(expected).into(),
            CallError::Late { .. } => step.missed(&self.peer, expected).into(),
            CallError::Interrupted => NetworkError::Interrupted.into(),
            CallError::Foreign { source, .. } => self.stranger(&source.to_string()),
        }
    }

    fn stranger(&self, said: &str) -> TestError {
        /// As much as a person reads.
        const SHOWN: usize = 60;
        let shown: String = said.chars().take(SHOWN).collect();
        let said = shown.escape_debug().to_string();
        TestError::Stranger { peer: self.peer().to_owned(), said }
    }

    /// What a message means that was not due.
    pub(super) fn unexpected(&self, message: Message) -> TestError {
        let peer = self.peer().to_owned();
        match message {
            Message::Failed { reason, advice } => TestError::FarEnd { peer, reason, advice },
            other => TestError::Stranger { peer, said: format!("{other:?}") },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let card = Card {
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
        assert_eq!(Card::from(Names::from(&card)), card);
        for message in [
            Message::Ready,
            Message::Next { bytes: 2, iterations: 1000 },
            Message::Checked { is_right: false, seen: None },
            Message::Checked {
                is_right: true,
                seen: Some(Seen {
                    sent: vec![(1, 2)],
                    received: vec![],
                    arrived: 3,
                    peak: Some((1, 1)),
                }),
            },
            Message::Welcome {
                card: (&card).into(),
                chosen: Chosen { device: "rxe0".to_owned(), port: 1, gid_index: None },
            },
            Message::Hello(Box::new(Hello {
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
            assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message, "{text}");
        }
    }

    /// Both ends of what is tested without agents.
    fn ends() -> [(&'static str, [Line; 2]); 2] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let there = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let streams = [listener.accept().unwrap().0, there];
        let tcp = streams
            .map(|stream| Line::over_tcp(Control::new(stream, "peer".to_owned()).unwrap()));
        [("TCP", tcp), ("a thread", Line::within())]
    }

    #[test]
    fn whatever_carries_messages_they_come_in_order_and_an_end_is_heard() {
        let go_on = AtomicBool::new(false);
        for (name, [mut here, mut there]) in ends() {
            // Before any of them is taken, as a far end does that is quick.
            for message in [Message::Ready, Message::Listening { port: 7 }, Message::Done] {
                here.say(&message).unwrap();
            }
            let mut hear = || there.hear("more", Duration::from_secs(10), &go_on);
            assert_eq!(hear().unwrap(), Message::Ready, "{name}");
            assert_eq!(hear().unwrap(), Message::Listening { port: 7 }, "{name}");
            drop(here);
            assert_eq!(hear().unwrap(), Message::Done, "{name}");
            let gone = hear().unwrap_err().to_string();
            assert!(
                gone.contains("closed the connection while more was due"),
                "{name}: {gone}"
            );
        }
    }

    #[test]
    fn whatever_carries_messages_a_wait_ends() {
        for (name, [_here, mut there]) in ends() {
            let mut hear = |cancel| {
                let waited =
                    there.hear("more", Duration::from_millis(1), &AtomicBool::new(cancel));
                waited.unwrap_err().to_string()
            };
            assert!(hear(false).contains("more did not come from"), "{name}");
            assert_eq!(hear(true), "interrupted", "{name}");
        }
    }

    #[test]
    fn a_path_mtu_that_is_none_is_not_taken() {
        let card = Card {
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
        assert_eq!(Card::from(Names::from(&card)).mtu, 256);
    }
}
