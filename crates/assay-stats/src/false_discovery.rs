//! Multiple testing: adjusts p values for the number of metrics tested, to control the false
//! discovery rate.

/// Returns the adjusted p values. Rejecting all that are at most q keeps the expected share of
/// false discoveries at most q, and where nothing differs at all, the probability of any (Benjamini
/// and Hochberg, J. R. Statist. Soc. B 57:289, 1995).
///
/// The i-th smallest of m becomes the minimum of pⱼ m / j for j from i on. Holds where tests are
/// independent or positively dependent, as metrics of one machine are.
pub fn adjust_p_values(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let all = probabilities.len() as f64;
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut minimum = 1.0_f64;
    for (rank, at) in (1..=order.len()).rev().zip(order) {
        minimum = minimum.min(probabilities[at] * all / rank as f64);
        adjusted[at] = minimum;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusts_from_largest_to_smallest() {
        for (probabilities, expected) in [
            (&[][..], &[][..]),
            (&[0.03], &[0.03]),
            (&[0.01, 0.5, 0.02, 0.9], &[0.04, 2.0 / 3.0, 0.04, 0.9]),
            (&[0.04, 0.041, 0.042], &[0.042, 0.042, 0.042]),
        ] {
            let found = adjust_p_values(probabilities);
            let is_same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(is_same && found.len() == expected.len(), "{found:?}");
        }
    }
}
