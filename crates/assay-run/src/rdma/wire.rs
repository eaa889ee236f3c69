//! What two ends tell each other over TCP: one JSON object a line.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_kernels::rdma::Card;
use assay_model::benchmark::RdmaTest;
use assay_model::workload::RdmaConnection;
use serde::{Deserialize, Serialize};

use super::TestError;
use crate::network::control::{Control, Step};
use crate::network::error::NetworkError;

/// Longer lines are no message; a test over all sizes has less than 1 KiB.
const LINE_LIMIT_BYTES: usize = 64 << 10;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub(super) enum Message {
    /// The leading end: what is wanted.
    Hello(Box<Hello>),
    /// The far end takes part.
    Welcome { card: Names },
    /// It does not, or no more.
    Failed { reason: String, advice: String },
    /// The far end has prepared the next size; where both send, the leading end says so, too.
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
    pub(super) sizes: Vec<u64>,
    pub(super) iterations: u64,
    pub(super) depth: u64,
    pub(super) queue_pairs: u32,
    pub(super) both: bool,
    pub(super) card: Names,
}

/// What the far end has seen of a pass: `(how many, ns)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) sent: Vec<(u64, u64)>,
    pub(super) received: Vec<(u64, u64)>,
    pub(super) arrived: u64,
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
}

impl From<&Card> for Names {
    fn from(card: &Card) -> Self {
        let Card { lid, sequence, gid, mtu, address, source, key, .. } = *card;
        Self { lid, numbers: card.numbers.clone(), sequence, gid, mtu, address, source, key }
    }
}

impl From<Names> for Card {
    fn from(names: Names) -> Self {
        let Names { lid, numbers, sequence, gid, mtu, address, source, key } = names;
        // Of anything else there is no code, and nothing is divided by it.
        let mtu = mtu.clamp(256, 4096);
        Self { lid, numbers, sequence, gid, mtu, address, source, key }
    }
}

/// A connection that carries messages.
#[derive(Debug)]
pub(super) struct Line {
    control: Control,
    rest: Vec<u8>,
}

impl Line {
    pub(super) const fn new(control: Control) -> Self {
        Self { control, rest: Vec::new() }
    }

    pub(super) fn peer(&self) -> &str {
        &self.control.peer
    }

    pub(super) fn say(&mut self, message: &Message) -> Result<(), NetworkError> {
        let mut text = serde_json::to_vec(message).expect("messages have a form");
        text.push(b'\n');
        self.control.send(&text)
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
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return serde_json::from_slice(&line).map_err(|_| self.stranger(&line));
            }
            if self.rest.len() > LINE_LIMIT_BYTES {
                let line = std::mem::take(&mut self.rest);
                return Err(self.stranger(&line));
            }
            self.rest.extend(self.control.wait(&step, expected, &is_cancelled)?);
        }
    }

    fn stranger(&self, line: &[u8]) -> TestError {
        /// As much as a person reads.
        const SHOWN: usize = 60;
        let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
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
        };
        assert_eq!(Card::from(Names::from(&card)), card);
        for message in [
            Message::Ready,
            Message::Checked { is_right: false, seen: None },
            Message::Checked {
                is_right: true,
                seen: Some(Seen { sent: vec![(1, 2)], received: vec![], arrived: 3 }),
            },
            Message::Welcome { card: (&card).into() },
            Message::Hello(Box::new(Hello {
                assay: "0.1.0".to_owned(),
                test: RdmaTest::ReadLatency,
                connection: RdmaConnection::Ud,
                sizes: vec![2, 8 << 20],
                iterations: 1000,
                depth: 1,
                queue_pairs: 2,
                both: false,
                card: (&card).into(),
            })),
        ] {
            let text = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message, "{text}");
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
        };
        assert_eq!(Card::from(Names::from(&card)).mtu, 256);
    }
}
