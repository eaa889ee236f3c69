//! Expected contents of the STREAM arrays after any sequence of operations.
//!
//! Every element starts as a small power of two `s(i)` chosen by a hash of its index (times 1 in
//! `a`, 2 in `b`, 0 in `c`). So a line copied to the wrong place is detected, which equal elements
//! would hide. All operations are linear and act on every index alike, so each array is at any time
//! `x[i] = uniform + patterned·s(i)`. The two numbers per array follow STREAM's own scalar
//! recurrence. Independent of the implementation of the kernels.

use super::arrays::ArraysPart;
use super::error::StreamError;
use super::operation::StreamOperation;
use super::pass::{SCALAR, WRITE_VALUE};

/// Range of values. Values outside it are renewed before they overflow or underflow: unusual orders
/// of operations make them grow or shrink by a constant factor each time.
const VALUE_RANGE: std::ops::Range<f64> = 1e-100..1e100;
/// Half a unit in the last place of 1: the relative error of one rounding.
const ROUNDING: f64 = f64::EPSILON / 2.0;
/// Elements of a block whose checks are combined before the first branch.
const CHECK_BLOCK_ELEMENTS: usize = 512;

/// Coefficients of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Coefficients {
    uniform: f64,
    patterned: f64,
}

/// Coefficients of all three arrays, and the number of operations applied to them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedContents {
    a: Coefficients,
    b: Coefficients,
    c: Coefficients,
    operations: u64,
}

/// Constants of a part that its sum depends on, in addition to the coefficients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PatternSum {
    elements: usize,
    /// `Σ s(i)` over the part.
    sum: u64,
}

impl PatternSum {
    /// Adds another piece of the same part.
    pub(super) const fn add(&mut self, piece: Self) {
        self.elements += piece.elements;
        self.sum += piece.sum;
    }
}

impl ExpectedContents {
    pub(super) fn initial() -> Self {
        let patterned = |patterned| Coefficients { uniform: 0.0, patterned };
        Self { a: patterned(1.0), b: patterned(2.0), c: patterned(0.0), operations: 0 }
    }

    /// Updates the expected contents for one operation.
    pub(super) fn apply(&mut self, operation: StreamOperation) {
        let Self { a, b, c, .. } = *self;
        match operation {
            StreamOperation::Copy => self.c = a,
            StreamOperation::Scale => self.b = c.combine_with(c, |x, _| SCALAR * x),
            StreamOperation::Add => self.c = a.combine_with(b, |x, y| x + y),
            StreamOperation::Triad => self.a = b.combine_with(c, |x, y| x + SCALAR * y),
            StreamOperation::Write => {
                self.a = Coefficients { uniform: WRITE_VALUE, patterned: 0.0 }
            }
            StreamOperation::Read => return,
        }
        self.operations += 1;
    }

    /// Whether values have come near the limits of an `f64`.
    pub(super) fn is_extreme(&self) -> bool {
        [self.a, self.b, self.c]
            .iter()
            .flat_map(|array| [array.uniform, array.patterned])
            .any(|value| value != 0.0 && !VALUE_RANGE.contains(&value))
    }

    /// Writes the current values into a part.
    pub(super) fn write(&self, part: &mut ArraysPart<'_>) -> PatternSum {
        let arrays = [(self.a, &mut *part.a), (self.b, &mut *part.b), (self.c, &mut *part.c)];
        for (coefficients, elements) in arrays {
            let values = coefficients.values();
            for (index, element) in (part.first..).zip(elements) {
                *element = values[pattern(index)];
            }
        }
        let elements = part.a.len();
        let indices = part.first..part.first + elements;
        PatternSum { elements, sum: indices.map(|index| 1 << pattern(index)).sum() }
    }

    /// Compares a part with the current values; the first difference is the error.
    pub(super) fn check_part(&self, part: &ArraysPart<'_>) -> Result<(), StreamError> {
        let arrays =
            [('a', self.a, &*part.a), ('b', self.b, &*part.b), ('c', self.c, &*part.c)];
        for (array, coefficients, elements) in arrays {
            let values = coefficients.values();
            let bounds = values.map(|value| self.tolerance() * value.abs());
            let is_right = |(index, &found): (usize, &f64)| {
                let pattern = pattern(index);
                is_close(found, values[pattern], bounds[pattern])
            };
            for (first, block) in (part.first..)
                .step_by(CHECK_BLOCK_ELEMENTS)
                .zip(elements.chunks(CHECK_BLOCK_ELEMENTS))
            {
                // No branch for every element, so that the compiler may vectorise the comparison.
                let elements_of_block = || (first..).zip(block);
                if elements_of_block().fold(true, |so_far, element| so_far & is_right(element))
                {
                    continue;
                }
                let (index, &found) = elements_of_block()
                    .find(|element| !is_right(*element))
                    .expect("one of the block is wrong");
                let expected = values[pattern(index)];
                return Err(StreamError::WrongContents { array, index, expected, found });
            }
        }
        Ok(())
    }

    /// Compares a member's sum over its part of `a` with `Σ (uniform + patterned·s(i))`. Any order
    /// of summing n positive values errs by at most n roundings; that is still less than one cache
    /// line's share of the sum for parts up to 10⁸ elements.
    pub(super) fn check_sum(
        &self,
        thread: usize,
        part: PatternSum,
        found: f64,
    ) -> Result<(), StreamError> {
        let elements = part.elements as f64;
        let expected = self.a.uniform * elements + self.a.patterned * part.sum as f64;
        let bound = (self.tolerance() + elements * ROUNDING) * expected.abs();
        if is_close(found, expected, bound) {
            Ok(())
        } else {
            Err(StreamError::WrongSum { thread, expected, found })
        }
    }

    /// Returns the relative difference that rounding alone can explain. No operation subtracts, so
    /// relative errors only add up: at most two roundings per operation on either side, and two to
    /// evaluate a value.
    fn tolerance(&self) -> f64 {
        (4 * self.operations + 2) as f64 * ROUNDING
    }
}

impl Coefficients {
    fn combine_with(self, other: Self, combine: fn(f64, f64) -> f64) -> Self {
        Self {
            uniform: combine(self.uniform, other.uniform),
            patterned: combine(self.patterned, other.patterned),
        }
    }

    /// Returns the values of elements whose pattern is 0, 1, 2 and 3.
    fn values(self) -> [f64; 4] {
        [1.0, 2.0, 4.0, 8.0].map(|scale| self.uniform + self.patterned * scale)
    }
}

/// Returns the exponent (0 to 3) of an element's power of two: the top bits of a multiplicative
/// hash (Knuth's, with 2⁶⁴ over the golden ratio), which differ between neighbouring lines.
#[inline]
fn pattern(index: usize) -> usize {
    ((index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62) as usize
}

/// Whether both differ by at most `bound`; false also when either is NaN.
#[inline]
fn is_close(found: f64, expected: f64, bound: f64) -> bool {
    (found - expected).abs() <= bound
}
