//! How many I/O are handed over in one go, so that a device works while the rest is being handed over.
//!
//! Handed over all at once, 32 I/O are done all at once as well, and the device has nothing to do until
//! the next 32 come: a virtual disk gave 65,500 IO/s that way, 80,700 in pieces of 4 (fio: 74,700; medians
//! of 5, in turns). Never looks at a clock, and never keeps an I/O out of its own latency: that runs from
//! the first hand-over after the I/O was decided, whichever piece it goes with.

/// Pieces below this cost more calls than they win.
const MINIMUM: usize = 4;
/// A device with seven eighths of its depth at hand has work while the last eighth is handed over.
const SHARE: usize = 8;
/// After so many hand-overs all at once it is tried again whether that is right.
const ASK_AGAIN_AFTER: u32 = 1000;

/// The size of the next piece.
#[derive(Debug)]
pub(super) struct Pieces {
    minimum: usize,
    size: usize,
    grown_for: u32,
}

impl Pieces {
    /// For a worker with so many I/O in flight at most.
    pub(super) fn new(slots: usize) -> Self {
        let minimum = MINIMUM.max(slots / SHARE);
        Self { minimum, size: minimum, grown_for: 0 }
    }

    /// I/O that are handed over next, at most.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Learns from an exchange that left `held_back` I/O to be handed over, and `in_flight` with them.
    /// Where everything that was handed over is done already, the target does its work within the call,
    /// and pieces win nothing: a RAM disk under `io_submit`.
    #[inline]
    pub(super) fn learn(&mut self, held_back: usize, in_flight: usize) {
        if held_back > 0 {
            self.size = if in_flight == held_back { self.size * 2 } else { self.minimum };
            self.grown_for = 0;
        } else if self.size > self.minimum {
            self.grown_for += 1;
            if self.grown_for == ASK_AGAIN_AFTER {
                self.size = self.minimum;
                self.grown_for = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_grows_while_the_call_does_the_work() {
        // I/O held back, I/O in flight with them, and the size of the next piece.
        let mut pieces = Pieces::new(64);
        assert_eq!(pieces.size(), 8);
        for (held_back, in_flight, expected) in
            [(56, 64, 8), (48, 48, 16), (32, 32, 32), (0, 0, 32), (10, 11, 8), (10, 10, 16)]
        {
            pieces.learn(held_back, in_flight);
            assert_eq!(pieces.size(), expected);
        }
        for _ in 1..ASK_AGAIN_AFTER {
            pieces.learn(0, 0);
            assert_eq!(pieces.size(), 16);
        }
        pieces.learn(0, 0);
        assert_eq!(pieces.size(), 8);
    }

    #[test]
    fn few_io_are_few_pieces() {
        for (slots, expected) in [(1, 4), (32, 4), (128, 16), (3600, 450)] {
            assert_eq!(Pieces::new(slots).size(), expected, "{slots} slots");
        }
    }
}
