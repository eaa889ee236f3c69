//! Autocorrelation of successive repetitions.

/// Longest lag looked at; beyond it a series is not resolved, whatever its length, and the cost of
/// the estimate would grow with the square of the samples.
const LONGEST_LAG: usize = 1000;
/// One in ten: see [`memory`].
const MARGIN: f64 = 1.3;
/// Maximum correlation of neighbours that is told from a drift.
const STRONGEST: f64 = 0.99;
/// Shorter stretches cannot show their own correlation: the bias is as large as the effect.
const SHORTEST: usize = 8;

/// Integrated autocorrelation time τ = 1 + 2 Σ ρ(h), at least 1: how many neighbouring values of
/// the series are worth one independent value.
///
/// `stretches` are uninterrupted stretches of one series; correlation is looked for inside them
/// only, around the mean of each. The sum ends where the sum of two neighbouring lags is no longer
/// positive, and these sums are made to fall (Geyer's initial monotone sequence, Statistical
/// Science 7:473, 1992), or at half the longest stretch. Autocovariances around a mean estimated
/// from m values come out too small by about σ²τ / m; that is added back.
///
/// Stretches of fewer than 8 values show nothing, and τ is 1 if there are no longer ones.
#[must_use]
pub fn integrated_time(stretches: &[Vec<f64>]) -> f64 {
    let residuals: Vec<Vec<f64>> = stretches
        .iter()
        .filter(|values| values.len() >= SHORTEST)
        .map(|values| residuals(values))
        .collect();
    let n: usize = residuals.iter().map(Vec::len).sum();
    let squares: f64 = residuals.iter().flatten().map(|x| x * x).sum();
    if n == 0 || squares <= 0.0 {
        return 1.0;
    }
    let mean_length = n as f64 / residuals.len() as f64;
    let mut time = 1.0;
    // The correction needs τ itself; twice round is enough, and more would let noise feed itself.
    for _ in 0..2 {
        let lost = 1.0 - (time / mean_length).min(0.5);
        let variance = squares / n as f64 / lost;
        time = initial_sequence(&residuals, variance, variance * (1.0 - lost));
    }
    time
}

/// What a whole series says of its dependence in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// Neighbouring values that are worth one independent value, at least 1.
    pub time: f64,
    /// How far the correlation of neighbours lies above that of independent ones, in its standard
    /// errors.
    pub errors: f64,
}

/// The dependence of a whole series in time, whose `parts` were measured one after the other, as that of
/// an autoregressive series of first order: τ = (1 + φ) / (1 − φ).
///
/// φ is the correlation of neighbours, in one part or not, with the bias taken back that the estimated
/// mean causes, E r₁ = φ − (1 + 3φ) / n (Kendall, Biometrika 41:403, 1954). It is at most 1.3
/// standard errors above the correlation of those neighbours between which a part ends: what stops there belongs
/// to the part and not to time. One lag is all that ten samples can tell; in series as short the sum over
/// all lags costs one of four independent ones its interval.
#[must_use]
pub fn memory(parts: &[Vec<f64>]) -> Memory {
    let whole = residuals(&parts.concat());
    let n = whole.len() as f64;
    let squares: f64 = whole.iter().map(|x| x * x).sum();
    if whole.len() < 3 || squares <= 0.0 {
        return Memory { time: 1.0, errors: 0.0 };
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
    let most = if pairs > 0.0 { unbiased(across) + MARGIN / pairs.sqrt() } else { 1.0 };
    let phi = unbiased(neighbours).min(most).clamp(0.0, STRONGEST);
    Memory { time: (1.0 + phi) / (1.0 - phi), errors }
}

fn residuals(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// −1 + 2 Σ (γ(2t) + γ(2t + 1)) / γ(0) over the initial, positive and falling part.
fn initial_sequence(residuals: &[Vec<f64>], variance: f64, bias: f64) -> f64 {
    let longest = residuals.iter().map(Vec::len).max().unwrap_or(0);
    let last_lag = (longest / 2).min(LONGEST_LAG);
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

/// Mean product of values `lag` apart, over all stretches; 0 when none is long enough.
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
