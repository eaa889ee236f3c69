//! Law of LINPACK's rows: the rate is the number of operations over the time.

use crate::outputs::ToolError;

/// Generous tolerance of a rate printed with four digits.
const RATE_TOLERANCE: f64 = 0.002;

/// Checks a rate in FLOP/s against 2/3 N³ + `quadratic` N² operations, within the rounding of the
/// time: half a unit of its last digit.
///
/// # Errors
/// If the three figures contradict each other.
pub(crate) fn check_linpack_rate(
    (n, quadratic): (u64, f64),
    (time_s, half_digit_s): (f64, f64),
    rate: f64,
) -> Result<(), ToolError> {
    let size = n as f64;
    let operations = (2.0 / 3.0 * size + quadratic) * size * size;
    let fastest = operations / (time_s - half_digit_s).max(0.0) * (1.0 + RATE_TOLERANCE);
    let slowest = operations / (time_s + half_digit_s) * (1.0 - RATE_TOLERANCE);
    if (slowest..=fastest).contains(&rate) {
        return Ok(());
    }
    let what = format!("N = {n} in {time_s} s is not {rate:.4e} FLOP/s");
    Err(ToolError::Contradiction { what })
}
