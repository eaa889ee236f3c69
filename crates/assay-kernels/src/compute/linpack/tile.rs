//! Inner kernels of the trailing update: a tile of eight rows by three vectors, held in registers.
//!
//! A is a sliver of the panel (eight rows of one column are eight consecutive doubles), B a packed
//! strip tile (one row after the other), C is in the matrix. Each step takes one column of A and
//! one row of B and does 8 × 3 vector multiply-adds on 24 accumulators with 3 loads and 8
//! broadcasts. So it is bound by the multiply-add pipes, provided that its operands are already in
//! the first-level cache. Therefore each tile prefetches the rest of B, the next tile of C, and its
//! share of the next sliver of A.

use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::vector::{DOUBLES_PER_LINE, Vector, prefetch};

/// Vectors per row of a tile.
pub(super) const TILE_VECTORS: usize = 3;
/// Prefetch distance of B, in steps: 8 × 24 multiply-adds are at least 96 cycles, more than the
/// latency of a second-level cache (14 to 20 cycles on Zen and Intel servers), less than L1 holds.
const STEPS_AHEAD: usize = 8;

/// Operands of one tile of the trailing update, C ← C − A·B, over the whole width of the panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    /// Sliver of the panel.
    pub(super) a: *const f64,
    /// Steps per piece of the sliver, an eighth of all steps.
    pub(super) piece: usize,
    /// Doubles between two pieces of the sliver, and between two rows of C.
    pub(super) stride: usize,
    /// Packed tile of the strip.
    pub(super) b: *const f64,
    /// First element of C.
    pub(super) c: *mut f64,
    /// Next C, to prefetch; need not be valid.
    pub(super) next_c: *const f64,
    /// This tile's share of the first piece of the next sliver; need not be valid.
    pub(super) next_a: *const f64,
    /// Cache lines of that share, in each of the eight pieces.
    pub(super) next_a_lines: usize,
}

/// Computes one tile, `ROWS` of its eight rows at a time (as many as the registers hold).
///
/// # Safety
/// The CPU must have the instruction set of `V`. There must be a sliver of 8 pieces at `a`, 8·piece
/// × 3·LANES doubles at `b`, and at `c` 8 rows of 3·LANES doubles that no other thread uses during
/// the call.
#[inline(always)]
pub(super) unsafe fn subtract_product<V: Vector, const ROWS: usize>(tile: &Tile) {
    let columns = TILE_VECTORS * V::LANES;
    for first_row in (0..SLIVER).step_by(ROWS) {
        // SAFETY: all accesses stay inside the caller's ranges; prefetches need not.
        unsafe {
            let mut sums = [[V::splat(0.0); TILE_VECTORS]; ROWS];
            let mut b = tile.b;
            for piece in 0..SLIVER {
                if (piece * ROWS).is_multiple_of(SLIVER) {
                    let row = first_row + piece * ROWS / SLIVER;
                    prefetch_row::<V>(tile.next_c.wrapping_add(row * tile.stride));
                }
                if first_row == 0 {
                    prefetch_lines(
                        tile.next_a.wrapping_add(piece * tile.stride),
                        tile.next_a_lines,
                    );
                }
                let mut a = tile.a.add(piece * tile.stride + first_row);
                for _ in 0..tile.piece {
                    step::<V, ROWS>(&mut sums, a, b);
                    a = a.add(SLIVER);
                    b = b.add(columns);
                }
            }
            subtract(&sums, tile.c.add(first_row * tile.stride), tile.stride);
        }
    }
}

