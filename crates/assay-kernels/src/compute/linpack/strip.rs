//! The trailing update of a strip: some neighbouring columns right of a panel, over all rows.
//!
//! Swap the rows as the panel did, solve for the strip's rows of U, then subtract L·U below. Strips
//! share no columns, so threads need nothing from each other. With the built-in kernels the strip's U is
//! packed once, stays in the second-level cache, and every sliver of L is streamed past it.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compute::blas::Blas;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::matrix::{Grid, SLIVER};
use crate::compute::linpack::tile::Tile;
use crate::compute::linpack::vector::{LINE, prefetch};

/// Columns per unit that strips are made of: a multiple of every instruction set's tile.
pub(super) const UNIT: usize = 24;
/// Swaps that rows are fetched ahead.
const SWAPS_AHEAD: usize = 2;

/// Who computes the trailing update.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine<'a> {
    /// The kernels of this crate; panels stay interleaved.
    Builtin(&'a Kernels),
    /// A library, one single-threaded call per strip; panels lie plain.
    Blas(&'a Blas),
}

/// A strip and what it is updated with.
#[derive(Debug, Clone)]
pub(super) struct Strip<'a> {
    pub(super) engine: Engine<'a>,
    /// The factored panel to the left.
    pub(super) panel: &'a Panel,
    /// The panel's pivots.
    pub(super) pivots: &'a [AtomicUsize],
    /// The strip's columns in the matrix, a multiple of [`UNIT`].
    pub(super) columns: Range<usize>,
    /// Room for the panel's width × the strip's columns, for the packed U.
    pub(super) packed: *mut f64,
}

impl Strip<'_> {
    /// The same strip, narrowed to some of its units; its packed U is where the wide strip's does.
    pub(super) fn units(&self, units: Range<usize>) -> Self {
        let first = self.columns.start;
        Self {
            columns: first + units.start * UNIT..first + units.end * UNIT,
            packed: self.packed.wrapping_add(units.start * UNIT * self.panel.width),
            ..self.clone()
        }
    }

    /// Swaps the strip's rows and solves for its rows of U.
    ///
    /// # Safety
    /// The panel must be complete and the strip's columns and scratch used by nobody else meanwhile.
    pub(super) unsafe fn solve(&self) {
        if self.columns.is_empty() {
            return;
        }
        // SAFETY: the strip is this thread's alone, the panel is only read.
        unsafe {
            self.swap_rows();
            match self.engine {
                Engine::Builtin(kernels) => self.solve_packed(kernels),
                Engine::Blas(blas) => {
                    let grid = self.panel.grid;
                    blas.solve_unit_lower(
                        self.panel.width,
                        self.columns.len(),
                        grid.at(self.panel.first, self.panel.first),
                        grid.at(self.panel.first, self.columns.start),
                        grid.shape.stride,
                    );
                }
            }
        }
    }

    /// Subtracts L·U in some slivers, counted from the panel's first.
    ///
    /// # Safety
    /// The strip must be solved, and these rows of its columns used by nobody else meanwhile.
    pub(super) unsafe fn subtract_product(&self, slivers: Range<usize>) {
        if slivers.is_empty() || self.columns.is_empty() {
            return;
        }
        match self.engine {
            // SAFETY: passed on to the caller.
            Engine::Builtin(kernels) => unsafe { self.subtract_tiles(kernels, slivers) },
            Engine::Blas(blas) => {
                let (grid, first) = (self.panel.grid, self.panel.first);
                let row = first + slivers.start * SLIVER;
                // SAFETY: L lies plain left of these rows, U above them; the rest is the caller's.
                unsafe {
                    blas.subtract_product(
                        [slivers.len() * SLIVER, self.columns.len(), self.panel.width],
                        grid.at(row, first),
                        grid.at(first, self.columns.start),
                        grid.at(row, self.columns.start),
                        grid.shape.stride,
                    );
                }
            }
        }
    }

    unsafe fn swap_rows(&self) {
        let (grid, first, count) = (self.panel.grid, self.panel.first, self.columns.len());
        let pivot = |column: usize| self.pivots[column].load(Ordering::Relaxed);
        for column in 0..self.panel.width {
            // SAFETY: pivots are rows of the panel; the rows differ, so the pieces do not overlap.
            unsafe {
                if let Some(ahead) = self.pivots.get(column + SWAPS_AHEAD) {
                    let row = first + ahead.load(Ordering::Relaxed);
                    let start = grid.at(row, self.columns.start);
                    for line in (0..count).step_by(LINE) {
                        prefetch(start.wrapping_add(line));
                    }
                }
                if pivot(column) != column {
                    ptr::swap_nonoverlapping(
                        grid.at(first + column, self.columns.start),
                        grid.at(first + pivot(column), self.columns.start),
                        count,
                    );
                }
            }
        }
    }

    unsafe fn solve_packed(&self, kernels: &Kernels) {
        // SAFETY: the strip's rows of U and its scratch, which are this thread's alone.
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

    /// Goes through the strip's rows of U, each in pieces of a tile's width, with the place of each
    /// piece in the matrix and in the packed tiles.
    unsafe fn copy_upper(&self, tile_columns: usize, copy: impl Fn(*mut f64, *mut f64, usize)) {
        for row in 0..self.panel.width {
            for tile in 0..self.columns.len() / tile_columns {
                // SAFETY: inside the strip and its scratch.
                unsafe {
                    let column = self.columns.start + tile * tile_columns;
                    let in_matrix = self.panel.grid.at(self.panel.first + row, column);
                    let packed_row = tile * self.panel.width + row;
                    copy(in_matrix, self.packed.add(packed_row * tile_columns), tile_columns);
                }
            }
        }
    }

    unsafe fn subtract_tiles(&self, kernels: &Kernels, slivers: Range<usize>) {
        let (grid, panel) = (self.panel.grid, self.panel);
        let tiles = self.columns.len() / kernels.tile_columns;
        let share = panel.piece().div_ceil(tiles);
        for sliver in slivers {
            // SAFETY: the sliver's rows of this strip are this thread's alone; what is fetched ahead
            // need not be valid.
            unsafe {
                let a = panel.sliver(sliver);
                let c = grid.at(panel.first + sliver * SLIVER, self.columns.start);
                let next_a = a.wrapping_add(panel.sliver_stride());
                for tile in 0..tiles {
                    let next_c = if tile + 1 < tiles {
                        c.wrapping_add((tile + 1) * kernels.tile_columns)
                    } else {
                        c.wrapping_add(panel.sliver_stride())
                    };
                    (kernels.tile)(&Tile {
                        a,
                        piece: panel.piece(),
                        stride: grid.shape.stride,
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

/// The end of the whole units that begin at column `after` and hold the right-hand side with all before.
pub(super) fn end_of_columns(grid: Grid, after: usize) -> usize {
    after + (grid.shape.padded + 1 - after).next_multiple_of(UNIT)
}
