//! Benchmarks between two ranks with persistent requests, which are created before the timed loop and
//! started in each turn.

use assay_model::benchmark::MpiBenchmarkKind;

use super::abi::Handle;
use super::calls::MpiResult;
use super::figures::MpiFigures;
use super::pairs::{
    ACK_BYTES, ACK_TAG, DATA_TAG, PING_TAG, PairRole, REVERSE_DATA_TAG, pair_role,
};
use super::prepared_benchmark::PreparedBenchmark;
use super::timing::{EachTurn, MpiPass, TurnTimer, WholeBatch};

impl<H: Handle> PreparedBenchmark<'_, H> {
    /// Times ping-pongs; the result is a half round trip of rank 0.
    pub(super) fn time_persistent_latency(&mut self, pass: &MpiPass) -> MpiResult<MpiFigures> {
        let elapsed_s = self.time_persistent(&WholeBatch(pass))?;
        let first_s = elapsed_s.and_then(|times| times.first().copied()).unwrap_or_default();
        Ok(MpiFigures::Latency { seconds: first_s / pass.iterations as f64 })
    }

    /// Returns the payload over the time of rank 0.
    pub(super) fn measure_persistent_bandwidth(
        &mut self,
        pass: &MpiPass,
    ) -> MpiResult<MpiFigures> {
        let own_s = self.time_persistent(&WholeBatch(pass))?;
        self.divide_payload(own_s, pass)
    }

    /// Returns the seconds of each half round trip or window of rank 0.
    pub(super) fn time_each_persistent(
        &mut self,
        warm_up: u64,
        count: usize,
    ) -> MpiResult<Vec<f64>> {
        let own_s = self.time_persistent(&EachTurn { warm_up, count })?;
        self.average_pairs(own_s, count)
    }

    /// Times turns; the times are valid on rank 0. Those of ping-pongs are halved.
    fn time_persistent(&mut self, timer: &impl TurnTimer) -> MpiResult<Option<Vec<f64>>> {
        let Some(role) = pair_role(self.comm) else { return Ok(None) };
        let comm = self.comm;
        self.create_requests(role)?;
        let (sends, receives) = self.requests.split_at_mut(self.in_flight);
        let mut ack = [0_u8; ACK_BYTES as usize];
        let ack = ack.as_mut_ptr();
        let PairRole { peer, is_lower } = role;
        let times = match (self.kind, is_lower) {
            (MpiBenchmarkKind::PersistentBidirectional, _) => timer.time_turns(comm, || {
                comm.start_all(receives)?;
                comm.start_all(sends)?;
                comm.wait_all(sends)?;
                comm.wait_all(receives)
            })?,
            (MpiBenchmarkKind::PersistentBandwidth, true) => timer.time_turns(comm, || {
                comm.start_all(sends)?;
                comm.wait_all(sends)?;
                // SAFETY: room for the acknowledgement.
                unsafe { comm.receive(ack, ACK_BYTES, peer, ACK_TAG) }
            })?,
            (MpiBenchmarkKind::PersistentBandwidth, false) => timer.time_turns(comm, || {
                comm.start_all(receives)?;
                comm.wait_all(receives)?;
                // SAFETY: the bytes of the acknowledgement.
                unsafe { comm.send(ack, ACK_BYTES, peer, ACK_TAG) }
            })?,
            (_, is_lower) => {
                let (send, receive) = (&mut sends[0], &mut receives[0]);
                let (first, second) = if is_lower { (send, receive) } else { (receive, send) };
                let mut times = timer.time_turns(comm, || {
                    comm.start_request(first)?;
                    comm.wait(first)?;
                    comm.start_request(second)?;
                    comm.wait(second)
                })?;
                times.iter_mut().for_each(|time| *time /= 2.0);
                times
            }
        };
        self.free_created_requests(role)?;
        Ok(is_lower.then_some(times))
    }

    /// Whether this rank sends, and whether it receives.
    fn persistent_sides(&self, role: PairRole) -> (bool, bool) {
        match self.kind {
            MpiBenchmarkKind::PersistentBandwidth => (role.is_lower, !role.is_lower),
            _ => (true, true),
        }
    }

    /// Creates the requests: sends in the first half of the list, receives in the second.
    fn create_requests(&mut self, role: PairRole) -> MpiResult {
        let PairRole { peer, is_lower } = role;
        let (comm, count, stride) = (self.comm, self.message_bytes, self.stride);
        let (send_tag, receive_tag) = match (self.kind, is_lower) {
            (MpiBenchmarkKind::PersistentLatency, _) => (PING_TAG, PING_TAG),
            (MpiBenchmarkKind::PersistentBidirectional, false) => (REVERSE_DATA_TAG, DATA_TAG),
            (MpiBenchmarkKind::PersistentBidirectional, true) => (DATA_TAG, REVERSE_DATA_TAG),
            _ => (DATA_TAG, DATA_TAG),
        };
        let (is_sender, is_receiver) = self.persistent_sides(role);
        let (sends, receives) = self.requests.split_at_mut(self.in_flight);
        for (slot, request) in sends.iter_mut().enumerate().filter(|_| is_sender) {
            let from = self.send.as_ptr().wrapping_add(slot * stride);
            // SAFETY: the bytes are ours and stay until the request is freed.
            unsafe { comm.send_init(from, count, peer, send_tag, request)? };
        }
        for (slot, request) in receives.iter_mut().enumerate().filter(|_| is_receiver) {
            let into = self.receive.as_ptr().wrapping_add(slot * stride);
            // SAFETY: as above.
            unsafe { comm.receive_init(into, count, peer, receive_tag, request)? };
        }
        Ok(())
    }

    fn free_created_requests(&mut self, role: PairRole) -> MpiResult {
        let (is_sender, is_receiver) = self.persistent_sides(role);
        let (sends, receives) = self.requests.split_at_mut(self.in_flight);
        if is_sender {
            self.comm.free_requests(sends)?;
        }
        if is_receiver {
            self.comm.free_requests(receives)?;
        }
        Ok(())
    }
}
