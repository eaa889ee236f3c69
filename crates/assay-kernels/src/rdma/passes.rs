//! Timed RDMA passes over one connection: ping-pongs, single operations, and many in flight.
//!
//! Both ends prepare a pass, notify each other, and run it; contents are checked afterwards. One
//! end leads and reads the clock; the other replies, if the operation needs a reply.

use std::sync::atomic::{AtomicBool, Ordering, fence};

use super::abi::{self, CompletionQueue, ReceiveRequest, ScatterGatherEntry, SendRequest};
use super::endpoint::Endpoint;
use super::endpoint_config::Connection;
use super::error::RdmaError;
use super::pass_result::PassResult;
use crate::clock;

/// Sends of a ping-pong per signalled one: completions of the others are not reported.
const SIGNAL_EVERY: u64 = 32;
/// Polls between two checks of the clock and the cancel flag.
const POLLS_PER_CHECK: u32 = 1 << 14;
/// Time without a completion until a pass counts as stalled. Longer than a queue pair repeats a
/// packet before it gives up (7 timeouts of 67 ms, each up to four times as long: InfiniBand 1.4,
/// 9.7.6.1.3), and than any message of 8 MiB takes.
const STALL_TIMEOUT_S: u64 = 30;
/// Maximum time that counts between two checks, which are milliseconds apart, even on emulated
/// processors. If more time has passed, this thread had no CPU, and may not have seen completions
/// yet.
const MAX_COUNTED_NS: u64 = 100_000_000;

/// Distance of the numbers that the atomic operations of a queue pair take turns on, and how many there are: a
/// page, as in perftest (`INC` and `cycle_buffer`).
const COUNTER_STRIDE: u64 = 64;
const COUNTERS: u64 = 64;

/// RDMA operation of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdmaOperation {
    /// Messages that the far end receives.
    Send,
    /// Writes into the far end's memory.
    Write,
    /// Reads of the far end's memory.
    Read,
    /// Atomic fetch-and-add on 8 bytes of the far end's memory.
    FetchAdd,
}

/// Timed pass with one message size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RdmaPass {
    /// Operation of the pass.
    pub operation: RdmaOperation,
    /// Requests in flight on each queue pair; 1 = one after another, each with its reply.
    pub depth: u64,
    /// Whether both ends lead at the same time.
    pub both: bool,
    /// Size of a message.
    pub bytes: u64,
    /// Number of messages on each queue pair.
    pub iterations: u64,
    /// Requests per signalled completion (perftest's `cq_mod`); `None` = 100, or half of those in
    /// flight.
    pub moderation: Option<u64>,
}

/// Returns the additions that number `at` of a queue pair receives from this many operations.
const fn additions(operations: u64, at: u64) -> u64 {
    operations / COUNTERS + (at < operations % COUNTERS) as u64
}

impl Endpoint {
    /// Default number of receive requests of each queue pair that are posted before the first
    /// message arrives: perftest's `DEF_RX_SEND`.
    pub const DEFAULT_RECEIVES: u32 = 512;

    /// Returns the number of requests that queue pairs need for passes of this depth.
    pub fn queue_depth(depth: u64) -> u32 {
        depth.max(2 * SIGNAL_EVERY) as u32
    }

    /// Fills the memory to send, clears the memory to receive, and posts receive requests.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn prepare(&mut self, pass: &RdmaPass, leads: bool) -> Result<(), RdmaError> {
        let bytes = pass.bytes as usize;
        for (at, byte) in self.source(bytes).iter_mut().enumerate() {
            *byte = content_byte(at, leads);
        }
        let cleared_bytes = match pass.operation {
            RdmaOperation::FetchAdd => self.max_message_bytes as usize,
            RdmaOperation::Send | RdmaOperation::Write | RdmaOperation::Read => bytes,
        };
        self.sink(cleared_bytes).fill(0);
        if self.receives(pass, leads) {
            self.discard_late_datagrams()?;
            for at in 0..self.posted_receives.len() {
                for _ in 0..self.posted_receives[at].get().missing(pass.iterations) {
                    self.post_receive_buffer(at)?;
                }
            }
        }
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Discards datagrams of the previous pass that arrived after they were given up, so that the
    /// next pass does not count them.
    fn discard_late_datagrams(&self) -> Result<(), RdmaError> {
        while self.connection == Connection::Ud
            && let Some(found) = self.poll(self.verbs.receive_queue)?
        {
            let mut held = self.posted_receives[found.id as usize].get();
            held.consume(0);
            self.posted_receives[found.id as usize].set(held);
        }
        Ok(())
    }

