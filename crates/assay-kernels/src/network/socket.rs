//! Creation of sockets with the options that affect results, and reading back the effective values.
//!
//! Options that matter to the handshake (segment size, window, congestion control) are set before
//! it. An option that cannot be set is an error that names it; nothing is ignored silently.

use std::ffi::CString;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::c_text::text_until_nul;

mod system_calls;

use system_calls::{bind, check_result, domain, set_option_bytes};
pub(super) use system_calls::{connect, new_socket, read_option, set_option, wait_connected};

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

#[cfg(test)]
mod tests;
