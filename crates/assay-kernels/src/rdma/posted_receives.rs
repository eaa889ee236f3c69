//! Accounting of the receive requests posted to a queue pair. Makes no calls to the device.

use super::endpoint_config::Connection;

/// Receive requests of one queue pair. Posted and consumed requests are counted over all passes:
/// those of lost datagrams remain for the next pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PostedReceives {
    count: u64,
    /// Capacity of the queue pair.
    capacity: u64,
    /// Whether datagrams may be lost, so that later ones need their requests nevertheless.
    may_lose: bool,
}

impl PostedReceives {
    pub(super) const fn new(capacity: u64, connection: Connection) -> Self {
        Self { count: 0, capacity, may_lose: matches!(connection, Connection::Ud) }
    }

    /// Returns the number of requests to post before a pass with this number of messages.
    pub(super) fn missing(&self, messages: u64) -> u64 {
        messages.min(self.capacity).saturating_sub(self.count)
    }

    pub(super) const fn post(&mut self) {
        self.count += 1;
    }

    /// Records an arrived message; returns whether to post its memory again, with `to_come`
    /// messages still to arrive.
    pub(super) const fn consume(&mut self, to_come: u64) -> bool {
        self.count = self.count.saturating_sub(1);
        self.may_lose || self.count < to_come
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates one queue pair through passes, given as messages and lost ones. Returns the
    /// maximum number of posted requests, and the number after each pass.
    fn carried(mut held: PostedReceives, passes: &[(u64, u64)]) -> (u64, Vec<u64>) {
        let mut most = 0;
        let mut after = Vec::new();
        for (messages, lost) in passes {
            for _ in 0..held.missing(*messages) {
                held.post();
            }
            most = most.max(held.count);
            let arrive = messages - lost;
            for at in 1..=arrive {
                assert!(held.count > 0, "message {at} of {messages} finds no memory");
                if held.consume(messages - at) {
                    held.post();
                }
                most = most.max(held.count);
            }
            after.push(held.count);
        }
        (most, after)
    }

    #[test]
    fn never_posts_more_receives_than_the_capacity() {
        use Connection::{Rc, Ud};
        for (connection, room, passes, expected) in [
            (Rc, 512, vec![(1000, 0); 3], (512, vec![0, 0, 0])),
            (Rc, 512, vec![(5, 0), (5, 0)], (5, vec![0, 0])),
            (Rc, 2, vec![(7, 0), (7, 0)], (2, vec![0, 0])),
            (Rc, 1, vec![(3, 0)], (1, vec![0])),
            // Remaining requests of one size are available to the next.
            (Ud, 512, vec![(1000, 0); 3], (512, vec![512, 512, 512])),
            (Ud, 512, vec![(1000, 400), (1000, 1000), (1000, 0)], (512, vec![512, 512, 512])),
            (Ud, 512, vec![(5, 0), (5, 2)], (5, vec![5, 5])),
            (Ud, 16, vec![(1000, 1), (8, 0)], (16, vec![16, 16])),
            (Ud, 512, vec![(5, 0), (1000, 0)], (512, vec![5, 512])),
        ] {
            let held = PostedReceives::new(room, connection);
            assert_eq!(carried(held, &passes), expected, "{connection:?} {room} {passes:?}");
        }
    }
}
