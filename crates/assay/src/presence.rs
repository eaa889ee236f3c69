//! Notices another assay that measures on this machine at the same time.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use assay_model::warning::Warning;

/// Held while measuring; the kernel gives the name back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Presence {
    _name: Option<UnixDatagram>,
}

/// The name in Linux's abstract namespace: no file, no permission, no stale lock.
const NAME: &str = "assay-measures-on-this-machine";

/// Announces this process. The warning says that another one was there first.
pub(crate) fn announce() -> (Presence, Option<Warning>) {
    let bound =
        SocketAddr::from_abstract_name(NAME).and_then(|name| UnixDatagram::bind_addr(&name));
    match bound {
        Ok(socket) => (Presence { _name: Some(socket) }, None),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let warning = Warning::new(
                "another-assay",
                "another assay is measuring on this machine; the two may disturb each other",
                "wait until it has finished and measure again",
            );
            (Presence { _name: None }, Some(warning))
        }
        // Where the name cannot be had at all, nothing is known and nothing is claimed.
        Err(_) => (Presence { _name: None }, None),
    }
}
