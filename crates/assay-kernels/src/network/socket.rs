//! Creation of sockets with the options that affect results, and reading back the effective values.
//!
//! Options that matter to the handshake (segment size, window, congestion control) are set before
//! it. An option that cannot be set is an error that names it; nothing is ignored silently.

use std::ffi::CString;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::c_text::text_until_nul;

/// Socket options that differ from the system's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SocketOptions {
    /// Local address to send from; port 0 lets the system choose.
    pub local: Option<SocketAddr>,
    /// Whether small segments are sent without delay (`TCP_NODELAY`).
    pub no_delay: bool,
    /// Send and receive buffers in bytes.
    pub window_bytes: Option<u32>,
    /// Largest segment in bytes.
    pub segment_bytes: Option<u32>,
    /// Congestion control, by the kernel's name for it.
    pub congestion: Option<String>,
    /// Type of service, the byte in the IP header.
    pub type_of_service: u32,
    /// Microseconds of busy polling: a receive polls the device's queue instead of waiting for its
    /// interrupt. Values above the system's limit need a privilege.
    pub busy_poll_us: Option<u32>,
    /// Rate in bytes/s to which the kernel paces the socket.
    pub pacing_bytes_per_s: Option<u64>,
    /// Network device that the socket is bound to (`SO_BINDTODEVICE`).
    pub device: Option<String>,
    /// Milliseconds that sent TCP data may stay unacknowledged; 0 = the system's rule.
    pub user_timeout_ms: Option<u32>,
    /// Probes of an idle TCP connection.
    pub keepalive: Option<Keepalive>,
    /// Whether datagrams over IPv4 are never cut on the path.
    pub dont_fragment: bool,
    /// IPv6 flow label, 20 bits.
    pub flow_label: Option<u32>,
    /// Whether TCP uses several paths (MPTCP) where the peer does too.
    pub multipath: bool,
}

/// Probes of an idle TCP connection (`SO_KEEPALIVE`); `None` = the system's setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keepalive {
    /// Seconds without data before the first probe.
    pub idle_s: Option<u32>,
    /// Seconds between two probes.
    pub interval_s: Option<u32>,
    /// Unanswered probes that end the connection.
    pub count: Option<u32>,
}

/// Connects a TCP socket with these options.
///
/// # Errors
/// The option that failed, or the reason the connection failed; `TimedOut` after `timeout`, and
/// `Interrupted` once cancelled.
pub fn connect_tcp(
    remote: SocketAddr,
    options: &SocketOptions,
    timeout: Duration,
    cancel: &AtomicBool,
) -> io::Result<TcpStream> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
    let socket = new_socket(remote, kind, tcp_protocol(options))?;
    apply_tcp_options(&socket, options)?;
    let remote = label_flow(&socket, remote, options)?;
    if let Some(local) = options.local {
        set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32, "SO_REUSEADDR")?;
        bind(&socket, local)?;
    }
    match connect(&socket, remote) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            wait_connected(&socket, timeout, cancel)?;
        }
        Err(error) => return Err(error),
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Applies the options that can still be set on an accepted socket.
///
/// # Errors
/// The option that failed.
pub fn configure_tcp(stream: &TcpStream, options: &SocketOptions) -> io::Result<()> {
    apply_tcp_options(stream, options)
}

/// Creates a UDP socket connected to `remote`.
///
/// # Errors
/// The option that failed, or the system's error.
pub fn connect_udp(remote: SocketAddr, options: &SocketOptions) -> io::Result<UdpSocket> {
    let socket = new_socket(remote, libc::SOCK_DGRAM, 0)?;
    configure_udp_socket(&socket, options)?;
    let remote = label_flow(&socket, remote, options)?;
    if let Some(local) = options.local {
        bind(&socket, local)?;
    }
    connect(&socket, remote)?;
    Ok(UdpSocket::from(socket))
}

/// Creates a UDP socket on a local address. Several sockets may share the address; the newest one
/// that is not yet connected receives from new peers.
///
/// # Errors
/// The system's error, e.g. when another process uses the port.
pub fn bind_udp(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = new_socket(local, libc::SOCK_DGRAM, 0)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32, "SO_REUSEADDR")?;
    bind(&socket, local)?;
    Ok(UdpSocket::from(socket))
}

