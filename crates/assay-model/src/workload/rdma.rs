//! RDMA workload: one test with a far end, or over loopback.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes};
use crate::benchmark::RdmaTest;

/// RDMA test over its message sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdmaWorkload {
    /// The test.
    #[serde(rename = "benchmark")]
    pub test: RdmaTest,
    /// The host, as the user named it; `None` = this machine, with its own far end.
    pub to: Option<String>,
    /// Port on which the far end listens, for the exchange of connection data.
    pub port: Option<u16>,
    /// Sizes of messages in bytes.
    pub sizes: Vec<u64>,
    /// Messages of each size on each queue pair.
    pub iterations: u64,
    /// Requests in flight on each queue pair.
    pub depth: u64,
    /// Kind of connection.
    pub connection: RdmaConnection,
    /// Number of concurrent queue pairs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub queue_pairs: u32,
    /// Whether both ends send at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both: bool,
    /// Requests per completion event; `None` = 100, or half of those in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<u64>,
    /// Whether as many requests as are in flight precede the first of each size, unmeasured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warms_up: bool,
    /// Duration of a timed test; `None` = `iterations` messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<RdmaDuration>,
    /// Device and its settings.
    #[serde(flatten)]
    pub device: RdmaDevice,
}

/// Duration of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdmaDuration {
    /// Total duration.
    pub seconds: u64,
    /// Unmeasured seconds at the start, and again at the end.
    pub margin_s: u64,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

/// RDMA device of one end, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RdmaDevice {
    /// Its name; `None` = a device with an active link, InfiniBand preferred, then the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its port, from 1; `None` = one with an active link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_port: Option<u8>,
    /// Index of its address (GID); `None` = one of RoCE v2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid_index: Option<u32>,
    /// Path MTU in bytes; `None` = the port's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// Size up to which messages are copied into the request, if the device supports it; `None` =
    /// perftest's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_bytes: Option<u32>,
    /// Options of the queue pairs.
    #[serde(flatten)]
    pub tuning: RdmaTuning,
}

/// Options of one end's queue pairs; defaults are those of perftest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RdmaTuning {
    /// Number of receive buffers that are posted before the first message arrives; `None` = 512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<u32>,
    /// Service level, at most 15; `None` = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_level: Option<u8>,
    /// Traffic class; `None` = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic_class: Option<u8>,
    /// Exponent of the packet timeout of 4.096 µs × 2^n; `None` = 14.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u8>,
    /// Maximum concurrent reads and atomic operations; `None` = the device's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u8>,
}

