//! Back substitution, U·x = y, by all members: block after block from the bottom, each block's rows
//! first relieved of what is already known (a scalar product per row, which is bound by memory), then its
//! triangle solved by one member.

use crate::compute::linpack::crew::Crew;
use crate::compute::linpack::factor::Halt;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::matrix::Grid;
use crate::compute::linpack::step::Step;

/// The unknowns, as the members share them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknowns {
    pub(super) start: *mut f64,
    /// The padded order.
    pub(super) len: usize,
}

// SAFETY: an address; every access says why nobody else writes.
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

/// Solves for the unknowns and leaves the matrix as it is; leaves them half done where that is cancelled. All members
/// must call this.
///
/// # Safety
/// U and the right-hand side must be plain in the matrix, and nobody else may use them or the unknowns
/// meanwhile.
pub(super) unsafe fn back_substitute(
    (grid, x): (Grid, Unknowns),
    steps: &[Step],
    kernels: &Kernels,
    crew: Crew,
    halt: &Halt<'_>,
) {
    let right_column = grid.shape.padded;
    for step in steps.iter().rev() {
        let (first, end) = (step.panel.first, step.panel.first + step.panel.width);
        for row in crew.share(step.panel.width).map(|row| first + row) {
            // SAFETY: own rows; the unknowns from `end` on were solved before the crew met.
            unsafe {
                let known = row_slice(grid, row, end, right_column);
                let sum = (kernels.dot)(known, x.slice(end..x.len));
                *x.start.add(row) = *grid.at(row, right_column) - sum;
            }
        }
        if halt.skips_after(crew) {
            return;
        }
        if crew.leads() {
            for row in (first..end).rev() {
                // SAFETY: the leader alone writes unknowns, and those below `row` are solved.
                unsafe {
                    let known = row_slice(grid, row, row + 1, end);
                    let sum = (kernels.dot)(known, x.slice(row + 1..end));
                    *x.start.add(row) = (*x.start.add(row) - sum) / *grid.at(row, row);
                }
            }
        }
        crew.meet();
    }
}

unsafe fn row_slice<'a>(grid: Grid, row: usize, from: usize, to: usize) -> &'a [f64] {
    // SAFETY: within a row of the matrix that nobody writes, vouched for by the caller.
    unsafe { std::slice::from_raw_parts(grid.at(row, from), to - from) }
}
