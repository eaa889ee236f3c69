//! LINPACK problem: a dense system with entries drawn uniformly from [−0.5, 0.5), as in HPL.
//!
//! Every entry is a function of the seed and its position only. So any number of threads can
//! generate the system, and the residual can be computed from a regenerated system instead of a
//! stored copy.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::seed;

use crate::compute::linpack::matrix::{SLIVER, SharedMatrix};

/// System of a given order, as a function of the seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinpackProblem {
    order: usize,
    seed: u64,
}

impl LinpackProblem {
    pub(super) fn new(order: usize, seed: u64) -> Self {
        Self { order, seed: seed::mix(seed) }
    }

    /// Returns the entries of one row of the matrix, in the order of the columns.
    pub(super) fn row(self, row: usize) -> impl Iterator<Item = f64> {
        let first = (row as u64).wrapping_mul(self.order as u64 + 1);
        (0..self.order as u64).map(move |column| self.draw(first.wrapping_add(column)))
    }

    /// Returns the right-hand side's entry of one row.
    pub(super) fn right_side(self, row: usize) -> f64 {
        let first = (row as u64).wrapping_mul(self.order as u64 + 1);
        self.draw(first.wrapping_add(self.order as u64))
    }

    /// Writes this member's share of the system, or part of it if cancelled: every `members`-th
    /// block of rows, so that the pages are spread over the memory of all members.
    ///
    /// # Safety
    /// No other thread may use the same rows of `grid` during the call; distinct members have
    /// distinct rows.
    pub(super) unsafe fn write(
        self,
        grid: SharedMatrix,
        member: usize,
        members: usize,
        cancel: &AtomicBool,
    ) {
        let blocks = grid.shape.padded / SLIVER;
        for block in (member..blocks).step_by(members) {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            for row in block * SLIVER..(block + 1) * SLIVER {
                // SAFETY: a row is `stride` doubles long and in the mapping; only this member uses
                // it.
                let values = unsafe {
                    std::slice::from_raw_parts_mut(grid.element(row, 0), grid.shape.stride)
                };
                self.write_row(values, row, grid.shape.padded);
            }
        }
    }

    fn write_row(self, values: &mut [f64], row: usize, right_column: usize) {
        if row < self.order {
            values[self.order..].fill(0.0);
            values.iter_mut().zip(self.row(row)).for_each(|(value, entry)| *value = entry);
            values[right_column] = self.right_side(row);
        } else {
            values.fill(0.0);
            values[row] = 1.0;
        }
    }

    fn draw(self, index: u64) -> f64 {
        let bits = seed::mix(self.seed.wrapping_add(index.wrapping_mul(seed::GAMMA)));
        (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64) - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::linpack::matrix::{LinpackMatrix, MatrixShape};

    #[test]
    fn entries_are_uniform_and_centred() {
        let entries: Vec<f64> =
            (0..100).flat_map(|row| LinpackProblem::new(100, 7).row(row)).collect();
        assert!(entries.iter().all(|entry| (-0.5..0.5).contains(entry)));
        let count = entries.len() as f64;
        let mean = entries.iter().sum::<f64>() / count;
        let square = entries.iter().map(|entry| entry * entry).sum::<f64>() / count;
        // Standard errors of 10⁴ draws: 0.0029 for the mean, 0.00075 for the mean square of 1/12.
        assert!(mean.abs() < 0.015, "{mean}");
        assert!((square - 1.0 / 12.0).abs() < 0.004, "{square}");
    }

    #[test]
    fn system_depends_on_seed_not_on_members() {
        let row = |seed| LinpackProblem::new(9, seed).row(3).collect::<Vec<_>>();
        assert_ne!(row(0), row(1));
        for members in [1, 2, 5] {
            let mut matrix = LinpackMatrix::new(MatrixShape::new(9).unwrap()).unwrap();
            let grid = matrix.shared_view();
            for member in 0..members {
                // SAFETY: one thread.
                unsafe {
                    LinpackProblem::new(9, 4).write(
                        grid,
                        member,
                        members,
                        &AtomicBool::new(false),
                    );
                };
            }
            // SAFETY: inside the matrix, and no thread writes.
            let at = |row, column| unsafe { *grid.element(row, column) };
            assert_eq!((0..9).map(|column| at(3, column)).collect::<Vec<_>>(), row(4));
            assert_eq!(at(3, 16).to_bits(), LinpackProblem::new(9, 4).right_side(3).to_bits());
            assert_eq!((at(12, 12), at(12, 11), at(3, 9), at(12, 16)), (1.0, 0.0, 0.0, 0.0));
        }
    }
}
