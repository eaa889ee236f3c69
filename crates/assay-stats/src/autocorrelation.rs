//! Autocorrelation of successive repetitions.

/// Maximum lag of the estimate. Longer lags are not resolved, whatever the length of the series,
/// and their cost would grow with the square of the number of samples.
const MAX_LAG: usize = 1000;
/// Standard errors by which φ may exceed the correlation across the ends of parts: one-sided risk
/// of 10 %. See [`serial_dependence`].
const BOUNDARY_Z: f64 = 1.3;
/// Maximum φ that can be distinguished from a drift.
const MAX_PHI: f64 = 0.99;
/// Minimum length of a stretch; in shorter ones the bias is as large as the correlation.
const MIN_STRETCH_LENGTH: usize = 8;

/// Returns the integrated autocorrelation time τ = 1 + 2 Σ ρ(h), at least 1: the number of
/// successive values that carry as much information as one independent value.
///
/// `stretches` are uninterrupted stretches of one series. Correlation is estimated only inside
/// them, around the mean of each. The sum ends where the sum of two neighbouring lags is no longer
/// positive, and these sums are made monotone (Geyer's initial monotone sequence, Statistical
/// Science 7:473, 1992), or at half the longest stretch. Autocovariances around a mean estimated
/// from m values are too small by about σ²τ / m; that is added back.
///
/// Stretches of fewer than 8 values are ignored; τ is 1 if there are no longer ones.
pub fn integrated_time(stretches: &[Vec<f64>]) -> f64 {
    let residuals: Vec<Vec<f64>> = stretches
        .iter()
        .filter(|values| values.len() >= MIN_STRETCH_LENGTH)
        .map(|values| residuals(values))
        .collect();
    let n: usize = residuals.iter().map(Vec::len).sum();
    let squares: f64 = residuals.iter().flatten().map(|x| x * x).sum();
    if n == 0 || squares <= 0.0 {
        return 1.0;
    }
    let mean_length = n as f64 / residuals.len() as f64;
    let mut time = 1.0;
    // The correction needs τ itself. Two iterations are enough; more would amplify noise.
    for _ in 0..2 {
        let lost = 1.0 - (time / mean_length).min(0.5);
        let variance = squares / n as f64 / lost;
        time = initial_sequence(&residuals, variance, variance * (1.0 - lost));
    }
    time
}

/// Dependence in time of a whole series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SerialDependence {
    /// Successive values that carry as much information as one independent value, at least 1.
    pub autocorrelation_time: f64,
    /// Excess of the lag-1 correlation over that of independent values, in standard errors.
    pub z_score: f64,
}

/// Returns the dependence in time of a whole series whose `parts` were measured one after the
/// other, modelled as a first-order autoregressive series: τ = (1 + φ) / (1 − φ).
///
/// φ is the lag-1 correlation, within and across parts, corrected for the bias from the estimated
/// mean, E r₁ = φ − (1 + 3φ) / n (Kendall, Biometrika 41:403, 1954). φ is limited to 1.3 standard
/// errors above the correlation across the ends of parts: correlation that ends with a part belongs
/// to the part, not to time. Ten samples resolve only one lag. In series that short, the sum over
/// all lags would cost one of four independent series its interval.
pub fn serial_dependence(parts: &[Vec<f64>]) -> SerialDependence {
    let whole = residuals(&parts.concat());
    let n = whole.len() as f64;
    let squares: f64 = whole.iter().map(|x| x * x).sum();
    if whole.len() < 3 || squares <= 0.0 {
        return SerialDependence { autocorrelation_time: 1.0, z_score: 0.0 };
    }
    let product = |after: usize| whole[after - 1] * whole[after];
    let neighbours: f64 = (1..whole.len()).map(product).sum::<f64>() / squares;
    let errors = (neighbours + 1.0 / n) * n.sqrt();
    let unbiased = |seen: f64| (seen + 1.0 / n) / (1.0 - 3.0 / n.max(4.0));
    let ends: Vec<usize> = parts[..parts.len() - 1]
        .iter()
        .scan(0, |end, part| {
            *end += part.len();
            Some(*end)
        })
        .collect();
    let pairs = ends.len() as f64;
    let across = ends.into_iter().map(product).sum::<f64>() / pairs / (squares / n);
    let most = if pairs > 0.0 { unbiased(across) + BOUNDARY_Z / pairs.sqrt() } else { 1.0 };
    let phi = unbiased(neighbours).min(most).clamp(0.0, MAX_PHI);
    SerialDependence { autocorrelation_time: (1.0 + phi) / (1.0 - phi), z_score: errors }
}

fn residuals(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// Returns −1 + 2 Σ (γ(2t) + γ(2t + 1)) / γ(0) over the initial sequence, which is positive and
/// decreasing.
fn initial_sequence(residuals: &[Vec<f64>], variance: f64, bias: f64) -> f64 {
    let longest = residuals.iter().map(Vec::len).max().unwrap_or(0);
    let last_lag = (longest / 2).min(MAX_LAG);
    let mut sum = 0.0;
    let mut previous = f64::INFINITY;
    for even in (0..last_lag).step_by(2) {
        let first = if even == 0 { variance } else { autocovariance(residuals, even) + bias };
        let pair = first + autocovariance(residuals, even + 1) + bias;
        if pair <= 0.0 {
            break;
        }
        previous = pair.min(previous);
        sum += previous;
    }
    (2.0 * sum / variance - 1.0).max(1.0)
}

/// Returns the mean product of values `lag` apart, over all stretches; 0 when none is long enough.
fn autocovariance(residuals: &[Vec<f64>], lag: usize) -> f64 {
    let products = residuals
        .iter()
        .flat_map(|values| values.iter().zip(values.iter().skip(lag)))
        .map(|(a, b)| a * b);
    let (sum, pairs) = products.fold((0.0, 0_u32), |(sum, n), product| (sum + product, n + 1));
    if pairs == 0 { 0.0 } else { sum / f64::from(pairs) }
}

#[cfg(test)]
mod tests;
