//! Physical limits, derived from what the host shows or from what was measured in the same run.
//!
//! Where neither tells, there is no limit: none is ever looked up in a list of machine types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{HostFacts, MemoryModule};
use crate::quantity::{Quantity, Unit};

/// A value that no measurement can exceed, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// In the unit of the metric it bounds.
    pub value: f64,
    /// Its factors or its source, for people.
    pub basis: String,
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
    (value > 0.0).then(|| Limit {
        value,
        basis: format!(
            "{} memory channels × {} MT/s × {} bit (SMBIOS)",
            channels.len(),
            first.transfers_per_s / 1_000_000,
            first.width_bits
        ),
    })
}

fn channel_rate(module: &MemoryModule) -> f64 {
    module.transfers_per_s as f64 * f64::from(module.width_bits) / 8.0
}

/// Rpeak with its three factors: cores × FLOP/cycle × clock.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// The factors for people, naming which clock it is.
    #[must_use]
    pub fn factors(self) -> String {
        let clock = Quantity::new(self.clock_hz, Unit::Hertz);
        let cores = if self.cores == 1 { "core" } else { "cores" };
        format!(
            "{} {cores} × {} FLOP/cycle × {clock:.3} (clock measured at this load)",
            self.cores, self.flop_per_cycle
        )
    }

    /// From what was measured: `flops` on `cores` whose clock was `clock_hz`.
    ///
    /// FLOP/cycle is the measured figure rounded up to the next even number (a multiply-add is
    /// two): the pipes can never do less than was seen. A measurement within 2 % above a whole
    /// value is taken as that value, because the clock is itself measured.
    #[must_use]
    pub fn from_measurement(flops: f64, cores: usize, clock_hz: f64) -> Option<Self> {
        let per_cycle = flops / (cores as f64 * clock_hz);
        if !per_cycle.is_finite() || per_cycle <= 0.0 {
            return None;
        }
        let even = ((per_cycle * 0.98 / 2.0).ceil() * 2.0).max(1.0);
        Some(Self { cores, flop_per_cycle: even as u32, clock_hz })
    }
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
        for (flops, expected) in [
            (15.9 * 2.0 * 3.7e9, Some(16)),
            (16.1 * 2.0 * 3.7e9, Some(16)),
            (31.2 * 2.0 * 3.7e9, Some(32)),
            (3.7 * 2.0 * 3.7e9, Some(4)),
            (0.0, None),
            (f64::NAN, None),
        ] {
            let rpeak = Rpeak::from_measurement(flops, 2, 3.7e9);
            assert_eq!(rpeak.map(|rpeak| rpeak.flop_per_cycle), expected, "{flops}");
        }
    }
}
