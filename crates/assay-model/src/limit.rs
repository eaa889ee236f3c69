//! Physical limits, derived from the host's hardware information or from measurements of the same
//! run.
//!
//! Without either there is no limit. Limits are never looked up by machine type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{HostFacts, MemoryModule};

/// A value that no measurement can exceed, with its basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhysicalLimit {
    /// The limit, in the unit of its metric.
    pub value: f64,
    /// Its factors or its source.
    pub basis: LimitBasis,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum LimitBasis {
    /// Channels × transfers × width of the memory modules, from SMBIOS.
    MemoryChannels {
        /// Channels with a module.
        channels: usize,
        /// Transfers per second of the first module.
        transfers_per_s: u64,
        /// Width of the first module in bits.
        width_bits: u32,
    },
    /// Cores × FLOP/cycle × clock, the clock measured at this load.
    Rpeak(Rpeak),
    /// The multiply-add peak in double precision that was measured in the same run.
    MeasuredPeak {
        instruction_set: String,
        /// Number of cores it ran on.
        cores: usize,
    },
    /// Speed that a network device reports.
    Link {
        /// The device, if known.
        device: Option<String>,
    },
    /// Throughput that the user states a volume is provisioned for.
    Provisioned,
    /// Value from a device's data sheet, given by the user.
    DataSheet {
        /// Its title and date, as given by the user.
        source: String,
    },
}

/// Returns the transfer rate of the memory modules in B/s: Σ over channels of transfers/s × width /
/// 8.
///
/// Modules in the same bank share a channel and count once. If the modules name no bank, each
/// counts as one channel, which can only raise the limit. `None` if SMBIOS is hidden, as in most
/// guests.
pub fn memory_bandwidth(host: &HostFacts) -> Option<PhysicalLimit> {
    let modules = host.memory.modules.as_ref().filter(|modules| !modules.is_empty())?;
    let mut channels: BTreeMap<&str, f64> = BTreeMap::new();
    for module in modules {
        let name = if module.bank.is_empty() { &module.locator } else { &module.bank };
        let rate = channel_rate(module);
        let fastest = channels.entry(name).or_insert(rate);
        *fastest = fastest.max(rate);
    }
    let value: f64 = channels.values().sum();
    let first = &modules[0];
    (value > 0.0).then_some(PhysicalLimit {
        value,
        basis: LimitBasis::MemoryChannels {
            channels: channels.len(),
            transfers_per_s: first.transfers_per_s,
            width_bits: first.width_bits,
        },
    })
}

fn channel_rate(module: &MemoryModule) -> f64 {
    module.transfers_per_s as f64 * f64::from(module.width_bits) / 8.0
}

/// Rpeak with its three factors: cores × FLOP/cycle × clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rpeak {
    /// Number of cores that ran.
    pub cores: usize,
    /// Operations per cycle and core.
    pub flop_per_cycle: u32,
    /// Clock in Hz.
    pub clock_hz: f64,
}

impl Rpeak {
    /// Returns the product in FLOP/s.
    pub fn value(self) -> f64 {
        self.cores as f64 * f64::from(self.flop_per_cycle) * self.clock_hz
    }

    /// Derives Rpeak from a measured best of `flops` on `cores` at `clock_hz`, with vectors of this
    /// instruction set and elements of `element_bits`.
    ///
    /// # Errors
    /// Returns the measured FLOP/cycle if no core can have it: clock and operations were then not
    /// measured under the same conditions.
    pub fn from_measurement(
        flops: f64,
        cores: usize,
        clock_hz: f64,
        instruction_set: &str,
        element_bits: u32,
    ) -> Result<Self, f64> {
        let per_cycle = flops / (cores as f64 * clock_hz);
        let whole = nearest_flop_per_cycle(per_cycle, instruction_set, element_bits);
        let flop_per_cycle = whole.ok_or(per_cycle)?;
        Ok(Self { cores, flop_per_cycle, clock_hz })
    }
}

/// Accepted ratio of the measured to the nominal FLOP/cycle: other load reduces the rate, and the
/// clock is not measured at the same instant.
const FLOP_PER_CYCLE_TOLERANCE: std::ops::Range<f64> = 0.8..1.1;

