//! Events of hosts, and the routes of messages to them.

use std::process::ChildStdin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_model::poisoned_lock::PoisonedLock as _;

use super::failure::HostFailure;
use super::{AgentReply, AgentRequest, frame};

/// Interval of checks for silent hosts.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub enum HostEvent {
    /// The agent is ready for requests.
    Joined,
    /// Reply of the agent.
    Replied {
        reply: Box<AgentReply>,
        /// Clock of this end when the reply arrived.
        at_ns: u64,
        /// Size of the message.
        bytes: usize,
    },
    /// The host is lost.
    Lost(HostFailure),
}

/// Connections to hosts, by their numbers in the order of the list.
pub trait HostConnections {
    /// Returns the monotonic clock of this end.
    fn now_ns(&self) -> u64;

    /// Returns the next event of any host, or `None` after the timeout.
    fn next_event(&mut self, within: Duration) -> Option<(usize, HostEvent)>;

    /// Sends a request to a host. If the host is gone, a separate event reports it.
    fn send_request(&mut self, host: usize, request: &AgentRequest);

    /// Closes the pipe to a host, which ends its agent.
    fn disconnect(&mut self, host: usize);
}

/// Events of hosts; those of one host are in order.
pub(super) type EventBatch = Vec<(usize, HostEvent)>;

pub(super) type SharedInput = Arc<Mutex<Option<ChildStdin>>>;

/// Route of messages to a host.
#[derive(Clone)]
pub(super) enum HostRoute {
    /// Pipe of the host itself.
    Direct(SharedInput),
    /// Pipe of a relay, and the relay's number for the host.
    Relayed(SharedInput, usize),
}

impl HostRoute {
    pub(super) fn send(&self, request: &AgentRequest) {
        match self {
            Self::Direct(input) => write_request(input, request),
            Self::Relayed(relay, number) => {
                write_request(relay, &AgentRequest::To(*number, Box::new(request.clone())));
            }
        }
    }

    pub(super) fn close(&self) {
        match self {
            Self::Direct(input) => drop(input.lock().even_if_poisoned().take()),
            Self::Relayed(relay, number) => write_request(relay, &AgentRequest::Leave(*number)),
        }
    }
}

/// Writes a request to a pipe that is still open. A closed pipe is reported as a lost host.
fn write_request(input: &SharedInput, request: &AgentRequest) {
    if let Some(pipe) = input.lock().even_if_poisoned().as_mut() {
        drop(frame::write(pipe, request));
    }
}

/// Transport process on this machine and the hosts it leads to.
#[derive(Clone)]
pub(super) struct TransportTarget<'h> {
    pub(super) name: &'h String,
    /// Number of the first host reached through the process; for a relay, the process itself is no
    /// host.
    pub(super) first: usize,
    pub(super) hosts: &'h [String],
    pub(super) is_relay: bool,
    pub(super) input: SharedInput,
}

impl TransportTarget<'_> {
    /// Returns the loss of every host reached through the process.
    pub(super) fn lost_events(&self, failure: HostFailure) -> EventBatch {
        let TransportTarget { name, first, hosts, is_relay, .. } = self;
        if !is_relay {
            return vec![(*first, HostEvent::Lost(failure))];
        }
        let source = Arc::new(failure);
        let lost = |number: usize| {
            let relay =
                HostFailure::RelayLost { relay: (*name).clone(), source: Arc::clone(&source) };
            (first + number, HostEvent::Lost(relay))
        };
        (0..hosts.len()).map(lost).collect()
    }
}
