//! Multiple testing of few related hypotheses, such as all pairs of levels: controls the probability
//! of any false rejection.

/// Returns the adjusted p-values. Rejecting all that are at most α keeps the probability of any
/// false rejection at most α, however the tests depend on each other (Holm, Scand. J. Statist. 6:65,
/// 1979).
///
/// The i-th smallest of m becomes the maximum of min(1, pⱼ (m + 1 − j)) for j up to i.
pub fn adjust_p_values(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut maximum = 0.0_f64;
    for (left, at) in (1..=order.len()).rev().zip(order) {
        maximum = maximum.max((probabilities[at] * left as f64).min(1.0));
        adjusted[at] = maximum;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks against `multipletests(…, method="holm")` of statsmodels.
    #[test]
    fn adjusts_as_statsmodels() {
        for (probabilities, expected) in [
            (&[][..], &[][..]),
            (&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]),
            (&[0.001, 0.2, 0.0004, 0.9, 0.02], &[0.004, 0.4, 0.002, 0.9, 0.06]),
        ] {
            let found = adjust_p_values(probabilities);
            let is_same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(is_same && found.len() == expected.len(), "{found:?}");
        }
    }
}
