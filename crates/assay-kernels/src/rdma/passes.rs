//! Timed RDMA passes over one connection: ping-pongs, single operations, and many in flight.
//!
//! Both ends prepare a pass, notify each other, and run it; contents are checked afterwards. One
//! end leads and reads the clock; the other replies, if the operation needs a reply.

use std::sync::atomic::{AtomicBool, Ordering, fence};

use super::abi::{self, CompletionQueue, Piece, ReceiveRequest, SendRequest};
use super::endpoint::{Connection, Endpoint};
use super::error::RdmaError;
use super::flow::Carried;
use crate::clock;

/// Sends of a ping-pong per signalled one: completions of the others are not reported.
const SIGNAL_EVERY: u64 = 32;
/// Polls between two checks of the clock and the cancel flag.
const PATIENT_POLLS: u32 = 1 << 14;
/// Time without a completion until a pass counts as stalled. Longer than a queue pair repeats a
/// packet before it gives up (7 timeouts of 67 ms, each up to four times as long: InfiniBand 1.4,
/// 9.7.6.1.3), and than any message of 8 MiB takes.
const PATIENCE_S: u64 = 30;
/// Maximum time that counts between two checks, which are milliseconds apart, even on emulated
/// processors. If more time has passed, this thread had no CPU, and may not have seen completions
/// yet.
const LOOK_COUNTS_NS: u64 = 100_000_000;

/// RDMA operation of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
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
pub struct Pass {
    /// Operation of the pass.
    pub operation: Operation,
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

/// Number of messages completed at a time after the first was posted, or after the first had
/// arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Number of messages.
    pub done: u64,
    /// Time in nanoseconds.
    pub at_ns: u64,
}

impl Endpoint {
    /// Default number of receive requests of each queue pair that are posted before the first
    /// message arrives: perftest's `DEF_RX_SEND`.
    pub const RECEIVES: u32 = 512;

    /// Returns the number of requests that queue pairs need for passes of this depth.
    #[must_use]
    pub fn room(depth: u64) -> u32 {
        depth.max(2 * SIGNAL_EVERY) as u32
    }

    /// Fills the memory to send, clears the memory to receive, and posts receive requests.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn prepare(&mut self, pass: &Pass, leads: bool) -> Result<(), RdmaError> {
        let bytes = pass.bytes as usize;
        for (at, byte) in self.source(bytes).iter_mut().enumerate() {
            *byte = content(at, leads);
        }
        self.sink(bytes).fill(0);
        if self.receives(pass, leads) {
            self.forget_late_datagrams()?;
            for at in 0..self.held.len() {
                for _ in 0..self.held[at].get().missing(pass.iterations) {
                    self.give(at)?;
                }
            }
        }
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Discards datagrams of the previous pass that arrived after they were given up, so that the
    /// next pass does not count them.
    fn forget_late_datagrams(&self) -> Result<(), RdmaError> {
        while self.connection == Connection::Ud
            && let Some(found) = self.poll(self.made.receive_queue)?
        {
            let mut held = self.held[found.id as usize].get();
            held.take(0);
            self.held[found.id as usize].set(held);
        }
        Ok(())
    }

    /// Posts memory for one message of the largest size: after datagrams, some requests remain for
    /// the next size.
    fn give(&self, at: usize) -> Result<(), RdmaError> {
        let mut piece = self.sink_piece(self.most_bytes);
        self.receive(at, &mut receive_request(&mut piece, at))?;
        let mut held = self.held[at].get();
        held.give();
        self.held[at].set(held);
        Ok(())
    }

    /// Accounts for a message that has arrived at a queue pair, with `to_come` messages still to
    /// arrive there.
    #[inline]
    pub(super) fn took(&self, at: usize, to_come: u64) -> Result<(), RdmaError> {
        let mut held = self.held[at].get();
        let gives = held.take(to_come);
        self.held[at].set(held);
        if gives { self.give(at) } else { Ok(()) }
    }

