//! Kernel statistics of a TCP connection (`TCP_INFO`).
//!
//! The structure has grown with the kernel and only at its end, so fields are read from the bytes
//! by their offsets; a field that the running kernel does not have yet is `None`.

use std::io;
use std::os::fd::AsFd;

use super::socket;

/// Statistics of a connection at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
    /// Smoothed round-trip time in microseconds; on a receiver it is an estimate.
    pub rtt_us: u32,
    /// Mean deviation of the round-trip time, in microseconds.
    pub rtt_deviation_us: u32,
    /// Minimum round trip seen, in microseconds.
    pub minimum_rtt_us: Option<u32>,
    /// Congestion window in bytes: segments × segment size.
    pub congestion_window_bytes: u64,
    /// Window that the peer advertises, in bytes.
    pub send_window_bytes: Option<u32>,
    /// Segments retransmitted since the connection was made.
    pub retransmits: u32,
    /// Path MTU in bytes.
    pub path_mtu_bytes: u32,
    /// Largest segment sent, in bytes.
    pub segment_bytes: u32,
    /// Latest delivery rate of the path, in bytes/s.
    pub delivery_bytes_per_s: Option<u64>,
    /// Number of reordering events.
    pub reordered: Option<u32>,
}

/// Buffer size; the structure in Linux 6.x is smaller.
const INFO_BYTES: usize = 512;

/// Reads the statistics of a connection.
///
/// # Errors
/// The system's error, e.g. for a socket other than TCP.
pub fn read(stream: &impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0; INFO_BYTES];
    let length = socket::read_option(stream, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(from_bytes(&bytes[..length]))
}

/// Parses `struct tcp_info`. Offsets are those of the kernel's `linux/tcp.h`: 8 bytes, then `u32`s
/// from `rto`, with `u64`s from `pacing_rate` on.
fn from_bytes(bytes: &[u8]) -> TcpInfo {
    let u32_at = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let u64_at = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
    let segment_bytes = u32_at(16).unwrap_or(0);
    TcpInfo {
        rtt_us: u32_at(68).unwrap_or(0),
        rtt_deviation_us: u32_at(72).unwrap_or(0),
        minimum_rtt_us: u32_at(148).filter(|minimum| *minimum != u32::MAX),
        congestion_window_bytes: u64::from(u32_at(80).unwrap_or(0)) * u64::from(segment_bytes),
        send_window_bytes: u32_at(228),
        retransmits: u32_at(100).unwrap_or(0),
        path_mtu_bytes: u32_at(60).unwrap_or(0),
        segment_bytes,
        delivery_bytes_per_s: u64_at(160),
        reordered: u32_at(220),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn reads_statistics_of_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = read(&stream).unwrap();
        assert_eq!(info.retransmits, 0);
        assert!(info.path_mtu_bytes >= 1500, "{info:?}");
        assert!(info.segment_bytes > 0 && info.congestion_window_bytes > 0, "{info:?}");
        assert!(read(&std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).is_err());
    }

    #[test]
    fn accepts_shorter_structures_of_old_kernels() {
        let bytes: Vec<u8> = (0..104).collect();
        let info = from_bytes(&bytes);
        assert_eq!(info.retransmits, u32::from_ne_bytes([100, 101, 102, 103]));
        assert_eq!((info.delivery_bytes_per_s, info.minimum_rtt_us), (None, None));
        assert_eq!(from_bytes(&[]), TcpInfo::default());
    }
}