/// Solves L·X = B for one packed tile of the strip in place. L is the unit lower triangle at the
/// top of the panel. For each sliver of eight rows, the product with the rows above is subtracted
/// first; then the sliver is solved in registers.
///
/// # Safety
/// The CPU must have the instruction set of `V`. There must be width × 3·LANES doubles at `b` that
/// no other thread uses during the call, and an interleaved, factored panel that no thread changes.
#[inline(always)]
pub(super) unsafe fn solve_lower<V: Vector, const ROWS: usize>(panel: &Panel, b: *mut f64) {
    let columns = TILE_VECTORS * V::LANES;
    for block in 0..panel.width / SLIVER {
        // SAFETY: the panel has at least as many slivers as it has blocks of eight columns, and the
        // tile as many rows as the panel has columns.
        unsafe {
            let sliver = panel.sliver(block);
            let rows = b.add(block * SLIVER * columns);
            for first_row in (0..SLIVER).step_by(ROWS) {
                let mut sums = [[V::splat(0.0); TILE_VECTORS]; ROWS];
                let mut above = b.cast_const();
                for &offset in &panel.offsets[..block * SLIVER] {
                    step::<V, ROWS>(&mut sums, sliver.add(offset + first_row), above);
                    above = above.add(columns);
                }
                subtract(&sums, rows.add(first_row * columns), columns);
            }
            let offsets = &panel.offsets[block * SLIVER..][..SLIVER];
            solve_corner::<V>(sliver, offsets, rows);
        }
    }
}

/// Solves the 8 × 8 unit lower triangle whose columns are at `offsets` of a sliver.
#[inline(always)]
unsafe fn solve_corner<V: Vector>(sliver: *const f64, offsets: &[usize], rows: *mut f64) {
    let columns = TILE_VECTORS * V::LANES;
    for vector in 0..TILE_VECTORS {
        // SAFETY: the caller of `solve_lower` vouches for sliver and rows.
        unsafe {
            let mut x = [V::splat(0.0); SLIVER];
            for (row, x) in x.iter_mut().enumerate() {
                *x = V::load(rows.add(row * columns + vector * V::LANES));
            }
            for solved in 0..SLIVER {
                let column = sliver.add(offsets[solved]);
                for row in solved + 1..SLIVER {
                    x[row] = x[row].minus_product(V::splat(*column.add(row)), x[solved]);
                }
            }
            for (row, value) in x.into_iter().enumerate() {
                value.store(rows.add(row * columns + vector * V::LANES));
            }
        }
    }
}

/// Adds the outer product of `ROWS` elements of A and one row of B.
#[inline(always)]
unsafe fn step<V: Vector, const ROWS: usize>(
    sums: &mut [[V; TILE_VECTORS]; ROWS],
    a: *const f64,
    b: *const f64,
) {
    prefetch_row::<V>(b.wrapping_add(STEPS_AHEAD * TILE_VECTORS * V::LANES));
    // SAFETY: `ROWS` doubles at `a` and a row of the tile at `b`, vouched for by the callers.
    unsafe {
        let b0 = V::load(b);
        let b1 = V::load(b.add(V::LANES));
        let b2 = V::load(b.add(2 * V::LANES));
        for (row, sums) in sums.iter_mut().enumerate() {
            let a = V::splat(*a.add(row));
            sums[0] = sums[0].plus_product(a, b0);
            sums[1] = sums[1].plus_product(a, b1);
            sums[2] = sums[2].plus_product(a, b2);
        }
    }
}

/// Subtracts the accumulators from rows of C, or of a packed tile.
#[inline(always)]
unsafe fn subtract<V: Vector, const ROWS: usize>(
    sums: &[[V; TILE_VECTORS]; ROWS],
    c: *mut f64,
    stride: usize,
) {
    for (row, sums) in sums.iter().enumerate() {
        for (vector, &sum) in sums.iter().enumerate() {
            // SAFETY: inside the rows the callers vouch for.
            unsafe {
                let c = c.add(row * stride + vector * V::LANES);
                V::load(c).minus(sum).store(c);
            }
        }
    }
}

/// Prefetches a row of a tile.
#[inline(always)]
fn prefetch_row<V: Vector>(row: *const f64) {
    for line in 0..(TILE_VECTORS * V::LANES).div_ceil(DOUBLES_PER_LINE) {
        prefetch(row.wrapping_add(line * DOUBLES_PER_LINE));
    }
}

#[inline(always)]
fn prefetch_lines(first: *const f64, lines: usize) {
    for line in 0..lines {
        prefetch(first.wrapping_add(line * DOUBLES_PER_LINE));
    }
}
