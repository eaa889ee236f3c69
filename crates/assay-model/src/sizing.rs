//! Sizing before a measurement: required I/O in flight (Little's law), required quota of an Azure
//! NetApp Files volume, required TCP window.
//!
//! Exact arithmetic on the user's figures; nothing here is measured.

/// Little's law: mean I/O in flight = rate × mean latency, for any system in a steady state (J. D.
/// C. Little, Operations Research 9, 1961).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// I/O rate in IO/s.
    pub rate_per_s: f64,
    /// Mean latency in s.
    pub latency_s: f64,
    /// Mean number of I/O in flight.
    pub in_flight: f64,
}

impl LittlesLaw {
    /// Derives the third quantity from exactly two; `None` from fewer or more, or if one is not
    /// positive.
    pub fn from_two(
        rate_per_s: Option<f64>,
        latency_s: Option<f64>,
        in_flight: Option<f64>,
    ) -> Option<Self> {
        let (rate_per_s, latency_s, in_flight) = match (rate_per_s, latency_s, in_flight) {
            (Some(rate), Some(latency), None) => (rate, latency, rate * latency),
            (Some(rate), None, Some(in_flight)) => (rate, in_flight / rate, in_flight),
            (None, Some(latency), Some(in_flight)) => (in_flight / latency, latency, in_flight),
            _ => return None,
        };
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        [rate_per_s, latency_s, in_flight].into_iter().all(is_positive).then_some(Self {
            rate_per_s,
            latency_s,
            in_flight,
        })
    }

    /// Returns the number of threads, with one I/O each, that keep `in_flight` I/O in flight.
    /// Rounding errors above a whole number do not add a thread.
    pub fn threads(&self) -> u64 {
        (self.in_flight - 1e-9 * self.in_flight).ceil().max(1.0) as u64
    }
}

/// Service level of a volume of Azure NetApp Files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceLevel {
    /// 16 MiB/s per TiB.
    Standard,
    /// 64 MiB/s per TiB.
    Premium,
    /// 128 MiB/s per TiB.
    Ultra,
}

/// Kind of volume, which limits its throughput in addition to the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeKind {
    /// Regular volume.
    Regular,
    /// Large volume, for sizes above 100 TiB.
    Large,
}

const MIB: f64 = 1_048_576.0;
const TIB: f64 = 1_099_511_627_776.0;

impl ServiceLevel {
    /// Returns B/s per byte of quota (Microsoft, "Service levels for Azure NetApp Files").
    pub const fn rate_per_byte(self) -> f64 {
        self.mib_per_s_per_tib() * MIB / TIB
    }

    /// Returns the published value in MiB/s per TiB.
    pub const fn mib_per_s_per_tib(self) -> f64 {
        match self {
            Self::Standard => 16.0,
            Self::Premium => 64.0,
            Self::Ultra => 128.0,
        }
    }
}

impl VolumeKind {
    /// Returns the maximum B/s of one volume: Microsoft, "Azure NetApp Files regular volume
    /// performance benchmarks for Linux" (4,500 MiB/s) and "… large volume …" (1,600, 6,400 and
    /// 12,800 MiB/s), as published in January 2026.
    pub const fn cap_bytes_per_s(self, level: ServiceLevel) -> f64 {
        let mib_per_s = match (self, level) {
            (Self::Regular, _) => 4500.0,
            (Self::Large, ServiceLevel::Standard) => 1600.0,
            (Self::Large, ServiceLevel::Premium) => 6400.0,
            (Self::Large, ServiceLevel::Ultra) => 12_800.0,
        };
        mib_per_s * MIB
    }
}

/// Returns the quota in bytes that a throughput in B/s needs; `None` above the cap of the volume.
pub fn quota_bytes(level: ServiceLevel, kind: VolumeKind, bytes_per_s: f64) -> Option<f64> {
    (bytes_per_s <= kind.cap_bytes_per_s(level)).then(|| bytes_per_s / level.rate_per_byte())
}

/// Returns the throughput of a quota in B/s, and whether the volume's cap limits it.
pub fn throughput_bytes_per_s(
    level: ServiceLevel,
    kind: VolumeKind,
    quota_bytes: f64,
) -> (f64, bool) {
    let by_quota = quota_bytes * level.rate_per_byte();
    let cap = kind.cap_bytes_per_s(level);
    (by_quota.min(cap), by_quota > cap)
}

/// Returns the TCP window in bytes that each of `connections` needs: throughput × round trip /
/// connections. With a smaller window TCP waits for acknowledgements.
pub fn window_bytes(bytes_per_s: f64, round_trip_s: f64, connections: u32) -> f64 {
    bytes_per_s * round_trip_s / f64::from(connections.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_quantities_give_the_third() {
        let cases = [
            ((Some(3500.0), Some(1.14e-3), None), (3500.0, 1.14e-3, 3.99, 4)),
            ((None, Some(1.14e-3), Some(4.0)), (4.0 / 1.14e-3, 1.14e-3, 4.0, 4)),
            ((Some(5000.0), None, Some(6.5)), (5000.0, 1.3e-3, 6.5, 7)),
            ((Some(1000.0), Some(1e-3), None), (1000.0, 1e-3, 1.0, 1)),
        ];
        for ((rate, latency, in_flight), expected) in cases {
            let law = LittlesLaw::from_two(rate, latency, in_flight).unwrap();
            let is_close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
            assert!(is_close(law.rate_per_s, expected.0), "{law:?}");
            assert!(is_close(law.latency_s, expected.1), "{law:?}");
            assert!(is_close(law.in_flight, expected.2), "{law:?}");
            assert_eq!(law.threads(), expected.3);
        }
        assert!(LittlesLaw::from_two(Some(1.0), None, None).is_none());
        assert!(LittlesLaw::from_two(Some(1.0), Some(1.0), Some(1.0)).is_none());
        assert!(LittlesLaw::from_two(Some(0.0), Some(1.0), None).is_none());
    }

    #[test]
    fn quota_and_throughput_are_as_published() {
        let regular = VolumeKind::Regular;
        let quota = quota_bytes(ServiceLevel::Premium, regular, 4500.0 * MIB).unwrap();
        assert!((quota / TIB - 70.3125).abs() < 1e-9);
        let published = [(2.0, 128.0), (100.0 / 1024.0, 6.25), (10.0, 640.0)];
        for (tib, mib_per_s) in published {
            let (rate, capped) =
                throughput_bytes_per_s(ServiceLevel::Premium, regular, tib * TIB);
            assert!((rate / MIB - mib_per_s).abs() < 1e-9 && !capped, "{tib} TiB");
        }
        assert!(quota_bytes(ServiceLevel::Ultra, regular, 4501.0 * MIB).is_none());
        let (rate, capped) = throughput_bytes_per_s(ServiceLevel::Ultra, regular, 100.0 * TIB);
        assert!(capped && (rate / MIB - 4500.0).abs() < 1e-9);
        assert!((window_bytes(4500.0 * MIB, 1e-3, 8) - 589_824.0).abs() < 1e-3);
    }
}
