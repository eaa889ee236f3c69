//! Physical limits, derived from what the host shows or from what was measured in the same run.
//!
//! Without either there is no limit: none is ever looked up by machine type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{HostFacts, MemoryModule};

/// A value that no measurement can exceed, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// In the unit of the metric it bounds.
    pub value: f64,
    /// Its factors or its source.
    pub basis: Basis,
}

/// Where a limit comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum Basis {
    /// Channels × transfers × width of the memory modules, from SMBIOS.
    MemoryChannels {
        /// Channels with a module.
        channels: usize,
        /// Transfers per second of the first.
        transfers_per_s: u64,
        /// Width of the first in bits.
        width_bits: u32,
    },
    /// Cores × FLOP/cycle × clock, the clock measured at this load.
    Rpeak(Rpeak),
    /// The multiply-add peak in double precision that was measured in the same run.
    MeasuredPeak {
        /// Its instruction set.
        instruction_set: String,
        /// The cores it ran on.
        cores: usize,
    },
    /// The speed that a network device reports.
    Link {
        /// The device, where it is known.
        device: Option<String>,
    },
    /// What a volume is provisioned for, as the user says.
    Provisioned,
    /// In the words of a run that format 1 stored.
    Told {
        /// The words.
        text: String,
    },
}

/// What the memory modules can transfer, in B/s: Σ over channels of transfers/s × width / 8.
///
/// Modules in the same bank share a channel and count once. A host whose modules name no bank is
/// taken to have one channel per module, which can only raise the limit. `None` when SMBIOS is
/// hidden, as in most guests.
#[must_use]
pub fn memory_bandwidth(host: &HostFacts) -> Option<Limit> {
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
    (value > 0.0).then_some(Limit {
        value,
        basis: Basis::MemoryChannels {
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
    /// Cores that ran.
    pub cores: usize,
    /// Operations per cycle and core.
    pub flop_per_cycle: u32,
    /// Clock in Hz.
    pub clock_hz: f64,
}

impl Rpeak {
    /// The product, in FLOP/s.
    #[must_use]
    pub fn value(self) -> f64 {
        self.cores as f64 * f64::from(self.flop_per_cycle) * self.clock_hz
    }

    /// From what was measured: `flops` on `cores` whose clock was `clock_hz`.
    ///
    /// FLOP/cycle is `flops / (cores × clock)`, rounded to the nearest multiple of `step`: a core starts
    /// a whole number of vector operations per cycle, or of their halves where a vector is issued in
    /// two, and a multiply-add is two operations per element. So the step is the number of elements of
    /// a vector, see [`flop_step`]. Measured values lie a little beside the whole ones, because clock
    /// and operations are not counted in the same instant.
    #[must_use]
    pub fn from_measurement(
        flops: f64,
        cores: usize,
        clock_hz: f64,
        step: u32,
    ) -> Option<Self> {
        let per_cycle = flops / (cores as f64 * clock_hz);
        if !per_cycle.is_finite() || per_cycle <= 0.0 {
            return None;
        }
        let step = f64::from(step.max(1));
        let whole = ((per_cycle / step).round() * step).max(step);
        Some(Self { cores, flop_per_cycle: whole as u32, clock_hz })
    }
}

/// Elements of a vector of this instruction set: what FLOP/cycle is a multiple of. `portable` code is
/// whatever the compiler made of it; there a whole multiply-add, 2, is all that is certain.
#[must_use]
pub fn flop_step(instruction_set: &str, element_bits: u32) -> u32 {
    let vector_bits = match instruction_set {
        "avx512" => 512,
        "avx2" => 256,
        "sse2" | "neon" => 128,
        _ => return 2,
    };
    vector_bits / element_bits
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
    fn rpeak_takes_whole_flop_per_cycle() {
        for (per_cycle, step, expected) in [
            (15.9, 8, Some(16)),
            (16.4, 8, Some(16)),
            (33.3, 16, Some(32)),
            (31.2, 8, Some(32)),
            (7.8, 4, Some(8)),
            (3.7, 2, Some(4)),
            (0.4, 2, Some(2)),
            (0.0, 2, None),
            (f64::NAN, 2, None),
        ] {
            let rpeak = Rpeak::from_measurement(per_cycle * 2.0 * 3.7e9, 2, 3.7e9, step);
            assert_eq!(rpeak.map(|rpeak| rpeak.flop_per_cycle), expected, "{per_cycle}");
        }
        assert_eq!([flop_step("avx512", 64), flop_step("avx512", 32)], [8, 16]);
        assert_eq!([flop_step("neon", 64), flop_step("portable", 64)], [2, 2]);
    }
}