/// Applies the options that UDP sockets support.
///
/// # Errors
/// The option that failed.
pub fn configure_udp(socket: &UdpSocket, options: &SocketOptions) -> io::Result<()> {
    configure_udp_socket(socket, options)
}

/// Creates a listening socket.
///
/// # Errors
/// The system's error, e.g. when the port is in use.
pub fn listen(local: SocketAddr) -> io::Result<TcpListener> {
    // The standard library sets SO_REUSEADDR, so that a port is free again at once.
    TcpListener::bind(local)
}

/// Creates a listening socket that is bound to a device or accepts several paths (MPTCP).
///
/// # Errors
/// The option that failed, or the system's error.
pub fn listen_with(local: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    /// Length of the queue of connections, as the standard library requests it.
    const QUEUE_CONNECTIONS: libc::c_int = 128;
    let socket = new_socket(local, libc::SOCK_STREAM, tcp_protocol(options))?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32, "SO_REUSEADDR")?;
    apply_device(&socket, options)?;
    bind(&socket, local)?;
    // SAFETY: the call takes plain numbers.
    check_result(unsafe { libc::listen(socket.as_raw_fd(), QUEUE_CONNECTIONS) })?;
    Ok(TcpListener::from(socket))
}

/// Enables the probes of an idle connection.
///
/// # Errors
/// The option that failed.
pub fn set_keepalive(stream: &impl AsFd, keepalive: Keepalive) -> io::Result<()> {
    set_option(stream, libc::SOL_SOCKET, libc::SO_KEEPALIVE, &1_i32, "keepalive")?;
    for (option, value, what) in [
        (libc::TCP_KEEPIDLE, keepalive.idle_s, "the idle time of keepalive"),
        (libc::TCP_KEEPINTVL, keepalive.interval_s, "the interval of keepalive"),
        (libc::TCP_KEEPCNT, keepalive.count, "the number of keepalive probes"),
    ] {
        if let Some(value) = value {
            set_option(stream, libc::IPPROTO_TCP, option, &value, what)?;
        }
    }
    Ok(())
}

/// Returns the congestion control of a TCP socket.
///
/// # Errors
/// The system's error.
pub fn congestion(socket: &impl AsFd) -> io::Result<String> {
    /// `TCP_CA_NAME_MAX` of the kernel.
    const NAME_BYTES: usize = 16;
    let mut name = [0_u8; NAME_BYTES];
    let length = read_option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
    Ok(text_until_nul(&name[..length]))
}

/// Whether TCP sockets support this congestion control; nothing is sent.
pub fn supports_congestion(name: &str) -> bool {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let options =
        SocketOptions { congestion: Some(name.to_owned()), ..SocketOptions::default() };
    let socket = new_socket(nowhere, libc::SOCK_STREAM, 0);
    socket.is_ok_and(|socket| apply_tcp_options(&socket, &options).is_ok())
}

/// Returns the send and receive buffers in bytes, as the kernel counts them (twice the requested
/// size).
///
/// # Errors
/// The system's error.
pub fn buffers_bytes(socket: &impl AsFd) -> io::Result<(u32, u32)> {
    let read = |option| {
        let mut value = [0_u8; 4];
        read_option(socket, libc::SOL_SOCKET, option, &mut value)
            .map(|_| u32::from_ne_bytes(value))
    };
    Ok((read(libc::SO_SNDBUF)?, read(libc::SO_RCVBUF)?))
}

/// Sets the low-water mark: a receive sleeps until this many bytes have arrived, or until its
/// timeout. The kernel continues to acknowledge meanwhile.
///
/// # Errors
/// The system's error.
pub(super) fn set_low_water(socket: &impl AsFd, bytes: u32) -> io::Result<()> {
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        &bytes,
        "the low-water mark (SO_RCVLOWAT)",
    )
}

/// Sets the timeout of blocking sends, receives, connects and accepts. Accepted sockets inherit it.
///
/// # Errors
/// The system's error.
pub(super) fn set_timeouts(socket: &impl AsFd, timeout: Duration) -> io::Result<()> {
    let value = libc::timeval {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_usec: timeout.subsec_micros() as libc::suseconds_t,
    };
    for option in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
        set_option(socket, libc::SOL_SOCKET, option, &value, "a timeout")?;
    }
    Ok(())
}

/// Returns the largest segment of a connection in bytes.
///
/// # Errors
/// The system's error.
pub fn segment_bytes(socket: &impl AsFd) -> io::Result<u32> {
    let mut value = [0_u8; 4];
    read_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &mut value)?;
    Ok(u32::from_ne_bytes(value))
}

