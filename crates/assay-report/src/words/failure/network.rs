//! Why a test between two hosts gave nothing.

use assay_model::failure::{Failure, Unreached};

use crate::locale::{colon, comma, word};
use crate::words::{Said, reported};

/// More interfaces than these nobody reads through.
const NAMED: usize = 8;

/// The words of one of them.
pub(super) fn said(failure: &Failure) -> Said {
    let caused = |said: Said, causes: &[String]| match causes {
        [] => said,
        causes => {
            Said::new(format!("{}{}{}", said.text, colon(), causes.join(colon())), said.advice)
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

/// The address with each interface that may be meant, or with a usual one where there is none.
fn with_interfaces(host: &str, interfaces: &[String]) -> String {
    let address = host.split('%').next().unwrap_or_default();
    let named: Vec<String> =
        interfaces.iter().take(NAMED).map(|it| format!("`{address}%{it}`")).collect();
    match named.is_empty() {
        true => format!("`{address}%eth0`"),
        false => named.join(comma()),
    }
}
