//! Back substitution, U·x = y, by all members, block after block from the bottom. The known
//! unknowns are first subtracted from each of a block's rows (a scalar product per row, which is
//! bound by memory). Then one member solves its triangle.

use crate::compute::linpack::crew::Crew;
use crate::compute::linpack::factor::Halt;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::matrix::Grid;
use crate::compute::linpack::step::Step;

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

/// Solves for the unknowns and leaves the matrix unchanged; stops halfway if cancelled. All members
/// must call this.
///
/// # Safety
/// U and the right-hand side must be in the matrix without interleaving. No other thread may use
/// them or the unknowns during the call.
pub(super) unsafe fn back_substitute(
    (grid, x): (Grid, Unknowns),
    steps: &[Step],
    kernels: &Kernels,
    team: Crew,
    halt: &Halt<'_>,
) {
    let right_column = grid.shape.padded;
    for step in steps.iter().rev() {
        let (first, end) = (step.panel.first, step.panel.first + step.panel.width);
        for row in team.share(step.panel.width).map(|row| first + row) {
            // SAFETY: own rows; the unknowns from `end` on were solved before the last barrier.
            unsafe {
                let known = row_slice(grid, row, end, right_column);
                let sum = (kernels.dot)(known, x.slice(end..x.len));
                *x.start.add(row) = *grid.at(row, right_column) - sum;
            }
        }
        if halt.skips_after(team) {
            return;
        }
        if team.leads() {
            for row in (first..end).rev() {
                // SAFETY: only the leader writes unknowns, and those below `row` are solved.
                unsafe {
                    let known = row_slice(grid, row, row + 1, end);
                    let sum = (kernels.dot)(known, x.slice(row + 1..end));
                    *x.start.add(row) = (*x.start.add(row) - sum) / *grid.at(row, row);
                }
            }
        }
        team.meet();
    }
}

unsafe fn row_slice<'a>(grid: Grid, row: usize, from: usize, to: usize) -> &'a [f64] {
    // SAFETY: within a row of the matrix that no thread writes, vouched for by the caller.
    unsafe { std::slice::from_raw_parts(grid.at(row, from), to - from) }
}
