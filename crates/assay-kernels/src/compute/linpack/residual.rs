//! HPL's scaled residual of a solution, computed from the system regenerated from its seed.
//!
//! r = ‖A·x − b‖∞ / (ε · (‖A‖∞ · ‖x‖∞ + ‖b‖∞) · N), with ε = 2⁻⁵³, the relative machine precision
//! as HPL takes it (`HPL_pdlamch`, printed as 1.110223e-16). A solution passes when r < 16.0. For a
//! backward stable solver r is around 10⁻² or less; it has no unit. Reference: HPL 2.3,
//! `HPL_pdtest.c`.

use crate::compute::linpack::problem::LinpackProblem;

/// Relative machine precision ε of HPL.
const EPSILON: f64 = f64::EPSILON / 2.0;

/// Norms over some of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Norms {
    /// ‖A·x − b‖∞.
    error: f64,
    /// ‖A‖∞, the largest sum of a row's absolute values.
    matrix: f64,
    /// ‖b‖∞.
    right_side: f64,
}

impl Norms {
    /// Computes the norms over the given rows.
    pub(super) fn for_rows(
        problem: LinpackProblem,
        x: &[f64],
        rows: impl Iterator<Item = usize>,
    ) -> Self {
        rows.map(|row| Self::for_row(problem, x, row)).fold(Self::default(), Self::merge)
    }

    /// Returns the norms over both sets of rows.
    pub(super) fn merge(self, other: Self) -> Self {
        let Self { error, matrix, right_side } = other;
        Self {
            error: nan_max(self.error, error),
            matrix: nan_max(self.matrix, matrix),
            right_side: nan_max(self.right_side, right_side),
        }
    }

    /// Returns the scaled residual of the solution `x`; NaN if the solution contains NaN.
    pub(super) fn scaled_residual(self, x: &[f64]) -> f64 {
        let solution = x.iter().map(|x| x.abs()).fold(0.0, nan_max);
        let scale = self.matrix * solution + self.right_side;
        self.error / (EPSILON * scale * x.len() as f64)
    }

    fn for_row(problem: LinpackProblem, x: &[f64], row: usize) -> Self {
        let right_side = problem.right_side(row);
        let (mut product, mut matrix) = (0.0, 0.0);
        for (entry, x) in problem.row(row).zip(x) {
            product += entry * x;
            matrix += entry.abs();
        }
        Self { error: (product - right_side).abs(), matrix, right_side: right_side.abs() }
    }
}

/// Returns the larger of two numbers; NaN if either is NaN, which [`f64::max`] would hide.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propagates_nan() {
        for (a, b, expected) in [(1.0, 2.0, 2.0), (3.0, 2.0, 3.0), (0.0, 0.0, 0.0)] {
            assert!((nan_max(a, b) - expected).abs() < f64::EPSILON);
        }
        assert!(nan_max(f64::NAN, 1.0).is_nan() && nan_max(1.0, f64::NAN).is_nan());
        let problem = LinpackProblem::new(3, 1);
        let x = [0.0, f64::NAN, 0.0];
        assert!(Norms::for_rows(problem, &x, 0..3).scaled_residual(&x).is_nan());
    }

    /// Checks the scale with x = 0: the error is ‖b‖ itself, so r = 1 / (ε·N).
    #[test]
    fn scales_residual_as_hpl() {
        let (problem, x) = (LinpackProblem::new(10, 3), [0.0; 10]);
        let residual = Norms::for_rows(problem, &x, 0..10).scaled_residual(&x);
        assert!((residual * EPSILON * 10.0 - 1.0).abs() < 1e-12, "{residual}");
    }
}
