//! Selection and validation of sizes: STREAM arrays, latency ladder, LINPACK equations.

use super::PlanError;
use crate::facts::HostFacts;
use crate::plan::time_estimate::estimate_peak;
use crate::quantity::Bytes;
use crate::suite::{LinpackSize, MAX_MATRIX_MEMORY_SHARE};

/// Minimum ratio of an array to the last-level caches, by STREAM's rule.
const CACHE_FACTOR: u64 = 4;
const ARRAYS: u64 = 3;
/// Maximum share of the usable memory, so that the system keeps a reserve.
pub(super) const MEMORY_SHARE: f64 = 0.8;
/// Minimum array size; passes over smaller arrays are too short for the clock.
pub(super) const MIN_ARRAY_BYTES: u64 = 64 * 1024;
/// Array size without a visible cache: larger than any current cache.
const DEFAULT_ARRAY_BYTES: u64 = 1 << 30;
/// Minimum working set of the ladder: 64 cache lines, for a chain of sufficient length.
const MIN_WORKING_SET_BYTES: u64 = 4096;

/// Rounds for display: to two decimals, or to two significant digits below 0.1.
pub(super) fn round_for_display(multiple: f64) -> f64 {
    let decimals = (1.0 - multiple.log10().floor()).clamp(2.0, 9.0);
    let scale = 10f64.powf(decimals);
    (multiple * scale).round() / scale
}

fn require_known_memory(host: &HostFacts) -> Result<(), PlanError> {
    if host.has_known_memory() { Ok(()) } else { Err(PlanError::UnknownMemory) }
}

/// Returns the memory in bytes that arrays may take.
pub(super) fn usable_share(host: &HostFacts) -> Result<u64, PlanError> {
    require_known_memory(host)?;
    Ok((host.usable_bytes() as f64 * MEMORY_SHARE) as u64)
}

/// Returns the bytes per array for each of `domains` domains that share `caches` bytes of
/// last-level cache.
pub(super) fn array_bytes(
    host: &HostFacts,
    requested: Option<Bytes>,
    caches: u64,
    domains: u64,
) -> Result<u64, PlanError> {
    let usable = usable_share(host)?;
    let max_bytes = usable / (ARRAYS * domains.max(1));
    match requested {
        Some(Bytes(bytes)) if bytes < MIN_ARRAY_BYTES => Err(PlanError::TooSmall {
            what: "an array",
            given: Bytes(bytes).to_string(),
            minimum: Bytes(MIN_ARRAY_BYTES).to_string(),
        }),
        Some(Bytes(bytes)) if bytes > max_bytes => Err(PlanError::NotEnoughMemory {
            what: format!("STREAM with {} arrays of {}", ARRAYS * domains, Bytes(bytes)),
            needed: format_size(bytes.saturating_mul(ARRAYS * domains)),
            usable: format_size(usable),
        }),
        Some(Bytes(bytes)) => Ok(bytes),
        None => {
            let rounded = (default_bytes(caches) / domains.max(1)).next_multiple_of(1 << 20);
            Ok(rounded.min(max_bytes).max(MIN_ARRAY_BYTES))
        }
    }
}

/// Returns four times the caches, or the default size without visible ones.
pub(super) fn default_bytes(caches: u64) -> u64 {
    if caches == 0 { DEFAULT_ARRAY_BYTES } else { caches * CACHE_FACTOR }
}

/// Returns working sets from `from` to `to` bytes: every power of two and the step half-way
/// between.
pub fn ladder_bytes(from: u64, to: u64) -> Vec<u64> {
    let steps = (0..u64::BITS - 2).flat_map(|e| [1u64 << e, (1u64 << e) + (1u64 << e) / 2]);
    steps.filter(|bytes| (from..=to).contains(bytes)).collect()
}

/// Returns the ladder of a host: by default from 4 KiB to four times the last-level cache.
pub(super) fn ladder(
    host: &HostFacts,
    from: Bytes,
    to: Option<Bytes>,
    cache: u64,
) -> Result<Vec<u64>, PlanError> {
    let usable = usable_share(host)?;
    let to = to.unwrap_or(Bytes(default_bytes(cache).min(usable)));
    if from.0 < MIN_WORKING_SET_BYTES {
        return Err(PlanError::TooSmall {
            what: "the smallest working set",
            given: from.to_string(),
            minimum: Bytes(MIN_WORKING_SET_BYTES).to_string(),
        });
    }
    if to.0 > usable {
        return Err(PlanError::NotEnoughMemory {
            what: format!("a working set of {to}"),
            needed: format_size(to.0),
            usable: format_size(usable),
        });
    }
    let sizes = ladder_bytes(from.0, to.0);
    if sizes.is_empty() {
        return Err(PlanError::TooSmall {
            what: "the largest working set",
            given: to.to_string(),
            minimum: from.to_string(),
        });
    }
    Ok(sizes)
}

/// Returns the number of equations N of a LINPACK system.
pub(super) fn equations(
    size: LinpackSize,
    host: &HostFacts,
    cpus: &[u32],
    budget_s: f64,
) -> Result<u64, PlanError> {
    require_known_memory(host)?;
    let usable = host.usable_bytes() as f64;
    let max_n = |share: f64| (usable * share / 8.0).sqrt() as u64;
    match size {
        LinpackSize::Equations(0) => Err(PlanError::Zero { what: "N" }),
        LinpackSize::Equations(n) if n > max_n(MAX_MATRIX_MEMORY_SHARE) => {
            Err(PlanError::NotEnoughMemory {
                what: format!("a system of N = {n}"),
                needed: format_size(n.saturating_mul(n).saturating_mul(8)),
                usable: format_size(host.usable_bytes()),
            })
        }
        LinpackSize::Equations(n) => Ok(n),
        LinpackSize::Memory(share) => Ok(block_multiple(max_n(share))),
        LinpackSize::Budget => {
            let rate = estimate_flops(host, cpus.len());
            // The budget must fit six solves, the minimum for an interval of the median, and
            // creating as many matrices.
            let n = (1.5 * rate * budget_s / 9.0).cbrt() as u64;
            Ok(block_multiple(n.min(max_n(MEMORY_SHARE))))
        }
    }
}

/// Rounds down to a multiple of 64: common block sizes then divide N evenly.
fn block_multiple(n: u64) -> u64 {
    (n / 64 * 64).max(64)
}

/// Estimates the speed of `cores` cores in FLOP/s, only to choose the problem size: a third of
/// their peak.
fn estimate_flops(host: &HostFacts, cores: usize) -> f64 {
    let cores = if host.is_emulated() { cores.min(REAL_CORES) } else { cores };
    estimate_peak(host) / 3.0 * cores as f64
}

/// Assumed number of real cores below an emulated machine, which the guest cannot see: 16 emulated
/// cores on two real ones solved the same system in 3.8 s, 20 MFLOP/s in total. With more real
/// cores, a solve is shorter than possible.
const REAL_CORES: usize = 2;

/// Formats a size with three digits, which is more readable in a message than the number of bytes.
pub(super) fn format_size(bytes: u64) -> String {
    format!("{:.3}", Bytes(bytes).to_quantity())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small shares must not be rounded to zero.
    #[test]
    fn rounds_multiples_to_two_digits() {
        for (multiple, expected) in
            [(4.2812, 4.28), (1.0, 1.0), (0.031_25, 0.031), (0.003_906, 0.0039), (1e-4, 1e-4)]
        {
            assert!((round_for_display(multiple) - expected).abs() < 1e-12, "{multiple}");
        }
    }
}
