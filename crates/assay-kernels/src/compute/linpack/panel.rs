//! Factorisation of a panel, P·A = L·U with partial pivoting, by one member or several.
//!
//! Blocks of eight columns are factored column by column. After each block, columns to the right
//! are brought up to date; their number follows from the lowest set bit of the block count. That is
//! the recursive factorisation (halve the panel, factor the left, update the right, factor the
//! right) written as a loop, so most of the work is a matrix product. A sliver is eight consecutive
//! rows; every member owns a range of slivers. Members touch each other's rows only for swaps, which
//! they divide by columns or leave to the leader.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::barrier::CachePadded;
use crate::compute::linpack::early_exit::EarlyExit;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::workers::Workers;

pub(super) mod sweep;
pub(super) mod update;

use sweep::{Candidate, Columns, Pivot};
use update::PanelProduct;

/// Value of [`PanelShared::singular`] while no column has been found singular.
const NOT_SINGULAR: usize = usize::MAX;

/// Data that the workers share while they factor a panel.
#[derive(Debug)]
pub(super) struct PanelShared {
    /// Best pivot of each member.
    candidates: Vec<CachePadded<PublishedCandidate>>,
    /// First column in which no pivot was found, or [`NOT_SINGULAR`].
    singular: AtomicUsize,
}

/// Candidate that one member publishes to the others.
#[derive(Debug, Default)]
struct PublishedCandidate {
    magnitude_bits: AtomicU64,
    row: AtomicUsize,
}

impl PanelShared {
    pub(super) fn new(members: usize) -> Self {
        let candidates = (0..members).map(|_| CachePadded::default()).collect();
        Self { candidates, singular: AtomicUsize::new(NOT_SINGULAR) }
    }

    /// Clears the singular column of an earlier factorisation.
    pub(super) fn clear(&self) {
        self.singular.store(NOT_SINGULAR, Ordering::Relaxed);
    }

    /// Returns the first column of the matrix, if any, that had no pivot.
    pub(super) fn singular_column(&self) -> Option<usize> {
        Some(self.singular.load(Ordering::Relaxed)).filter(|&column| column != NOT_SINGULAR)
    }

    fn publish(&self, member: usize, candidate: Candidate) {
        let slot = &self.candidates[member].0;
        slot.magnitude_bits.store(candidate.magnitude.to_bits(), Ordering::Relaxed);
        slot.row.store(candidate.row, Ordering::Relaxed);
    }

    fn best_candidate(&self, members: usize) -> Candidate {
        let read = |slot: &CachePadded<PublishedCandidate>| Candidate {
            magnitude: f64::from_bits(slot.0.magnitude_bits.load(Ordering::Relaxed)),
            row: slot.0.row.load(Ordering::Relaxed),
        };
        self.candidates[..members].iter().map(read).fold(Candidate::NONE, Candidate::or_larger)
    }
}

/// One member's view of the factorisation of one panel.
#[derive(Debug)]
pub(super) struct PanelFactorisation<'a> {
    pub(super) panel: &'a Panel,
    /// Row that is swapped with the diagonal row of each column, counted from the panel's first
    /// row.
    pub(super) pivots: &'a [AtomicUsize],
    pub(super) workers: Workers<'a>,
    pub(super) shared: &'a PanelShared,
    pub(super) kernels: &'a Kernels,
    pub(super) early_exit: &'a EarlyExit<'a>,
    /// Buffer of width² doubles, shared by all members, for the packed block of U.
    pub(super) upper: *mut f64,
}