/// Whether an out-of-band byte has arrived, which some servers use to announce an error.
pub fn has_urgent(socket: &impl AsFd) -> bool {
    let mut poll =
        libc::pollfd { fd: socket.as_fd().as_raw_fd(), events: libc::POLLPRI, revents: 0 };
    // SAFETY: one valid `pollfd` and its count; a timeout of 0 returns at once.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    ready > 0 && poll.revents & libc::POLLPRI != 0
}

/// Returns the bytes in the send queue that the peer has not acknowledged.
///
/// # Errors
/// The system's error.
pub fn queued_bytes(socket: &impl AsFd) -> io::Result<u64> {
    let mut queued: libc::c_int = 0;
    // SAFETY: `queued` is a writable `int`, which is what this request fills.
    check_result(unsafe {
        libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut queued)
    })?;
    Ok(u64::try_from(queued).unwrap_or(0))
}

/// Waits until a read or an accept would not block; false after `timeout`.
pub fn wait_readable(socket: &impl AsFd, timeout: Duration) -> bool {
    let fd = socket.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let millis = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one valid `pollfd` and its count.
    unsafe { libc::poll(&raw mut poll, 1, millis) > 0 }
}

fn apply_tcp_options(socket: &impl AsFd, options: &SocketOptions) -> io::Result<()> {
    apply_options(socket, options)?;
    if options.no_delay {
        set_no_delay(socket)?;
    }
    if let Some(timeout_ms) = options.user_timeout_ms {
        let what = "the timeout of unacknowledged data (TCP_USER_TIMEOUT)";
        set_option(socket, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, &timeout_ms, what)?;
    }
    if let Some(keepalive) = options.keepalive {
        set_keepalive(socket, keepalive)?;
    }
    if let Some(bytes) = options.segment_bytes {
        set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &bytes, "the segment size")?;
    }
    if let Some(name) = &options.congestion {
        let name_c = CString::new(name.as_str())?;
        let what = format!("congestion control `{name}`");
        set_option_bytes(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name_c.as_bytes(),
            &what,
        )?;
    }
    Ok(())
}

pub(super) fn set_no_delay(socket: &impl AsFd) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1_i32, "TCP_NODELAY")
}

/// Protocol number of a TCP socket.
const fn tcp_protocol(options: &SocketOptions) -> libc::c_int {
    if options.multipath { libc::IPPROTO_MPTCP } else { 0 }
}

fn apply_device(socket: &impl AsFd, options: &SocketOptions) -> io::Result<()> {
    let Some(device) = &options.device else { return Ok(()) };
    let what = format!("the network device `{device}` (SO_BINDTODEVICE)");
    let name = device.as_bytes();
    set_option_bytes(socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name, &what)
}

fn configure_udp_socket(socket: &impl AsFd, options: &SocketOptions) -> io::Result<()> {
    apply_options(socket, options)?;
    if options.dont_fragment && domain(socket)? == libc::AF_INET {
        let (level, value) = (libc::IPPROTO_IP, libc::IP_PMTUDISC_DO);
        set_option(socket, level, libc::IP_MTU_DISCOVER, &value, "don't fragment")?;
    }
    Ok(())
}

/// Reserves the flow label, and returns the address that carries it.
fn label_flow(
    socket: &impl AsFd,
    remote: SocketAddr,
    options: &SocketOptions,
) -> io::Result<SocketAddr> {
    /// Creates the label if it does not exist (`IPV6_FL_F_CREATE`).
    const CREATE: u16 = 1;
    /// Lets other sockets use the label, as parallel streams do (`IPV6_FL_S_ANY`).
    const SHARED: u8 = 255;
    let Some(label) = options.flow_label else { return Ok(remote) };
    let SocketAddr::V6(mut remote) = remote else {
        let text = "a flow label needs an IPv6 address";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    };
    // `struct in6_flowlabel_req` of `linux/in6.h`: destination, label, action (0 = get), share,
    // flags, and times that stay 0.
    let mut request = [0; 32];
    request[..16].copy_from_slice(&remote.ip().octets());
    request[16..20].copy_from_slice(&label.to_be_bytes());
    request[21] = SHARED;
    request[22..24].copy_from_slice(&CREATE.to_ne_bytes());
    let level = libc::IPPROTO_IPV6;
    set_option_bytes(socket, level, libc::IPV6_FLOWLABEL_MGR, &request, "the flow label")?;
    set_option(socket, level, libc::IPV6_FLOWINFO_SEND, &1_i32, "the flow label")?;
    remote.set_flowinfo(label.to_be());
    Ok(remote.into())
}

