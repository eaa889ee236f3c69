//! Number of I/O submitted in one call, so that a device works while the rest is being submitted.
//!
//! If 32 I/O are submitted at once, they also complete at once, and the device is idle until the
//! next 32 arrive: a virtual disk reached 65,500 IO/s that way, 80,700 in chunks of 4 (fio: 74,700;
//! medians of 5, alternating). Never reads a clock. The latency of an I/O includes its wait for
//! submission: it begins at the first submission after the I/O was planned, regardless of its
//! chunk.

/// Minimum size: smaller chunks cost more in calls than they gain.
const MIN_CHUNK: usize = 4;
/// Divisor of the depth: a device with seven eighths of its depth has work while the last eighth is
/// submitted.
const DEPTH_DIVISOR: usize = 8;
/// Number of submissions in full after which chunks are tried again.
const RETRY_AFTER: u32 = 1000;

/// Size of the next chunk.
#[derive(Debug)]
pub(super) struct SubmissionChunk {
    minimum: usize,
    size: usize,
    full_submissions: u32,
}

impl SubmissionChunk {
    /// Creates the state for a worker with `slots` I/O in flight at most.
    pub(super) fn new(slots: usize) -> Self {
        let minimum = MIN_CHUNK.max(slots / DEPTH_DIVISOR);
        Self { minimum, size: minimum, full_submissions: 0 }
    }

    /// Returns the maximum number of I/O in the next submission.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Adapts to an exchange that left `held_back` I/O unsubmitted, of `in_flight` in total. If all
    /// submitted I/O has completed already, the target works within the call, and chunks gain
    /// nothing: a RAM disk under `io_submit`.
    #[inline]
    pub(super) fn adapt(&mut self, held_back: usize, in_flight: usize) {
        if held_back > 0 {
            self.size =
                if in_flight == held_back { self.size.saturating_mul(2) } else { self.minimum };
            self.full_submissions = 0;
        } else if self.size > self.minimum {
            self.full_submissions += 1;
            if self.full_submissions == RETRY_AFTER {
                self.size = self.minimum;
                self.full_submissions = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_grows_while_the_call_does_the_work() {
        // I/O held back, total in flight, and the size of the next chunk.
        let mut pieces = SubmissionChunk::new(64);
        assert_eq!(pieces.size(), 8);
        for (held_back, in_flight, expected) in
            [(56, 64, 8), (48, 48, 16), (32, 32, 32), (0, 0, 32), (10, 11, 8), (10, 10, 16)]
        {
            pieces.adapt(held_back, in_flight);
            assert_eq!(pieces.size(), expected);
        }
        for _ in 1..RETRY_AFTER {
            pieces.adapt(0, 0);
            assert_eq!(pieces.size(), 16);
        }
        pieces.adapt(0, 0);
        assert_eq!(pieces.size(), 8);
    }

    #[test]
    fn chunk_size_follows_the_depth() {
        for (slots, expected) in [(1, 4), (32, 4), (128, 16), (3600, 450)] {
            assert_eq!(SubmissionChunk::new(slots).size(), expected, "{slots} slots");
        }
    }
}
