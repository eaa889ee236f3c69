//! RDMA passes with many requests in flight, over all queue pairs of an end, in one or both
//! directions.

use std::sync::atomic::AtomicBool;

use super::abi::{self, ScatterGatherEntry, SendRequest};
use super::endpoint::Endpoint;
use super::endpoint_config::Connection;
use super::error::RdmaError;
use super::pass_result::{PassResult, ProgressMark};
use super::passes::{RdmaOperation, RdmaPass, SpinTimeout};
use super::peak::fastest_window;
use crate::clock;

/// Requests per signalled one, which is how perftest moderates its completions.
const MODERATION: u64 = 100;
/// Bits of a request's id for its number; the bits above are the queue pair's index.
const COUNT_BITS: u32 = 40;
/// Time after the last datagram until the remaining ones count as lost: a machine that stalls for
/// half a second loses none because of it.
const LAST_DATAGRAM_NS: u64 = 1_000_000_000;
/// Timeout of the first datagram.
const FIRST_DATAGRAM_NS: u64 = 10_000_000_000;
/// Maximum number of marks of a pass, so that the far end's number of messages does not determine
/// this end's memory.
const MAX_MARKS: u64 = 1 << 16;

/// State of one queue pair during a pass.
struct QueuePairProgress {
    request: SendRequest,
    /// Address of the first number of its atomic operations.
    first_counter: u64,
    posted: u64,
    done: u64,
    received: u64,
}

impl Endpoint {
    /// Runs one end's part, sending and receiving, of a pass with many requests in flight.
    ///
    /// # Errors
    /// A request failed, no request completes any more, or the user interrupts.
    pub fn run_pass(
        &mut self,
        pass: &RdmaPass,
        leads: bool,
        cancel: &AtomicBool,
    ) -> Result<PassResult, RdmaError> {
        let mut flow = PassRun::new(self, pass, leads);
        flow.run(cancel)?;
        Ok(flow.into_result())
    }
}

/// Running pass.
struct PassRun<'e> {
    end: &'e Endpoint,
    pass: RdmaPass,
    lanes: Vec<QueuePairProgress>,
    /// Memory entry that the requests point to.
    _piece: Box<ScatterGatherEntry>,
    signal_interval: u64,
    /// Messages between two marks.
    mark_interval: u64,
    to_send: u64,
    to_receive: u64,
    done: u64,
    start_ns: u64,
    /// Arrival times of the first and the last message.
    arrivals_ns: (u64, u64),
    /// Requests posted by the time of each mark in `sent`.
    posted: Vec<u64>,
    result: PassResult,
}

impl<'e> PassRun<'e> {
    fn new(end: &'e Endpoint, pass: &RdmaPass, leads: bool) -> Self {
        let mut piece = Box::new(end.leading_entry(pass));
        let lane = |at| {
            let request = end.request(pass, &mut piece, at);
            let first_counter = request.far[0];
            QueuePairProgress { request, first_counter, posted: 0, done: 0, received: 0 }
        };
        let lanes: Vec<QueuePairProgress> =
            (0..end.verbs.queue_pairs.len()).map(lane).collect();
        let all = pass.iterations * lanes.len() as u64;
        let signal_interval = signal_interval(pass);
        let (sends, receives) = (leads || pass.both, end.receives(pass, leads));
        let mark_interval = mark_interval(all, signal_interval);
        let most = (all / mark_interval) as usize + 1;
        let marks = |has: bool| Vec::with_capacity(if has { most } else { 0 });
        Self {
            end,
            pass: *pass,
            lanes,
            _piece: piece,
            signal_interval,
            mark_interval,
            to_send: if sends { all } else { 0 },
            to_receive: if receives { all } else { 0 },
            done: 0,
            start_ns: 0,
            arrivals_ns: (0, 0),
            posted: Vec::with_capacity(if sends { most } else { 0 }),
            result: PassResult {
                sent: marks(sends),
                received: marks(receives),
                ..PassResult::default()
            },
        }
    }

    fn run(&mut self, cancel: &AtomicBool) -> Result<(), RdmaError> {
        self.start_ns = clock::now_ns();
        if self.to_send > 0 {
            (0..self.lanes.len()).try_for_each(|at| self.post_requests(at))?;
        }
        let mut patience = SpinTimeout::new(cancel);
        while self.done < self.to_send || self.result.arrived < self.to_receive {
            let moved = self.done < self.to_send && self.poll_send()?;
            let came = self.result.arrived < self.to_receive && self.poll_receive()?;
            if moved || came {
                patience.reset()?;
                continue;
            }
            if self.is_rest_lost() {
                break;
            }
            patience.count_poll()?;
        }
        // For datagrams the last arrival ends the measurement, whether or not later ones were lost.
        let last = self.result.arrived.saturating_sub(1);
        let is_datagram = self.end.connection == Connection::Ud;
        if is_datagram
            && last > 0
            && self.result.received.last().is_none_or(|mark| mark.done < last)
        {
            let at_ns = self.arrivals_ns.1 - self.arrivals_ns.0;
            self.result.received.push(ProgressMark { done: last, at_ns });
        }
        Ok(())
    }

