//! Student's t: what the mean of a few independent normal values is worth.

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
