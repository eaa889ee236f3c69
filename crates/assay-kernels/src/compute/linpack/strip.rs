//! Trailing update of a strip: some neighbouring columns right of a panel, over all rows.
//!
//! Swaps the rows as the panel did, solves for the strip's rows of U, then subtracts L·U below.
//! Strips share no columns, so threads work independently. With the built-in kernels, the strip's U
//! is packed once and stays in the second-level cache, while L is streamed sliver by sliver.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compute::blas::Blas;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::matrix::{SLIVER, SharedMatrix};
use crate::compute::linpack::tile::Tile;
use crate::compute::linpack::vector::{DOUBLES_PER_LINE, prefetch};

/// Columns per unit of a strip: a multiple of every instruction set's tile.
pub(super) const UNIT_COLUMNS: usize = 24;
/// Prefetch distance, in row swaps.
const SWAPS_AHEAD: usize = 2;

/// Implementation of the trailing update.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrailingUpdate<'a> {
    /// Built-in kernels; panels stay interleaved.
    Builtin(&'a Kernels),
    /// BLAS library, one single-threaded call per strip; panels are not interleaved.
    Blas(&'a Blas),
}

/// Strip and the operands of its update.
#[derive(Debug, Clone)]
pub(super) struct Strip<'a> {
    pub(super) update: TrailingUpdate<'a>,
    /// Factored panel to the left.
    pub(super) panel: &'a Panel,
    /// Pivots of the panel.
    pub(super) pivots: &'a [AtomicUsize],
    /// Columns of the strip in the matrix, a multiple of [`UNIT_COLUMNS`].
    pub(super) columns: Range<usize>,
    /// Buffer for the packed U: the panel's width × the strip's columns.
    pub(super) packed: *mut f64,
}

