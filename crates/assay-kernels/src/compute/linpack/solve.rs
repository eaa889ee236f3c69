//! Back substitution, U·x = y, by all members, block after block from the bottom. All members
//! subtract the solved unknowns from the rows of a block: one scalar product per row, bound by
//! memory. Then one member solves the triangle of the block.

use crate::compute::linpack::early_exit::EarlyExit;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::matrix::SharedMatrix;
use crate::compute::linpack::step::FactorisationStep;
use crate::compute::linpack::workers::Workers;

/// Unknowns, shared by the members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknowns {
    pub(super) start: *mut f64,
    /// Length: the padded order.
    pub(super) len: usize,
}

// SAFETY: only an address; every access states why no other thread writes.
unsafe impl Send for Unknowns {}
// SAFETY: as above.
unsafe impl Sync for Unknowns {}

impl Unknowns {
    unsafe fn slice<'a>(self, range: std::ops::Range<usize>) -> &'a [f64] {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the caller vouches that the range is solved and no longer written.
        unsafe { std::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }
}

/// Solves for the unknowns and leaves the matrix unchanged; returns early if cancelled. All members
/// must call this.
///
/// # Safety
/// U and the right-hand side must be in the matrix without interleaving. No other thread may use
/// them or the unknowns during the call.
pub(super) unsafe fn back_substitute(
    (matrix, x): (SharedMatrix, Unknowns),
    steps: &[FactorisationStep],
    kernels: &Kernels,
    team: Workers,
    early_exit: &EarlyExit<'_>,
) {
    let right_column = matrix.shape.padded;
    for step in steps.iter().rev() {
        let (first, end) = (step.panel.first, step.panel.first + step.panel.width);
        for row in team.share(step.panel.width).map(|row| first + row) {
            // SAFETY: own rows; the unknowns from `end` on were solved before the last barrier.
            unsafe {
                let coefficients = row_slice(matrix, row, end, right_column);
                let sum = (kernels.dot)(coefficients, x.slice(end..x.len));
                *x.start.add(row) = *matrix.element(row, right_column) - sum;
            }
        }
        if early_exit.wait_and_check_skip(team) {
            return;
        }
        if team.is_leader() {
            for row in (first..end).rev() {
                // SAFETY: only the leader writes unknowns, and those below `row` are solved.
                unsafe {
                    let coefficients = row_slice(matrix, row, row + 1, end);
                    let sum = (kernels.dot)(coefficients, x.slice(row + 1..end));
                    *x.start.add(row) = (*x.start.add(row) - sum) / *matrix.element(row, row);
                }
            }
        }
        team.wait();
    }
}

unsafe fn row_slice<'a>(matrix: SharedMatrix, row: usize, from: usize, to: usize) -> &'a [f64] {
    // SAFETY: within a row of the matrix that no thread writes, vouched for by the caller.
    unsafe { std::slice::from_raw_parts(matrix.element(row, from), to - from) }
}
