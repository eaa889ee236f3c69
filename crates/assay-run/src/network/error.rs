//! Errors of network measurements.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::wire::{iperf3, ntttcp, qperf, sockperf};
use assay_fleet::remote::calls::CallError;
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_model::failure::{ConnectFailure, ErrorArea, FailureReason, MissingHostFeature};
use thiserror::Error;

use super::iperf3_limits::ExceededLimit;
use super::iperf3_login::{LoginError, LoginRefusal};
use super::plausibility::BrokenLaw;

/// Reason why a network test ended without a result.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// Failure that is stored as such; its text is in the report.
    #[error("{}", .0.id().replace('-', " "))]
    Known(FailureReason),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("{expected} did not come from {peer} within {seconds} s")]
    Timeout { peer: String, expected: String, seconds: f64 },
    #[error("cannot accept connections")]
    Accept { source: io::Error },
    #[error("cannot serve {peer}")]
    Serve { peer: String, source: io::Error },
    #[error("{peer} requested {wanted} bytes of memory, more than its limit")]
    Memory { peer: String, wanted: usize },
    #[error("{peer} asked this server to end")]
    Quit { peer: String },
    #[error("{peer} closed the connection while {expected} was due")]
    Closed { peer: String, expected: String },
    #[error("the connection with {peer} failed while {expected} was due")]
    Broken { peer: String, expected: String, source: io::Error },
    #[error("the test with {peer} failed")]
    Iperf3 { peer: String, source: iperf3::Iperf3ProtocolError },
    #[error("{peer} was rejected")]
    NotAdmitted { peer: String, source: LoginRefusal },
    #[error("{peer} exceeded a limit of this server")]
    AboveLimit { peer: String, source: ExceededLimit },
    #[error("cannot log in to {peer}")]
    NoLogin { peer: String, source: LoginError },
    #[error("{peer} closed the connection after it received user and password")]
    ClosedAfterLogin { peer: String },
    #[error("the test with {peer} failed")]
    Qperf { peer: String, source: qperf::QperfProtocolError },
    #[error("the test with {peer} failed")]
    Sockperf { peer: String, source: sockperf::SockperfProtocolError },
    #[error("cannot connect to {address}: connection refused")]
    NoNtttcpReceiver { address: String },
    #[error("the test with {peer} failed")]
    Ntttcp { peer: String, source: ntttcp::NtttcpProtocolError },
    #[error("the test ended in its warm-up of {warm_up_s} s: nothing was measured")]
    EndedInWarmUp { warm_up_s: u32 },
    /// A client of this server violated the protocol.
    #[error("cannot serve {peer}")]
    SockperfClient { peer: String, source: sockperf::SockperfProtocolError },
    #[error("no reply came from {peer}")]
    NoReply { peer: String },
    #[error(
        "no reply of {peer} lies in the valid time, which lacks the first 400 ms and the last 50 ms"
    )]
    NoValidReply { peer: String },
    #[error("cannot exchange messages with {peer}")]
    Messages { peer: String, source: io::Error },
    /// Figures of the far end that cannot be true beside those of this end.
    #[error("cannot use the results of {peer}")]
    Implausible { peer: String, source: BrokenLaw },
    #[error("stream {number} failed")]
    Stream { number: usize, source: io::Error },
    #[error("cannot open a stream to {peer}")]
    OpenStream { peer: String, source: io::Error },
    /// The CPU of a test, from 1.
    #[error("cannot run the test with {peer} on CPU {cpu}")]
    Cpu { peer: String, cpu: u32, source: io::Error },
    #[error("cannot start a thread")]
    NoThread { source: io::Error },
    #[error("cannot start the streams")]
    Start { source: io::Error },
    #[error("the ping-pong with {peer} failed")]
    PingPong { peer: String, source: io::Error },
    #[error("a connection with {peer} failed")]
    Connections { peer: String, source: io::Error },
    /// All ports for connections to one address are in use.
    #[error("no local port is free for a connection to {peer}")]
    NoLocalPort { peer: String, source: io::Error },
    #[error("{peer} does not serve tests of connections")]
    NoConnections { peer: String, source: Box<Self> },
    #[error(transparent)]
    Call(CallError),
    #[error("{peer} cannot be the far end: {causes}")]
    FarEnd { peer: String, causes: String },
    #[error(
        "both hosts are the machine at {address}: its ranks would communicate through memory"
    )]
    SameMachine { address: IpAddr },
    #[error(
        "both hosts are named {name}, which Open MPI treats as one machine: its ranks would deadlock"
    )]
    SameName { name: String },
    #[error("interrupted")]
    Interrupted,
}

const LOGIN_ADVICE: &str = "check --username, --rsa-public-key-path and IPERF3_PASSWORD, and that both clocks agree; add --use-pkcs1-padding for servers before iperf3 3.17";

