//! ntttcp's tests: many connections to many ports, measured at both ends over the same time.

use std::net::IpAddr;

use assay_kernels::network::socket::SocketOptions;
use serde::{Deserialize, Serialize};

use super::target::NetworkTarget;

mod cycle;
mod receiver;
pub mod record;
mod sender;
mod sender_sync;
mod sync_server;
mod usage;

/// Time before the end of a test in which the other end may already have ended: it started its clock
/// earlier, or its clock is faster.
const EARLY_END_NS: u64 = 1_000_000_000;

pub use receiver::{NtttcpServer, with_server};
pub use sender::NtttcpSender;
pub use usage::{NtttcpUsage, RetransmitCounts};

/// Parameters of both ends.
#[derive(Debug, Clone)]
pub struct NtttcpTest {
    pub is_udp: bool,
    /// Number of ports of the receiver.
    pub ports: u32,
    /// First of them; the synchronisation uses the port below.
    pub base_port: u16,
    /// Whether sender and receiver agree on time and start.
    pub is_synchronised: bool,
    pub warm_up_s: u32,
    /// Measured seconds; 0 = until interrupted.
    pub duration_s: u32,
    pub cool_down_s: u32,
    /// Bytes of a send or a receive.
    pub block_bytes: u32,
    pub socket: SocketOptions,
    /// Network interface whose packets are counted.
    pub interface: Option<String>,
    /// Text in the lines of the interrupts that are counted.
    pub interrupts: Option<String>,
}

impl NtttcpTest {
    /// Returns the seconds of the whole test; 0 = until interrupted.
    pub const fn cycle_s(&self) -> u32 {
        match self.duration_s {
            0 => 0,
            seconds => seconds + self.warm_up_s + self.cool_down_s,
        }
    }

    /// Returns the measured seconds of a test with these agreed seconds; 0 = until an end stops it.
    pub const fn measured_s(&self, agreed_s: u32) -> u32 {
        let rest_s = agreed_s.saturating_sub(self.warm_up_s);
        match self.duration_s {
            _ if agreed_s == 0 => 0,
            0 => rest_s,
            own_s if own_s < rest_s => own_s,
            _ => rest_s,
        }
    }
}

/// Parameters of a sender.
#[derive(Debug, Clone)]
pub struct NtttcpSending {
    /// Receiver; its port is not used.
    pub target: NetworkTarget,
    pub threads_per_port: u32,
    pub connections_per_thread: u32,
    /// First of the ports to send from.
    pub source_port: Option<u16>,
    /// Rate of all threads together.
    pub rate_bit_per_s: Option<u64>,
    /// Whether this is the last of several senders.
    pub is_last: bool,
}

impl NtttcpSending {
    /// Returns the number of threads.
    pub fn threads(&self, test: &NtttcpTest) -> u32 {
        test.ports.saturating_mul(self.threads_per_port)
    }

    /// Returns the number of connections.
    pub fn connections(&self, test: &NtttcpTest) -> u32 {
        self.threads(test).saturating_mul(self.connections_per_thread)
    }
}

/// Parameters of a receiver.
#[derive(Debug, Clone, Copy)]
pub struct NtttcpServing {
    pub listen: IpAddr,
    /// Whether it waits for the last of several senders.
    pub awaits_several: bool,
    /// Whether it serves further tests after the first.
    pub is_held: bool,
}

/// Event of a test, one or more lines of ntttcp's output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NtttcpEvent {
    /// A sender starts without synchronisation.
    NoSync,
    /// Agreed seconds of the whole test; 0 = until interrupted.
    Negotiated(u32),
    Threads(u32),
    Connections {
        count: u32,
        microseconds: u64,
    },
    /// The receiver waits for the last of several senders.
    AwaitsLast,
    Started,
    /// Bytes of all threads in an interval.
    Interval {
        bytes: u64,
        seconds: f64,
    },
    WarmedUp,
    /// The user interrupted the test.
    Interrupted,
    /// The other end ended the test.
    EndedBySender,
    Measured,
    CoolsDown,
    Finished,
    /// Whether the receiver confirmed the end of an interrupted test.
    ReceiverExited(bool),
}

/// Reason for the end of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NtttcpEnd {
    Time,
    User,
    /// The sender ended the test before its time.
    Sender,
    /// All connections were closed.
    Closed,
}

/// Interval of the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NtttcpInterval {
    pub bytes: u64,
    pub seconds: f64,
}

/// Result of one end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NtttcpOutcome {
    /// Bytes of each thread, in the order of the ports.
    pub thread_bytes: Vec<u64>,
    pub seconds: f64,
    pub intervals: Vec<NtttcpInterval>,
    /// Connections of a sender.
    pub connections: Option<u32>,
    pub usage: NtttcpUsage,
    /// Mean of the round trips that the kernel of a sender estimates.
    pub round_trip_us: Option<u32>,
    pub end: NtttcpEnd,
}

impl NtttcpOutcome {
    /// Returns the bytes of all threads.
    pub fn bytes(&self) -> u64 {
        self.thread_bytes.iter().sum()
    }
}
