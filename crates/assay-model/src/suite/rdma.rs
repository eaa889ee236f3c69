//! RDMA measures of a suite.

use crate::benchmark::RdmaTest;
use crate::quantity::Bytes;
use crate::workload::{RdmaConnection, RdmaDevice};

/// One test between two hosts, or over loopback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdmaRequest {
    /// Which.
    pub test: RdmaTest,
    /// Smallest and largest message, and every doubling of the smallest between them; `None` = one size, as
    /// perftest does.
    pub sizes: Option<(Bytes, Bytes)>,
    /// Kind of connection.
    pub connection: RdmaConnection,
    /// Messages of each size; `None` = perftest's number.
    pub iterations: Option<u64>,
    /// Requests in flight on each queue pair; `None` = perftest's number.
    pub depth: Option<u64>,
    /// Queue pairs side by side.
    pub queue_pairs: u32,
    /// Whether both ends send at the same time.
    pub both: bool,
    /// Which device, and how it is used, at both ends of a pair of hosts.
    pub device: RdmaDevice,
}
