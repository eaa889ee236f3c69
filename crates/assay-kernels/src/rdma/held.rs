//! Memory for messages that the device holds: how much of it, and when it gets more. Never talks to the device.

use super::endpoint::Connection;

/// Of one queue pair. What is given and used up is counted over all passes: datagrams that were lost leave theirs
/// for the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    count: u64,
    /// What the queue pair was made for.
    room: u64,
    /// Datagrams may be lost, and those behind them need their memory all the same.
    loses: bool,
}

impl Held {
    pub(super) const fn new(room: u64, connection: Connection) -> Self {
        Self { count: 0, room, loses: matches!(connection, Connection::Ud) }
    }

    /// What is to be given before a pass in which so many messages come.
    pub(super) fn missing(&self, messages: u64) -> u64 {
        messages.min(self.room).saturating_sub(self.count)
    }

    pub(super) const fn give(&mut self) {
        self.count += 1;
    }

    /// A message has come: whether the device gets its memory again, so many being still to come.
    pub(super) const fn take(&mut self, to_come: u64) -> bool {
        self.count = self.count.saturating_sub(1);
        self.loses || self.count < to_come
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One queue pair through passes of so many messages, of which so many are lost: the most that the device
    /// held, and what it holds after each pass.
    fn carried(mut held: Held, passes: &[(u64, u64)]) -> (u64, Vec<u64>) {
        let mut most = 0;
        let mut after = Vec::new();
        for (messages, lost) in passes {
            for _ in 0..held.missing(*messages) {
                held.give();
            }
            most = most.max(held.count);
            let arrive = messages - lost;
            for at in 1..=arrive {
                assert!(held.count > 0, "message {at} of {messages} finds no memory");
                if held.take(messages - at) {
                    held.give();
                }
                most = most.max(held.count);
            }
            after.push(held.count);
        }
        (most, after)
    }

    #[test]
    fn a_device_never_holds_more_than_it_has_room_for_whatever_is_lost() {
        use Connection::{Rc, Ud};
        for (connection, room, passes, expected) in [
            (Rc, 512, vec![(1000, 0); 3], (512, vec![0, 0, 0])),
            (Rc, 512, vec![(5, 0), (5, 0)], (5, vec![0, 0])),
            (Rc, 2, vec![(7, 0), (7, 0)], (2, vec![0, 0])),
            (Rc, 1, vec![(3, 0)], (1, vec![0])),
            // What is left of a size is what the next begins with.
            (Ud, 512, vec![(1000, 0); 3], (512, vec![512, 512, 512])),
            (Ud, 512, vec![(1000, 400), (1000, 1000), (1000, 0)], (512, vec![512, 512, 512])),
            (Ud, 512, vec![(5, 0), (5, 2)], (5, vec![5, 5])),
            (Ud, 16, vec![(1000, 1), (8, 0)], (16, vec![16, 16])),
            (Ud, 512, vec![(5, 0), (1000, 0)], (512, vec![5, 512])),
        ] {
            let held = Held::new(room, connection);
            assert_eq!(carried(held, &passes), expected, "{connection:?} {room} {passes:?}");
        }
    }
}
