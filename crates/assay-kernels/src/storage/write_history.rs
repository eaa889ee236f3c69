//! Writes of a job that are to be read back, in fio's order.
//!
//! First in, first out where no write can overlap another; otherwise by offset, and a write replaces
//! those that it overlaps.

use std::collections::{BTreeMap, VecDeque};

/// Place of a write: index of the target, offset, length.
pub(super) type WrittenPlace = (usize, u64, u64);

/// Writes to read back.
#[derive(Debug)]
pub(super) enum WriteHistory {
    InOrder(VecDeque<WrittenPlace>),
    ByOffset(BTreeMap<(usize, u64), u64>),
}

impl WriteHistory {
    /// Creates a history without writes.
    pub(super) fn new(overlaps: bool) -> Self {
        if overlaps { Self::ByOffset(BTreeMap::new()) } else { Self::InOrder(VecDeque::new()) }
    }

    /// Returns the number of writes.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::InOrder(all) => all.len() as u64,
            Self::ByOffset(all) => all.len() as u64,
        }
    }

    /// Returns the bytes of all writes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::InOrder(all) => all.iter().map(|(_, _, bytes)| bytes).sum(),
            Self::ByOffset(all) => all.values().sum(),
        }
    }

    /// Adds a write.
    pub(super) fn push(&mut self, (target, offset, bytes): WrittenPlace) {
        match self {
            Self::InOrder(all) => all.push_back((target, offset, bytes)),
            Self::ByOffset(all) => {
                let end = (target, offset.saturating_add(bytes));
                let overlapped = |all: &BTreeMap<(usize, u64), u64>| {
                    let (&(other, start), &length) = all.range(..end).next_back()?;
                    let overlaps = other == target && start.saturating_add(length) > offset;
                    overlaps.then_some((other, start))
                };
                while let Some(place) = overlapped(all) {
                    all.remove(&place);
                }
                all.insert((target, offset), bytes);
            }
        }
    }

    /// Returns the next write to read back.
    pub(super) fn first(&self) -> Option<WrittenPlace> {
        match self {
            Self::InOrder(all) => all.front().copied(),
            Self::ByOffset(all) => {
                let (&(target, offset), &bytes) = all.first_key_value()?;
                Some((target, offset, bytes))
            }
        }
    }

    /// Takes the next write to read back.
    pub(super) fn pop(&mut self) -> Option<WrittenPlace> {
        match self {
            Self::InOrder(all) => all.pop_front(),
            Self::ByOffset(all) => {
                let ((target, offset), bytes) = all.pop_first()?;
                Some((target, offset, bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_overlapped_writes() {
        let mut history = WriteHistory::new(true);
        for place in [(0, 8, 4), (0, 0, 4), (1, 0, 4), (0, 2, 8), (0, 20, 4), (0, 20, 4)] {
            history.push(place);
        }
        assert_eq!((history.len(), history.bytes()), (3, 16));
        let all: Vec<_> = std::iter::from_fn(|| history.pop()).collect();
        assert_eq!(all, [(0, 2, 8), (0, 20, 4), (1, 0, 4)]);
    }
}
