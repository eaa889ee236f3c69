//! Network measures of a suite.

use crate::workload::NetworkWorkload;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkProtocol {
    Tcp,
    Udp,
    /// ICMP echo requests, which the far end's kernel replies to.
    Icmp,
}

/// Several tests with one protocol and one host.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkRequest {
    /// Protocol of the tests.
    pub protocol: NetworkProtocol,
    /// The tests; those without a host use that of the command line.
    pub tests: Vec<NetworkWorkload>,
    /// Whether the length of a throughput repetition was given; otherwise it is shortened if three
    /// do not fit the time.
    pub has_explicit_length: bool,
}
