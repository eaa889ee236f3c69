//! Options of the connections to hosts.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Program, Via};

/// Maximum number of concurrent hosts: each takes a process, three pipes and a small thread here.
pub(super) const MAX_CONCURRENT_HOSTS: usize = 256;

/// Connection settings: transport, program, relays and deadline.
#[derive(Debug)]
pub struct ConnectionOptions<'a> {
    /// Transport command.
    pub via: &'a Via,
    /// Program to run as the agent.
    pub program: &'a Program,
    /// Hosts that relay to an equal share of the others each; empty = direct connections.
    pub relays: &'a [String],
    /// Maximum time from the start of the command to the reply.
    pub deadline: Duration,
    /// Cancels everything.
    pub cancel: &'a AtomicBool,
}

/// Request to act as a relay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayRequest {
    /// Hosts to connect to, identified by their index from then on.
    pub hosts: Vec<String>,
    /// Transport to them.
    pub via: Via,
    /// Maximum silence of a host.
    pub deadline: Duration,
}
