//! LINPACK matrix in memory: row by row, with the right-hand side as an additional column.
//!
//! Rows are contiguous because partial pivoting swaps rows: a swap then moves whole cache lines
//! instead of eight bytes out of each. The order is padded to a multiple of 8 with the identity, so
//! that no kernel needs edge cases; the padding never changes the solution. Never reads a clock.

use crate::mapping::{MapError, Mapping, PageAdvice};

/// Rows that the kernels process together: the doubles of one cache line.
pub(super) const SLIVER: usize = 8;
/// Columns from the right-hand side on: its own and zeros, so that the widest tile fits.
const RIGHT_SIDE_COLUMNS: usize = 24;

/// Sizes that follow from the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatrixShape {
    /// Number of unknowns.
    pub(super) order: usize,
    /// `order` rounded up to whole slivers; also the column of the right-hand side.
    pub(super) padded: usize,
    /// Doubles from one row to the next: an odd number of cache lines, so that the rows of a tile
    /// fall into different sets of every cache.
    pub(super) stride: usize,
}

impl MatrixShape {
    /// Returns `None` when the number of bytes overflows a `usize`.
    pub(super) fn new(order: usize) -> Option<Self> {
        let padded = order.checked_next_multiple_of(SLIVER)?;
        let lines = padded.checked_add(RIGHT_SIDE_COLUMNS)?.div_ceil(SLIVER) | 1;
        let shape = Self { order, padded, stride: lines.checked_mul(SLIVER)? };
        padded.checked_mul(shape.stride)?.checked_mul(size_of::<f64>())?;
        Some(shape)
    }

    /// Returns the bytes of the matrix with its right-hand side.
    pub(super) fn bytes(self) -> usize {
        self.padded * self.stride * size_of::<f64>()
    }
}

/// Owned matrix with its right-hand side.
#[derive(Debug)]
pub(super) struct LinpackMatrix {
    memory: Mapping,
    shape: MatrixShape,
}

impl LinpackMatrix {
    /// Maps the memory, untouched and in huge pages if the system provides them.
    pub(super) fn new(shape: MatrixShape) -> Result<Self, MapError> {
        Ok(Self { memory: Mapping::new(shape.bytes(), PageAdvice::Huge)?, shape })
    }

    /// Returns the bytes in huge pages now, or `None` if the system does not report them.
    pub(super) fn huge_bytes(&self) -> Option<usize> {
        self.memory.huge_bytes().ok()
    }

    /// Returns a view for threads that divide the memory among themselves.
    pub(super) fn shared_view(&mut self) -> SharedMatrix {
        SharedMatrix { start: self.memory.as_ptr().cast(), shape: self.shape }
    }
}

/// View of a matrix for several threads, which coordinate their writes themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedMatrix {
    start: *mut f64,
    pub(super) shape: MatrixShape,
}

// SAFETY: only an address; every access through it is `unsafe` and states why no other thread
// writes.
unsafe impl Send for SharedMatrix {}
// SAFETY: as above.
unsafe impl Sync for SharedMatrix {}

impl SharedMatrix {
    /// Returns the address of an element.
    ///
    /// # Safety
    /// `row` and `column` must be in the matrix (`padded` rows, `stride` columns).
    #[inline]
    pub(super) unsafe fn element(self, row: usize, column: usize) -> *mut f64 {
        debug_assert!(row < self.shape.padded && column < self.shape.stride);
        // SAFETY: the caller vouches for row and column, so the offset is in the mapping.
        unsafe { self.start.add(row * self.shape.stride + column) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_rows_and_spreads_them_over_cache_sets() {
        for (order, padded) in [(1, 8), (8, 8), (9, 16), (4000, 4000), (16_000, 16_000)] {
            let shape = MatrixShape::new(order).unwrap();
            assert_eq!(shape.padded, padded);
            assert!(
                shape.stride >= padded + RIGHT_SIDE_COLUMNS && shape.stride % 16 == 8,
                "{shape:?}"
            );
        }
        assert_eq!(MatrixShape::new(usize::MAX), None);
        assert_eq!(MatrixShape::new(1 << 31), None, "2^62 doubles are 2^65 bytes");
    }
}
