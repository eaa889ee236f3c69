//! Configuration of an endpoint.

/// Kind of connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Reliable connection.
    Rc,
    /// Unreliable datagrams.
    Ud,
}

/// Device, connection and resources of an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct EndpointConfig<'a> {
    /// Device; `None` = the first.
    pub device: Option<&'a str>,
    /// Port of the device, from 1.
    pub port: u8,
    /// Index of the GID; `None` = a RoCE v2 address, preferably of IPv4.
    pub gid_index: Option<u32>,
    /// Path MTU in bytes; `None` = the port's.
    pub mtu: Option<u32>,
    /// Kind of connection.
    pub connection: Connection,
    /// Number of parallel connections.
    pub queue_pairs: u32,
    /// Size of the largest message.
    pub max_message_bytes: u64,
    /// Maximum number of requests in flight on each queue pair.
    pub depth: u32,
    /// Receive requests of each queue pair that are posted before the first message arrives.
    pub posted_receives: u32,
    /// Messages up to this size are copied into the request; the device may support less.
    pub inline_bytes: u32,
    /// Transport settings.
    pub tuning: Tuning,
}

/// Transport settings of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Service level (InfiniBand; on RoCE the priority), at most 15.
    pub service_level: u8,
    /// Traffic class of the global route header; on RoCE DSCP and ECN.
    pub traffic_class: u8,
    /// Exponent of the packet timeout: 4.096 µs × 2 to the power of this; 0 = never.
    pub timeout: u8,
    /// Reads and atomic operations in flight at the same time; `None` = the device's maximum.
    pub reads: Option<u8>,
}

impl Default for Tuning {
    /// Returns the settings of perftest: a packet counts as lost after 67 ms.
    fn default() -> Self {
        Self { service_level: 0, traffic_class: 0, timeout: 14, reads: None }
    }
}