/// Returns the nearest possible FLOP/cycle: vectors × units.
///
/// Cores have 1, 2 or 4 units for fused multiply-adds of one width, or execute a vector in two
/// halves. A multiply-add is two operations per element, so the number is elements × a power of
/// two. Separate multiplies and adds may share any number of units: a multiple of the elements of a
/// vector (of 1 for `portable` code, whose vectors the compiler chooses).
fn nearest_flop_per_cycle(
    per_cycle: f64,
    instruction_set: &str,
    element_bits: u32,
) -> Option<u32> {
    let (vector_bits, is_fused) = match instruction_set {
        "avx512" => (512, true),
        "avx2" => (256, true),
        "neon" => (128, true),
        "sse2" => (128, false),
        _ => (element_bits, false),
    };
    let vectors = per_cycle * f64::from(element_bits) / f64::from(vector_bits);
    if !(vectors.is_finite() && vectors > 0.0) {
        return None;
    }
    // Vectors of 256 and 512 bits have a whole unit at least; those of 128 bits may take two cycles.
    let fewest = if is_fused && vector_bits > 128 { 2.0 } else { 1.0 };
    let whole = if is_fused { vectors.log2().round().exp2() } else { vectors.round() };
    let whole = whole.max(fewest);
    let fits = FLOP_PER_CYCLE_TOLERANCE.contains(&(vectors / whole));
    (whole as u32).checked_mul(vector_bits / element_bits).filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(bank: &str, locator: &str) -> MemoryModule {
        MemoryModule {
            locator: locator.into(),
            bank: bank.into(),
            bytes: 1 << 34,
            width_bits: 64,
            transfers_per_s: 3_200_000_000,
            kind: "DDR4".into(),
        }
    }

    fn check(modules: Option<Vec<MemoryModule>>, expected: Option<f64>) {
        let mut host = HostFacts::default();
        host.memory.modules = modules;
        assert_eq!(memory_bandwidth(&host).map(|limit| limit.value), expected);
    }

    #[test]
    fn memory_bandwidth_counts_channels_not_modules() {
        check(None, None);
        check(Some(vec![]), None);
        check(Some(vec![module("P0 CHANNEL A", "DIMM 0")]), Some(25.6e9));
        check(
            Some(vec![module("P0 CHANNEL A", "DIMM 0"), module("P0 CHANNEL A", "DIMM 1")]),
            Some(25.6e9),
        );
        check(Some(vec![module("", "DIMM 0"), module("", "DIMM 1")]), Some(51.2e9));
    }

    #[test]
    fn rpeak_rounds_to_possible_flop_per_cycle() {
        for (per_cycle, instruction_set, bits, expected) in [
            (15.9, "avx512", 64, Some(16)),
            (16.4, "avx512", 64, Some(16)),
            (33.3, "avx512", 64, Some(32)),
            (31.2, "avx512", 32, Some(32)),
            (27.0, "avx512", 64, Some(32)),
            // Observed under contention: no core has three half units.
            (24.0, "avx512", 64, None),
            (20.0, "avx512", 64, None),
            (7.8, "avx2", 64, Some(8)),
            // Half of the time of a core.
            (8.0, "avx512", 64, None),
            (3.9, "avx2", 64, None),
            (2.0, "neon", 64, Some(2)),
            (15.2, "neon", 64, Some(16)),
            (5.9, "sse2", 64, Some(6)),
            (3.7, "portable", 64, Some(4)),
            (0.4, "portable", 64, None),
            (0.0, "portable", 64, None),
            (1e290, "portable", 64, Some(u32::MAX)),
            (1e290, "avx512", 64, None),
            (f64::NAN, "avx2", 64, None),
            (f64::INFINITY, "avx2", 64, None),
        ] {
            let flops = per_cycle * 2.0 * 3.7e9;
            let rpeak = Rpeak::from_measurement(flops, 2, 3.7e9, instruction_set, bits);
            let found = rpeak.map(|rpeak| rpeak.flop_per_cycle);
            assert_eq!(found.ok(), expected, "{per_cycle} {instruction_set}");
        }
        let refused = Rpeak::from_measurement(24.0 * 3.7e9, 1, 3.7e9, "avx512", 64);
        assert_eq!(refused.map_err(f64::round), Err(24.0));
    }
}
