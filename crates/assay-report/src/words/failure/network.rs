//! Why a test between two hosts gave nothing.

use assay_model::failure::{Failure, Unreached};

use super::super::Said;

/// The words of one of them.
pub(super) fn said(failure: &Failure) -> Said {
    let caused = |what: String, causes: &[String]| match causes {
        [] => what,
        causes => format!("{what}: {}", causes.join(": ")),
    };
    match failure {
        Failure::UnknownHost { host, causes } => Said::new(
            caused(format!("the host {host} is not known"), causes),
            "check the name, or give an address",
        ),
        Failure::NoAddress { host } => Said::new(
            format!("the host {host} has no address of the requested family"),
            "leave out -4 or -6",
        ),
        Failure::NotConnected { address, how, causes } => Said::new(
            caused(format!("cannot connect to {address}"), causes),
            match how {
                Unreached::Refused => {
                    "nothing listens there: start a server on that host (`assay iperf3 -s -B ADDRESS` or `iperf3 -s` for streams, `qperf` for ping-pongs), or name its port"
                }
                Unreached::TimedOut => {
                    "a firewall between the two hosts may drop the packets: open the port, or name another"
                }
                Unreached::Other => "check the address and the route to it",
            },
        ),
        Failure::NoPingPong { host } => Said::new(
            format!("nothing at {host} answers ping-pongs"),
            "an iperf3 server alone does not: run `qperf` beside `iperf3 -s` there, or `assay iperf3 -s`, which serves both; ICMP echoes need neither",
        ),
        Failure::Stalled { peer, seconds } => Said::new(
            format!("nothing has moved between here and {peer} for {seconds} s"),
            "the path was cut, a firewall forgot the connections, or the other end hangs",
        ),
        Failure::PeerBusy { peer } => Said::new(
            format!("{peer} is busy running a test, or refuses this client"),
            "wait until its present test has ended, or name another port",
        ),
        Failure::PeerStopped { peer } => Said::new(
            format!("{peer} has terminated the test"),
            "it was stopped at that end, as streams are that only load a link while something else is measured",
        ),
        _ => Said::new(
            "no data arrived",
            "a firewall may let the control connection through and not the data",
        ),
    }
}
