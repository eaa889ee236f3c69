//! Memory layout of a panel while it is factored and used: in place in the matrix, with the eight
//! rows of each sliver interleaved.
//!
//! Each sliver of a panel of width `w` (a multiple of 8) occupies eight pieces of `w` doubles, one
//! per row of the matrix. Interleaved, piece `p` holds columns `p·w/8 … (p+1)·w/8`,
//! each as eight consecutive doubles: the rows. So a column of a sliver is one cache line, the
//! trailing update reads the panel in packed form, and packing takes no additional memory.

use crate::compute::linpack::matrix::{SLIVER, SharedMatrix};

/// Panel: columns `first … first + width` of the matrix, from row `first` down.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    pub(super) matrix: SharedMatrix,
    /// First column, and first row.
    pub(super) first: usize,
    /// Number of columns, a multiple of 8.
    pub(super) width: usize,
    /// Offset of each column within a sliver, in doubles.
    pub(super) offsets: Vec<usize>,
}

impl Panel {
    pub(super) fn new(matrix: SharedMatrix, first: usize, width: usize) -> Self {
        debug_assert!(width.is_multiple_of(SLIVER) && first.is_multiple_of(SLIVER));
        let piece = width / SLIVER;
        let offset =
            |column: usize| column / piece * matrix.shape.stride + column % piece * SLIVER;
        Self { matrix, first, width, offsets: (0..width).map(offset).collect() }
    }

    /// Returns the number of slivers from the panel's first row to the last row of the matrix.
    pub(super) fn slivers(&self) -> usize {
        (self.matrix.shape.padded - self.first) / SLIVER
    }

    /// Returns the number of columns per piece.
    pub(super) fn piece_columns(&self) -> usize {
        self.width / SLIVER
    }

    /// Returns the distance between two slivers, in doubles.
    pub(super) fn sliver_stride(&self) -> usize {
        SLIVER * self.matrix.shape.stride
    }

    /// Returns the address of a sliver, counted from the panel's first row.
    ///
    /// # Safety
    /// `sliver` must be less than [`Panel::slivers`].
    #[inline]
    pub(super) unsafe fn sliver(&self, sliver: usize) -> *mut f64 {
        // SAFETY: the caller vouches for the sliver.
        unsafe { self.matrix.element(self.first + sliver * SLIVER, self.first) }
    }

    /// Returns the address of an element of an interleaved panel; `row` counts from the panel's
    /// first.
    ///
    /// # Safety
    /// The sliver of `row` must be less than [`Panel::slivers`] and `column` less than the width.
    #[inline]
    pub(super) unsafe fn element(&self, row: usize, column: usize) -> *mut f64 {
        // SAFETY: the caller vouches for the row; the offsets stay within the sliver's eight rows.
        unsafe { self.sliver(row / SLIVER).add(self.offsets[column] + row % SLIVER) }
    }

    /// Interleaves one sliver. `scratch` needs room for 8 × width doubles.
    ///
    /// # Safety
    /// The sliver must exist and not be interleaved yet. No other thread may use it during the
    /// call.
    pub(super) unsafe fn interleave(&self, sliver: usize, scratch: &mut [f64]) {
        // SAFETY: the caller vouches for the sliver.
        let start = unsafe { self.sliver(sliver) };
        for row in 0..SLIVER {
            // SAFETY: a row's piece is `width` doubles in the matrix; scratch is no part of it.
            let piece = unsafe {
                std::slice::from_raw_parts(
                    start.add(row * self.matrix.shape.stride),
                    self.width,
                )
            };
            scratch[row * self.width..][..self.width].copy_from_slice(piece);
        }
        for (column, &offset) in self.offsets.iter().enumerate() {
            let column_values: [f64; SLIVER] =
                std::array::from_fn(|row| scratch[row * self.width + column]);
            // SAFETY: eight doubles within the sliver, see `new`.
            unsafe { start.add(offset).cast::<[f64; SLIVER]>().write(column_values) };
        }
    }

    /// Undoes [`Panel::interleave`].
    ///
    /// # Safety
    /// The sliver must exist and be interleaved. No other thread may use it during the call.
    pub(super) unsafe fn restore(&self, sliver: usize, scratch: &mut [f64]) {
        // SAFETY: the caller vouches for the sliver.
        let start = unsafe { self.sliver(sliver) };
        for (column, &offset) in self.offsets.iter().enumerate() {
            // SAFETY: eight doubles within the sliver, see `new`.
            let column_values = unsafe { start.add(offset).cast::<[f64; SLIVER]>().read() };
            for (row, value) in column_values.into_iter().enumerate() {
                scratch[row * self.width + column] = value;
            }
        }
        for row in 0..SLIVER {
            // SAFETY: a row's piece is `width` doubles in the matrix; scratch is no part of it.
            let piece = unsafe {
                std::slice::from_raw_parts_mut(
                    start.add(row * self.matrix.shape.stride),
                    self.width,
                )
            };
            piece.copy_from_slice(&scratch[row * self.width..][..self.width]);
        }
    }
}
