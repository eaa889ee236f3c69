//! ICMP echo requests and their round-trip times, as `ping` measures them.
//!
//! Tries the datagram socket that Linux offers to groups in `net.ipv4.ping_group_range`, which
//! needs no privilege, then a raw socket, which needs `CAP_NET_RAW`. The time is measured from
//! before the send to after the receive in this program.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::clock;

/// Kind of ICMP socket that could be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IcmpAccess {
    /// Unprivileged datagram socket; the kernel sets identifier and checksum.
    Datagram,
    /// Raw socket; all echo replies of the machine arrive and are distinguished by identifier.
    Raw,
}

/// Open ICMP socket to one address.
#[derive(Debug)]
pub struct Pinger {
    socket: OwnedFd,
    access: IcmpAccess,
    remote: SocketAddr,
    identifier: u16,
}

/// Received echo reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoReply {
    /// Round trip in nanoseconds.
    pub round_trip_ns: u64,
    /// TTL of the reply, if the socket reports it (raw IPv4).
    pub time_to_live: Option<u8>,
    /// Bytes of the ICMP message, including its header.
    pub bytes: usize,
}

/// Bytes of the ICMP header.
const HEADER_BYTES: usize = 8;
/// Largest payload that fits an IPv4 packet.
pub const PAYLOAD_LIMIT_BYTES: usize = 65507;

impl Pinger {
    /// Opens a socket to `remote`, whose port is ignored; a link-local address needs its device.
    ///
    /// # Errors
    /// When neither socket is permitted; the message names the missing permissions.
    pub fn open(remote: SocketAddr) -> io::Result<Self> {
        let (socket, access) = match icmp_socket(remote, libc::SOCK_DGRAM) {
            Ok(socket) => (socket, IcmpAccess::Datagram),
            Err(datagram) => match icmp_socket(remote, libc::SOCK_RAW) {
                Ok(socket) => (socket, IcmpAccess::Raw),
                Err(raw) => return Err(socket_error(remote.ip(), datagram, raw)),
            },
        };
        // `ping` uses the low half of the process id, too.
        let identifier = std::process::id() as u16;
        Ok(Self { socket, access, remote, identifier })
    }

    /// Returns the kind of socket.
    pub fn access(&self) -> IcmpAccess {
        self.access
    }

    /// Returns the address that requests are sent to.
    pub fn remote(&self) -> IpAddr {
        self.remote.ip()
    }

    /// Prevents fragmentation of later requests; one that exceeds the kernel's path MTU is an error
    /// (`EMSGSIZE`).
    ///
    /// # Errors
    /// The system's error.
    pub fn never_fragment(&self) -> io::Result<()> {
        let (level, option, value) = match self.remote {
            SocketAddr::V4(_) => {
                (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)
            }
            SocketAddr::V6(_) => {
                (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO)
            }
        };
        super::socket::set_option(
            &self.socket,
            level,
            option,
            &value,
            "the don't-fragment option",
        )
    }

