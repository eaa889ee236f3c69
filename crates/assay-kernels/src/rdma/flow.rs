//! RDMA passes with many requests in flight, over all queue pairs of an end, in one or both
//! directions.

use std::sync::atomic::AtomicBool;

use super::abi::{self, Piece, SendRequest};
use super::endpoint::{Connection, Endpoint};
use super::error::RdmaError;
use super::passes::{Mark, Operation, Pass, Patience};
use super::peak::peak;
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
const MOST_MARKS: u64 = 1 << 16;

/// Result of a pass at one end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carried {
    /// Completions of its own requests over the time since the first was posted.
    pub sent: Vec<Mark>,
    /// Datagrams received over the time since the first, which is not counted.
    pub received: Vec<Mark>,
    /// Number of messages received.
    pub arrived: u64,
    /// Fastest window of the messages sent: their number and its length.
    pub peak: Option<Mark>,
}

/// State of one queue pair during a pass.
struct Lane {
    request: SendRequest,
    posted: u64,
    done: u64,
    received: u64,
}

impl Endpoint {
    /// Runs one end's part, sending and receiving, of a pass with many requests in flight.
    ///
    /// # Errors
    /// A request failed, no request completes any more, or the user interrupts.
    pub fn carry(
        &mut self,
        pass: &Pass,
        leads: bool,
        cancel: &AtomicBool,
    ) -> Result<Carried, RdmaError> {
        let mut flow = Flow::new(self, pass, leads);
        flow.run(cancel)?;
        Ok(flow.over())
    }
}

/// Running pass.
struct Flow<'e> {
    end: &'e Endpoint,
    pass: Pass,
    lanes: Vec<Lane>,
    /// Memory entry that the requests point to.
    _piece: Box<Piece>,
    every: u64,
    /// Messages between two marks.
    between: u64,
    to_send: u64,
    to_receive: u64,
    done: u64,
    start_ns: u64,
    /// Arrival times of the first and the last message.
    arrivals_ns: (u64, u64),
    /// Requests posted by the time of each mark in `sent`.
    posted: Vec<u64>,
    carried: Carried,
}

impl<'e> Flow<'e> {
    fn new(end: &'e Endpoint, pass: &Pass, leads: bool) -> Self {
        let mut piece = Box::new(end.leading_piece(pass));
        let lane = |at| Lane {
            request: end.request(pass, &mut piece, at),
            posted: 0,
            done: 0,
            received: 0,
        };
        let lanes: Vec<Lane> = (0..end.made.queue_pairs.len()).map(lane).collect();
        let all = pass.iterations * lanes.len() as u64;
        let every = every(pass);
        let (sends, receives) = (leads || pass.both, end.receives(pass, leads));
        let between = between(all, every);
        let most = (all / between) as usize + 1;
        let marks = |has: bool| Vec::with_capacity(if has { most } else { 0 });
        Self {
            end,
            pass: *pass,
            lanes,
            _piece: piece,
            every,
            between,
            to_send: if sends { all } else { 0 },
            to_receive: if receives { all } else { 0 },
            done: 0,
            start_ns: 0,
            arrivals_ns: (0, 0),
            posted: Vec::with_capacity(if sends { most } else { 0 }),
            carried: Carried {
                sent: marks(sends),
                received: marks(receives),
                ..Carried::default()
            },
        }
    }

    fn run(&mut self, cancel: &AtomicBool) -> Result<(), RdmaError> {
        self.start_ns = clock::now_ns();
        if self.to_send > 0 {
            (0..self.lanes.len()).try_for_each(|at| self.fill(at))?;
        }
        let mut patience = Patience::new(cancel);
        while self.done < self.to_send || self.carried.arrived < self.to_receive {
            let moved = self.done < self.to_send && self.complete()?;
            let came = self.carried.arrived < self.to_receive && self.take()?;
            if moved || came {
                patience.renew()?;
                continue;
            }
            if self.is_rest_lost() {
                break;
            }
            patience.spend()?;
        }
        // For datagrams the last arrival ends the measurement, whether or not later ones were lost.
        let last = self.carried.arrived.saturating_sub(1);
        let is_datagram = self.end.connection == Connection::Ud;
        if is_datagram
            && last > 0
            && self.carried.received.last().is_none_or(|mark| mark.done < last)
        {
            let at_ns = self.arrivals_ns.1 - self.arrivals_ns.0;
            self.carried.received.push(Mark { done: last, at_ns });
        }
        Ok(())
    }

    /// Returns the result, with its fastest window.
    fn over(mut self) -> Carried {
        self.carried.peak = peak(&self.carried.sent, &self.posted);
        self.carried
    }

