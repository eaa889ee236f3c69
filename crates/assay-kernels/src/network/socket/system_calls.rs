//! System calls of sockets with addresses and options of the standard library. Errors name what failed.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(in crate::network) fn domain(socket: &impl AsFd) -> io::Result<libc::c_int> {
    let mut value = [0_u8; 4];
    read_option(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, &mut value)?;
    Ok(i32::from_ne_bytes(value))
}

pub(in crate::network) fn new_socket(
    address: SocketAddr,
    kind: libc::c_int,
    protocol: libc::c_int,
) -> io::Result<OwnedFd> {
    let domain = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: the call takes plain numbers.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above has just created this descriptor, and no other code uses it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Address in the system's format.
enum RawAddress {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
}

impl RawAddress {
    fn new(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Self::V4(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(v6) => Self::V6(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
        }
    }

    fn as_raw_parts(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        match self {
            Self::V4(it) => ((&raw const *it).cast(), size_of_val(it) as libc::socklen_t),
            Self::V6(it) => ((&raw const *it).cast(), size_of_val(it) as libc::socklen_t),
        }
    }
}

pub(in crate::network) fn connect(socket: &OwnedFd, remote: SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(remote);
    let (pointer, length) = address.as_raw_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    check_result(unsafe { libc::connect(socket.as_raw_fd(), pointer, length) })
}

pub(in crate::network) fn bind(socket: &OwnedFd, local: SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(local);
    let (pointer, length) = address.as_raw_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    check_result(unsafe { libc::bind(socket.as_raw_fd(), pointer, length) })
        .map_err(|error| with_context(error, &format!("cannot use the local address {local}")))
}

pub(in crate::network) fn wait_connected(
    socket: &OwnedFd,
    timeout: Duration,
    cancel: &AtomicBool,
) -> io::Result<()> {
    /// Interval between two checks of the cancel flag.
    const GLANCE: Duration = Duration::from_millis(50);
    let deadline = Instant::now() + timeout;
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let is_last = left <= GLANCE;
        let mut poll =
            libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        let millis = left.min(GLANCE).as_millis() as i32;
        // SAFETY: one valid `pollfd` and its count.
        match unsafe { libc::poll(&raw mut poll, 1, millis) } {
            0 if is_last => return Err(io::Error::from(io::ErrorKind::TimedOut)),
            0 => {}
            ready if ready > 0 => break,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    let mut value = [0_u8; 4];
    read_option(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut value)?;
    match i32::from_ne_bytes(value) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

pub(in crate::network) fn set_option<T: Copy>(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
    what: &str,
) -> io::Result<()> {
    let pointer: *const T = value;
    let length = size_of::<T>() as libc::socklen_t;
    let fd: RawFd = socket.as_fd().as_raw_fd();
    // SAFETY: pointer and length describe `value`, which the call only reads.
    check_result(unsafe { libc::setsockopt(fd, level, option, pointer.cast(), length) })
        .map_err(|error| with_context(error, &format!("cannot set {what}")))
}

pub(in crate::network) fn set_option_bytes(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &[u8],
    what: &str,
) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    let fd: RawFd = socket.as_fd().as_raw_fd();
    // SAFETY: pointer and length describe `value`, which the call only reads.
    check_result(unsafe { libc::setsockopt(fd, level, option, value.as_ptr().cast(), length) })
        .map_err(|error| with_context(error, &format!("cannot set {what}")))
}

/// Reads an option into `value`; returns the number of bytes written.
pub(in crate::network) fn read_option(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    let fd: RawFd = socket.as_fd().as_raw_fd();
    // SAFETY: pointer and length describe `value`, which is ours to write.
    check_result(unsafe {
        libc::getsockopt(fd, level, option, value.as_mut_ptr().cast(), &raw mut length)
    })?;
    Ok(length as usize)
}

pub(super) fn check_result(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn with_context(error: io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