    /// Posts memory for one message of the largest size: after datagrams, some requests remain for
    /// the next size.
    fn post_receive_buffer(&self, at: usize) -> Result<(), RdmaError> {
        let mut piece = self.sink_entry(self.max_message_bytes);
        self.receive(at, &mut receive_request(&mut piece, at))?;
        let mut held = self.posted_receives[at].get();
        held.post();
        self.posted_receives[at].set(held);
        Ok(())
    }

    /// Accounts for a message that has arrived at a queue pair, with `to_come` messages still to
    /// arrive there.
    #[inline]
    pub(super) fn message_received(&self, at: usize, to_come: u64) -> Result<(), RdmaError> {
        let mut held = self.posted_receives[at].get();
        let gives = held.consume(to_come);
        self.posted_receives[at].set(held);
        if gives { self.post_receive_buffer(at) } else { Ok(()) }
    }

    /// Leads a pass of depth 1; returns the time of every round trip or operation in ns, in order.
    ///
    /// # Errors
    /// A request failed, no request completes any more, or the user interrupts.
    pub fn lead_one_by_one(
        &mut self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, RdmaError> {
        let mut starts_ns = vec![0_u64; pass.iterations as usize + 1];
        match pass.operation {
            RdmaOperation::Send => self.ping(pass, cancel, &mut starts_ns)?,
            RdmaOperation::Write => self.ping_by_writes(pass, cancel, &mut starts_ns)?,
            RdmaOperation::Read | RdmaOperation::FetchAdd => {
                self.request_one_by_one(pass, cancel, &mut starts_ns)?;
            }
        }
        Ok(starts_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect())
    }

    /// Runs the part of the end that does not lead until the pass is over; returns the result of
    /// passes with many requests in flight.
    ///
    /// # Errors
    /// The same as for [`Endpoint::lead_one_by_one`].
    pub fn follow(
        &mut self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
    ) -> Result<Option<PassResult>, RdmaError> {
        match pass.operation {
            _ if pass.depth > 1 && (pass.both || pass.operation == RdmaOperation::Send) => {
                return self.run_pass(pass, false, cancel).map(Some);
            }
            RdmaOperation::Send => self.pong(pass, cancel)?,
            RdmaOperation::Write if pass.depth == 1 => self.pong_by_writes(pass, cancel)?,
            // The device replies without the CPU.
            RdmaOperation::Write | RdmaOperation::Read | RdmaOperation::FetchAdd => {}
        }
        Ok(None)
    }

    /// Whether this end received the contents that the far end sent; true if nothing was to be
    /// received.
    pub fn has_expected_contents(&mut self, pass: &RdmaPass, leads: bool) -> bool {
        fence(Ordering::SeqCst);
        let bytes = pass.bytes as usize;
        match pass.operation {
            RdmaOperation::FetchAdd => (leads && !pass.both) || self.has_all_additions(pass),
            RdmaOperation::Read if !leads && !pass.both => true,
            RdmaOperation::Send | RdmaOperation::Write
                if leads && pass.depth > 1 && !pass.both =>
            {
                true
            }
            // The last byte of a ping-pong by writes is a counter.
            RdmaOperation::Write if pass.depth == 1 => {
                let sink = self.sink(bytes);
                let (count, before) = sink.split_last().expect("a message has a byte");
                *count == write_counter(pass.iterations) && matches_content(before, !leads)
            }
            _ => matches_content(self.sink(bytes), !leads),
        }
    }

    /// Returns the memory of the numbers of this many queue pairs.
    pub fn counter_bytes(queue_pairs: u32) -> u64 {
        u64::from(queue_pairs) * COUNTERS * COUNTER_STRIDE
    }

    /// Returns the distance of the number of a queue pair's atomic operation, counted from 0, from the first one.
    pub(super) const fn counter_offset(operation: u64) -> u64 {
        operation % COUNTERS * COUNTER_STRIDE
    }

    /// Whether each number at this end received the far end's additions.
    fn has_all_additions(&mut self, pass: &RdmaPass) -> bool {
        if pass.depth == 1 {
            return *self.sink(8) == pass.iterations.to_le_bytes();
        }
        let pairs = self.verbs.queue_pairs.len();
        let sink = self.sink(pairs * (COUNTERS * COUNTER_STRIDE) as usize);
        let numbers = sink.chunks_exact(COUNTER_STRIDE as usize).zip((0..COUNTERS).cycle());
        numbers
            .into_iter()
            .all(|(line, at)| line[..8] == additions(pass.iterations, at).to_le_bytes())
    }

    /// Whether messages are received at this end.
    pub(super) const fn receives(&self, pass: &RdmaPass, leads: bool) -> bool {
        matches!(pass.operation, RdmaOperation::Send)
            && (pass.depth == 1 || !leads || pass.both)
    }

    /// Returns the memory range that the leading end's requests send from, or receive into.
    pub(super) fn leading_entry(&self, pass: &RdmaPass) -> ScatterGatherEntry {
        match pass.operation {
            // The previous numbers, which are not used, replace what no atomic operation sends.
            RdmaOperation::Send | RdmaOperation::Write | RdmaOperation::FetchAdd => {
                self.source_entry(pass.bytes)
            }
            RdmaOperation::Read => ScatterGatherEntry {
                address: self.info.address,
                bytes: pass.bytes as u32,
                key: self.sink_entry(0).key,
            },
        }
    }

    pub(super) fn request(
        &self,
        pass: &RdmaPass,
        piece: &mut ScatterGatherEntry,
        at: usize,
    ) -> SendRequest {
        let (address, source, key) =
            self.far.as_ref().map_or((0, 0, 0), |far| (far.address, far.source, far.key));
        let (opcode, far) = match pass.operation {
            RdmaOperation::Send => {
                let is_datagram = self.connection == Connection::Ud;
                (abi::OPCODE_SEND, if is_datagram { self.datagram(at) } else { [0; 4] })
            }
            RdmaOperation::Write => (abi::OPCODE_WRITE, SendRequest::remote(address, key)),
            RdmaOperation::Read => (abi::OPCODE_READ, SendRequest::remote(source, key)),
            RdmaOperation::FetchAdd => {
                let address = address + Self::counter_bytes(at as u32);
                (abi::OPCODE_FETCH_ADD, SendRequest::fetch_add(address, key, 1))
            }
        };
        let mut request = SendRequest::new(opcode, piece, far);
        let sends = matches!(pass.operation, RdmaOperation::Send | RdmaOperation::Write);
        if sends && pass.bytes <= self.inline_bytes.into() {
            request.flags = abi::INLINE;
        }
        request
    }

    /// Runs a ping-pong; each send is timed by the start of the next one, as in perftest.
    fn ping(
        &self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut turn = PingPongEnd::new(self, pass, cancel);
        for (at, start_ns) in (1..=pass.iterations).zip(&mut *starts_ns) {
            *start_ns = clock::now_ns();
            turn.send(at)?;
            turn.receive()?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        turn.finish()
    }

    fn pong(&self, pass: &RdmaPass, cancel: &AtomicBool) -> Result<(), RdmaError> {
        let mut turn = PingPongEnd::new(self, pass, cancel);
        for at in 1..=pass.iterations {
            turn.receive()?;
            turn.send(at)?;
        }
        turn.finish()
    }

    fn ping_by_writes(
        &mut self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut turn = PingPongEnd::new(self, pass, cancel);
        for (at, start_ns) in (1..=pass.iterations).zip(&mut *starts_ns) {
            *start_ns = clock::now_ns();
            turn.write(at)?;
            turn.wait_for_write(at)?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        turn.finish()
    }

    fn pong_by_writes(
        &mut self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
    ) -> Result<(), RdmaError> {
        let mut turn = PingPongEnd::new(self, pass, cancel);
        for at in 1..=pass.iterations {
            turn.wait_for_write(at)?;
            turn.write(at)?;
        }
        turn.finish()
    }

    fn request_one_by_one(
        &self,
        pass: &RdmaPass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut piece = self.leading_entry(pass);
        let mut request = self.request(pass, &mut piece, 0);
        request.flags |= abi::SIGNALED;
        let mut patience = SpinTimeout::new(cancel);
        for start_ns in &mut starts_ns[..pass.iterations as usize] {
            *start_ns = clock::now_ns();
            self.send(0, &mut request)?;
            self.wait(self.verbs.send_queue, &mut patience)?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        Ok(())
    }

    /// Polls until a request has completed.
    #[inline]
    fn wait(
        &self,
        queue: *mut CompletionQueue,
        patience: &mut SpinTimeout<'_>,
    ) -> Result<(), RdmaError> {
        while self.poll(queue)?.is_none() {
            patience.count_poll()?;
        }
        patience.reset()
    }
}

/// State of one end in a ping-pong.
struct PingPongEnd<'e> {
    end: &'e Endpoint,
    request: SendRequest,
    /// Memory entries that the requests point to.
    pieces: Box<[ScatterGatherEntry; 2]>,
    plain: u32,
    bytes: u64,
    iterations: u64,
    /// Messages received.
    received: u64,
    /// Signalled sends that have not completed.
    pending: u64,
    patience: SpinTimeout<'e>,
}

impl<'e> PingPongEnd<'e> {
    fn new(end: &'e Endpoint, pass: &RdmaPass, cancel: &'e AtomicBool) -> Self {
        let mut pieces = Box::new([end.leading_entry(pass), end.sink_entry(pass.bytes)]);
        let request = end.request(pass, &mut pieces[0], 0);
        Self {
            end,
            plain: request.flags,
            request,
            pieces,
            bytes: pass.bytes,
            iterations: pass.iterations,
            received: 0,
            pending: 0,
            patience: SpinTimeout::new(cancel),
        }
    }

    #[inline]
    fn send(&mut self, at: u64) -> Result<(), RdmaError> {
        let is_signalled = at.is_multiple_of(SIGNAL_EVERY) || at == self.iterations;
        self.request.flags = self.plain;
        if is_signalled {
            // Completion of the previous signalled send frees the queue.
            self.finish()?;
            self.request.flags |= abi::SIGNALED;
            self.pending += 1;
        }
        self.end.send(0, &mut self.request)
    }

    #[inline]
    fn receive(&mut self) -> Result<(), RdmaError> {
        self.end.wait(self.end.verbs.receive_queue, &mut self.patience)?;
        self.received += 1;
        self.end.message_received(0, self.iterations - self.received)
    }

    /// Sends a message whose last byte is a counter.
    #[inline]
    fn write(&mut self, at: u64) -> Result<(), RdmaError> {
        let last = self.end.memory.as_ptr().wrapping_add(self.bytes as usize - 1);
        // SAFETY: within the memory of this end; only this thread and the device use it.
        unsafe { last.write_volatile(write_counter(at)) };
        fence(Ordering::SeqCst);
        self.send(at)
    }

    /// Polls until the far end's message of this number has arrived.
    #[inline]
    fn wait_for_write(&mut self, at: u64) -> Result<(), RdmaError> {
        let sink = self.pieces[1].address + self.bytes - 1;
        let last = std::ptr::with_exposed_provenance::<u8>(sink as usize);
        // SAFETY: within the memory of this end, which the device writes.
        while unsafe { last.read_volatile() } != write_counter(at) {
            if self.pending > 0 && self.end.poll(self.end.verbs.send_queue)?.is_some() {
                self.pending -= 1;
            }
            self.patience.count_poll()?;
        }
        self.patience.reset()
    }

    /// Waits until no send is pending.
    fn finish(&mut self) -> Result<(), RdmaError> {
        while self.pending > 0 {
            self.end.wait(self.end.verbs.send_queue, &mut self.patience)?;
            self.pending -= 1;
        }
        Ok(())
    }
}

/// Stall timeout and cancellation of a polling end.
pub(super) struct SpinTimeout<'c> {
    cancel: &'c AtomicBool,
    polls: u32,
    /// Time of the last check since a completion; 0 = none yet.
    checked_ns: u64,
    waited_ns: u64,
}

impl<'c> SpinTimeout<'c> {
    #[inline]
    pub(super) const fn new(cancel: &'c AtomicBool) -> Self {
        Self { cancel, polls: 0, checked_ns: 0, waited_ns: 0 }
    }

    /// Resets the timeout after a completion. Also checks the cancel flag: on a fast link
    /// completions never pause.
    #[inline]
    pub(super) fn reset(&mut self) -> Result<(), RdmaError> {
        (self.checked_ns, self.waited_ns) = (0, 0);
        self.count_poll()
    }

    /// Counts an unsuccessful poll, and checks the time and the cancel flag now and then. Polls
    /// without a pause instruction, which takes 140 cycles from Skylake on and would be included in
    /// every latency; perftest does not pause either.
    #[inline]
    pub(super) fn count_poll(&mut self) -> Result<(), RdmaError> {
        self.polls += 1;
        if self.polls < POLLS_PER_CHECK { Ok(()) } else { self.check() }
    }

    #[cold]
    fn check(&mut self) -> Result<(), RdmaError> {
        self.polls = 0;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(RdmaError::Interrupted);
        }
        let now_ns = clock::now_ns();
        if self.checked_ns > 0 {
            self.waited_ns += (now_ns - self.checked_ns).min(MAX_COUNTED_NS);
        }
        self.checked_ns = now_ns;
        if self.waited_ns > STALL_TIMEOUT_S * 1_000_000_000 {
            return Err(RdmaError::Stalled { seconds: STALL_TIMEOUT_S });
        }
        Ok(())
    }
}

const fn receive_request(piece: &mut ScatterGatherEntry, at: usize) -> ReceiveRequest {
    ReceiveRequest { id: at as u64, next: std::ptr::null_mut(), pieces: piece, piece_count: 1 }
}

/// Returns the last byte of write number `at`, from 1: different from that of the previous write,
/// and from the zero of memory in which no message has arrived.
const fn write_counter(at: u64) -> u8 {
    (at % 251) as u8 + 1
}

/// Returns byte `at` of the messages of an end, in a sequence that repeats nowhere within a
/// message.
const fn content_byte(at: usize, leads: bool) -> u8 {
    let mixed = (at as u64 ^ (leads as u64) << 63).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

fn matches_content(bytes: &[u8], leads: bool) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| *byte == content_byte(at, leads))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation of a queue pair adds to one of its numbers.
    #[test]
    fn numbers_receive_all_additions() {
        for operations in [1, 63, 64, 65, 1000] {
            let received: u64 = (0..COUNTERS).map(|at| additions(operations, at)).sum();
            assert_eq!(received, operations);
        }
        assert_eq!((additions(65, 0), additions(65, 1)), (2, 1));
        assert_eq!((Endpoint::counter_offset(1), Endpoint::counter_offset(64)), (64, 0));
        assert_eq!(Endpoint::counter_bytes(3), 3 * 4096);
    }