impl Strip<'_> {
    /// Returns the strip narrowed to some of its units; they keep their place in the packed U of
    /// the wide strip.
    pub(super) fn narrow_to_units(&self, units: Range<usize>) -> Self {
        let first = self.columns.start;
        Self {
            columns: first + units.start * UNIT_COLUMNS..first + units.end * UNIT_COLUMNS,
            packed: self.packed.wrapping_add(units.start * UNIT_COLUMNS * self.panel.width),
            ..self.clone()
        }
    }

    /// Swaps the strip's rows and solves for its rows of U.
    ///
    /// # Safety
    /// The panel must be complete. No other thread may use the strip's columns and scratch during
    /// the call.
    pub(super) unsafe fn solve(&self) {
        if self.columns.is_empty() {
            return;
        }
        // SAFETY: only this thread uses the strip, and the panel is only read.
        unsafe {
            self.swap_rows();
            match self.update {
                TrailingUpdate::Builtin(kernels) => self.solve_packed(kernels),
                TrailingUpdate::Blas(blas) => {
                    let matrix = self.panel.matrix;
                    blas.solve_unit_lower(
                        self.panel.width,
                        self.columns.len(),
                        matrix.element(self.panel.first, self.panel.first),
                        matrix.element(self.panel.first, self.columns.start),
                        matrix.shape.stride,
                    );
                }
            }
        }
    }

    /// Subtracts L·U in some slivers, counted from the panel's first.
    ///
    /// # Safety
    /// The strip must be solved. No other thread may use these rows of its columns during the call.
    pub(super) unsafe fn subtract_product(&self, slivers: Range<usize>) {
        if slivers.is_empty() || self.columns.is_empty() {
            return;
        }
        match self.update {
            // SAFETY: passed on to the caller.
            TrailingUpdate::Builtin(kernels) => unsafe {
                self.subtract_tiles(kernels, slivers);
            },
            TrailingUpdate::Blas(blas) => {
                let (matrix, first) = (self.panel.matrix, self.panel.first);
                let row = first + slivers.start * SLIVER;
                // SAFETY: L is left of these rows and not interleaved, U above them; the rest is
                // the caller's.
                unsafe {
                    blas.subtract_product(
                        [slivers.len() * SLIVER, self.columns.len(), self.panel.width],
                        matrix.element(row, first),
                        matrix.element(first, self.columns.start),
                        matrix.element(row, self.columns.start),
                        matrix.shape.stride,
                    );
                }
            }
        }
    }

    unsafe fn swap_rows(&self) {
        let (matrix, first, count) = (self.panel.matrix, self.panel.first, self.columns.len());
        let pivot = |column: usize| self.pivots[column].load(Ordering::Relaxed);
        for column in 0..self.panel.width {
            // SAFETY: pivots are rows of the panel; the rows differ, so the pieces do not overlap.
            unsafe {
                if let Some(ahead) = self.pivots.get(column + SWAPS_AHEAD) {
                    let row = first + ahead.load(Ordering::Relaxed);
                    let start = matrix.element(row, self.columns.start);
                    for line in (0..count).step_by(DOUBLES_PER_LINE) {
                        prefetch(start.wrapping_add(line));
                    }
                }
                if pivot(column) != column {
                    ptr::swap_nonoverlapping(
                        matrix.element(first + column, self.columns.start),
                        matrix.element(first + pivot(column), self.columns.start),
                        count,
                    );
                }
            }
        }
    }

    unsafe fn solve_packed(&self, kernels: &Kernels) {
        // SAFETY: the strip's rows of U and its scratch, which only this thread uses.
        unsafe {
            self.copy_upper(kernels.tile_columns, |row, packed, len| {
                ptr::copy_nonoverlapping(row, packed, len);
            });
            for tile in 0..self.columns.len() / kernels.tile_columns {
                let packed = self.packed.add(tile * kernels.tile_columns * self.panel.width);
                (kernels.solve_lower)(self.panel, packed);
            }
            self.copy_upper(kernels.tile_columns, |row, packed, len| {
                ptr::copy_nonoverlapping(packed, row, len);
            });
        }
    }

    /// Calls `copy` for the strip's rows of U, each in pieces of a tile's width, with the address
    /// of each piece in the matrix and in the packed tiles.
    unsafe fn copy_upper(&self, tile_columns: usize, copy: impl Fn(*mut f64, *mut f64, usize)) {
        for row in 0..self.panel.width {
            for tile in 0..self.columns.len() / tile_columns {
                // SAFETY: inside the strip and its scratch.
                unsafe {
                    let column = self.columns.start + tile * tile_columns;
                    let in_matrix = self.panel.matrix.element(self.panel.first + row, column);
                    let packed_row = tile * self.panel.width + row;
                    copy(in_matrix, self.packed.add(packed_row * tile_columns), tile_columns);
                }
            }
        }
    }

    unsafe fn subtract_tiles(&self, kernels: &Kernels, slivers: Range<usize>) {
        let (matrix, panel) = (self.panel.matrix, self.panel);
        let tiles = self.columns.len() / kernels.tile_columns;
        let share = panel.piece_columns().div_ceil(tiles);
        for sliver in slivers {
            // SAFETY: only this thread uses the sliver's rows of this strip; prefetched addresses
            // need not be valid.
            unsafe {
                let a = panel.sliver(sliver);
                let c = matrix.element(panel.first + sliver * SLIVER, self.columns.start);
                let next_a = a.wrapping_add(panel.sliver_stride());
                for tile in 0..tiles {
                    let next_c = if tile + 1 < tiles {
                        c.wrapping_add((tile + 1) * kernels.tile_columns)
                    } else {
                        c.wrapping_add(panel.sliver_stride())
                    };
                    (kernels.tile)(&Tile {
                        a,
                        piece: panel.piece_columns(),
                        stride: matrix.shape.stride,
                        b: self.packed.add(tile * kernels.tile_columns * panel.width),
                        c: c.add(tile * kernels.tile_columns),
                        next_c,
                        next_a: next_a.wrapping_add(tile * share * SLIVER),
                        next_a_lines: share,
                    });
                }
            }
        }
    }
}

/// Returns the end of the whole units that begin at column `after` and include the right-hand side.
pub(super) fn end_of_columns(matrix: SharedMatrix, after: usize) -> usize {
    after + (matrix.shape.padded + 1 - after).next_multiple_of(UNIT_COLUMNS)
}
