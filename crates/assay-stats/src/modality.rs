//! Detection of several modes in a sample.

/// Minimum number of independent values.
const MIN_INDEPENDENT: f64 = 10.0;

/// Two groups of values that a sample falls into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Median of the lower group.
    pub low: f64,
    /// Median of the upper group.
    pub high: f64,
    /// Share of the values in the lower group, 0 … 1.
    pub share_low: f64,
}

/// Returns the two main groups of values in ascending order, if the sample clearly has more than
/// one mode.
///
/// The test is Hartigan and Hartigan's dip (Ann. Stat. 13:70, 1985): the largest distance between
/// the empirical distribution and the nearest unimodal one. Correlated values count for
/// `n_independent` only. Equal values are spread over the smallest step between values, so that a
/// coarse clock does not look like many modes. The groups are then split where the sum of their
/// variances is minimal (Otsu, IEEE Trans. SMC 9:62, 1979). The share of each group is at least the
/// dip, since moving a smaller group elsewhere could not make the sample unimodal: a single outlier
/// is not a group.
pub fn find_modes(sorted: &[f64], n_independent: f64) -> Option<Modes> {
    if n_independent < MIN_INDEPENDENT {
        return None;
    }
    let scaled = normalise(sorted)?;
    let dip = dip(&spread_ties(&scaled));
    (dip * n_independent.sqrt() > critical_dip(n_independent))
        .then(|| split_modes(sorted, &scaled, dip))
}

/// Returns the critical value of √n × dip. Normal, lognormal (up to σ = 1) and exponential samples
/// exceed it in fewer than 1 of 100 cases from 10 values on; uniform samples, which have the
/// largest dip of all unimodal ones, in 5. Two peaks at a distance of four widths at half height
/// are found in 80 and more of 100 samples of 33; at four standard deviations it takes a hundred
/// values. Fitted to 4,000 simulated samples each for n from 10 to 300.
fn critical_dip(n: f64) -> f64 {
    (0.54 - 0.3 / n.sqrt()).max(0.48)
}

/// Shifts and scales values to 0 … 1; `None` when all values are equal or not finite.
fn normalise(sorted: &[f64]) -> Option<Vec<f64>> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let range = last - first;
    let usable = range > 0.0 && range.is_finite();
    usable.then(|| sorted.iter().map(|value| (value - first) / range).collect())
}

/// Moves equal values apart, evenly over the smallest step between different values.
fn spread_ties(sorted: &[f64]) -> Vec<f64> {
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.filter(|step| *step > 0.0).fold(1.0, f64::min);
    let mut spread = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a >= b) {
        let part = step / tied.len() as f64;
        let first = tied[0] - (step - part) / 2.0;
        spread.extend((0..tied.len()).map(|index| first + index as f64 * part));
    }
    spread
}

/// Returns the dip of ascending values, 1 / 2n … 1/4.
///
/// The modal interval is narrowed from both ends. Each round compares the greatest convex minorant
/// of the distribution (its steps' lower corners) and its least concave majorant (their upper
/// corners) inside the interval. The next interval is at their largest distance, as long as that
/// exceeds the deviation of the distribution from them outside the interval.
pub fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    let (mut low, mut high) = (0, n.saturating_sub(1));
    let mut dip = 1.0;
    while low < high {
        let minorant = hull(sorted, low, high, 1.0);
        let majorant = hull(sorted, low, high, -1.0);
        let (gap, next_low, next_high) = widest_gap(sorted, &minorant, &majorant);
        if gap <= dip {
            break;
        }
        let left = minorant.windows(2).filter(|edge| edge[1] <= next_low);
        let right = majorant.windows(2).filter(|edge| edge[0] >= next_high);
        let strays = left
            .map(|edge| max_deviation(sorted, edge, 1.0))
            .chain(right.map(|edge| max_deviation(sorted, edge, -1.0)));
        dip = strays.fold(dip, f64::max);
        if (next_low, next_high) == (low, high) {
            break;
        }
        (low, high) = (next_low, next_high);
    }
    dip / (2 * n.max(1)) as f64
}

/// Returns the corners of the convex minorant (`side` 1) or concave majorant (−1) of the points (x,
/// index).
fn hull(sorted: &[f64], low: usize, high: usize, side: f64) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., a, b] = corners[..] {
            let run = (sorted[b] - sorted[a]) * (next - a) as f64;
            let rise = (sorted[next] - sorted[a]) * (b - a) as f64;
            // The corner b is kept only where the line turns away from the distribution.
            if side * (run - rise) > 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

/// Returns the height at `x` of the edge between two corners, in indices.
fn edge_height(sorted: &[f64], edge: &[usize], x: f64) -> f64 {
    let (a, b) = (edge[0], edge[1]);
    let width = sorted[b] - sorted[a];
    let share = if width > 0.0 { (x - sorted[a]) / width } else { 0.5 };
    a as f64 + share * (b - a) as f64
}

/// Returns the largest distance between the hulls and the interval between the adjacent corners.
fn widest_gap(sorted: &[f64], minorant: &[usize], majorant: &[usize]) -> (f64, usize, usize) {
    let edge = |corners: &[usize], at: usize| {
        let after = corners.partition_point(|corner| *corner < at).max(1);
        [corners[after - 1], corners[after]]
    };
    let lower = minorant.iter().map(|at| {
        let edge = edge(majorant, *at);
        (edge_height(sorted, &edge, sorted[*at]) + 1.0 - *at as f64, *at, edge[1].max(*at))
    });
    let upper = majorant.iter().map(|at| {
        let edge = edge(minorant, *at);
        (*at as f64 + 1.0 - edge_height(sorted, &edge, sorted[*at]), edge[0].min(*at), *at)
    });
    lower.chain(upper).fold((0.0, 0, 0), |best, next| if next.0 > best.0 { next } else { best })
}

/// Returns the largest deviation of the distribution from an edge of its hull.
fn max_deviation(sorted: &[f64], edge: &[usize], side: f64) -> f64 {
    let away = |at: usize| side * (at as f64 - edge_height(sorted, edge, sorted[at])) + 1.0;
    (edge[0]..=edge[1]).map(away).fold(0.0, f64::max)
}

/// Returns the split of ascending values with the minimum sum of squares inside both groups, among
/// those that leave each group at least the share `minimum`.
fn split_modes(sorted: &[f64], scaled: &[f64], minimum: f64) -> Modes {
    let n = scaled.len() as f64;
    let total: f64 = scaled.iter().sum();
    let mut below = 0.0;
    let mut best = (0.0, 1);
    for (index, value) in scaled.iter().enumerate().take(scaled.len() - 1) {
        below += value;
        let count = (index + 1) as f64;
        if count.min(n - count) < minimum * n {
            continue;
        }
        // Minimum variance inside both groups equals maximum variance between them.
        let apart = below / count - (total - below) / (n - count);
        let between = count * (n - count) * apart * apart;
        if between > best.0 {
            best = (between, index + 1);
        }
    }
    let (low, high) = sorted.split_at(best.1);
    let middle = |values: &[f64]| crate::quantile::median(values).unwrap_or_default();
    Modes { low: middle(low), high: middle(high), share_low: low.len() as f64 / n }
}

#[cfg(test)]
mod tests;
