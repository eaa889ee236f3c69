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
    /// Which device, and how it is used.
    #[serde(flatten)]
    pub device: RdmaDevice,
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
            device: RdmaDevice::default(),
        }
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
        format!("{to}/{}{depth}{pairs}{both}{sizes}", self.connection.name())
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
        dimensions
    }
}
