//! RDMA measures of a suite.

use crate::benchmark::RdmaTest;
use crate::quantity::Bytes;
use crate::workload::{RdmaConnection, RdmaDevice};

/// RDMA test between two hosts, or over loopback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdmaRequest {
    /// The test.
    pub test: RdmaTest,
    /// Smallest and largest message; sizes are doubled from one to the other. `None` = one size, as
    /// in perftest.
    pub sizes: Option<(Bytes, Bytes)>,
    /// Kind of connection.
    pub connection: RdmaConnection,
    /// Messages of each size; `None` = perftest's number.
    pub iterations: Option<u64>,
    /// Requests in flight on each queue pair; `None` = perftest's number.
    pub depth: Option<u64>,
    /// Number of concurrent queue pairs.
    pub queue_pairs: u32,
    /// Whether both ends send at the same time.
    pub both: bool,
    /// Device and its settings, at both ends of a pair of hosts.
    pub device: RdmaDevice,
}
