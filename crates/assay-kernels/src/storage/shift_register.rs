//! Shift register that visits all blocks of a file once: fio's `random_generator=lfsr`.
//!
//! Fibonacci registers with XNOR feedback of maximal length, by their taps (Alfke, XAPP052, 1996);
//! numbers past the last block are skipped.

/// Feedback taps of the registers of 3 and more bits, below the highest bit.
const TAPS: [&[u32]; 33] = [
    &[2],
    &[3],
    &[3],
    &[5],
    &[6],
    &[6, 5, 4],
    &[5],
    &[7],
    &[9],
    &[6, 4, 1],
    &[4, 3, 1],
    &[5, 3, 1],
    &[14],
    &[15, 13, 4],
    &[14],
    &[11],
    &[6, 2, 1],
    &[17],
    &[19],
    &[21],
    &[18],
    &[23, 22, 17],
    &[22],
    &[6, 2, 1],
    &[5, 2, 1],
    &[25],
    &[27],
    &[6, 4, 1],
    &[28],
    &[31, 29, 1],
    &[20],
    &[27, 2, 1],
    &[33],
];
/// Bits of the smallest register.
const LEAST_BITS: u32 = 3;

/// Register over the blocks of a file.
#[derive(Debug, Clone)]
pub(super) struct ShiftRegister {
    blocks: u64,
    seed: u64,
    top: u64,
    feedback: u64,
    state: u64,
    drawn: u64,
    /// Whether it was never shifted: fio's first draw shifts twice.
    is_new: bool,
}

impl ShiftRegister {
    /// Creates the register of a seed; more than 2³⁵ blocks are as many.
    pub(super) fn new(blocks: u64, seed: u64) -> Self {
        let widest = LEAST_BITS + TAPS.len() as u32 - 1;
        let bits = (u64::BITS - blocks.leading_zeros()).clamp(LEAST_BITS, widest);
        let taps = TAPS[(bits - LEAST_BITS) as usize];
        let top = 1 << (bits - 1);
        let feedback = taps.iter().fold(top, |mask, tap| mask | 1 << (tap - 1));
        let mut all = Self { blocks, seed, top, feedback, state: 0, drawn: 0, is_new: true };
        all.restart();
        all
    }

    /// Starts again.
    pub(super) const fn restart(&mut self) {
        self.state = self.seed & ((self.top << 1) - 1);
        self.drawn = 0;
    }

    /// Returns the next block; `None` when all were drawn.
    pub(super) fn next_block(&mut self) -> Option<u64> {
        if self.drawn >= self.blocks || self.is_stuck() {
            return None;
        }
        self.drawn += 1;
        if std::mem::take(&mut self.is_new) {
            self.shift();
        }
        loop {
            self.shift();
            if self.state < self.blocks {
                return Some(self.state);
            }
        }
    }

    /// Whether all bits are set, which no shift changes.
    const fn is_stuck(&self) -> bool {
        self.state == (self.top << 1) - 1
    }

    const fn shift(&mut self) {
        let is_odd = self.state & 1 == 1;
        self.state = (self.state >> 1) | self.top;
        if !is_odd {
            self.state ^= self.feedback;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_each_block_once() {
        for blocks in (1..=300).chain([1 << 16, (1 << 20) - 1, 3_000_000]) {
            let mut register = ShiftRegister::new(blocks, 0x1234_5678);
            let mut is_used = vec![false; blocks as usize];
            for pass in 0..2 {
                while let Some(block) = register.next_block() {
                    assert_eq!(is_used[block as usize], pass == 1, "{blocks}: {block}");
                    is_used[block as usize] = pass == 0;
                }
                assert!(is_used.iter().all(|used| *used == (pass == 0)), "{blocks}");
                register.restart();
            }
        }
    }

    #[test]
    fn ends_at_once_in_the_state_that_no_shift_changes() {
        assert_eq!(ShiftRegister::new(6, 7).next_block(), None);
    }
}