impl PanelFactorisation<'_> {
    /// Factors the interleaved panel in place. A column without a pivot is recorded in
    /// [`PanelShared`] and left unchanged.
    ///
    /// # Safety
    /// All workers of the panel must call this. No other thread may use panel or scratch during the
    /// call.
    pub(super) unsafe fn run(&self) {
        for block in 0..self.panel.width / SLIVER {
            // SAFETY: only these workers use the panel, and the functions below divide it.
            unsafe {
                self.factor_block(block);
                self.swap_other_columns(block);
                if self.early_exit.wait_and_check_skip(self.workers) {
                    return;
                }
                self.update_trailing_blocks(block + 1);
            }
        }
    }

    /// Factors eight columns.
    unsafe fn factor_block(&self, block: usize) {
        let own_slivers = self.workers.share(self.panel.slivers());
        let offsets = self.panel.offsets[block * SLIVER..]
            .first_chunk()
            .expect("the width is a multiple of a sliver");
        let columns = Columns {
            // SAFETY: a panel has a sliver 0.
            start: unsafe { self.panel.sliver(0) },
            stride: self.panel.sliver_stride(),
            offsets,
            slivers: own_slivers.start.max(block)..own_slivers.end.max(block),
        };
        let below = Columns {
            slivers: own_slivers.start.max(block + 1)..own_slivers.end.max(block + 1),
            ..columns
        };
        // SAFETY: own slivers, which no other thread writes before the next barrier.
        let mut candidate = unsafe { (self.kernels.largest)(&columns) };
        for column in 0..SLIVER {
            // SAFETY: all workers have finished the previous column, see `take_pivot`.
            let pivot = unsafe { self.take_pivot(block, column, candidate) };
            // SAFETY: own slivers below the diagonal block.
            candidate = unsafe { (self.kernels.eliminate)(&below, &pivot) };
            if own_slivers.contains(&block) {
                // SAFETY: the diagonal sliver is this member's own.
                let corner_candidate = unsafe { self.eliminate_corner(block, &pivot) };
                candidate = candidate.or_larger(corner_candidate);
            }
        }
        self.workers.wait();
    }

    /// Agrees on the pivot of a column and swaps it into place within the block.
    unsafe fn take_pivot(&self, block: usize, column: usize, candidate: Candidate) -> Pivot {
        self.shared.publish(self.workers.member, candidate);
        self.workers.wait();
        let diagonal = block * SLIVER + column;
        let best = self.shared.best_candidate(self.workers.size);
        // The reciprocal of a subnormal number can overflow, so such a pivot is not used.
        let is_usable = best.magnitude >= f64::MIN_POSITIVE && best.magnitude.is_finite();
        let row = if is_usable { best.row } else { diagonal };
        if self.workers.is_leader() {
            if !is_usable {
                self.shared.singular.fetch_min(self.panel.first + diagonal, Ordering::Relaxed);
            }
            self.pivots[diagonal].store(row, Ordering::Relaxed);
            for other in block * SLIVER..(block + 1) * SLIVER {
                // SAFETY: between the two barriers only the leader touches the block.
                unsafe { self.swap(diagonal, row, other) };
            }
        }
        self.workers.wait();
        let mut pivot = Pivot { column, row: [0.0; SLIVER], reciprocal: 0.0 };
        for (other, value) in pivot.row.iter_mut().enumerate() {
            // SAFETY: no thread writes the diagonal's row before the next barrier.
            *value = unsafe { *self.panel.element(diagonal, block * SLIVER + other) };
        }
        if is_usable {
            pivot.reciprocal = 1.0 / pivot.row[column];
        }
        pivot
    }

    /// Eliminates a column in the rows of the diagonal sliver below the pivot.
    unsafe fn eliminate_corner(&self, block: usize, pivot: &Pivot) -> Candidate {
        let mut candidate = Candidate::NONE;
        for row in block * SLIVER + pivot.column + 1..(block + 1) * SLIVER {
            // SAFETY: rows and columns of the diagonal block, which is this member's own.
            unsafe {
                let element = |column| self.panel.element(row, block * SLIVER + column);
                let multiple = *element(pivot.column) * pivot.reciprocal;
                *element(pivot.column) = multiple;
                for column in pivot.column + 1..SLIVER {
                    *element(column) -= multiple * pivot.row[column];
                }
                let size = (*element(pivot.column + 1)).abs();
                candidate = candidate.or_larger(Candidate { magnitude: size, row });
            }
        }
        candidate
    }

    /// Repeats the swaps of a factored block in this member's share of the other columns.
    unsafe fn swap_other_columns(&self, block: usize) {
        let others = self.workers.share(self.panel.width - SLIVER);
        for diagonal in block * SLIVER..(block + 1) * SLIVER {
            let row = self.pivots[diagonal].load(Ordering::Relaxed);
            if row == diagonal {
                continue;
            }
            for other in others.clone() {
                let column = if other < block * SLIVER { other } else { other + SLIVER };
                // SAFETY: the columns are divided among the members.
                unsafe { self.swap(diagonal, row, column) };
            }
        }
    }

    /// Swaps two elements of a column.
    unsafe fn swap(&self, a: usize, b: usize, column: usize) {
        // SAFETY: rows and column exist, vouched for by the callers.
        unsafe { std::ptr::swap(self.panel.element(a, column), self.panel.element(b, column)) };
    }

    /// Updates blocks to the right after `done` factored blocks. The lowest set bit of `done` is
    /// the number of blocks to update, and of blocks to the left to use.
    unsafe fn update_trailing_blocks(&self, done: usize) {
        let depth = done & done.wrapping_neg();
        let end = (done + depth).min(self.panel.width / SLIVER);
        if done >= end {
            return;
        }
        let left = (done - depth) * SLIVER..done * SLIVER;
        for block in done..end {
            if (block - done) % self.workers.size == self.workers.member {
                let upper = self.upper.wrapping_add((block - done) * depth * SLIVER * SLIVER);
                // SAFETY: the blocks are divided among the members, and so is the packed U.
                unsafe { self.solve_upper(done - depth..done, block, upper) };
            }
        }
        self.workers.wait();
        let own_slivers = self.workers.share(self.panel.slivers());
        // SAFETY: own slivers below the solved rows; U is complete and only read.
        unsafe {
            (self.kernels.panel_product)(&PanelProduct {
                start: self.panel.sliver(0),
                stride: self.panel.sliver_stride(),
                slivers: own_slivers.start.max(done)..own_slivers.end.max(done),
                left: &self.panel.offsets[left],
                right: &self.panel.offsets[done * SLIVER..end * SLIVER],
                upper: self.upper,
            });
        }
        self.workers.wait();
    }

    /// Solves L·U = A for one block of columns, in place, and packs U row by row.
    unsafe fn solve_upper(
        &self,
        slivers: std::ops::Range<usize>,
        block: usize,
        upper: *mut f64,
    ) {
        let left = &self.panel.offsets[slivers.start * SLIVER..slivers.end * SLIVER];
        let right = &self.panel.offsets[block * SLIVER..(block + 1) * SLIVER];
        for (solved_slivers, sliver) in slivers.enumerate() {
            // SAFETY: this member's own columns; the rows of U above are packed already.
            unsafe {
                (self.kernels.panel_product)(&PanelProduct {
                    start: self.panel.sliver(0),
                    stride: self.panel.sliver_stride(),
                    slivers: sliver..sliver + 1,
                    left: &left[..solved_slivers * SLIVER],
                    right,
                    upper,
                });
                let rows = upper.add(solved_slivers * SLIVER * SLIVER).cast();
                let corner = &left[solved_slivers * SLIVER..(solved_slivers + 1) * SLIVER];
                solve_corner(self.panel.sliver(sliver), corner, right, &mut *rows);
            }
        }
    }
}

/// Solves one 8 × 8 corner: the unit lower triangle in the columns `left` of a sliver, and the
/// right sides in the columns `right`, which are replaced by the solution. `rows` receives it row
/// by row.
unsafe fn solve_corner(
    sliver: *mut f64,
    left: &[usize],
    right: &[usize],
    rows: &mut [[f64; SLIVER]; SLIVER],
) {
    // SAFETY: columns of an existing sliver, vouched for by the caller.
    unsafe {
        for (column, &offset) in right.iter().enumerate() {
            for (row, values) in rows.iter_mut().enumerate() {
                values[column] = *sliver.add(offset + row);
            }
        }
        for (solved_rows, &offset) in left.iter().enumerate() {
            let solution = rows[solved_rows];
            for (row, values) in rows.iter_mut().enumerate().skip(solved_rows + 1) {
                let multiple = *sliver.add(offset + row);
                for (value, x) in values.iter_mut().zip(solution) {
                    *value -= multiple * x;
                }
            }
        }
        for (column, &offset) in right.iter().enumerate() {
            for (row, values) in rows.iter().enumerate() {
                *sliver.add(offset + row) = values[column];
            }
        }
    }
}
