//! Student's t: what a few independent values are worth.

use crate::quantile::{LEVEL, median};

/// How much wider than that of their mean the interval of the median of a few normal values is: 1.16 times
/// for three, 1.25 for many (π / 2 as variances).
pub(crate) const OF_MEDIAN: f64 = 1.2;

/// The probability that |t| with `freedom` degrees of freedom is greater than `t`, in closed form
/// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
#[must_use]
pub fn beyond(t: f64, freedom: u32) -> f64 {
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // The series begins with cos θ where there is an odd number, else with 1.
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

/// The t beyond which |t| lies with probability `risk`, which is above 0.
#[must_use]
pub fn critical(risk: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, freedom) > risk && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    // Halved until nothing is left between the two numbers.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle, freedom) > risk { low = middle } else { high = middle }
    }
    high
}

/// The interval of the median at [`LEVEL`] of ascending values that are worth fewer effective ones than
/// order statistics need, such as those of three preparations that differ: m ± 1.2 t √(s² / (`worth` − 1)),
/// in logarithms where all values are positive, so that a time and its rate have the same.
///
/// s² is the mean square around the mean, which `worth` effective values make too small by 1 − 1 / `worth`. t has
/// `worth` − 1 degrees of freedom, but two at least where more than two preparations or the neighbours
/// themselves say what the values are worth. That it covers is counted, in [`crate::proof`].
#[must_use]
pub fn interval(sorted: &[f64], worth: f64, preparations: usize) -> Option<(f64, f64)> {
    let is_positive = *sorted.first()? > 0.0;
    let scaled: Vec<f64> =
        sorted.iter().map(|value| if is_positive { value.ln() } else { *value }).collect();
    let n = scaled.len() as f64;
    let mean = scaled.iter().sum::<f64>() / n;
    let variance = scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let fewest = if preparations == 2 { 1.0 } else { 2.0 };
    let freedom = (worth.round() - 1.0).max(fewest) as u32;
    let half =
        OF_MEDIAN * critical(1.0 - LEVEL, freedom) * (variance / (worth.max(2.0) - 1.0)).sqrt();
    let middle = median(&scaled)?;
    let shown = |value: f64| if is_positive { value.exp() } else { value };
    let (low, high) = (shown(middle - half), shown(middle + half));
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usual table of two-sided critical values.
    #[test]
    fn critical_values_are_those_of_the_tables() {
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
            let found = critical(risk, freedom);
            assert!((found - expected).abs() < 6e-4, "{freedom} {risk}: {found}");
        }
    }
}
