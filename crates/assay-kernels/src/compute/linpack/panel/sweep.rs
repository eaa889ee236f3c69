//! Kernels that work on eight columns of a panel at a time: find the largest element of a column,
//! and eliminate one column from those to its right while searching for the next pivot.

use std::ops::Range;

use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::vector::{Vector, prefetch};

/// Prefetch distance, in slivers. They lie megabytes apart, so no hardware prefetcher follows; at
/// 64 bytes per column and some ten cycles per sliver, eight of them cover the latency of memory.
const SLIVERS_AHEAD: usize = 8;

/// Candidate for the next pivot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Candidate {
    /// Absolute value of the element; 0 if there is no candidate.
    pub(in super::super) magnitude: f64,
    /// Row, counted from the panel's first.
    pub(in super::super) row: usize,
}

impl Candidate {
    pub(in super::super) const NONE: Self = Self { magnitude: 0.0, row: usize::MAX };

    /// Returns the larger of two candidates; of equals the upper one, so that the result does not
    /// depend on the threads.
    pub(in super::super) fn or_larger(self, other: Self) -> Self {
        let larger = other.magnitude > self.magnitude;
        let upper =
            other.magnitude.to_bits() == self.magnitude.to_bits() && other.row < self.row;
        if larger || upper { other } else { self }
    }
}

/// Eight neighbouring columns of some whole slivers of a panel.
#[derive(Debug, Clone)]
pub(in super::super) struct Columns<'a> {
    /// Address of sliver 0 of the panel.
    pub(in super::super) start: *mut f64,
    /// Doubles from one sliver to the next.
    pub(in super::super) stride: usize,
    /// Offset of each column within a sliver.
    pub(in super::super) offsets: &'a [usize; SLIVER],
    /// Slivers to work on.
    pub(in super::super) slivers: Range<usize>,
}

/// Pivot of the column to eliminate: the pivot row's entries in the eight columns, and the pivot's
/// reciprocal.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Pivot {
    /// Index of the column among the eight.
    pub(in super::super) column: usize,
    /// Entries of the pivot row.
    pub(in super::super) row: [f64; SLIVER],
    /// 1 / pivot.
    pub(in super::super) reciprocal: f64,
}

/// Finds the largest element of the first column.
///
/// # Safety
/// The CPU must have the instruction set of `V`. The columns must be valid, and no thread may write
/// them during the call.
#[inline(always)]
pub(in super::super) unsafe fn largest<V: Vector>(columns: &Columns) -> Candidate {
    // SAFETY: vouched for by the caller, for every sliver and column.
    unsafe {
        let (mut best, mut at) = (V::splat(0.0), V::splat(0.0));
        for sliver in columns.slivers.clone() {
            for half in 0..SLIVER / V::LANES {
                let first_row = sliver * SLIVER + half * V::LANES;
                let values = columns.start.add(sliver * columns.stride + columns.offsets[0]);
                let values = V::load(values.add(half * V::LANES));
                V::keep_larger(&mut best, &mut at, values, V::splat(first_row as f64));
            }
        }
        reduce(best, at)
    }
}

/// Scales the pivot's column, subtracts its multiples from the columns to the right, and returns
/// the largest element of the next one (or none after the last).
///
/// # Safety
/// The CPU must have the instruction set of `V`. The columns must be valid, and no other thread may
/// use them during the call.
#[inline(always)]
pub(in super::super) unsafe fn eliminate<V: Vector>(
    columns: &Columns,
    pivot: &Pivot,
) -> Candidate {
    // The column is a constant inside each arm, so that the loops over columns unroll.
    // SAFETY: vouched for by the caller.
    unsafe {
        match pivot.column {
            0 => eliminate_column::<V, 0>(columns, pivot),
            1 => eliminate_column::<V, 1>(columns, pivot),
            2 => eliminate_column::<V, 2>(columns, pivot),
            3 => eliminate_column::<V, 3>(columns, pivot),
            4 => eliminate_column::<V, 4>(columns, pivot),
            5 => eliminate_column::<V, 5>(columns, pivot),
            6 => eliminate_column::<V, 6>(columns, pivot),
            _ => eliminate_column::<V, 7>(columns, pivot),
        }
    }
}

#[inline(always)]
unsafe fn eliminate_column<V: Vector, const COLUMN: usize>(
    columns: &Columns,
    pivot: &Pivot,
) -> Candidate {
    // SAFETY: vouched for by the caller of `eliminate`, for every sliver and column.
    unsafe {
        let reciprocal = V::splat(pivot.reciprocal);
        let mut row = [V::splat(0.0); SLIVER];
        for (vector, &value) in row.iter_mut().zip(&pivot.row) {
            *vector = V::splat(value);
        }
        let (mut best, mut at) = (V::splat(0.0), V::splat(0.0));
        for sliver in columns.slivers.clone() {
            let start = columns.start.add(sliver * columns.stride);
            let ahead = start.wrapping_add(SLIVERS_AHEAD * columns.stride);
            for &offset in &columns.offsets[COLUMN..] {
                prefetch(ahead.wrapping_add(offset));
            }
            for half in 0..SLIVER / V::LANES {
                let start = start.add(half * V::LANES);
                let multiple = V::load(start.add(columns.offsets[COLUMN])).times(reciprocal);
                multiple.store(start.add(columns.offsets[COLUMN]));
                for (column, &row) in row.iter().enumerate().skip(COLUMN + 1) {
                    let values = start.add(columns.offsets[column]);
                    let left = V::load(values).minus_product(multiple, row);
                    left.store(values);
                    if column == COLUMN + 1 {
                        let first_row = V::splat((sliver * SLIVER + half * V::LANES) as f64);
                        V::keep_larger(&mut best, &mut at, left, first_row);
                    }
                }
            }
        }
        reduce(best, at)
    }
}

/// Returns the best candidate of all lanes; `at` holds, for each lane, the row of its vector's
/// first element.
#[inline(always)]
unsafe fn reduce<V: Vector>(best: V, at: V) -> Candidate {
    let (mut sizes, mut rows) = ([0.0; SLIVER], [0.0; SLIVER]);
    // SAFETY: a vector has at most as many lanes as a sliver has rows.
    unsafe {
        best.store(sizes.as_mut_ptr());
        at.store(rows.as_mut_ptr());
    }
    let mut candidate = Candidate::NONE;
    for lane in 0..V::LANES {
        if sizes[lane] > 0.0 {
            let row = rows[lane] as usize + lane;
            candidate = candidate.or_larger(Candidate { magnitude: sizes[lane], row });
        }
    }
    candidate
}
