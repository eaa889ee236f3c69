//! Relay: an agent that connects a coordinator to hosts that are too many or out of its reach. It
//! wraps the usual messages with the number of the host.
//!
//! It forwards messages without acting on them and measures nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::sanitize;
use serde::{Deserialize, Serialize};

use super::agents;
use super::connection_options::{ConnectionOptions, RelayRequest};
use super::coordinator_link::CoordinatorLink;
use super::failure::HostFailure;
use super::host_events::{HostConnections as _, HostEvent};
use super::{AgentReply, Program};

/// Interval of checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Event of a relayed host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelayedEvent {
    /// The agent is ready for requests.
    Joined,
    /// Reply of the agent.
    Said(Box<AgentReply>),
    /// The host is lost.
    Lost {
        /// Stable name of the failure.
        id: String,
        /// Failure and its cause.
        reason: String,
        /// Recommended action.
        advice: String,
    },
}

impl From<HostEvent> for RelayedEvent {
    fn from(heard: HostEvent) -> Self {
        match heard {
            HostEvent::Joined => Self::Joined,
            HostEvent::Replied { reply, .. } => Self::Said(reply),
            HostEvent::Lost(failure) => Self::Lost {
                id: failure.id().to_owned(),
                reason: format_causes(&failure),
                advice: failure.advice().to_owned(),
            },
        }
    }
}

impl RelayedEvent {
    /// Converts the event at the coordinator, which received it from `relay` in a message of
    /// `bytes` at clock reading `at_ns`.
    pub fn into_event(self, relay: &str, at_ns: u64, bytes: usize) -> HostEvent {
        match self {
            Self::Joined => HostEvent::Joined,
            Self::Said(reply) => HostEvent::Replied { reply, at_ns, bytes },
            Self::Lost { id, reason, advice } => HostEvent::Lost(HostFailure::BehindRelay {
                relay: relay.to_owned(),
                id: sanitize::escape_hidden(&id).into_owned(),
                reason: sanitize::escape_hidden(&reason).into_owned(),
                advice: sanitize::escape_hidden(&advice).into_owned(),
            }),
        }
    }
}

/// Formats a failure and its cause in one line.
fn format_causes(failure: &HostFailure) -> String {
    let source = std::error::Error::source(failure);
    source.map_or_else(|| failure.to_string(), |source| format!("{failure}: {source}"))
}

/// Connects to the hosts and forwards their events until all are gone or the coordinator's pipe
/// closes. The agent forwards the coordinator's requests to them meanwhile.
///
/// # Errors
/// If this program, which the hosts also need, cannot be read.
pub fn serve(
    asked: &RelayRequest,
    line: &Arc<CoordinatorLink>,
    clock: fn() -> u64,
) -> io::Result<()> {
    let program = Program::running()?;
    let course = ConnectionOptions {
        via: &asked.via,
        program: &program,
        relays: &[],
        deadline: asked.deadline,
        cancel: line.cancel(),
    };
    agents::with_agents(&asked.hosts, &course, clock, |agents| {
        line.relay_routes.lock().even_if_poisoned().clone_from(agents.routes());
        let mut left = asked.hosts.len();
        while left > 0 && !line.cancel().load(Ordering::Relaxed) {
            let Some((number, heard)) = agents.next_event(POLL_INTERVAL) else { continue };
            left -= usize::from(matches!(heard, HostEvent::Lost(_)));
            if !line.send(&AgentReply::Of(number, heard.into())) {
                break;
            }
        }
        line.relay_routes.lock().even_if_poisoned().clear();
    });
    Ok(())
}