    /// Leads a pass of depth 1; returns the time of every round trip or operation in ns, in order.
    ///
    /// # Errors
    /// A request failed, no request completes any more, or the user interrupts.
    pub fn lead_one_by_one(
        &mut self,
        pass: &Pass,
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, RdmaError> {
        let mut starts_ns = vec![0_u64; pass.iterations as usize + 1];
        match pass.operation {
            Operation::Send => self.ping(pass, cancel, &mut starts_ns)?,
            Operation::Write => self.ping_by_writes(pass, cancel, &mut starts_ns)?,
            Operation::Read | Operation::FetchAdd => {
                self.ask_one_by_one(pass, cancel, &mut starts_ns)?;
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
        pass: &Pass,
        cancel: &AtomicBool,
    ) -> Result<Option<Carried>, RdmaError> {
        match pass.operation {
            _ if pass.depth > 1 && (pass.both || pass.operation == Operation::Send) => {
                return self.carry(pass, false, cancel).map(Some);
            }
            Operation::Send => self.pong(pass, cancel)?,
            Operation::Write if pass.depth == 1 => self.pong_by_writes(pass, cancel)?,
            // The device replies without the CPU.
            Operation::Write | Operation::Read | Operation::FetchAdd => {}
        }
        Ok(None)
    }

    /// Whether this end received the contents that the far end sent; true if nothing was to be
    /// received.
    #[must_use]
    pub fn is_right(&mut self, pass: &Pass, leads: bool) -> bool {
        fence(Ordering::SeqCst);
        let bytes = pass.bytes as usize;
        match pass.operation {
            Operation::FetchAdd if leads => true,
            Operation::FetchAdd => *self.sink(8) == pass.iterations.to_le_bytes(),
            Operation::Read if !leads && !pass.both => true,
            Operation::Send | Operation::Write if leads && pass.depth > 1 && !pass.both => true,
            // The last byte of a ping-pong by writes is a counter.
            Operation::Write if pass.depth == 1 => {
                let sink = self.sink(bytes);
                let (count, before) = sink.split_last().expect("a message has a byte");
                *count == counted(pass.iterations) && is_content(before, !leads)
            }
            _ => is_content(self.sink(bytes), !leads),
        }
    }

    /// Whether messages are received at this end.
    pub(super) const fn receives(&self, pass: &Pass, leads: bool) -> bool {
        matches!(pass.operation, Operation::Send) && (pass.depth == 1 || !leads || pass.both)
    }

    /// Returns the memory range that the leading end's requests send from, or receive into.
    pub(super) fn leading_piece(&self, pass: &Pass) -> Piece {
        match pass.operation {
            Operation::Send | Operation::Write => self.source_piece(pass.bytes),
            Operation::Read | Operation::FetchAdd => Piece {
                address: self.card.address,
                bytes: pass.bytes as u32,
                key: self.sink_piece(0).key,
            },
        }
    }

    pub(super) fn request(&self, pass: &Pass, piece: &mut Piece, at: usize) -> SendRequest {
        let (address, source, key) =
            self.far.as_ref().map_or((0, 0, 0), |far| (far.address, far.source, far.key));
        let (opcode, far) = match pass.operation {
            Operation::Send => {
                let is_datagram = self.connection == Connection::Ud;
                (abi::OPCODE_SEND, if is_datagram { self.datagram(at) } else { [0; 4] })
            }
            Operation::Write => (abi::OPCODE_WRITE, SendRequest::remote(address, key)),
            Operation::Read => (abi::OPCODE_READ, SendRequest::remote(source, key)),
            Operation::FetchAdd => {
                (abi::OPCODE_FETCH_ADD, SendRequest::fetch_add(address, key, 1))
            }
        };
        let mut request = SendRequest::new(opcode, piece, far);
        let sends = matches!(pass.operation, Operation::Send | Operation::Write);
        if sends && pass.bytes <= self.inline_bytes.into() {
            request.flags = abi::INLINE;
        }
        request
    }

    /// Runs a ping-pong; each send is timed by the start of the next one, as in perftest.
    fn ping(
        &self,
        pass: &Pass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut turn = Turn::new(self, pass, cancel);
        for (at, start_ns) in (1..=pass.iterations).zip(&mut *starts_ns) {
            *start_ns = clock::now_ns();
            turn.send(at)?;
            turn.receive()?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        turn.finish()
    }

    fn pong(&self, pass: &Pass, cancel: &AtomicBool) -> Result<(), RdmaError> {
        let mut turn = Turn::new(self, pass, cancel);
        for at in 1..=pass.iterations {
            turn.receive()?;
            turn.send(at)?;
        }
        turn.finish()
    }

    fn ping_by_writes(
        &mut self,
        pass: &Pass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut turn = Turn::new(self, pass, cancel);
        for (at, start_ns) in (1..=pass.iterations).zip(&mut *starts_ns) {
            *start_ns = clock::now_ns();
            turn.write(at)?;
            turn.see(at)?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        turn.finish()
    }

    fn pong_by_writes(&mut self, pass: &Pass, cancel: &AtomicBool) -> Result<(), RdmaError> {
        let mut turn = Turn::new(self, pass, cancel);
        for at in 1..=pass.iterations {
            turn.see(at)?;
            turn.write(at)?;
        }
        turn.finish()
    }

    fn ask_one_by_one(
        &self,
        pass: &Pass,
        cancel: &AtomicBool,
        starts_ns: &mut [u64],
    ) -> Result<(), RdmaError> {
        let mut piece = self.leading_piece(pass);
        let mut request = self.request(pass, &mut piece, 0);
        request.flags |= abi::SIGNALED;
        let mut patience = Patience::new(cancel);
        for start_ns in &mut starts_ns[..pass.iterations as usize] {
            *start_ns = clock::now_ns();
            self.send(0, &mut request)?;
            self.wait(self.made.send_queue, &mut patience)?;
        }
        starts_ns[pass.iterations as usize] = clock::now_ns();
        Ok(())
    }

    /// Polls until a request has completed.
    #[inline]
    fn wait(
        &self,
        queue: *mut CompletionQueue,
        patience: &mut Patience<'_>,
    ) -> Result<(), RdmaError> {
        while self.poll(queue)?.is_none() {
            patience.spend()?;
        }
        patience.renew()
    }
}

/// State of one end in a ping-pong.
struct Turn<'e> {
    end: &'e Endpoint,
    request: SendRequest,
    /// Memory entries that the requests point to.
    pieces: Box<[Piece; 2]>,
    plain: u32,
    bytes: u64,
    iterations: u64,
    /// Messages received.
    received: u64,
    /// Signalled sends that have not completed.
    pending: u64,
    patience: Patience<'e>,
}

impl<'e> Turn<'e> {
    fn new(end: &'e Endpoint, pass: &Pass, cancel: &'e AtomicBool) -> Self {
        let mut pieces = Box::new([end.leading_piece(pass), end.sink_piece(pass.bytes)]);
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
            patience: Patience::new(cancel),
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
        self.end.wait(self.end.made.receive_queue, &mut self.patience)?;
        self.received += 1;
        self.end.took(0, self.iterations - self.received)
    }

    /// Sends a message whose last byte is a counter.
    #[inline]
    fn write(&mut self, at: u64) -> Result<(), RdmaError> {
        let last = self.end.memory.as_ptr().wrapping_add(self.bytes as usize - 1);
        // SAFETY: within the memory of this end; only this thread and the device use it.
        unsafe { last.write_volatile(counted(at)) };
        fence(Ordering::SeqCst);
        self.send(at)
    }

    /// Polls until the far end's message of this number has arrived.
    #[inline]
    fn see(&mut self, at: u64) -> Result<(), RdmaError> {
        let sink = self.pieces[1].address + self.bytes - 1;
        let last = std::ptr::with_exposed_provenance::<u8>(sink as usize);
        // SAFETY: within the memory of this end, which the device writes.
        while unsafe { last.read_volatile() } != counted(at) {
            if self.pending > 0 && self.end.poll(self.end.made.send_queue)?.is_some() {
                self.pending -= 1;
            }
            self.patience.spend()?;
        }
        self.patience.renew()
    }

    /// Waits until no send is pending.
    fn finish(&mut self) -> Result<(), RdmaError> {
        while self.pending > 0 {
            self.end.wait(self.end.made.send_queue, &mut self.patience)?;
            self.pending -= 1;
        }
        Ok(())
    }
}

/// Stall timeout and cancellation of a polling end.
pub(super) struct Patience<'c> {
    cancel: &'c AtomicBool,
    polls: u32,
    /// Time of the last check since a completion; 0 = none yet.
    looked_ns: u64,
    waited_ns: u64,
}

impl<'c> Patience<'c> {
    #[inline]
    pub(super) const fn new(cancel: &'c AtomicBool) -> Self {
        Self { cancel, polls: 0, looked_ns: 0, waited_ns: 0 }
    }

    /// Resets the timeout after a completion. Also checks the cancel flag: on a fast link
    /// completions never pause.
    #[inline]
    pub(super) fn renew(&mut self) -> Result<(), RdmaError> {
        (self.looked_ns, self.waited_ns) = (0, 0);
        self.spend()
    }

    /// Counts an unsuccessful poll, and checks the time and the cancel flag now and then. Polls
    /// without a pause instruction, which takes 140 cycles from Skylake on and would be included in
    /// every latency; perftest does not pause either.
    #[inline]
    pub(super) fn spend(&mut self) -> Result<(), RdmaError> {
        self.polls += 1;
        if self.polls < PATIENT_POLLS { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> Result<(), RdmaError> {
        self.polls = 0;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(RdmaError::Interrupted);
        }
        let now_ns = clock::now_ns();
        if self.looked_ns > 0 {
            self.waited_ns += (now_ns - self.looked_ns).min(LOOK_COUNTS_NS);
        }
        self.looked_ns = now_ns;
        if self.waited_ns > PATIENCE_S * 1_000_000_000 {
            return Err(RdmaError::Stalled { seconds: PATIENCE_S });
        }
        Ok(())
    }
}

const fn receive_request(piece: &mut Piece, at: usize) -> ReceiveRequest {
    ReceiveRequest { id: at as u64, next: std::ptr::null_mut(), pieces: piece, piece_count: 1 }
}

/// Returns the last byte of write number `at`, from 1: different from that of the previous write,
/// and from the zero of memory in which no message has arrived.
const fn counted(at: u64) -> u8 {
    (at % 251) as u8 + 1
}

/// Returns byte `at` of the messages of an end, in a sequence that repeats nowhere within a
/// message.
const fn content(at: usize, leads: bool) -> u8 {
    let mixed = (at as u64 ^ (leads as u64) << 63).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

fn is_content(bytes: &[u8], leads: bool) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| *byte == content(at, leads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_of_the_two_ends_differ_and_a_shifted_message_is_wrong() {
        let sent: Vec<u8> = (0..4096).map(|at| content(at, true)).collect();
        assert!(is_content(&sent, true));
        assert!(!is_content(&sent, false));
        assert!(!is_content(&sent[1..], true));
        assert!(!is_content(&vec![0; 4096], true));
        let mut damaged = sent;
        damaged[4095] ^= 1;
        assert!(!is_content(&damaged, true));
    }

    #[test]
    fn whoever_wants_to_stop_is_heard_while_messages_come() {
        let cancel = AtomicBool::new(true);
        let mut patience = Patience::new(&cancel);
        let ended = (0..PATIENT_POLLS).find_map(|_| patience.renew().err());
        assert!(matches!(ended, Some(RdmaError::Interrupted)));
        let go_on = AtomicBool::new(false);
        let long = PATIENCE_S * 1_000_000_000 + 1;
        // Without a CPU since the machine started, no waiting time was counted.
        for (looked_ns, waited_ns, has_come, is_stalled) in
            [(0, long, false, true), (0, long, true, false), (1, 0, false, false)]
        {
            let mut patience = Patience::new(&go_on);
            (patience.looked_ns, patience.waited_ns) = (looked_ns, waited_ns);
            if has_come {
                patience.renew().unwrap();
            }
            let ended = (0..PATIENT_POLLS).find_map(|_| patience.spend().err());
            let stalled = matches!(ended, Some(RdmaError::Stalled { .. }));
            assert_eq!(stalled, is_stalled);
        }
    }

    #[test]
    fn counts_differ_from_their_neighbours_and_from_nothing() {
        for at in 1..1000 {
            assert_ne!(counted(at), 0);
            assert_ne!(counted(at), counted(at + 1));
        }
    }
}
