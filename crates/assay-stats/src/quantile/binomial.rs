//! Exact ranks of the median's interval from the binomial distribution with p = ½.

/// Returns the largest l with P(Bin(n, ½) < l) ≤ (1 − level) / 2: the interval of the median at
/// `level` reaches from the l-th to the (n + 1 − l)-th of n ordered values.
///
/// Returns `None` when no rank keeps the level, or when `level` is not between 0 and 1.
pub fn interval_rank(n: usize, level: f64) -> Option<usize> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let risk = (1.0 - level) / 2.0;
    // In logarithms, because 2⁻ⁿ is zero in a double from n = 1 075 on.
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for rank in 0..=n / 2 {
        below += log_probability.exp();
        if below > risk {
            return (rank > 0).then_some(rank);
        }
        log_probability += ((n - rank) as f64 / (rank + 1) as f64).ln();
    }
    // Not reached: the probability of at most n / 2 is at least one half, which exceeds every risk.
    None
}
