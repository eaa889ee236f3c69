//! What can go wrong between two hosts, named for what was being done.

use std::io;
use std::net::SocketAddr;

use assay_dialects::wire::{iperf3, qperf};
use assay_model::failure::{Area, Failure, Lack};
use thiserror::Error;

/// Why a test over the network ended without a result.
#[derive(Debug, Error)]
pub enum NetworkError {
    #[error("the host {host} is not known")]
    Resolve { host: String, source: io::Error },
    #[error("the host {host} has no address of the family asked for")]
    NoAddress { host: String },
    #[error("cannot connect to {address}")]
    Connect { address: SocketAddr, source: io::Error },
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("{expected} did not come from {peer} within {seconds} s")]
    Late { peer: String, expected: String, seconds: f64 },
    #[error("connections cannot be accepted")]
    Accept { source: io::Error },
    #[error("{peer} cannot be served")]
    Serve { peer: String, source: io::Error },
    #[error("{peer} wants {wanted} bytes of memory, more than is left for it")]
    Memory { peer: String, wanted: usize },
    #[error("{peer} asked this server to end")]
    Quit { peer: String },
    #[error("{peer} closed the connection while {expected} was due")]
    Closed { peer: String, expected: String },
    #[error("the connection with {peer} failed while {expected} was due")]
    Broken { peer: String, expected: String, source: io::Error },
    #[error("the test with {peer} failed")]
    Iperf3 { peer: String, source: iperf3::ProtocolError },
    #[error("the test with {peer} failed")]
    Qperf { peer: String, source: qperf::ProtocolError },
    #[error("stream {number} failed")]
    Stream { number: usize, source: io::Error },
    #[error("cannot open a stream to {peer}")]
    OpenStream { peer: String, source: io::Error },
    #[error("cannot start the streams")]
    Start { source: io::Error },
    #[error("the ping-pong with {peer} failed")]
    PingPong { peer: String, source: io::Error },
    #[error(
        "nothing at {host} answers ping-pongs: its port {} is not served, and what listens on port {} speaks iperf3 alone",
        qperf::DEFAULT_PORT,
        iperf3::DEFAULT_PORT
    )]
    NoEcho { host: String },
    #[error("no data arrived")]
    NoData,
    #[error("nothing has moved between here and {peer} for {seconds} s")]
    Stalled { peer: String, seconds: f64 },
    #[error("interrupted")]
    Interrupted,
}

impl NetworkError {
    /// What the host lacks, if it is that.
    pub fn lack(&self) -> Option<Lack> {
        match self {
            Self::Resolve { .. } | Self::NoAddress { .. } => Some(Lack::Address),
            Self::Connect { address, .. } => Some(Lack::Port(address.port())),
            Self::NoEcho { .. } => Some(Lack::Echo),
            _ => None,
        }
    }

    /// As the failure of a case.
    pub fn of_case(&self) -> Failure {
        let (causes, advice) = (Failure::causes(self), self.advice().to_owned());
        Failure::Error { area: Area::Network, causes, advice }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Resolve { .. } => "check the name, or give an address",
            Self::NoAddress { .. } => "leave out -4 or -6",
            Self::Connect { source, .. } => match source.kind() {
                io::ErrorKind::ConnectionRefused => {
                    "nothing listens there: start `assay iperf3 -s -B ADDRESS`, `iperf3 -s` or `qperf` on that host, or name the port"
                }
                io::ErrorKind::TimedOut => {
                    "a firewall between the two hosts may drop the packets: open the port, or name another"
                }
                _ => "check the address and the route to it",
            },
            Self::Listen { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => {
                    "another server uses this port: stop it, or name another port"
                }
                _ => "name an address of this host",
            },
            Self::Late { .. } | Self::Closed { .. } | Self::Broken { .. } => {
                "see what the other end says; a firewall may also cut connections"
            }
            Self::Iperf3 { source, .. } => match source {
                iperf3::ProtocolError::Denied => {
                    "wait until its present test has ended, or name another port"
                }
                iperf3::ProtocolError::Server { .. } => {
                    "the server's own output says what it refused"
                }
                iperf3::ProtocolError::Terminated { .. } => {
                    "it was stopped at that end, as streams are that only load a link while something else is measured"
                }
                _ => "is that port served by iperf3 or assay?",
            },
            Self::Qperf { .. } => "is that port served by qperf 0.4 or assay?",
            Self::Stream { .. } | Self::OpenStream { .. } | Self::Start { .. } => {
                "the reason above names the option or address; leave it out, or change it"
            }
            Self::Accept { .. } | Self::Serve { .. } => {
                "this server has too few descriptors, threads or memory: end other programs, or raise its limits (ulimit)"
            }
            Self::Memory { .. } => "ask for smaller messages, or fewer at a time",
            Self::Quit { .. } => "start it with --allow-quit where other hosts may end it",
            Self::PingPong { .. } => "see what the other end says",
            Self::NoEcho { .. } => {
                "run `qperf` beside `iperf3 -s` there, or `assay iperf3 -s`, which serves both; ICMP echoes need neither"
            }
            Self::NoData => {
                "a firewall may let the control connection through and not the data"
            }
            Self::Stalled { .. } => {
                "the path was cut, a firewall forgot the connections, or the other end hangs"
            }
            Self::Interrupted => "start it again when it may run to its end",
        }
    }
}
