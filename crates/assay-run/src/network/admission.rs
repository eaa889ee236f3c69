//! Admission control of servers: limits connections and memory, per address and in total.
//! Connections beyond the limits are closed at once.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use assay_kernels::heap;
use assay_kernels::mapping::{Mapping, PageAdvice};
use assay_kernels::network::socket;
use assay_kernels::network::thread_refusal::ThreadRefusal;
use assay_model::poisoned_lock::PoisonedLock as _;

use super::error::NetworkError;

/// Interval in which a server checks whether to stop.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Resources in use at the same time, or the limit of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ConnectionResources {
    /// Connections, each with a thread.
    pub(super) connections: usize,
    /// Memory requested by peers.
    pub(super) bytes: usize,
}

/// Resources of all peers being served.
#[derive(Debug)]
pub(super) struct Admissions {
    total_limit: ConnectionResources,
    peer_limit: ConnectionResources,
    usage: Mutex<HashMap<IpAddr, ConnectionResources>>,
}

/// Admitted connection; dropping it releases the connection and its reserved memory.
#[derive(Debug)]
pub(super) struct Admission<'a> {
    admissions: &'a Admissions,
    peer: IpAddr,
    bytes: usize,
}

impl Admissions {
    pub(super) fn new(
        total_limit: ConnectionResources,
        peer_limit: ConnectionResources,
    ) -> Self {
        Self { total_limit, peer_limit, usage: Mutex::new(HashMap::new()) }
    }

    fn lock_usage(&self) -> MutexGuard<'_, HashMap<IpAddr, ConnectionResources>> {
        // Every change below is complete before the lock is released.
        self.usage.lock().even_if_poisoned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock_usage().is_empty()
    }

    /// Admits a connection of this peer if the limits permit it.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<Admission<'_>> {
        let peer = peer_network(peer);
        let is_reserved =
            self.try_reserve(peer, ConnectionResources { connections: 1, bytes: 0 });
        // Created only after a successful reservation, because dropping it releases one.
        is_reserved.then(|| Admission { admissions: self, peer, bytes: 0 })
    }

    fn try_reserve(&self, peer: IpAddr, more: ConnectionResources) -> bool {
        let mut usage = self.lock_usage();
        let own = usage.get(&peer).copied().unwrap_or_default().plus(more);
        let all = usage.values().fold(more, |sum, each| sum.plus(*each));
        let fits = own.is_within(self.peer_limit) && all.is_within(self.total_limit);
        if fits {
            usage.insert(peer, own);
        }
        fits
    }
}

impl ConnectionResources {
    const fn plus(self, more: Self) -> Self {
        Self {
            connections: self.connections.saturating_add(more.connections),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    const fn is_within(self, limit: Self) -> bool {
        self.connections <= limit.connections && self.bytes <= limit.bytes
    }
}

impl Admission<'_> {
    /// Reserves memory; returns `false` if that would exceed the limit of the peer or the total.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let is_reserved = self
            .admissions
            .try_reserve(self.peer, ConnectionResources { connections: 0, bytes });
        self.bytes += if is_reserved { bytes } else { 0 };
        is_reserved
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        let mut usage = self.admissions.lock_usage();
        let Some(share) = usage.get_mut(&self.peer) else { return };
        share.connections = share.connections.saturating_sub(1);
        share.bytes = share.bytes.saturating_sub(self.bytes);
        if share.connections == 0 {
            usage.remove(&self.peer);
        }
    }
}

/// Maps an IPv6 address to its /64 network: one host can use all 2⁶⁴ addresses of it (RFC 4291,
/// 2.5.1).
fn peer_network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Listening socket with admission control.
#[derive(Debug)]
pub(super) struct BoundedListener<'a> {
    listener: &'a TcpListener,
    admissions: &'a Admissions,
    /// Time of the last [`NetworkError::Accept`].
    last_error_at: Option<Instant>,
}

impl<'a> BoundedListener<'a> {
    pub(super) fn new(listener: &'a TcpListener, admissions: &'a Admissions) -> Self {
        heap::keep_one_arena();
        Self { listener, admissions, last_error_at: None }
    }

    /// Accepts the next connection, if one arrives soon and is admitted.
    ///
    /// # Errors
    /// Fails if the system has no descriptor left; reported at most once a minute.
    pub(super) fn accept_next(
        &mut self,
    ) -> Result<Option<(TcpStream, SocketAddr, Admission<'a>)>, NetworkError> {
        /// Minimum interval between two such errors.
        const ERROR_INTERVAL: Duration = Duration::from_secs(60);
        if !socket::wait_readable(self.listener, POLL_INTERVAL) {
            return Ok(None);
        }
        match self.listener.accept() {
            Ok((stream, peer)) => {
                let admission = self.admissions.admit(peer.ip());
                let admission = admission.filter(|_| stream.set_nonblocking(false).is_ok());
                Ok(admission.map(|admission| (stream, peer, admission)))
            }
            // The connection was reset, or another thread has accepted it.
            Err(error) if is_transient(&error) => Ok(None),
            Err(source) => {
                // The connection stays in the kernel's queue; an immediate retry would fail again.
                std::thread::sleep(POLL_INTERVAL);
                if self
                    .last_error_at
                    .is_some_and(|reported| reported.elapsed() < ERROR_INTERVAL)
                {
                    return Ok(None);
                }
                self.last_error_at = Some(Instant::now());
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
pub(super) fn spawn_connection<'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    /// Stack of a thread (2 MiB), and a reserve of several times the possible needs of the running
    /// threads.
    const SPARE_BYTES: usize = 16 << 20;
    // Mapped directly: the heap would keep the freed memory and hand it out to the next check.
    drop(Mapping::new(SPARE_BYTES, PageAdvice::Default).map_err(|error| error.source)?);
    Builder::new().spawn_scoped(scope, work).map(drop).map_err(ThreadRefusal::wrap)
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_connections_and_memory_per_peer_and_in_total() {
        let admissions = Admissions::new(
            ConnectionResources { connections: 3, bytes: 100 },
            ConnectionResources { connections: 2, bytes: 60 },
        );
        let [one, other]: [IpAddr; 2] =
            ["192.0.2.1", "2001:db8::1"].map(|text| text.parse().unwrap());
        let mut first = admissions.admit(one).unwrap();
        let second = admissions.admit("::ffff:192.0.2.1".parse().unwrap()).unwrap();
        assert!(admissions.admit(one).is_none(), "one peer has all its places");
        let mut third = admissions.admit(other).unwrap();
        drop(second);
        assert!(!first.reserve(61), "more than one peer may have");
        assert!(first.reserve(60) && !first.reserve(1));
        assert!(!third.reserve(41), "more than is left");
        assert!(third.reserve(usize::MAX) == third.reserve(41) && third.reserve(40));
        let neighbour = admissions.admit("2001:db8::2".parse().unwrap()).unwrap();
        assert!(
            admissions.admit("2001:db8::3".parse().unwrap()).is_none(),
            "the same household"
        );
        assert!(admissions.admit(one).is_none(), "the house is full");
        drop((first, third, neighbour));
        assert!(admissions.is_empty());
        assert!(admissions.admit(one).unwrap().reserve(60));
    }
}
