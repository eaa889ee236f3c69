//! Ranks, on which the tests for correlation and warm-up are based.
//!
//! Ranks are equivalent for a time and its reciprocal, and an outlier moves them no more than any
//! other value, so every test based on them keeps its error rate whatever the distribution.

/// Returns mid-ranks from 1 to n; equal values share the mean of their ranks. The order is that of
/// [`f64::total_cmp`], so that any input has ranks.
pub fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = first as f64 + (tied.len() + 1) as f64 / 2.0;
        for index in tied {
            ranks[*index] = rank;
        }
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        for (values, expected) in [
            (&[][..], &[][..]),
            (&[7.0], &[1.0]),
            (&[3.0, 1.0, 2.0], &[3.0, 1.0, 2.0]),
            (&[5.0, 1.0, 5.0, 9.0], &[2.5, 1.0, 2.5, 4.0]),
            (&[2.0, 2.0, 2.0], &[2.0, 2.0, 2.0]),
            (&[f64::NAN, 0.0, f64::INFINITY], &[3.0, 1.0, 2.0]),
        ] {
            assert_eq!(mid_ranks(values), expected, "{values:?}");
        }
    }
}