const NO_THREAD_ADVICE: &str = "end other programs, or raise the limit of processes (ulimit -u, `pids.max` of the control group)";

impl NetworkError {
    /// Error for a failed connection attempt.
    pub fn not_connected(address: SocketAddr, source: &io::Error) -> Self {
        if source.kind() == io::ErrorKind::Interrupted {
            return Self::Interrupted;
        }
        if let Some(code) = source.raw_os_error().filter(|_| is_out_of_descriptors(source)) {
            let source = io::Error::from_raw_os_error(code);
            return Self::OpenStream { peer: address.to_string(), source };
        }
        Self::Known(FailureReason::NotConnected {
            address: address.to_string(),
            how: match source.kind() {
                io::ErrorKind::ConnectionRefused => ConnectFailure::Refused,
                io::ErrorKind::TimedOut => ConnectFailure::TimedOut,
                _ => ConnectFailure::Other,
            },
            causes: FailureReason::error_chain(source),
        })
    }

    /// Names the server that serves tests of connections, if nothing accepts them.
    pub fn of_connections_test(self) -> Self {
        match self {
            Self::Known(FailureReason::NotConnected {
                address,
                how: ConnectFailure::Refused,
                causes,
            }) => {
                let how = ConnectFailure::RefusedConnections;
                Self::Known(FailureReason::NotConnected { address, how, causes })
            }
            other => other,
        }
    }

    /// Names the receiver of ntttcp's tests, if nothing accepts them.
    pub fn of_ntttcp(self) -> Self {
        match self {
            Self::Known(FailureReason::NotConnected {
                address,
                how: ConnectFailure::Refused,
                ..
            }) => Self::NoNtttcpReceiver { address },
            other => other,
        }
    }

