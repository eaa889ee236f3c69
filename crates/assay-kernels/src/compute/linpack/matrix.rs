//! The matrix in memory: row by row, with the right-hand side as one more column.
//!
//! Rows lie one after the other because partial pivoting swaps rows: a swap then moves whole cache lines
//! instead of eight bytes out of each. The order is padded to a multiple of 8 with the identity, so that
//! no kernel has an edge to care for; the padding never changes the answer. Never reads a clock.

use crate::mapping::{MapError, Mapping, PageAdvice};

/// Rows that the kernels take at once: the doubles of one cache line.
pub(super) const SLIVER: usize = 8;
/// Columns behind the right-hand side's first: its own and zeros, so that the widest tile fits.
const RIGHT_COLUMNS: usize = 24;

/// The sizes that follow from the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Number of unknowns.
    pub(super) order: usize,
    /// `order` rounded up to whole slivers; also the column of the right-hand side.
    pub(super) padded: usize,
    /// Doubles from one row to the next: an odd number of cache lines, so that the rows of a tile fall
    /// into different sets of every cache.
    pub(super) stride: usize,
}

impl Shape {
    /// `None` when the bytes cannot be counted in a `usize`.
    pub(super) fn new(order: usize) -> Option<Self> {
        let padded = order.checked_next_multiple_of(SLIVER)?;
        let lines = padded.checked_add(RIGHT_COLUMNS)?.div_ceil(SLIVER) | 1;
        let shape = Self { order, padded, stride: lines.checked_mul(SLIVER)? };
        padded.checked_mul(shape.stride)?.checked_mul(size_of::<f64>())?;
        Some(shape)
    }

    /// Bytes of the matrix with its right-hand side.
    pub(super) fn bytes(self) -> usize {
        self.padded * self.stride * size_of::<f64>()
    }
}

/// An owned matrix with its right-hand side.
#[derive(Debug)]
pub(super) struct Matrix {
    memory: Mapping,
    shape: Shape,
}

impl Matrix {
    /// Maps the memory, untouched and in huge pages where the system gives them.
    pub(super) fn new(shape: Shape) -> Result<Self, MapError> {
        Ok(Self { memory: Mapping::new(shape.bytes(), PageAdvice::Huge)?, shape })
    }

    /// Bytes that are in huge pages now, or `None` where the system does not say.
    pub(super) fn huge_bytes(&self) -> Option<usize> {
        self.memory.huge_bytes().ok()
    }

    /// The memory for threads that divide it among themselves.
    pub(super) fn grid(&mut self) -> Grid {
        Grid { start: self.memory.as_ptr().cast(), shape: self.shape }
    }
}

/// A matrix as several threads see it that have agreed who writes what and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    start: *mut f64,
    pub(super) shape: Shape,
}

// SAFETY: a grid is an address; every access through it is `unsafe` and says why nobody else writes.
unsafe impl Send for Grid {}
// SAFETY: as above.
unsafe impl Sync for Grid {}

impl Grid {
    /// The address of an element.
    ///
    /// # Safety
    /// `row` and `column` must be in the matrix (`padded` rows, `stride` columns).
    #[inline]
    pub(super) unsafe fn at(self, row: usize, column: usize) -> *mut f64 {
        debug_assert!(row < self.shape.padded && column < self.shape.stride);
        // SAFETY: the caller vouches for row and column, so the offset is in the mapping.
        unsafe { self.start.add(row * self.shape.stride + column) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_padded_and_spread_over_cache_sets() {
        for (order, padded) in [(1, 8), (8, 8), (9, 16), (4000, 4000), (16_000, 16_000)] {
            let shape = Shape::new(order).unwrap();
            assert_eq!(shape.padded, padded);
            assert!(
                shape.stride >= padded + RIGHT_COLUMNS && shape.stride % 16 == 8,
                "{shape:?}"
            );
        }
        assert_eq!(Shape::new(usize::MAX), None);
        assert_eq!(Shape::new(1 << 31), None, "2^62 doubles are 2^65 bytes");
    }
}