    /// Sets the hop limit (TTL) of later requests.
    ///
    /// # Errors
    /// The system's error.
    pub fn limit_hops(&self, hops: u8) -> io::Result<()> {
        let (level, option) = match self.remote {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TTL),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
        };
        super::socket::set_option(
            &self.socket,
            level,
            option,
            &i32::from(hops),
            "the hop limit",
        )
    }

    /// Returns the kernel's current path MTU, in bytes.
    ///
    /// # Errors
    /// The system's error.
    pub fn kernel_mtu_bytes(&self) -> io::Result<u32> {
        let (level, option) = match self.remote {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
        };
        let mut value = [0; 4];
        super::socket::read_option(&self.socket, level, option, &mut value)?;
        Ok(u32::from_ne_bytes(value))
    }

    /// Returns the bytes of the IP and ICMP headers of a request.
    pub fn header_bytes(&self) -> usize {
        HEADER_BYTES + if self.remote.is_ipv4() { 20 } else { 40 }
    }

    /// Sends one echo request and waits for its reply; `None` on timeout.
    ///
    /// # Errors
    /// The system's error, e.g. when there is no route.
    pub fn ping(
        &self,
        sequence: u16,
        payload_bytes: usize,
        timeout: Duration,
    ) -> io::Result<Option<EchoReply>> {
        let request = self.request(sequence, payload_bytes.min(PAYLOAD_LIMIT_BYTES));
        let sent_ns = clock::now_ns();
        self.send(&request)?;
        let deadline_ns = sent_ns + timeout.as_nanos() as u64;
        let mut buffer = vec![0; request.len() + 64];
        while let Some(bytes) = self.receive(&mut buffer, deadline_ns)? {
            let now_ns = clock::now_ns();
            if let Some((time_to_live, message)) = self.own_reply(&buffer[..bytes], sequence) {
                let round_trip_ns = now_ns - sent_ns;
                return Ok(Some(EchoReply { round_trip_ns, time_to_live, bytes: message }));
            }
        }
        Ok(None)
    }

    fn request(&self, sequence: u16, payload_bytes: usize) -> Vec<u8> {
        /// Message types of echo requests, by family.
        const REQUEST_V4: u8 = 8;
        const REQUEST_V6: u8 = 128;
        let mut request = vec![0; HEADER_BYTES + payload_bytes];
        request[0] = if self.remote.is_ipv4() { REQUEST_V4 } else { REQUEST_V6 };
        request[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        request[6..8].copy_from_slice(&sequence.to_be_bytes());
        // The kernel itself computes the checksum of ICMPv6, and of every datagram socket.
        let sum = if self.remote.is_ipv4() { checksum(&request) } else { 0 };
        request[2..4].copy_from_slice(&sum.to_be_bytes());
        request
    }

    /// Returns TTL and length if this is the reply to our request of this number.
    fn own_reply(&self, packet: &[u8], sequence: u16) -> Option<(Option<u8>, usize)> {
        const REPLY_V4: u8 = 0;
        const REPLY_V6: u8 = 129;
        let with_ip_head = self.access == IcmpAccess::Raw && self.remote.is_ipv4();
        let (time_to_live, message) = if with_ip_head {
            let head_bytes = usize::from(packet.first()? & 0xF) * 4;
            (Some(*packet.get(8)?), packet.get(head_bytes..)?)
        } else {
            (None, packet)
        };
        let kind = if self.remote.is_ipv4() { REPLY_V4 } else { REPLY_V6 };
        let word = |at: usize| message.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes);
        let is_ours = self.access == IcmpAccess::Datagram || word(4)? == self.identifier;
        (message.first() == Some(&kind) && is_ours && word(6)? == sequence)
            .then_some((time_to_live, message.len()))
    }

    fn send(&self, request: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length describe `request`, which the call only reads; the socket is
        // connected.
        let sent = unsafe {
            libc::send(self.socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits for one packet; `None` after the deadline.
    fn receive(&self, buffer: &mut [u8], deadline_ns: u64) -> io::Result<Option<usize>> {
        loop {
            let now_ns = clock::now_ns();
            if now_ns >= deadline_ns {
                return Ok(None);
            }
            let millis = (deadline_ns - now_ns).div_ceil(1_000_000).min(1_000_000) as i32;
            let mut poll =
                libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid `pollfd` and its count.
            if unsafe { libc::poll(&raw mut poll, 1, millis) } <= 0 {
                continue;
            }
            // SAFETY: pointer and length describe `buffer`, which is ours to write.
            let received = unsafe {
                libc::recv(
                    self.socket.as_raw_fd(),
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                    libc::MSG_DONTWAIT,
                )
            };
            match usize::try_from(received) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::WouldBlock {
                        return Err(error);
                    }
                }
            }
        }
    }
}

fn icmp_socket(mut remote: SocketAddr, kind: libc::c_int) -> io::Result<OwnedFd> {
    let (domain, protocol) = match remote {
        SocketAddr::V4(_) => (libc::AF_INET, libc::IPPROTO_ICMP),
        SocketAddr::V6(_) => (libc::AF_INET6, libc::IPPROTO_ICMPV6),
    };
    // SAFETY: the call takes plain numbers.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above has just created this descriptor, and no other code uses it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    remote.set_port(0);
    super::socket::connect(&socket, remote)?;
    Ok(socket)
}