impl RdmaTuning {
    /// Returns the explicit options by name.
    pub fn explicit_options(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("receives", self.receives.map(u64::from)),
            ("service-level", self.service_level.map(u64::from)),
            ("traffic-class", self.traffic_class.map(u64::from)),
            ("timeout", self.timeout.map(u64::from)),
            ("reads", self.reads.map(u64::from)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl RdmaDevice {
    /// Possible path MTUs in bytes (InfiniBand 1.4, 9.7.1.2).
    pub const PATH_MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

    /// Whether a text is a possible device name: a folder name of sysfs with at most 63 characters
    /// (`IBV_SYSFS_NAME_MAX`).
    pub fn is_valid_name(text: &str) -> bool {
        let is_usual = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
        (1..64).contains(&text.len())
            && text.chars().all(is_usual)
            && !text.starts_with(['-', '.'])
    }

    /// Whether everything has its default.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Fills unset values from `other`. Port and GID index are taken only for the same device,
    /// because they belong to it.
    pub fn with_defaults(&self, other: &Self) -> Self {
        let is_other = self.name.is_some() && self.name != other.name;
        let same_device = if is_other { &Self::default() } else { other };
        Self {
            name: self.name.clone().or_else(|| other.name.clone()),
            device_port: self.device_port.or(same_device.device_port),
            gid_index: self.gid_index.or(same_device.gid_index),
            mtu_bytes: self.mtu_bytes.or(other.mtu_bytes),
            inline_bytes: self.inline_bytes.or(other.inline_bytes),
            tuning: RdmaTuning {
                receives: self.tuning.receives.or(other.tuning.receives),
                service_level: self.tuning.service_level.or(other.tuning.service_level),
                traffic_class: self.tuning.traffic_class.or(other.tuning.traffic_class),
                timeout: self.tuning.timeout.or(other.tuning.timeout),
                reads: self.tuning.reads.or(other.tuning.reads),
            },
        }
    }

    /// Returns the requested device and port in UCX's notation: `mlx5_0:2`. Port 1 alone is
    /// omitted, because nearly every device has only that one.
    fn requested_name(&self) -> Option<String> {
        let port = self.device_port.map(|it| format!(":{it}")).unwrap_or_default();
        let name = self.name.clone().unwrap_or_default() + &port;
        (!matches!(name.as_str(), "" | ":1")).then_some(name)
    }
}

/// Datagram size that fits Ethernet with an MTU of 1500 B.
pub const PORTABLE_DATAGRAM_BYTES: u32 = 1024;
/// Maximum datagram size of any device.
pub const MAX_DATAGRAM_BYTES: u32 = 4096;

/// Kind of connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaConnection {
    /// Reliable connection.
    Rc,
    /// Unreliable datagrams.
    Ud,
}

impl RdmaConnection {
    /// Returns perftest's default size up to which messages are copied into the request, in latency
    /// tests (perftest 4.5: `DEF_INLINE_SEND_RC_UC_XRC`, `DEF_INLINE_SEND_UD`, `DEF_INLINE_WRITE`).
    pub const fn default_inline_bytes(self, test: RdmaTest) -> u32 {
        match (test, self) {
            (RdmaTest::SendLatency, Self::Rc) => 236,
            (RdmaTest::SendLatency, Self::Ud) => 188,
            (RdmaTest::WriteLatency, _) => 220,
            (
                RdmaTest::SendBandwidth
                | RdmaTest::WriteBandwidth
                | RdmaTest::ReadLatency
                | RdmaTest::ReadBandwidth
                | RdmaTest::AtomicLatency
                | RdmaTest::AtomicBandwidth,
                _,
            ) => 0,
        }
    }

    /// Returns the name as it is stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "rc",
            Self::Ud => "ud",
        }
    }
}

impl RdmaWorkload {
    /// Returns a test with perftest's defaults: 2 B or 64 KiB, 1000 iterations (5000 for write
    /// bandwidth), 128 in flight.
    pub fn perftest_default(test: RdmaTest, to: Option<String>) -> Self {
        let is_bandwidth = test.is_bandwidth();
        let bytes = match test {
            _ if test.is_atomic() => 8,
            _ if is_bandwidth => 65_536,
            _ => 2,
        };
        Self {
            test,
            to,
            port: None,
            sizes: vec![bytes],
            iterations: if test == RdmaTest::WriteBandwidth { 5000 } else { 1000 },
            depth: if is_bandwidth { 128 } else { 1 },
            connection: RdmaConnection::Rc,
            queue_pairs: 1,
            both: false,
            moderation: None,
            warms_up: false,
            duration: None,
            device: RdmaDevice::default(),
        }
    }