    /// Returns the result, with its fastest window.
    fn into_result(mut self) -> PassResult {
        self.result.peak = fastest_window(&self.result.sent, &self.posted);
        self.result
    }

    /// Posts requests to a queue pair up to the depth.
    #[inline]
    fn post_requests(&mut self, at: usize) -> Result<(), RdmaError> {
        let (depth, n, every) = (self.pass.depth, self.pass.iterations, self.signal_interval);
        let lane = &mut self.lanes[at];
        let plain = lane.request.flags & !abi::SIGNALED;
        while lane.posted < n && lane.posted - lane.done < depth {
            lane.posted += 1;
            let is_last = lane.posted.is_multiple_of(every) || lane.posted == n;
            lane.request.id = (at as u64) << COUNT_BITS | lane.posted;
            lane.request.flags = if is_last { plain | abi::SIGNALED } else { plain };
            if self.pass.operation == RdmaOperation::FetchAdd {
                lane.request.far[0] =
                    lane.first_counter + Endpoint::counter_offset(lane.posted - 1);
            }
            self.end.send(at, &mut lane.request)?;
        }
        Ok(())
    }

    /// Polls the send queue once; returns whether requests of this end have completed.
    #[inline]
    fn poll_send(&mut self) -> Result<bool, RdmaError> {
        let Some(found) = self.end.poll(self.end.verbs.send_queue)? else { return Ok(false) };
        let (at, count) =
            ((found.id >> COUNT_BITS) as usize, found.id & ((1 << COUNT_BITS) - 1));
        let lane = &mut self.lanes[at];
        self.done += count - lane.done;
        lane.done = count;
        let at_ns = clock::now_ns() - self.start_ns;
        let before = self.result.sent.last().map_or(0, |mark| mark.done);
        if self.done - before >= self.mark_interval || self.done == self.to_send {
            self.result.sent.push(ProgressMark { done: self.done, at_ns });
            self.posted.push(self.lanes.iter().map(|lane| lane.posted).sum());
        }
        self.post_requests(at)?;
        Ok(true)
    }

    /// Polls the receive queue once; returns whether a message has arrived.
    #[inline]
    fn poll_receive(&mut self) -> Result<bool, RdmaError> {
        let Some(found) = self.end.poll(self.end.verbs.receive_queue)? else {
            return Ok(false);
        };
        let at = found.id as usize;
        let lane = &mut self.lanes[at];
        lane.received += 1;
        // A late datagram of the previous pass could make one too many.
        let to_come = self.pass.iterations.saturating_sub(lane.received);
        self.end.message_received(at, to_come)?;
        self.result.arrived += 1;
        if self.end.connection == Connection::Ud {
            self.record_datagram();
        }
        Ok(true)
    }

    #[inline]
    fn record_datagram(&mut self) {
        let arrived = self.result.arrived;
        self.arrivals_ns.1 = clock::now_ns();
        if arrived == 1 {
            self.arrivals_ns.0 = self.arrivals_ns.1;
        } else if arrived.is_multiple_of(self.mark_interval) {
            let at_ns = self.arrivals_ns.1 - self.arrivals_ns.0;
            self.result.received.push(ProgressMark { done: arrived - 1, at_ns });
        }
    }

    /// Whether no datagram has arrived for so long that the remaining ones count as lost.
    #[inline]
    fn is_rest_lost(&self) -> bool {
        if self.end.connection != Connection::Ud || self.done < self.to_send {
            return false;
        }
        let now_ns = clock::now_ns();
        match self.result.arrived {
            0 => now_ns - self.start_ns > FIRST_DATAGRAM_NS,
            _ => now_ns - self.arrivals_ns.1 > LAST_DATAGRAM_NS,
        }
    }
}

/// Returns the number of requests per signalled one; at least one of those in flight is signalled.
fn signal_interval(pass: &RdmaPass) -> u64 {
    match pass.moderation {
        Some(asked) => asked.min(pass.depth).max(1),
        None => MODERATION.min(pass.depth.div_ceil(2)).max(1),
    }
}

/// Returns the number of messages between two marks: those of a completion, more in a long pass.
fn mark_interval(all: u64, every: u64) -> u64 {
    every.max(all.div_ceil(MAX_MARKS))
}

impl RdmaPass {
    /// Whether messages may be lost, because they are not sent again.
    pub fn may_lose_messages(&self, connection: Connection) -> bool {
        connection == Connection::Ud && self.operation == RdmaOperation::Send && self.depth > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_at_least_one_request_in_flight() {
        for (depth, moderation, expected) in [
            (128, None, 64),
            (1024, None, 100),
            (2, None, 1),
            (128, Some(100), 100),
            (128, Some(1024), 128),
            (128, Some(0), 1),
        ] {
            let (operation, both) = (RdmaOperation::Send, false);
            let pass = RdmaPass { operation, depth, both, bytes: 2, iterations: 5, moderation };
            assert_eq!(signal_interval(&pass), expected, "{depth} {moderation:?}");
        }
    }

    #[test]
    fn number_of_marks_is_bounded() {
        for (all, every, expected) in [(5000, 64, 64), (1 << 54, 1, 1 << 38)] {
            assert_eq!(mark_interval(all, every), expected, "{all}");
        }
    }
}
