//! Detects other assay processes that measure on this machine at the same time.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use assay_model::doubt::Doubt;

/// Marker of a measuring process; the kernel releases its name when the process ends, even after a
/// crash.
#[derive(Debug)]
pub(crate) struct InstanceMarker {
    name: Option<UnixDatagram>,
}

impl InstanceMarker {
    /// Whether another process has announced itself since this one did.
    pub(crate) fn was_joined(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.recv(&mut [0]).is_ok())
    }
}

/// Prefix of the name in Linux's abstract namespace: needs no file or permission, and leaves no
/// stale lock.
const NAME_PREFIX: &str = "assay-measures-on-this-machine";

/// Maximum number of markers. Each process has its own, so that the second one is still detected
/// after the first has ended. Further processes detect others, but are not detected themselves.
const MAX_INSTANCES: u32 = 16;

/// Announces this process, also to those that are measuring, and returns a doubt if there are any.
pub(crate) fn announce() -> (InstanceMarker, Option<Doubt>) {
    let mut own = None;
    let mut others = Vec::new();
    for seat in 0..MAX_INSTANCES {
        match bind_name(seat) {
            // All further names are released at once: they were only tested.
            Ok(socket) => own = own.or(Some(socket)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => others.push(seat),
            // Without abstract names nothing can be detected.
            Err(_) => break,
        }
    }
    for seat in &others {
        // A process that has ended meanwhile, or whose queue is full, need not know.
        _ = greet(*seat);
    }
    (InstanceMarker { name: own }, (!others.is_empty()).then_some(Doubt::AnotherAssay))
}

fn seat_name(seat: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{NAME_PREFIX}-{seat}"))
}

fn bind_name(seat: u32) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::bind_addr(&seat_name(seat)?)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn greet(seat: u32) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.send_to_addr(&[0], &seat_name(seat)?).map(drop)
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
        assert!(first.was_joined(), "the first of two hears of the second");
        drop(first);
        let (_third, company) = announce();
        assert!(company.is_some());
        drop(second);
    }
}
