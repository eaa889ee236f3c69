//! Admission control of servers: limits connections and memory, per address and in total.
//! Connections beyond the limits are closed at once.

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

/// Interval in which a server checks whether to stop.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Resources held at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Share {
    /// Connections, each with a thread.
    pub(super) places: usize,
    /// Memory requested by peers.
    pub(super) bytes: usize,
}

/// Resources of all peers being served.
#[derive(Debug)]
pub(super) struct Guests {
    in_all: Share,
    each: Share,
    held: Mutex<HashMap<IpAddr, Share>>,
}

/// Admitted connection; frees its place and reserved memory when it is dropped.
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
        // Every change below is complete before the lock is released.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    /// Admits a connection of this peer if the limits permit it.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<Guest<'_>> {
        let peer = household(peer);
        let is_held = self.hold(peer, Share { places: 1, bytes: 0 });
        // Created only if the place is reserved: dropping it frees one.
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
    /// Reserves memory within the limits of the peer and the total; returns `false` if it exceeds
    /// one.
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

/// Maps an IPv6 address to its /64 network: one host can use all 2⁶⁴ addresses of it (RFC 4291,
/// 2.5.1).
fn household(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() >> 64 << 64)),
        four @ IpAddr::V4(_) => four,
    }
}

/// Listening socket with admission control.
#[derive(Debug)]
pub(super) struct Door<'a> {
    listener: &'a TcpListener,
    guests: &'a Guests,
    /// Time of the last report that connections cannot be accepted.
    reported: Option<Instant>,
}

impl<'a> Door<'a> {
    pub(super) fn new(listener: &'a TcpListener, guests: &'a Guests) -> Self {
        heap::keep_one_arena();
        Self { listener, guests, reported: None }
    }

    /// Accepts the next connection, if one arrives soon and is admitted.
    ///
    /// # Errors
    /// Fails if the system has no descriptor left; reported at most once a minute.
    pub(super) fn next(
        &mut self,
    ) -> Result<Option<(TcpStream, SocketAddr, Guest<'a>)>, NetworkError> {
        /// Interval between repeated reports.
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
            // The connection was reset, or another thread has accepted it.
            Err(error) if is_passing(&error) => Ok(None),
            Err(source) => {
                // The connection stays in the kernel's queue; an immediate retry would fail again.
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

/// Starts the thread of a connection. An error drops and thereby closes the connection.
///
/// # Errors
/// Fails if no thread can be started, or if the remaining memory would be too little for the
/// server: a failed allocation ends the process.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    /// Stack of a thread (2 MiB), and a reserve of several times the possible needs of the running
    /// threads.
    const SPARE_BYTES: usize = 16 << 20;
    // Mapped directly: the heap would keep the memory and return it again.
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
