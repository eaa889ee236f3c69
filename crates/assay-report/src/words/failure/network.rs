//! Why a test between two hosts gave nothing.

use assay_model::failure::{Failure, Unreached};

use crate::locale::{colon, word};
use crate::words::{Said, reported};

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
        Failure::NotConnected { address, how, causes } => {
            // An address of a link is reached by one of several devices, and the kernel wants to know by which.
            let is_of_link = address.starts_with("[fe80:") && !address.contains('%');
            let advice = word(match how {
                Unreached::Other if is_of_link => "advice-name-device",
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
