//! Failures of tests between two hosts.

use assay_model::failure::{ConnectFailure, FailureReason};

use crate::locale::{colon, comma, word};
use crate::words::{Explanation, explanation};

/// Maximum number of listed interfaces.
const MAX_LISTED_INTERFACES: usize = 8;

/// Explains a failure of a network test.
pub(super) fn explain(failure: &FailureReason) -> Explanation {
    let caused = |it: Explanation, causes: &[String]| match causes {
        [] => it,
        causes => Explanation::new(
            format!("{}{}{}", it.text, colon(), causes.join(colon())),
            it.advice,
        ),
    };
    match failure {
        FailureReason::UnknownHost { host, causes } => {
            caused(explanation!("failure-unknown-host", host = host), causes)
        }
        FailureReason::NoAddress { host } => explanation!("failure-no-address", host = host),
        FailureReason::NoInterface { host, interfaces } => {
            let addresses = with_interfaces(host, interfaces);
            explanation!("failure-no-interface", host = host, addresses = addresses)
        }
        FailureReason::NotConnected { address, how, causes } => {
            let advice = word(match how {
                ConnectFailure::Refused => "advice-refused",
                ConnectFailure::RefusedConnections => "advice-refused-connections",
                ConnectFailure::TimedOut => "advice-timed-out",
                ConnectFailure::Other => "advice-check-address",
            });
            let address = address.to_string();
            caused(
                explanation!("failure-not-connected", address = address).with_advice(advice),
                causes,
            )
        }
        FailureReason::NoPingPong { host } => explanation!("failure-no-ping-pong", host = host),
        FailureReason::Stalled { peer, seconds } => explanation!(
            "failure-stalled",
            peer = peer,
            time = crate::locale::with_symbol(&seconds.to_string(), "s"),
        ),
        FailureReason::PeerBusy { peer } => explanation!("failure-peer-busy", peer = peer),
        FailureReason::PeerStopped { peer } => {
            explanation!("failure-peer-stopped", peer = peer)
        }
        _ => explanation!("failure-no-data"),
    }
}

/// Lists the address with each possible interface, or with a common name if there is none.
fn with_interfaces(host: &str, interfaces: &[String]) -> String {
    let address = host.split('%').next().unwrap_or_default();
    let named: Vec<String> = interfaces
        .iter()
        .take(MAX_LISTED_INTERFACES)
        .map(|it| format!("`{address}%{it}`"))
        .collect();
    match named.is_empty() {
        true => format!("`{address}%eth0`"),
        false => named.join(comma()),
    }
}
