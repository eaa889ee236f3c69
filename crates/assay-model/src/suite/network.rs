//! Network measures of a suite.

use crate::workload::NetworkWorkload;

/// What carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// A byte stream.
    Tcp,
    /// Datagrams.
    Udp,
    /// Echoes of the far end's kernel.
    Icmp,
}

/// Several questions by one protocol to one host.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkRequest {
    /// What carries the messages.
    pub protocol: Protocol,
    /// The questions; those that name no host go where the command line says.
    pub questions: Vec<NetworkWorkload>,
    /// Whether somebody said how long a repetition of throughput takes; otherwise it is shortened where the time has no
    /// room for three.
    pub is_length_told: bool,
}
