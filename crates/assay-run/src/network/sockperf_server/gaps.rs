//! Detection of missing numbers in the messages of each client.

use std::collections::HashMap;
use std::net::SocketAddr;

/// Maximum number of clients whose numbers are followed: addresses of datagrams may be forged.
const MAX_SESSIONS: usize = 1024;

/// Event of the detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapEvent {
    /// First message of a client.
    Session(SocketAddr),
    /// Numbers `first` to `last` are missing.
    Missing {
        peer: SocketAddr,
        /// Number of all missing messages of the client.
        total: u64,
        first: u64,
        last: u64,
    },
}

/// Last number and missing messages of each client.
#[derive(Debug, Default)]
pub struct SequenceGaps {
    sessions: HashMap<SocketAddr, (u64, u64)>,
}

impl SequenceGaps {
    /// Adds a message. One with a lower number than expected is late, and changes nothing.
    pub fn add(
        &mut self,
        peer: SocketAddr,
        sequence: u64,
    ) -> impl Iterator<Item = GapEvent> + use<> {
        let is_known = self.sessions.contains_key(&peer);
        if !is_known && self.sessions.len() >= MAX_SESSIONS {
            return None.into_iter().chain(None);
        }
        let (last, total) = self.sessions.entry(peer).or_insert((sequence, 0));
        let begun = (!is_known).then_some(GapEvent::Session(peer));
        let expected = last.saturating_add(1);
        let mut missing = None;
        if sequence >= expected {
            *last = sequence;
        }
        if sequence > expected {
            *total = total.saturating_add(sequence - expected);
            let (total, first, last) = (*total, expected, sequence - 1);
            missing = Some(GapEvent::Missing { peer, total, first, last });
        }
        begun.into_iter().chain(missing)
    }

    /// Returns the clients with the number of their missing messages, by address.
    pub fn summary(&self) -> Vec<(SocketAddr, u64)> {
        let mut all: Vec<_> =
            self.sessions.iter().map(|(peer, (_, total))| (*peer, *total)).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_numbers_are_reported_once() {
        let peer = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let mut gaps = SequenceGaps::default();
        let mut events = Vec::new();
        for sequence in [1, 2, 5, 3, 6, 7, 9] {
            events.extend(gaps.add(peer(1), sequence));
        }
        assert_eq!(
            events,
            [
                GapEvent::Session(peer(1)),
                GapEvent::Missing { peer: peer(1), total: 2, first: 3, last: 4 },
                GapEvent::Missing { peer: peer(1), total: 3, first: 8, last: 8 },
            ]
        );
        for port in 2..2000 {
            drop(gaps.add(peer(port), u64::MAX));
        }
        let summary = gaps.summary();
        assert_eq!((summary.len(), summary[0]), (MAX_SESSIONS, (peer(1), 3)));
    }
}
