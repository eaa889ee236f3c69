//! Where a server's peers come in, and what it gives them at most: places and memory, to one address
//! and in all. What is beyond the bounds is closed at once, and its peer sees that.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use assay_kernels::heap;
use assay_kernels::mapping::{Mapping, PageAdvice};
use assay_kernels::network::socket;

use super::error::NetworkError;

/// How soon a server notices its own end.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// What may be held at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Share {
    /// Connections, with a thread each.
    pub(super) places: usize,
    /// Memory that a peer's wishes take.
    pub(super) bytes: usize,
}

/// Everybody who is served now.
#[derive(Debug)]
pub(super) struct Guests {
    in_all: Share,
    each: Share,
    held: Mutex<HashMap<IpAddr, Share>>,
}

/// A place that is free again when this is dropped, with the memory that was reserved.
#[derive(Debug)]
pub(super) struct Guest<'a> {
    guests: &'a Guests,
    peer: IpAddr,
    bytes: usize,
}

impl Guests {
    pub(super) fn new(in_all: Share, each: Share) -> Self {
        Self { in_all, each, held: Mutex::new(HashMap::new()) }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, Share>> {
        // Every change below is made whole before the lock is given back.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    /// A place for this peer, while there is one.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<Guest<'_>> {
        let peer = household(peer);
        let is_held = self.hold(peer, Share { places: 1, bytes: 0 });
        // Made only where it is held: dropping one gives its place back.
        is_held.then(|| Guest { guests: self, peer, bytes: 0 })
    }

    fn hold(&self, peer: IpAddr, more: Share) -> bool {
        let mut held = self.held();
        let own = held.get(&peer).copied().unwrap_or_default().and(more);
        let all = held.values().fold(more, |sum, each| sum.and(*each));
        let fits = own.is_within(self.each) && all.is_within(self.in_all);
        if fits {
            held.insert(peer, own);
        }
        fits
    }
}

impl Share {
    const fn and(self, more: Self) -> Self {
        Self {
            places: self.places.saturating_add(more.places),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    const fn is_within(self, most: Self) -> bool {
        self.places <= most.places && self.bytes <= most.bytes
    }
}

impl Guest<'_> {
    /// Takes memory out of the peer's share and everybody's; false when it is not there.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let is_held = self.guests.hold(self.peer, Share { places: 0, bytes });
        self.bytes += if is_held { bytes } else { 0 };
        is_held
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let mut held = self.guests.held();
        let Some(share) = held.get_mut(&self.peer) else { return };
        share.places = share.places.saturating_sub(1);
        share.bytes = share.bytes.saturating_sub(self.bytes);
        if share.places == 0 {
            held.remove(&self.peer);
        }
    }
}

/// Whoever has one IPv6 address has the 2⁶⁴ beside it (RFC 4291, 2.5.1): they count as one peer.
fn household(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() >> 64 << 64)),
        four @ IpAddr::V4(_) => four,
    }
}

/// A listening socket with its bounds.
#[derive(Debug)]
pub(super) struct Door<'a> {
    listener: &'a TcpListener,
    guests: &'a Guests,
    /// When it was told that connections cannot be accepted.
    reported: Option<Instant>,
}

impl<'a> Door<'a> {
    pub(super) fn new(listener: &'a TcpListener, guests: &'a Guests) -> Self {
        heap::keep_one_arena();
        Self { listener, guests, reported: None }
    }

    /// The next connection, if one comes soon and has a place.
    ///
    /// # Errors
    /// When the system has no descriptor left for it; told once a minute.
    pub(super) fn next(
        &mut self,
    ) -> Result<Option<(TcpStream, SocketAddr, Guest<'a>)>, NetworkError> {
        /// Before the same is told again.
        const AGAIN: Duration = Duration::from_secs(60);
        if !socket::wait_readable(self.listener, LOOK) {
            return Ok(None);
        }
        match self.listener.accept() {
            Ok((stream, peer)) => {
                let guest = self.guests.admit(peer.ip());
                let guest = guest.filter(|_| stream.set_nonblocking(false).is_ok());
                Ok(guest.map(|guest| (stream, peer, guest)))
            }
            // It has gone again, or another thread has taken it.
            Err(error) if is_passing(&error) => Ok(None),
            Err(source) => {
                // The connection stays in the kernel's queue, and asking again at once gives the same.
                std::thread::sleep(LOOK);
                if self.reported.is_some_and(|reported| reported.elapsed() < AGAIN) {
                    return Ok(None);
                }
                self.reported = Some(Instant::now());
                Err(NetworkError::Accept { source })
            }
        }
    }
}

/// Starts what serves a connection. An error drops the connection, which closes it.
///
/// # Errors
/// When there can be no further thread, or when it would take the memory that the server needs to go on:
/// an allocation that fails ends a process.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    /// The stack of a thread (2 MiB), and some times what the threads that are there may still ask for.
    const SPARE_BYTES: usize = 16 << 20;
    // Not of the heap, which would keep the memory and give it again.
    drop(Mapping::new(SPARE_BYTES, PageAdvice::Default).map_err(|refused| refused.source)?);
    Builder::new().spawn_scoped(scope, work).map(drop)
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_memory_are_bounded_for_one_peer_and_in_all_and_given_back() {
        let guests =
            Guests::new(Share { places: 3, bytes: 100 }, Share { places: 2, bytes: 60 });
        let [one, other]: [IpAddr; 2] =
            ["192.0.2.1", "2001:db8::1"].map(|text| text.parse().unwrap());
        let mut first = guests.admit(one).unwrap();
        let second = guests.admit("::ffff:192.0.2.1".parse().unwrap()).unwrap();
        assert!(guests.admit(one).is_none(), "one peer has all its places");
        let mut third = guests.admit(other).unwrap();
        drop(second);
        assert!(!first.reserve(61), "more than one peer may have");
        assert!(first.reserve(60) && !first.reserve(1));
        assert!(!third.reserve(41), "more than is left");
        assert!(third.reserve(usize::MAX) == third.reserve(41) && third.reserve(40));
        let neighbour = guests.admit("2001:db8::2".parse().unwrap()).unwrap();
        assert!(guests.admit("2001:db8::3".parse().unwrap()).is_none(), "the same household");
        assert!(guests.admit(one).is_none(), "the house is full");
        drop((first, third, neighbour));
        assert!(guests.is_empty());
        assert!(guests.admit(one).unwrap().reserve(60));
    }
}
