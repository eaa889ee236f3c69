//! Failures of tests between two hosts.

use assay_model::failure::{Failure, Unreached};

use crate::locale::{colon, comma, word};
use crate::words::{Said, reported};

/// Maximum number of listed interfaces.
const NAMED: usize = 8;

/// Explains a failure of a network test.
pub(super) fn said(failure: &Failure) -> Said {
    let caused = |it: Said, causes: &[String]| match causes {
        [] => it,
        causes => {
            Said::new(format!("{}{}{}", it.text, colon(), causes.join(colon())), it.advice)
        }
    };
    match failure {
        Failure::UnknownHost { host, causes } => {
            caused(reported!("failure-unknown-host", host = host), causes)
        }
        Failure::NoAddress { host } => reported!("failure-no-address", host = host),
        Failure::NoInterface { host, interfaces } => {
            let addresses = with_interfaces(host, interfaces);
            reported!("failure-no-interface", host = host, addresses = addresses)
        }
        Failure::NotConnected { address, how, causes } => {
            let advice = word(match how {
                Unreached::Refused => "advice-refused",
                Unreached::TimedOut => "advice-timed-out",
                Unreached::Other => "advice-check-address",
            });
            let address = address.to_string();
            caused(reported!("failure-not-connected", address = address).advise(advice), causes)
        }
        Failure::NoPingPong { host } => reported!("failure-no-ping-pong", host = host),
        Failure::Stalled { peer, seconds } => reported!(
            "failure-stalled",
            peer = peer,
            time = crate::locale::with_symbol(&seconds.to_string(), "s"),
        ),
        Failure::PeerBusy { peer } => reported!("failure-peer-busy", peer = peer),
        Failure::PeerStopped { peer } => reported!("failure-peer-stopped", peer = peer),
        _ => reported!("failure-no-data"),
    }
}

/// Lists the address with each possible interface, or with a common name if there is none.
fn with_interfaces(host: &str, interfaces: &[String]) -> String {
    let address = host.split('%').next().unwrap_or_default();
    let named: Vec<String> =
        interfaces.iter().take(NAMED).map(|it| format!("`{address}%{it}`")).collect();
    match named.is_empty() {
        true => format!("`{address}%eth0`"),
        false => named.join(comma()),
    }
}