fn apply_options(socket: &impl AsFd, options: &SocketOptions) -> io::Result<()> {
    apply_device(socket, options)?;
    if let Some(bytes) = options.window_bytes {
        set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &bytes, "the send buffer")?;
        set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes, "the receive buffer")?;
    }
    if options.type_of_service != 0 {
        let is_ipv6 = domain(socket)? == libc::AF_INET6;
        let (level, option) = if is_ipv6 {
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
        } else {
            (libc::IPPROTO_IP, libc::IP_TOS)
        };
        set_option(socket, level, option, &options.type_of_service, "the type of service")?;
    }
    if let Some(us) = options.busy_poll_us {
        let us = us.cast_signed();
        set_option(
            socket,
            libc::SOL_SOCKET,
            libc::SO_BUSY_POLL,
            &us,
            "busy polling (SO_BUSY_POLL)",
        )?;
    }
    if let Some(rate) = options.pacing_bytes_per_s {
        set_option(
            socket,
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            &rate,
            "the pacing rate",
        )?;
    }
    Ok(())
}

fn domain(socket: &impl AsFd) -> io::Result<libc::c_int> {
    let mut value = [0_u8; 4];
    read_option(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, &mut value)?;
    Ok(i32::from_ne_bytes(value))
}

pub(super) fn new_socket(
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

pub(super) fn connect(socket: &OwnedFd, remote: SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(remote);
    let (pointer, length) = address.as_raw_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    check_result(unsafe { libc::connect(socket.as_raw_fd(), pointer, length) })
}

fn bind(socket: &OwnedFd, local: SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(local);
    let (pointer, length) = address.as_raw_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    check_result(unsafe { libc::bind(socket.as_raw_fd(), pointer, length) })
        .map_err(|error| with_context(error, &format!("cannot use the local address {local}")))
}

pub(super) fn wait_connected(
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

pub(super) fn set_option<T: Copy>(
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

fn set_option_bytes(
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
pub(super) fn read_option(
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

fn check_result(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn with_context(error: io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    const SOON: Duration = Duration::from_secs(5);
    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn any_port(address: &str) -> TcpListener {
        listen(format!("{address}:0").parse().unwrap()).unwrap()
    }

    /// Connects to a listener with a full queue, which drops connection requests as a firewall
    /// does.
    #[test]
    fn cancellation_ends_connecting() {
        let listener = any_port("127.0.0.1");
        // SAFETY: the call takes plain numbers; the socket is listening already, and gets a shorter
        // queue.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let address = listener.local_addr().unwrap();
        let connect = |timeout, cancel: &AtomicBool| {
            connect_tcp(address, &SocketOptions::default(), timeout, cancel)
        };
        let brief = Duration::from_millis(200);
        let waiting: Vec<_> = std::iter::from_fn(|| connect(brief, &GO_ON).ok()).collect();
        assert!(!waiting.is_empty());
        let cancel = AtomicBool::new(false);
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(brief);
                cancel.store(true, Ordering::Relaxed);
            });
            connect(Duration::from_secs(600), &cancel)
        });
        assert_eq!(found.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn options_reach_the_kernel() {
        let listener = any_port("127.0.0.1");
        let options = SocketOptions {
            local: Some("127.0.0.1:0".parse().unwrap()),
            no_delay: true,
            window_bytes: Some(65536),
            segment_bytes: Some(1000),
            congestion: Some("reno".into()),
            type_of_service: 16,
            pacing_bytes_per_s: Some(1_000_000),
            user_timeout_ms: Some(5000),
            keepalive: Some(Keepalive { idle_s: Some(30), ..Keepalive::default() }),
            ..SocketOptions::default()
        };
        let stream =
            connect_tcp(listener.local_addr().unwrap(), &options, SOON, &GO_ON).unwrap();
        assert_eq!(congestion(&stream).unwrap(), "reno");
        assert_eq!(buffers_bytes(&stream).unwrap(), (131_072, 131_072));
        // The time stamp option takes 12 bytes of every segment.
        assert_eq!(segment_bytes(&stream).unwrap(), 988);
        assert!(stream.nodelay().unwrap());
        let read = |option| {
            let mut value = [0; 4];
            read_option(&stream, libc::IPPROTO_TCP, option, &mut value).unwrap();
            u32::from_ne_bytes(value)
        };
        assert_eq!((read(libc::TCP_USER_TIMEOUT), read(libc::TCP_KEEPIDLE)), (5000, 30));
        let (mut accepted, _) = listener.accept().unwrap();
        (&stream).write_all(b"x").unwrap();
        let mut byte = [0];
        accepted.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        assert!(!has_urgent(&accepted));
    }

    #[test]
    fn both_families_connect() {
        for address in ["127.0.0.1", "[::1]"] {
            let listener = any_port(address);
            let remote = listener.local_addr().unwrap();
            assert!(
                connect_tcp(remote, &SocketOptions::default(), SOON, &GO_ON).is_ok(),
                "{address}"
            );
            let udp = bind_udp(format!("{address}:0").parse().unwrap()).unwrap();
            let peer = connect_udp(udp.local_addr().unwrap(), &SocketOptions::default());
            assert_eq!(peer.unwrap().send(b"x").unwrap(), 1);
        }
    }

    #[test]
    fn datagrams_keep_flow_label_and_size() {
        let options = SocketOptions {
            dont_fragment: true,
            flow_label: Some(0x12345),
            device: Some("lo".to_owned()),
            ..SocketOptions::default()
        };
        let v6 = bind_udp("[::1]:0".parse().unwrap()).unwrap();
        let labelled = connect_udp(v6.local_addr().unwrap(), &options).unwrap();
        assert_eq!(labelled.send(b"x").unwrap(), 1);
        // The kernel reports the label with the address of the peer.
        let SocketAddr::V6(peer) = labelled.peer_addr().unwrap() else {
            panic!("{labelled:?}")
        };
        assert_eq!(u32::from_be(peer.flowinfo()), 0x12345);
        let v4 = bind_udp("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = v4.local_addr().unwrap();
        let error = connect_udp(address, &options).unwrap_err().to_string();
        assert!(error.contains("needs an IPv6 address"), "{error}");
        let options = SocketOptions { flow_label: None, ..options };
        let whole = connect_udp(address, &options).unwrap();
        let mut value = [0; 4];
        read_option(&whole, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &mut value).unwrap();
        assert_eq!(i32::from_ne_bytes(value), libc::IP_PMTUDISC_DO);
    }

    /// A kernel without MPTCP refuses the socket; both ends of one with it use it.
    #[test]
    fn multipath_connects_where_the_kernel_has_it() {
        let options = SocketOptions { multipath: true, ..SocketOptions::default() };
        let listener = match listen_with("127.0.0.1:0".parse().unwrap(), &options) {
            Ok(listener) => listener,
            Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
        };
        let address = listener.local_addr().unwrap();
        for multipath in [true, false] {
            let options = SocketOptions { multipath, ..SocketOptions::default() };
            let stream = connect_tcp(address, &options, SOON, &GO_ON).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            (&stream).write_all(b"x").unwrap();
            accepted.read_exact(&mut [0]).unwrap();
        }
    }

    #[test]
    fn errors_name_the_option() {
        let free = any_port("127.0.0.1").local_addr().unwrap();
        let error = connect_tcp(free, &SocketOptions::default(), SOON, &GO_ON).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let unknown =
            SocketOptions { congestion: Some("no-such".into()), ..SocketOptions::default() };
        let error = connect_tcp(free, &unknown, SOON, &GO_ON).unwrap_err().to_string();
        assert!(error.contains("congestion control `no-such`"), "{error}");
        assert!(supports_congestion("reno") && !supports_congestion("no-such"));
        let unknown =
            SocketOptions { device: Some("no-such".into()), ..SocketOptions::default() };
        let error = connect_tcp(free, &unknown, SOON, &GO_ON).unwrap_err().to_string();
        assert!(error.contains("network device `no-such`"), "{error}");
        let foreign = SocketOptions {
            local: Some("192.0.2.1:0".parse().unwrap()),
            ..SocketOptions::default()
        };
        let error = connect_tcp(free, &foreign, SOON, &GO_ON).unwrap_err().to_string();
        assert!(error.contains("192.0.2.1"), "{error}");
    }
}
