//! One RDMA test against a far end, or over loopback.

use serde::{Deserialize, Serialize};

use crate::attribute::{Attribute, Attributes};
use crate::benchmark::RdmaTest;

/// One test over its message sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdmaWorkload {
    /// What is measured.
    #[serde(rename = "benchmark")]
    pub test: RdmaTest,
    /// The host, as the user named it; `None` = this machine, with its own far end.
    pub to: Option<String>,
    /// The port that the far end listens on, for what both have to tell each other.
    pub port: Option<u16>,
    /// Sizes of messages in bytes.
    pub sizes: Vec<u64>,
    /// Messages of each size on each queue pair.
    pub iterations: u64,
    /// Requests in flight on each queue pair.
    pub depth: u64,
    /// Kind of connection.
    pub connection: RdmaConnection,
    /// Queue pairs side by side.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub queue_pairs: u32,
    /// Whether both ends send at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both: bool,
    /// One of so many requests has a notice of completion; `None` = of 100, or of half of those in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<u64>,
    /// Whether as many requests as are in flight go before the first of each size and are not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warms_up: bool,
    /// Measured for a time; `None` = as many as `iterations` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<RdmaDuration>,
    /// Which device, and how it is used.
    #[serde(flatten)]
    pub device: RdmaDevice,
}

/// How long a test lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdmaDuration {
    /// All of it.
    pub seconds: u64,
    /// So much of it at its beginning, and as much at its end, does not count.
    pub margin_s: u64,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

/// The device of one end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RdmaDevice {
    /// Its name; `None` = one with an active link, of InfiniBand first, then the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its port, from 1; `None` = likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_port: Option<u8>,
    /// Index of its address; `None` = one of RoCE v2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid_index: Option<u32>,
    /// Path MTU in bytes; `None` = the port's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
    /// Messages up to this size are copied into the request, where the device can; `None` = perftest's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_bytes: Option<u32>,
    /// What is left to the device's user.
    #[serde(flatten)]
    pub tuning: RdmaTuning,
}

/// How one end's queue pairs are made; all that is open is as perftest has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RdmaTuning {
    /// Memory for so many messages is given to the device before the first arrives; `None` = 512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<u32>,
    /// Service level, at most 15; `None` = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_level: Option<u8>,
    /// Traffic class; `None` = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic_class: Option<u8>,
    /// A packet counts as lost after 4.096 µs × 2 to the power of this; `None` = 14.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u8>,
    /// Reads and atomic operations under way at once; `None` = as many as the device can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u8>,
}

impl RdmaTuning {
    /// What is not left open, by name.
    #[must_use]
    pub fn asked(&self) -> Vec<(&'static str, u64)> {
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
    /// Path MTU in bytes that there are (InfiniBand 1.4, 9.7.1.2).
    pub const PATH_MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

    /// Whether a device may be called so: as a folder of sysfs, and of no more than 63 characters (`IBV_SYSFS_NAME_MAX`).
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        let is_usual = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
        (1..64).contains(&text.len())
            && text.chars().all(is_usual)
            && !text.starts_with(['-', '.'])
    }

    /// Whether everything is left to assay.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// What is left open here as `other` has it. A port or an index of another device's is not taken: they mean
    /// that device.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let is_other = self.name.is_some() && self.name != other.name;
        let of_device = if is_other { &Self::default() } else { other };
        Self {
            name: self.name.clone().or_else(|| other.name.clone()),
            device_port: self.device_port.or(of_device.device_port),
            gid_index: self.gid_index.or(of_device.gid_index),
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

    /// The device that was asked for, with its port as UCX writes it: `mlx5_0:2`. Port 1 alone says nothing: nearly every
    /// device has only that.
    fn asked(&self) -> Option<String> {
        let port = self.device_port.map(|it| format!(":{it}")).unwrap_or_default();
        let name = self.name.clone().unwrap_or_default() + &port;
        (!matches!(name.as_str(), "" | ":1")).then_some(name)
    }
}

/// What a datagram holds on Ethernet of 1500 B.
pub const DATAGRAM_BYTES_ANYWHERE: u32 = 1024;
/// What a datagram holds at most on any device.
pub const DATAGRAM_BYTES: u32 = 4096;

/// Kind of connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaConnection {
    /// Reliable and connected.
    Rc,
    /// Datagrams.
    Ud,
}

impl RdmaConnection {
    /// Messages up to this size perftest copies into the request unless told otherwise: where they are sent one by one
    /// (perftest 4.5: `DEF_INLINE_SEND_RC_UC_XRC`, `DEF_INLINE_SEND_UD`, `DEF_INLINE_WRITE`).
    #[must_use]
    pub const fn usual_inline_bytes(self, test: RdmaTest) -> u32 {
        match (test, self) {
            (RdmaTest::SendLatency, Self::Rc) => 236,
            (RdmaTest::SendLatency, Self::Ud) => 188,
            (RdmaTest::WriteLatency, _) => 220,
            (
                RdmaTest::SendBandwidth
                | RdmaTest::WriteBandwidth
                | RdmaTest::ReadLatency
                | RdmaTest::ReadBandwidth
                | RdmaTest::AtomicLatency,
                _,
            ) => 0,
        }
    }

    /// The name as it is stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "rc",
            Self::Ud => "ud",
        }
    }
}

impl RdmaWorkload {
    /// A test as perftest does it unless told otherwise: 2 B or 64 KiB, 1000 times (5000 for writes in
    /// flight), 128 in flight.
    #[must_use]
    pub fn usual(test: RdmaTest, to: Option<String>) -> Self {
        let is_bandwidth = test.is_bandwidth();
        let bytes = match test {
            RdmaTest::AtomicLatency => 8,
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

    /// What was asked of it beyond what its name and its dimensions tell, as `receives=64 timeout=18`.
    #[must_use]
    pub fn options(&self) -> Option<String> {
        let moderation = self.moderation.map(|count| format!("moderation={count}"));
        let warm_up = self.warms_up.then(|| "warm-up".to_owned());
        let duration = self.duration.map(|RdmaDuration { seconds, margin_s }| {
            format!("duration={seconds} margin={margin_s}")
        });
        let tuning = self.device.tuning.asked().into_iter();
        let tuning = tuning.map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> =
            tuning.chain(moderation).chain(warm_up).chain(duration).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// What distinguishes it within its benchmark, for identifiers of cases.
    #[must_use]
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
            ("device", self.device.asked()),
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
            (Attribute::AskedDevice, self.device.asked().map(Into::into)),
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
    fn what_is_left_open_is_as_the_other_has_it_but_for_what_means_another_device() {
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
            assert_eq!(own.or(&suite), expected, "{own:?}");
        }
    }

    #[test]
    fn what_is_asked_for_is_stored_and_named_and_what_is_not_takes_no_place() {
        let usual = RdmaWorkload::usual(RdmaTest::ReadBandwidth, None);
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
        assert_eq!(usual.options(), None);
        let said = asked.options();
        assert_eq!(
            said.as_deref(),
            Some("timeout=18 reads=4 moderation=1 warm-up duration=10 margin=2")
        );
    }

    #[test]
    fn a_name_is_that_of_a_folder_and_of_no_option() {
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
            assert_eq!(RdmaDevice::is_name(name), is_one, "{name}");
        }
    }
}
