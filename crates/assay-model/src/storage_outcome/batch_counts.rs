//! Sizes of the calls that submitted and collected the I/O of a stream, in fio's classes.

use serde::{Deserialize, Serialize};

/// Counts of calls by the number of I/O in each, and of I/O by the depth at submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BatchCounts {
    /// I/O submitted with 1, 2–3, 4–7, 8–15, 16–31, 32–63, 64 or more begun and not completed.
    pub depths: [u64; 7],
    /// Calls that submitted 0, 1–4, 5–8, 9–16, 17–32, 33–64, 65 or more I/O.
    pub submissions: [u64; 7],
    /// Calls that collected as many.
    pub collections: [u64; 7],
}

impl BatchCounts {
    /// Counts I/O that was submitted with `depth` in flight.
    pub fn note_depth(&mut self, depth: usize, ios: usize) {
        let class = depth.max(1).ilog2().min(6) as usize;
        self.depths[class] += ios as u64;
    }

    /// Counts a call that submitted I/O.
    pub fn note_submission(&mut self, ios: usize) {
        self.submissions[call_class(ios)] += 1;
    }

    /// Counts a call that collected I/O.
    pub fn note_collection(&mut self, ios: usize) {
        self.collections[call_class(ios)] += 1;
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        let sums = self.depths.iter_mut().chain(&mut self.submissions);
        let sums = sums.chain(&mut self.collections);
        let parts = other.depths.iter().chain(&other.submissions).chain(&other.collections);
        for (sum, more) in sums.zip(parts) {
            *sum = sum.saturating_add(*more);
        }
    }
}

fn call_class(ios: usize) -> usize {
    match ios {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        65.. => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_fio() {
        let mut counts = BatchCounts::default();
        for depth in [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 1000] {
            counts.note_depth(depth, 1);
        }
        assert_eq!(counts.depths, [2; 7]);
        for ios in [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000] {
            counts.note_submission(ios);
            counts.note_collection(ios);
        }
        assert_eq!(counts.submissions, [1, 2, 2, 2, 2, 2, 2]);
        let mut sum = counts;
        sum.merge(&counts);
        assert_eq!(sum.collections, [2, 4, 4, 4, 4, 4, 4]);
    }
}
