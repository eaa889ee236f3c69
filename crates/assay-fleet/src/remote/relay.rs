//! An agent in between: reaches hosts for a coordinator that has too many of them, or no way to them, and hands on
//! what both ends say. The frames are the same ones, with the number of the host around them.
//!
//! It reads nothing of what it hands on, and measures nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_model::sanitize;
use serde::{Deserialize, Serialize};

use super::agent::{Line, lock};
use super::agents::{self, Heard, Hosts as _};
use super::controller::Course;
use super::failure::HostFailure;
use super::{Program, Reply, Via};

/// How soon it is noticed that everything is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What a relay is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayAsked {
    /// The hosts that it is to reach, which are called by their numbers from then on.
    pub hosts: Vec<String>,
    /// How it reaches them.
    pub via: Via,
    /// How long nothing may be heard of one.
    pub deadline: Duration,
}

/// What a relay hears of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passed {
    /// It can be talked to.
    Joined,
    /// It said this.
    Said(Box<Reply>),
    /// It is gone.
    Lost {
        /// The stable name of the failure.
        id: String,
        /// What failed and why.
        reason: String,
        /// What to do.
        advice: String,
    },
}

impl From<Heard> for Passed {
    fn from(heard: Heard) -> Self {
        match heard {
            Heard::Joined => Self::Joined,
            Heard::Said { reply, .. } => Self::Said(reply),
            Heard::Lost(failure) => Self::Lost {
                id: failure.id().to_owned(),
                reason: causes(&failure),
                advice: failure.advice().to_owned(),
            },
        }
    }
}

impl Passed {
    /// The same at the coordinator, which heard it from `relay` when its clock showed `at_ns`.
    #[must_use]
    pub fn heard(self, relay: &str, at_ns: u64) -> Heard {
        match self {
            Self::Joined => Heard::Joined,
            Self::Said(reply) => Heard::Said { reply, at_ns },
            Self::Lost { id, reason, advice } => Heard::Lost(HostFailure::Beyond {
                relay: relay.to_owned(),
                id: sanitize::escape_hidden(&id).into_owned(),
                reason: sanitize::escape_hidden(&reason).into_owned(),
                advice: sanitize::escape_hidden(&advice).into_owned(),
            }),
        }
    }
}

/// A failure with what caused it, in one line.
fn causes(failure: &HostFailure) -> String {
    let source = std::error::Error::source(failure);
    source.map_or_else(|| failure.to_string(), |source| format!("{failure}: {source}"))
}

/// Reaches the hosts and hands on what they say, until all are gone or the pipe of the line closes. What the
/// coordinator says to them passes through the line meanwhile.
///
/// # Errors
/// When this program, which the hosts need as well, cannot be read.
pub fn serve(asked: &RelayAsked, line: &Arc<Line>, clock: fn() -> u64) -> io::Result<()> {
    let program = Program::running()?;
    let course = Course {
        via: &asked.via,
        program: &program,
        relays: &[],
        deadline: asked.deadline,
        cancel: line.cancel(),
    };
    agents::under_way(&asked.hosts, &course, clock, |agents| {
        lock(&line.beyond).clone_from(agents.ways());
        let mut left = asked.hosts.len();
        while left > 0 && !line.cancel().load(Ordering::Relaxed) {
            let Some((number, heard)) = agents.hear(LOOK) else { continue };
            left -= usize::from(matches!(heard, Heard::Lost(_)));
            if !line.say(&Reply::Of(number, heard.into())) {
                break;
            }
        }
        lock(&line.beyond).clear();
    });
    Ok(())
}