    /// Posts requests to a queue pair up to the depth.
    #[inline]
    fn fill(&mut self, at: usize) -> Result<(), RdmaError> {
        let (depth, n, every) = (self.pass.depth, self.pass.iterations, self.every);
        let lane = &mut self.lanes[at];
        let plain = lane.request.flags & !abi::SIGNALED;
        while lane.posted < n && lane.posted - lane.done < depth {
            lane.posted += 1;
            let is_last = lane.posted.is_multiple_of(every) || lane.posted == n;
            lane.request.id = (at as u64) << COUNT_BITS | lane.posted;
            lane.request.flags = if is_last { plain | abi::SIGNALED } else { plain };
            self.end.send(at, &mut lane.request)?;
        }
        Ok(())
    }

    /// Polls the send queue once; returns whether requests of this end have completed.
    #[inline]
    fn complete(&mut self) -> Result<bool, RdmaError> {
        let Some(found) = self.end.poll(self.end.made.send_queue)? else { return Ok(false) };
        let (at, count) =
            ((found.id >> COUNT_BITS) as usize, found.id & ((1 << COUNT_BITS) - 1));
        let lane = &mut self.lanes[at];
        self.done += count - lane.done;
        lane.done = count;
        let at_ns = clock::now_ns() - self.start_ns;
        let before = self.carried.sent.last().map_or(0, |mark| mark.done);
        if self.done - before >= self.between || self.done == self.to_send {
            self.carried.sent.push(Mark { done: self.done, at_ns });
            self.posted.push(self.lanes.iter().map(|lane| lane.posted).sum());
        }
        self.fill(at)?;
        Ok(true)
    }

    /// Polls the receive queue once; returns whether a message has arrived.
    #[inline]
    fn take(&mut self) -> Result<bool, RdmaError> {
        let Some(found) = self.end.poll(self.end.made.receive_queue)? else { return Ok(false) };
        let at = found.id as usize;
        let lane = &mut self.lanes[at];
        lane.received += 1;
        // A late datagram of the previous pass could make one too many.
        let to_come = self.pass.iterations.saturating_sub(lane.received);
        self.end.took(at, to_come)?;
        self.carried.arrived += 1;
        if self.end.connection == Connection::Ud {
            self.note_datagram();
        }
        Ok(true)
    }

    #[inline]
    fn note_datagram(&mut self) {
        let arrived = self.carried.arrived;
        self.arrivals_ns.1 = clock::now_ns();
        if arrived == 1 {
            self.arrivals_ns.0 = self.arrivals_ns.1;
        } else if arrived.is_multiple_of(self.between) {
            let at_ns = self.arrivals_ns.1 - self.arrivals_ns.0;
            self.carried.received.push(Mark { done: arrived - 1, at_ns });
        }
    }

    /// Whether no datagram has arrived for so long that the remaining ones count as lost.
    #[inline]
    fn is_rest_lost(&self) -> bool {
        if self.end.connection != Connection::Ud || self.done < self.to_send {
            return false;
        }
        let now_ns = clock::now_ns();
        match self.carried.arrived {
            0 => now_ns - self.start_ns > FIRST_DATAGRAM_NS,
            _ => now_ns - self.arrivals_ns.1 > LAST_DATAGRAM_NS,
        }
    }
}

/// Returns the number of requests per signalled one; at least one of those in flight is signalled.
fn every(pass: &Pass) -> u64 {
    match pass.moderation {
        Some(asked) => asked.min(pass.depth).max(1),
        None => MODERATION.min(pass.depth.div_ceil(2)).max(1),
    }
}

/// Returns the number of messages between two marks: those of a completion, more in a long pass.
fn between(all: u64, every: u64) -> u64 {
    every.max(all.div_ceil(MOST_MARKS))
}

impl Pass {
    /// Whether messages may be lost, because they are not sent again.
    #[must_use]
    pub fn loses(&self, connection: Connection) -> bool {
        connection == Connection::Ud && self.operation == Operation::Send && self.depth > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_those_in_flight_one_is_always_signalled() {
        for (depth, moderation, expected) in [
            (128, None, 64),
            (1024, None, 100),
            (2, None, 1),
            (128, Some(100), 100),
            (128, Some(1024), 128),
            (128, Some(0), 1),
        ] {
            let (operation, both) = (Operation::Send, false);
            let pass = Pass { operation, depth, both, bytes: 2, iterations: 5, moderation };
            assert_eq!(every(&pass), expected, "{depth} {moderation:?}");
        }
    }

    #[test]
    fn what_the_far_end_asks_for_is_no_memory_of_this_end() {
        for (all, every, expected) in [(5000, 64, 64), (1 << 54, 1, 1 << 38)] {
            assert_eq!(between(all, every), expected, "{all}");
        }
    }
}
