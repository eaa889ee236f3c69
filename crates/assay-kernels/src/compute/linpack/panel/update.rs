//! Matrix product within a panel: columns to the right minus columns to the left times a small
//! packed block, over whole slivers. Vectors run down the rows here, because a panel is
//! interleaved.

use std::ops::Range;

use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::vector::{Vector, prefetch};

/// Vectors of rows held at once; with 8 columns that makes 24 accumulators, with 4 columns 12.
const ROW_VECTORS: usize = 3;

/// Operands of C ← C − L·U over some slivers of a panel.
#[derive(Debug, Clone)]
pub(in super::super) struct PanelProduct<'a> {
    /// Address of sliver 0 of the panel.
    pub(in super::super) start: *mut f64,
    /// Doubles from one sliver to the next.
    pub(in super::super) stride: usize,
    /// Slivers to work on.
    pub(in super::super) slivers: Range<usize>,
    /// Offsets of the columns of L within a sliver.
    pub(in super::super) left: &'a [usize],
    /// Offsets of the columns of C within a sliver, a multiple of 8 columns.
    pub(in super::super) right: &'a [usize],
    /// Packed U: for each 8 columns of C, its rows of 8 one after the other.
    pub(in super::super) upper: *const f64,
}

/// Computes the product, `COLUMNS` (a divisor of 8) columns of C at a time.
///
/// # Safety
/// The CPU must have the instruction set of `V`. Slivers and packed block must be valid. No other
/// thread may use these slivers or write the block during the call.
#[inline(always)]
pub(in super::super) unsafe fn subtract_product<V: Vector, const COLUMNS: usize>(
    product: &PanelProduct,
) {
    let per_sliver = SLIVER / V::LANES;
    let vectors = product.slivers.len() * per_sliver;
    let first = product.slivers.start;
    let address = |vector: usize| {
        let start = (first + vector / per_sliver) * product.stride;
        product.start.wrapping_add(start + vector % per_sliver * V::LANES)
    };
    let mut vector = 0;
    // SAFETY: the addresses are those of the slivers the caller vouches for.
    unsafe {
        while vector + ROW_VECTORS <= vectors {
            let rows = [address(vector), address(vector + 1), address(vector + 2)];
            let ahead = [address(vector + 3), address(vector + 4), address(vector + 5)];
            subtract_rows::<V, ROW_VECTORS, COLUMNS>(product, rows, ahead);
            vector += ROW_VECTORS;
        }
        while vector < vectors {
            subtract_rows::<V, 1, COLUMNS>(product, [address(vector)], [address(vector + 1)]);
            vector += 1;
        }
    }
}

#[inline(always)]
unsafe fn subtract_rows<V: Vector, const ROWS: usize, const COLUMNS: usize>(
    product: &PanelProduct,
    rows: [*mut f64; ROWS],
    ahead: [*mut f64; ROWS],
) {
    let depth = product.left.len();
    let blocks = product.right.len() / SLIVER;
    let ahead_per_block = depth.div_ceil(blocks);
    for (block, right) in product.right.chunks_exact(SLIVER).enumerate() {
        // The next rows are far away in memory: prefetches their C for this block, and a share of
        // their L.
        let share = &product.left[(block * ahead_per_block).min(depth)..];
        let share = &share[..ahead_per_block.min(share.len())];
        for ahead in ahead {
            for &offset in right.iter().chain(share) {
                prefetch(ahead.wrapping_add(offset));
            }
        }
        let upper = product.upper.wrapping_add(block * depth * SLIVER);
        for (part, right) in right.chunks_exact(COLUMNS).enumerate() {
            let upper = upper.wrapping_add(part * COLUMNS);
            // SAFETY: vouched for by the caller of `subtract_product`.
            unsafe { subtract_part::<V, ROWS, COLUMNS>(rows, product.left, right, upper) };
        }
    }
}

#[inline(always)]
unsafe fn subtract_part<V: Vector, const ROWS: usize, const COLUMNS: usize>(
    rows: [*mut f64; ROWS],
    left: &[usize],
    right: &[usize],
    upper: *const f64,
) {
    // SAFETY: vouched for by the caller of `subtract_product`.
    unsafe {
        let mut sums = [[V::splat(0.0); ROWS]; COLUMNS];
        let mut upper = upper;
        for &offset in left {
            let mut l = [V::splat(0.0); ROWS];
            for (l, row) in l.iter_mut().zip(rows) {
                *l = V::load(row.add(offset));
            }
            for (column, sums) in sums.iter_mut().enumerate() {
                let u = V::splat(*upper.add(column));
                for (sum, l) in sums.iter_mut().zip(l) {
                    *sum = sum.plus_product(l, u);
                }
            }
            upper = upper.add(SLIVER);
        }
        for (&offset, sums) in right.iter().zip(sums) {
            for (row, sum) in rows.into_iter().zip(sums) {
                let c = row.add(offset);
                V::load(c).minus(sum).store(c);
            }
        }
    }
}
