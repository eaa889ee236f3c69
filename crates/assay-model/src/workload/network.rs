//! Network workloads: to another host, or to this one over loopback.

use serde::{Deserialize, Serialize};

/// One question to one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkWorkload {
    /// The host, as the user named it; `None` = this machine over loopback, with its own server.
    pub to: Option<String>,
    /// The port of the server; `None` = the port its protocol is known by.
    pub port: Option<u16>,
    /// What is asked.
    pub question: NetworkQuestion,
}

/// What is asked of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "measures", rename_all = "kebab-case")]
pub enum NetworkQuestion {
    /// How much arrives.
    Throughput(Throughput),
    /// How long a message takes there and back.
    Latency(Latency),
}

/// Streams for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Streams at the same time, per direction.
    pub streams: u32,
    /// Which way the data goes.
    pub direction: Direction,
    /// Length of one repetition in seconds.
    pub seconds: u32,
    /// Whether the program's memory is touched at both ends.
    pub copy: bool,
    /// Bit/s of each stream; `None` = as fast as it goes.
    pub rate_bit_per_s: Option<u64>,
    /// Congestion control; `None` = the system's.
    pub congestion: Option<String>,
}

/// Messages back and forth for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Size of a message in bytes.
    pub bytes: u64,
    /// Length of one repetition in seconds.
    pub seconds: u32,
    /// Whether the waiting thread spins instead of sleeping.
    pub spin: bool,
    /// Messages per second from moments fixed in advance; `None` = the next when the answer is there.
    pub rate_per_s: Option<f64>,
    /// TCP streams that fill the link meanwhile; 0 = none.
    pub load_streams: u32,
    /// Microseconds that a receive asks the device's queue itself (`SO_BUSY_POLL`); `None` = as the
    /// system does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_poll_us: Option<u32>,
}

/// Which way the data goes, seen from this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From here to there.
    Send,
    /// From there to here.
    Receive,
    /// Both ways at once.
    Both,
}

impl Direction {
    /// Every direction with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("send", Self::Send), ("receive", Self::Receive), ("both", Self::Both)];

    /// The name in suites and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, direction)| *direction == self);
        row.map(|(name, _)| *name).expect("every direction has its row")
    }
}

impl NetworkWorkload {
    /// What distinguishes it within its benchmark, for identifiers of cases.
    #[must_use]
    pub fn name(&self) -> String {
        let to = self.to.as_deref().unwrap_or("loopback");
        match &self.question {
            NetworkQuestion::Throughput(it) => {
                let copy = if it.copy { "" } else { "/no-copy" };
                format!("{to}/{}/streams={}{copy}", it.direction.name(), it.streams)
            }
            NetworkQuestion::Latency(it) => {
                let spin = if it.spin { "/spin" } else { "" };
                let rate = it.rate_per_s.map_or(String::new(), |rate| format!("/rate={rate}"));
                let load = match it.load_streams {
                    0 => String::new(),
                    streams => format!("/load={streams}"),
                };
                let poll = it.busy_poll_us.map_or(String::new(), |us| format!("/poll={us}us"));
                format!("{to}/latency/bytes={}{spin}{poll}{rate}{load}", it.bytes)
            }
        }
    }
}