    /// Error for an additional stream that could not be opened.
    pub fn stream_not_opened(peer: &str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::OpenStream { peer: peer.to_owned(), source },
        }
    }

    /// Error for a failed connection of a test of connections. The far end had accepted a control
    /// connection, so an address that is not available means that its ports are in use.
    pub fn connections_failed(host: &str, source: io::Error) -> Self {
        let peer = host.to_owned();
        match source.kind() {
            io::ErrorKind::AddrNotAvailable => Self::NoLocalPort { peer, source },
            _ => Self::Connections { peer, source },
        }
    }

    /// Replaces the error by an interruption if the user interrupted the test.
    pub fn unless_interrupted(self, cancel: &AtomicBool) -> Self {
        if cancel.load(Ordering::Relaxed) { Self::Interrupted } else { self }
    }

    /// Whether the system refused a thread at this end.
    pub fn is_thread_refusal(&self) -> bool {
        let cause = self.source().and_then(|it| it.downcast_ref::<io::Error>());
        matches!(self, Self::NoThread { .. }) || cause.is_some_and(ThreadRefusal::is_cause)
    }

    /// Service that the host lacks, if that is the reason.
    pub fn lack(&self) -> Option<MissingHostFeature> {
        let failure = match self {
            Self::Known(failure) => failure,
            Self::Call(CallError::Timeout { .. }) => {
                return Some(MissingHostFeature::Connection);
            }
            _ => return None,
        };
        match failure {
            FailureReason::UnknownHost { .. }
            | FailureReason::NoAddress { .. }
            | FailureReason::NoInterface { .. } => Some(MissingHostFeature::Address),
            FailureReason::NotConnected { address, .. } => {
                address.parse().ok().map(|it: SocketAddr| MissingHostFeature::Port(it.port()))
            }
            FailureReason::NoPingPong { .. } => Some(MissingHostFeature::Echo),
            _ => None,
        }
    }

    /// Converts the error into the failure of a case.
    pub fn to_case_failure(&self) -> FailureReason {
        match self {
            Self::Known(failure) => failure.clone(),
            Self::Iperf3 { peer, source: iperf3::Iperf3ProtocolError::Denied } => {
                FailureReason::PeerBusy { peer: peer.clone() }
            }
            Self::Iperf3 { peer, source: iperf3::Iperf3ProtocolError::Terminated { .. } } => {
                FailureReason::PeerStopped { peer: peer.clone() }
            }
            other => {
                let causes = FailureReason::error_chain(other);
                let advice = match other {
                    Self::Call(CallError::Over { peer } | CallError::Timeout { peer, .. }) => {
                        format!("check the host with `assay doctor --hosts {peer}`")
                    }
                    Self::SockperfClient {
                        source: sockperf::SockperfProtocolError::Length { length, .. },
                        ..
                    } if sockperf::is_message_length(*length) => {
                        format!(
                            "start this server with -m {length} if that peer speaks sockperf"
                        )
                    }
                    _ => other.advice().to_owned(),
                };
                FailureReason::Error { area: ErrorArea::Network, causes, advice }
            }
        }
    }

    /// Advice on errors that are not a stored failure.
    fn advice(&self) -> &'static str {
        if self.is_thread_refusal() {
            return NO_THREAD_ADVICE;
        }
        match self {
            Self::Listen { address, source } => listen_advice(address, source),
            Self::EndedInWarmUp { .. } => "check the sender's output, or use a shorter -W",
            Self::Timeout { .. } | Self::Closed { .. } | Self::Broken { .. } => {
                "check the other end's output; a firewall may also cut connections"
            }
            Self::NotAdmitted { source, .. } => source.advice(),
            Self::AboveLimit { source, .. } => source.advice(),
            Self::ClosedAfterLogin { .. } => LOGIN_ADVICE,
            Self::NoLogin { .. } => "use another key, user or password",
            Self::Iperf3 { source, .. } => iperf3_advice(source),
            Self::Qperf { .. } => "check that qperf 0.4 or assay serves this port",
            Self::Ntttcp { source, .. } => ntttcp_advice(source),
            Self::NoNtttcpReceiver { .. } => {
                "start `assay ntttcp -r ADDRESS` or `ntttcp -r` there, with the same -p, -P, -N and -u"
            }
            Self::Sockperf { .. }
            | Self::SockperfClient { .. }
            | Self::NoReply { .. }
            | Self::NoValidReply { .. }
            | Self::Messages { .. } => self.sockperf_advice(),
            // The control connection succeeded, by another protocol or to another port.
            Self::OpenStream { source, .. } if source.kind() == io::ErrorKind::TimedOut => {
                "the packets are lost on the way: open the firewall for UDP, and for ping-pongs for every port of that server"
            }
            Self::OpenStream { source, .. } if is_out_of_descriptors(source) => {
                "raise the limit of open files (ulimit -n), or use fewer connections"
            }
            Self::NoThread { .. } => NO_THREAD_ADVICE,
            Self::Cpu { .. } => "name a CPU that this process may use, from 1, or 0 for any",
            Self::Stream { .. } | Self::OpenStream { .. } | Self::Start { .. } => {
                "omit or change the option or address named above"
            }
            Self::Accept { .. } | Self::Serve { .. } => {
                "this server has too few descriptors, threads or memory: end other programs, or raise its limits (ulimit)"
            }
            Self::Memory { .. } => "request smaller messages, or fewer at a time",
            Self::Quit { .. } => {
                "start the server with --allow-quit to let other hosts stop it"
            }
            Self::Call(_) => "check that the host is reachable",
            Self::FarEnd { .. } => {
                "set the data address of that host in a fleet file (address = \"…\")"
            }
            Self::PingPong { .. } => "check the other end's output",
            Self::Connections { .. } => {
                "check the other end's output; each stream has a port of its own there, which a firewall must let through"
            }
            Self::NoLocalPort { .. } => {
                "use fewer streams, wait a minute for ports in TIME-WAIT (ss -tan state time-wait), or widen the range (sysctl net.ipv4.ip_local_port_range)"
            }
            Self::NoConnections { .. } => {
                "start `assay iperf3 -s` of this version there, without a login; it accepts 32 control connections of one host, one for each stream"
            }
            Self::Implausible { source, .. } => source.advice(),
            Self::SameMachine { .. } => {
                "use hosts on separate machines; to measure within one machine, use `assay run mpi` without --pairs"
            }
            Self::SameName { .. } => {
                "give each host a name of its own (hostnamectl set-hostname NAME)"
            }
            Self::Interrupted => "start it again",
            Self::Known(_) => "",
        }
    }

    /// Advice on errors of sockperf's tests.
    fn sockperf_advice(&self) -> &'static str {
        match self {
            Self::SockperfClient { .. } => {
                "that peer does not speak sockperf: let it use another port"
            }
            Self::NoReply { .. } => {
                "check that `assay sockperf server` or `sockperf server` runs there, on this port, with the same protocol (--tcp) and without --dont-reply; a firewall may drop messages"
            }
            Self::NoValidReply { .. } => {
                "measure for longer (--time), or request more replies (a higher --mps, a lower --reply-every)"
            }
            Self::Messages { source, .. } => messages_advice(source),
            _ => "check that sockperf or assay serves this port",
        }
    }
}

/// Whether this process or the system has no free descriptor.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Returns advice on an iperf3 test that failed.
fn iperf3_advice(error: &iperf3::Iperf3ProtocolError) -> &'static str {
    match error {
        iperf3::Iperf3ProtocolError::ServerError { iperf3: iperf3::NOT_AUTHORIZED, .. } => {
            LOGIN_ADVICE
        }
        iperf3::Iperf3ProtocolError::ServerError { .. } => {
            "check the server's output for the reason"
        }
        _ => "check that iperf3 or assay serves this port",
    }
}

