//! Student's t: intervals and tests for few effective values.

use crate::quantile::{LEVEL, median};

/// Ratio of the width of the median's interval to that of the mean's, for few normal values: 1.16
/// for three, 1.25 for many (π / 2 as variances).
pub(crate) const MEDIAN_WIDTH_FACTOR: f64 = 1.2;

/// Returns the probability that |t| with `freedom` degrees of freedom exceeds `t`, in closed form
/// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
pub fn two_sided_p(t: f64, freedom: u32) -> f64 {
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // The series starts with cos θ for an odd number, else with 1.
    let (mut term, mut power) = if is_odd { (cosine, 1) } else { (1.0, 0) };
    let mut sum = 0.0;
    while power + 2 <= freedom {
        sum += term;
        term *= cosine.powi(2) * f64::from(power + 1) / f64::from(power + 2);
        power += 2;
    }
    let within = match is_odd {
        true => std::f64::consts::FRAC_2_PI * (angle + sine * sum),
        false => sine * sum,
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// Returns the critical value that |t| exceeds with probability `risk`, which is above 0.
pub fn critical_t(risk: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_p(high, freedom) > risk && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    // Bisection down to the resolution of a double.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if two_sided_p(middle, freedom) > risk { low = middle } else { high = middle }
    }
    high
}

/// Returns the interval of the median at [`LEVEL`] of ascending values with fewer effective ones
/// than order statistics need, such as three preparations that differ: m ± 1.2 t √(s² / (`worth` −
/// 1)). It is computed from logarithms where all values are positive, so that a time and its rate
/// have equivalent intervals.
///
/// s² is the mean square around the mean, which is too small by 1 − 1 / `worth`. t has `worth` − 1
/// degrees of freedom, but at least two unless there are exactly two preparations.
/// [`crate::interval_coverage`] simulates the coverage.
pub fn median_t_interval(
    sorted: &[f64],
    worth: f64,
    preparations: usize,
) -> Option<(f64, f64)> {
    let is_positive = *sorted.first()? > 0.0;
    let scaled: Vec<f64> =
        sorted.iter().map(|value| if is_positive { value.ln() } else { *value }).collect();
    let n = scaled.len() as f64;
    let mean = scaled.iter().sum::<f64>() / n;
    let variance = scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let fewest = if preparations == 2 { 1.0 } else { 2.0 };
    let freedom = (worth.round() - 1.0).max(fewest) as u32;
    let half = MEDIAN_WIDTH_FACTOR
        * critical_t(1.0 - LEVEL, freedom)
        * (variance / (worth.max(2.0) - 1.0)).sqrt();
    let middle = median(&scaled)?;
    let shown = |value: f64| if is_positive { value.exp() } else { value };
    let (low, high) = (shown(middle - half), shown(middle + half));
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Common table of two-sided critical values.
    #[test]
    fn critical_values_match_tables() {
        for (freedom, risk, expected) in [
            (1, 0.05, 12.706),
            (2, 0.05, 4.303),
            (3, 0.05, 3.182),
            (4, 0.05, 2.776),
            (5, 0.05, 2.571),
            (10, 0.05, 2.228),
            (10, 0.001, 4.587),
            (11, 0.01, 3.106),
            (120, 0.05, 1.980),
        ] {
            let found = critical_t(risk, freedom);
            assert!((found - expected).abs() < 6e-4, "{freedom} {risk}: {found}");
        }
    }
}