/// Combines the errors of both sockets: names the missing permissions if only these prevent the
/// sockets, else reports the other error, with advice if the network is unreachable.
fn socket_error(remote: IpAddr, datagram: io::Error, raw: io::Error) -> io::Error {
    let is_permission = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let other = [datagram, raw];
    if let [datagram, raw] = &other
        && is_permission(datagram)
        && is_permission(raw)
    {
        return io::Error::new(
            raw.kind(),
            format!(
                "cannot open an ICMP socket: the unprivileged one failed ({datagram}), because this group is \
                 not in net.ipv4.ping_group_range; the raw one failed ({raw}), because CAP_NET_RAW \
                 is missing"
            ),
        );
    }
    let mut causes = other.into_iter().filter(|error| !is_permission(error));
    let cause = causes.next().expect("one of the two is no missing right");
    match cause.kind() {
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => io::Error::new(
            cause.kind(),
            format!("no route to {remote}; `ip route get {remote}` shows the routing decision"),
        ),
        _ => cause,
    }
}

/// Returns the Internet checksum (RFC 1071) of a message whose checksum field is zero.
fn checksum(message: &[u8]) -> u16 {
    let words = message.chunks(2).map(|pair| {
        u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
    });
    let mut sum: u64 = words.sum();
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_internet_checksum() {
        // RFC 1071 §3: the words 0001 f203 f4f5 f6f7 sum up to ddf2.
        let message = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
        assert_eq!(checksum(&message), !0xDDF2);
        assert_eq!(checksum(&[]), 0xFFFF);
        assert_eq!(checksum(&[0xFF]), 0x00FF);
    }

    #[test]
    fn names_missing_permissions_only_if_they_are_the_cause() {
        let remote: IpAddr = "192.0.2.1".parse().unwrap();
        for (datagram, raw, expected) in [
            (libc::EACCES, libc::EPERM, "CAP_NET_RAW"),
            (
                libc::EACCES,
                libc::ENETUNREACH,
                "no route to 192.0.2.1; `ip route get 192.0.2.1`",
            ),
            (libc::ENETUNREACH, libc::EPERM, "no route to 192.0.2.1"),
            (libc::EACCES, libc::EAFNOSUPPORT, "not supported"),
        ] {
            let [datagram, raw] = [datagram, raw].map(io::Error::from_raw_os_error);
            let message = socket_error(remote, datagram, raw).to_string();
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.contains("CAP_NET_RAW"), expected == "CAP_NET_RAW", "{message}");
        }
    }

    /// Needs an ICMP socket on loopback; passes without one.
    #[test]
    fn sets_fragmentation_and_hop_limit() {
        let Ok(pinger) = Pinger::open(SocketAddr::from(([127, 0, 0, 1], 0))) else { return };
        pinger.never_fragment().unwrap();
        assert!(pinger.kernel_mtu_bytes().unwrap() >= 65535);
        assert_eq!(pinger.header_bytes(), 28);
        pinger.limit_hops(1).unwrap();
        let mut hops = [0; 4];
        super::super::socket::read_option(
            &pinger.socket,
            libc::IPPROTO_IP,
            libc::IP_TTL,
            &mut hops,
        )
        .unwrap();
        assert_eq!(i32::from_ne_bytes(hops), 1);
    }

    #[test]
    fn pings_loopback_or_names_missing_permission() {
        for remote in ["127.0.0.1:9", "[::1]:9"] {
            match Pinger::open(remote.parse().unwrap()) {
                Ok(pinger) => {
                    for (sequence, payload_bytes) in [(1, 56), (2, 0), (3, 1400)] {
                        let reply = pinger
                            .ping(sequence, payload_bytes, Duration::from_secs(5))
                            .unwrap();
                        assert_eq!(
                            reply.map(|it| it.bytes),
                            Some(HEADER_BYTES + payload_bytes)
                        );
                    }
                }
                Err(error) => assert!(error.to_string().contains("CAP_NET_RAW"), "{error}"),
            }
        }
    }
}
