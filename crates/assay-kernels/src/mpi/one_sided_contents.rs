//! Contents of one-sided operations in the validation pass. Each rank knows what its memory and its
//! receive buffer contain afterwards.

use assay_model::benchmark::{MpiBenchmarkKind, RemoteOperation};

use super::abi::Handle;
use super::calls::MpiResult;
use super::contents::{fill_bytes, message_seed, number_bytes, sum_bytes};
use super::one_sided::HAS_WINDOW;
use super::prepared_benchmark::PreparedBenchmark;

/// Added to the expected value of a compare-and-swap that must not swap.
const OTHER_VALUE: u64 = 1;

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Runs one turn. Returns whether each message that changed this rank's memory or arrived in
    /// its receive buffer is correct.
    pub(super) fn validate_remote(
        &mut self,
        operation: RemoteOperation,
        turn: u64,
    ) -> MpiResult<Vec<bool>> {
        let (rank, peer) = (self.comm.rank, 1 - self.comm.rank);
        let mut sent = self.remote_contents(operation, turn, rank, Side::Buffer);
        if operation == RemoteOperation::CompareAndSwap {
            let added = if swaps(turn) { 0 } else { OTHER_VALUE };
            sent.extend(number_bytes(self.element, 1, turn, peer, added));
        }
        self.send.as_mut_slice::<u8>()[..sent.len()].copy_from_slice(&sent);
        self.receive.as_mut_slice::<u8>().fill(0xff);
        let before = self.remote_contents(operation, turn, rank, Side::Window);
        self.write_window(&before);
        self.comm.barrier()?;
        let exchange = self.one_sided_turn(operation);
        let is_active = exchange.window().synchronization.is_active();
        if rank == 0 || is_active {
            exchange.window().begin_passive()?;
            exchange.run()?;
            exchange.window().end_passive()?;
        }
        self.comm.barrier()?;
        let is_mutual = match self.kind {
            MpiBenchmarkKind::RemoteBidirectional => true,
            kind => is_active && !kind.is_windowed(),
        };
        let mut correct = Vec::new();
        let after = self.window_afterwards(operation, turn);
        if let Some(after) = after.filter(|_| rank != 0 || is_mutual) {
            correct.extend(self.compare(&after, &self.read_window(after.len())?));
        }
        if (rank == 0 || is_mutual)
            && !matches!(operation, RemoteOperation::Put | RemoteOperation::Accumulate)
        {
            let received = self.remote_contents(operation, turn, peer, Side::Window);
            let found = &self.receive.as_slice::<u8>()[..received.len()];
            correct.extend(self.compare(&received, found));
        }
        Ok(correct)
    }

    /// Returns the contents of a rank's send buffer or window before the turn.
    fn remote_contents(
        &self,
        operation: RemoteOperation,
        turn: u64,
        rank: i32,
        side: Side,
    ) -> Vec<u8> {
        let bytes = self.message_bytes as usize;
        if operation.has_elements() {
            let elements = bytes / self.element.bytes();
            return number_bytes(self.element, elements, turn, rank, 0);
        }
        let mut contents = vec![0; bytes * self.in_flight];
        let first_slot = if side == Side::Window { self.in_flight } else { 0 };
        for (slot, message) in (first_slot..).zip(contents.chunks_exact_mut(bytes.max(1))) {
            fill_bytes(message, message_seed(turn, rank, slot));
        }
        contents
    }

    /// Returns the contents of this rank's window after the turn; `None` if nothing changes them.
    fn window_afterwards(&self, operation: RemoteOperation, turn: u64) -> Option<Vec<u8>> {
        let (rank, peer) = (self.comm.rank, 1 - self.comm.rank);
        let elements = self.message_bytes as usize / self.element.bytes();
        match operation {
            RemoteOperation::Get => None,
            RemoteOperation::Put => {
                Some(self.remote_contents(operation, turn, peer, Side::Buffer))
            }
            RemoteOperation::CompareAndSwap => {
                let last_writer = if swaps(turn) { peer } else { rank };
                Some(number_bytes(self.element, elements, turn, last_writer, 0))
            }
            RemoteOperation::Accumulate
            | RemoteOperation::GetAccumulate
            | RemoteOperation::FetchAndOp => {
                Some(sum_bytes(self.element, 0, elements, turn, self.comm.size))
            }
        }
    }

    /// Compares message by message.
    fn compare(&self, expected: &[u8], found: &[u8]) -> Vec<bool> {
        let length = (self.message_bytes as usize).max(1);
        expected.chunks(length).zip(found.chunks(length)).map(|(a, b)| a == b).collect()
    }

    fn write_window(&mut self, contents: &[u8]) {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        // SAFETY: the window has as many bytes here, and no rank accesses them before the barrier.
        unsafe { window.base.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
    }

    /// Reads this rank's window. Locking it once makes the writes of a passive access visible.
    fn read_window(&self, length: usize) -> MpiResult<Vec<u8>> {
        let window = self.window.as_ref().expect(HAS_WINDOW);
        let is_passive = !window.synchronization.is_active();
        if is_passive {
            window.lock(self.comm.rank)?;
        }
        // SAFETY: the window has as many bytes here, and no rank writes them any more.
        let contents = unsafe { std::slice::from_raw_parts(window.base, length) }.to_vec();
        if is_passive {
            window.unlock(self.comm.rank)?;
        }
        Ok(contents)
    }
}

/// Memory of a rank before the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Buffer that operations read on this rank.
    Buffer,
    /// Window that the other rank accesses.
    Window,
}

/// Returns whether compare-and-swap expects the true value in this turn.
const fn swaps(turn: u64) -> bool {
    turn.is_multiple_of(2)
}
