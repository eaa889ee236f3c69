//! Notices another assay that measures on this machine at the same time.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use assay_model::doubt::Doubt;

/// Held while measuring; the kernel gives the name back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Presence {
    _name: Option<UnixDatagram>,
}

/// The name in Linux's abstract namespace, before the number of a seat: no file, no permission, no
/// stale lock.
const NAME: &str = "assay-measures-on-this-machine";

/// Each assay takes its own seat, so that one that came second is still seen when the first has
/// gone. More than this many at once are seen, too; they only leave no trace themselves.
const SEATS: u32 = 16;

/// Announces this process. The warning says that another one is there.
pub(crate) fn announce() -> (Presence, Option<Doubt>) {
    let mut own = None;
    let mut is_company = false;
    for seat in 0..SEATS {
        match take(seat) {
            // All other seats are given back at once: they were only looked at.
            Ok(socket) => own = own.or(Some(socket)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => is_company = true,
            // Where no name can be had at all, nothing is known and nothing is claimed.
            Err(_) => break,
        }
    }
    (Presence { _name: own }, is_company.then_some(Doubt::AnotherAssay))
}

fn take(seat: u32) -> io::Result<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("{NAME}-{seat}"))?;
    UnixDatagram::bind_addr(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever else runs on this machine adds company and takes none away.
    #[test]
    fn the_second_is_still_seen_when_the_first_has_gone() {
        let (first, _) = announce();
        let (second, company) = announce();
        assert!(company.is_some());
        drop(first);
        let (_third, company) = announce();
        assert!(company.is_some());
        drop(second);
    }
}