    /// Returns the requested options beyond name and dimensions, as `receives=64 timeout=18`.
    pub fn requested_options(&self) -> Option<String> {
        let moderation = self.moderation.map(|count| format!("moderation={count}"));
        let warm_up = self.warms_up.then(|| "warm-up".to_owned());
        let duration = self.duration.map(|RdmaDuration { seconds, margin_s }| {
            format!("duration={seconds} margin={margin_s}")
        });
        let tuning = self.device.tuning.explicit_options().into_iter();
        let tuning = tuning.map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> =
            tuning.chain(moderation).chain(warm_up).chain(duration).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns the name within the benchmark, for case identifiers.
    pub fn name(&self) -> String {
        let to = self.to.as_deref().unwrap_or("loopback");
        let depth =
            if self.depth > 1 { format!("/depth={}", self.depth) } else { String::new() };
        let pairs = match self.queue_pairs {
            1 => String::new(),
            count => format!("/queue-pairs={count}"),
        };
        let both = if self.both { "/both" } else { "" };
        let sizes = match &self.sizes[..] {
            [first, .., last] => format!("/{first}-{last}B"),
            _ => String::new(),
        };
        let number = |it: Option<u32>| it.map(|it| it.to_string());
        let asked = [
            ("device", self.device.requested_name()),
            ("gid-index", number(self.device.gid_index)),
            ("path-mtu", number(self.device.mtu_bytes)),
        ];
        let device: String = asked
            .into_iter()
            .filter_map(|(key, value)| Some(format!("/{key}={}", value?)))
            .collect();
        format!("{to}/{}{depth}{pairs}{both}{device}{sizes}", self.connection.name())
    }

    pub(super) fn dimensions(&self) -> Attributes {
        let mut dimensions = Attributes::from([
            (Attribute::To, self.to.as_deref().unwrap_or("loopback").into()),
            (Attribute::Depth, self.depth.into()),
            (Attribute::Connection, self.connection.name().into()),
        ]);
        if self.queue_pairs > 1 {
            dimensions.insert(Attribute::Streams, self.queue_pairs.into());
        }
        if self.both {
            dimensions.insert(Attribute::Direction, "both".into());
        }
        let asked = [
            (Attribute::AskedDevice, self.device.requested_name().map(Into::into)),
            (Attribute::AskedGidIndex, self.device.gid_index.map(Into::into)),
            (Attribute::AskedPathMtuBytes, self.device.mtu_bytes.map(Into::into)),
        ];
        dimensions.extend(asked.into_iter().filter_map(|(name, value)| Some((name, value?))));
        dimensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_unset_values_from_defaults() {
        let device = |name: &str, port, gid_index, mtu_bytes| RdmaDevice {
            name: (!name.is_empty()).then(|| name.to_owned()),
            device_port: port,
            gid_index,
            mtu_bytes,
            ..RdmaDevice::default()
        };
        let suite = device("mlx5_0", Some(2), Some(3), Some(1024));
        for (own, expected) in [
            (device("", None, None, None), suite.clone()),
            (
                device("mlx5_ib0", None, Some(1), None),
                device("mlx5_ib0", None, Some(1), Some(1024)),
            ),
            (device("mlx5_0", None, None, None), suite.clone()),
            (device("", None, Some(5), None), device("mlx5_0", Some(2), Some(5), Some(1024))),
        ] {
            assert_eq!(own.with_defaults(&suite), expected, "{own:?}");
        }
    }

    #[test]
    fn stores_only_explicit_options() {
        let usual = RdmaWorkload::perftest_default(RdmaTest::ReadBandwidth, None);
        let stored = serde_json::to_value(&usual).unwrap();
        assert!(
            ["timeout", "warms_up", "duration"].iter().all(|name| stored.get(name).is_none()),
            "{stored}"
        );
        let tuning = RdmaTuning { reads: Some(4), timeout: Some(18), ..RdmaTuning::default() };
        let duration = Some(RdmaDuration { seconds: 10, margin_s: 2 });
        let mut asked =
            RdmaWorkload { moderation: Some(1), warms_up: true, duration, ..usual.clone() };
        asked.device.tuning = tuning;
        let stored = serde_json::to_value(&asked).unwrap();
        assert_eq!(stored["timeout"], 18, "{stored}");
        assert_eq!(serde_json::from_value::<RdmaWorkload>(stored).unwrap(), asked);
        assert_eq!(usual.requested_options(), None);
        let options = asked.requested_options();
        assert_eq!(
            options.as_deref(),
            Some("timeout=18 reads=4 moderation=1 warm-up duration=10 margin=2")
        );
    }

    #[test]
    fn validates_device_names() {
        for (name, is_one) in [
            ("mlx5_0", true),
            ("rxe0", true),
            ("rocep1s0f0v1", true),
            ("bnxt_re-bond0", true),
            ("", false),
            ("-d", false),
            ("..", false),
            ("a/b", false),
        ] {
            assert_eq!(RdmaDevice::is_valid_name(name), is_one, "{name}");
        }
    }
}