/// Returns advice on an ntttcp test that a receiver refused.
const fn ntttcp_advice(error: &ntttcp::NtttcpProtocolError) -> &'static str {
    match error {
        ntttcp::NtttcpProtocolError::Busy => {
            "wait for its test to end, or use the ports of another receiver with -p"
        }
        ntttcp::NtttcpProtocolError::Refused => {
            "start the receiver with -M for several senders, of which only the last one has -L"
        }
        ntttcp::NtttcpProtocolError::NegativeSeconds(_) => {
            "check that ntttcp or assay serves the port below -p, or send without it by -N"
        }
        ntttcp::NtttcpProtocolError::NoMeasuredTime { .. } => {
            "use a shorter -W, or a longer -t at the receiver"
        }
    }
}

/// Returns advice on messages that cannot be exchanged.
fn messages_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "start `assay sockperf server` or `sockperf server` there, on this port and with the same protocol (--tcp)"
        }
        _ => "check the other end's output",
    }
}

/// Returns advice on an address that cannot be served.
fn listen_advice(address: &SocketAddr, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another server uses this port: stop it, or use another port"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need root: use another port, or give the program CAP_NET_BIND_SERVICE"
        }
        _ if is_link_local(address) => {
            "link-local addresses are served only together with all others: -B ::"
        }
        _ => "name an address of this host",
    }
}

fn is_link_local(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(it) if it.ip().is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_threads_are_named_with_their_limit() {
        let refused = || ThreadRefusal::wrap(io::Error::from_raw_os_error(11));
        let (peer, would_block) = (String::from("peer"), io::ErrorKind::WouldBlock);
        for (error, is_refusal) in [
            (NetworkError::Serve { peer: peer.clone(), source: refused() }, true),
            (NetworkError::PingPong { peer: peer.clone(), source: refused() }, true),
            (NetworkError::Start { source: refused() }, true),
            (NetworkError::PingPong { peer, source: would_block.into() }, false),
        ] {
            assert_eq!(error.is_thread_refusal(), is_refusal, "{error:?}");
            let FailureReason::Error { causes, advice, .. } = error.to_case_failure() else {
                panic!("{error:?}")
            };
            assert_eq!(advice.contains("pids.max"), is_refusal, "{advice}");
            let expected = ["cannot start a thread", "Resource temporarily unavailable"];
            assert_eq!(causes.len() == 3 && causes[1] == expected[0], is_refusal, "{causes:?}");
        }
    }

    #[test]
    fn listen_advice_matches_reason() {
        for (kind, address, advice) in [
            (io::ErrorKind::AddrInUse, "127.0.0.1:80", "stop it"),
            (io::ErrorKind::PermissionDenied, "127.0.0.1:80", "below 1024"),
            (io::ErrorKind::AddrNotAvailable, "127.0.0.1:80", "an address of this host"),
            (io::ErrorKind::InvalidInput, "[fe80::1]:80", "-B ::"),
        ] {
            let address = address.parse().unwrap();
            let error = NetworkError::Listen { address, source: kind.into() };
            assert!(error.advice().contains(advice), "{kind:?}: {}", error.advice());
        }
    }

    #[test]
    fn server_advises_on_long_messages_of_clients() {
        for (length, expected) in [
            (70_000, "start this server with -m 70000"),
            (13, "does not speak sockperf"),
            (0x4745_5420, "does not speak sockperf"),
        ] {
            let source = sockperf::SockperfProtocolError::Length { length, limit: 65_507 };
            let error = NetworkError::SockperfClient { peer: String::from("peer"), source };
            let FailureReason::Error { advice, .. } = error.to_case_failure() else {
                panic!("{error:?}")
            };
            assert!(advice.contains(expected), "{length}: {advice}");
        }
    }

    #[test]
    fn lack_of_descriptors_advises_on_its_limit() {
        let address = "192.0.2.1:5001".parse().unwrap();
        let error = NetworkError::not_connected(address, &io::Error::from_raw_os_error(24));
        assert!(error.to_string().contains("192.0.2.1:5001"), "{error}");
        assert!(error.advice().contains("ulimit -n"), "{}", error.advice());
    }

    #[test]
    fn stream_timeout_advises_on_firewall() {
        for (kind, advice) in
            [(io::ErrorKind::TimedOut, "firewall"), (io::ErrorKind::InvalidInput, "option")]
        {
            let error = NetworkError::stream_not_opened("far:5201", kind.into());
            assert!(error.advice().contains(advice), "{kind:?}: {}", error.advice());
        }
    }
}
