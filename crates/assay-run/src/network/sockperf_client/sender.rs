//! Sender of numbered messages, at a rate or as fast as possible.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use assay_dialects::wire::sockperf::SockperfHeader;
use assay_kernels::clock;
use assay_kernels::network::pingpong::wait_until;
use assay_model::seed;

use super::{MAX_TIMES, SockperfExchange, SockperfMode};

/// Seed of the sizes of messages.
const SIZE_SEED: u64 = 0x50C4;

pub(super) struct MessageSender<'a> {
    exchange: &'a SockperfExchange<'a>,
    /// Longest message; a shorter one is its beginning.
    message: Vec<u8>,
    /// Length of the messages of this burst.
    length: usize,
    /// Range of lengths.
    lengths: std::ops::RangeInclusive<usize>,
    /// Time between two bursts in nanoseconds; `None` = none.
    period_ns: Option<u64>,
    /// Time at which the next burst is due.
    due_ns: u64,
    sequence: u64,
    /// Number of bytes of all sent messages.
    pub(super) sent_bytes: u64,
    /// Whether a burst was waited for.
    pub(super) has_waited: bool,
    /// Times of the messages that request a reply, from the first one on.
    pub(super) times_ns: Vec<u64>,
}

impl<'a> MessageSender<'a> {
    pub(super) fn new(exchange: &'a SockperfExchange<'a>, start_ns: u64) -> Self {
        let test = exchange.test;
        let sizes = test.message_sizes();
        let (shortest, longest) = (*sizes.start() as usize, *sizes.end() as usize);
        let period_ns = test.messages_per_s.map(|rate| {
            u64::from(test.burst).saturating_mul(1_000_000_000) / u64::from(rate.max(1))
        });
        Self {
            exchange,
            message: (0..longest).map(|at| (at % 251) as u8).collect(),
            length: shortest,
            lengths: shortest..=longest,
            period_ns,
            due_ns: start_ns,
            sequence: 0,
            sent_bytes: 0,
            has_waited: false,
            times_ns: Vec::new(),
        }
    }

    /// Waits until the next burst is due, and chooses the length of its messages.
    pub(super) fn wait_for_burst(&mut self) {
        let (shortest, longest) = (*self.lengths.start(), *self.lengths.end());
        let count = (longest - shortest + 1) as u64;
        if count > 1 {
            let random = seed::mix(SIZE_SEED.wrapping_add(self.sequence));
            self.length = shortest + (random % count) as usize;
        }
        let Some(period_ns) = self.period_ns else { return };
        let period = self.exchange.period;
        if clock::now_ns() < self.due_ns {
            self.has_waited = true;
            wait_until(self.due_ns.min(period.deadline_ns), period.cancel);
        }
        self.due_ns = self.due_ns.saturating_add(period_ns);
    }

    /// Sends the next message; breaks at the end of the test.
    pub(super) fn send(&mut self) -> io::Result<ControlFlow<()>> {
        let test = self.exchange.test;
        let sequence = self.sequence + 1;
        let requests_reply = test.mode != SockperfMode::Throughput
            && sequence.is_multiple_of(test.reply_every.into());
        let message = &mut self.message[..self.length];
        let header = SockperfHeader {
            sequence,
            is_from_client: true,
            requests_reply,
            is_warm_up: false,
            length: self.length as u32,
        };
        header.encode(message);
        let now_ns = clock::now_ns();
        if self.exchange.period.is_over_at(now_ns) {
            return Ok(ControlFlow::Break(()));
        }
        // Before the message, because its reply may arrive before this thread runs again.
        self.exchange.sent.store(sequence, Ordering::Release);
        if requests_reply {
            self.times_ns.push(now_ns);
            if self.times_ns.len() >= MAX_TIMES {
                self.exchange.period.is_full.store(true, Ordering::Relaxed);
            }
        }
        match self.exchange.socket.send(message, |_| self.exchange.period.is_over()) {
            Ok(true) => {
                self.sequence = sequence;
                self.sent_bytes += self.length as u64;
                Ok(ControlFlow::Continue(()))
            }
            unsent => {
                self.exchange.sent.store(self.sequence, Ordering::Release);
                if requests_reply {
                    self.times_ns.pop();
                }
                unsent.map(|_| ControlFlow::Break(()))
            }
        }
    }

    /// Returns the message that was sent last.
    pub(super) fn last_message(&self) -> &[u8] {
        &self.message[..self.length]
    }
}