    #[test]
    fn detects_shifted_and_swapped_contents() {
        let sent: Vec<u8> = (0..4096).map(|at| content_byte(at, true)).collect();
        assert!(matches_content(&sent, true));
        assert!(!matches_content(&sent, false));
        assert!(!matches_content(&sent[1..], true));
        assert!(!matches_content(&vec![0; 4096], true));
        let mut damaged = sent;
        damaged[4095] ^= 1;
        assert!(!matches_content(&damaged, true));
    }

    #[test]
    fn cancellation_is_checked_while_messages_arrive() {
        let cancel = AtomicBool::new(true);
        let mut patience = SpinTimeout::new(&cancel);
        let ended = (0..POLLS_PER_CHECK).find_map(|_| patience.reset().err());
        assert!(matches!(ended, Some(RdmaError::Interrupted)));
        let go_on = AtomicBool::new(false);
        let long = STALL_TIMEOUT_S * 1_000_000_000 + 1;
        // Without a CPU since the machine started, no waiting time was counted.
        for (looked_ns, waited_ns, has_come, is_stalled) in
            [(0, long, false, true), (0, long, true, false), (1, 0, false, false)]
        {
            let mut patience = SpinTimeout::new(&go_on);
            (patience.checked_ns, patience.waited_ns) = (looked_ns, waited_ns);
            if has_come {
                patience.reset().unwrap();
            }
            let ended = (0..POLLS_PER_CHECK).find_map(|_| patience.count_poll().err());
            let stalled = matches!(ended, Some(RdmaError::Stalled { .. }));
            assert_eq!(stalled, is_stalled);
        }
    }

    #[test]
    fn write_counters_differ_from_neighbours_and_zero() {
        for at in 1..1000 {
            assert_ne!(write_counter(at), 0);
            assert_ne!(write_counter(at), write_counter(at + 1));
        }
    }
}
