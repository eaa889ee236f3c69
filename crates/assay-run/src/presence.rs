//! Detects other assay processes that measure on this machine at the same time.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use assay_model::doubt::Doubt;

/// Marker of a measuring process; the kernel releases its name when the process ends, even after a
/// crash.
#[derive(Debug)]
pub(crate) struct InstanceMarker {
    _name: Option<UnixDatagram>,
}

/// Prefix of the name in Linux's abstract namespace: needs no file or permission, and leaves no
/// stale lock.
const NAME_PREFIX: &str = "assay-measures-on-this-machine";

/// Maximum number of markers. Each process has its own, so that the second one is still detected
/// after the first has ended. Further processes detect others, but are not detected themselves.
const MAX_INSTANCES: u32 = 16;

/// Announces this process, and returns a doubt if another one is measuring.
pub(crate) fn announce() -> (InstanceMarker, Option<Doubt>) {
    let mut own = None;
    let mut is_company = false;
    for seat in 0..MAX_INSTANCES {
        match bind_name(seat) {
            // All further names are released at once: they were only tested.
            Ok(socket) => own = own.or(Some(socket)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => is_company = true,
            // Without abstract names nothing can be detected.
            Err(_) => break,
        }
    }
    (InstanceMarker { _name: own }, is_company.then_some(Doubt::AnotherAssay))
}

fn bind_name(seat: u32) -> io::Result<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("{NAME_PREFIX}-{seat}"))?;
    UnixDatagram::bind_addr(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other processes on this machine can only add detections.
    #[test]
    fn second_instance_stays_visible_after_first_ends() {
        let (first, _) = announce();
        let (second, company) = announce();
        assert!(company.is_some());
        drop(first);
        let (_third, company) = announce();
        assert!(company.is_some());
        drop(second);
    }
}
