//! Path MTU: the largest packet that a path carries unfragmented, measured with ICMP echoes.
//!
//! The kernel's path MTU is based on the messages of routers so far. An echo of that size that
//! returns proves it. If it does not return and a small one does, the path drops large packets
//! silently (a black hole), and the largest size that passes is searched.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::icmp::Pinger;

/// Result of a path MTU measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMtu {
    /// Path MTU of the kernel after the messages of all routers, in bytes.
    pub kernel_bytes: u32,
    /// Largest packet that returned, in bytes; `None` when no echo returned.
    pub carried_bytes: Option<u32>,
    /// Shortest round trip of the small echoes, in nanoseconds.
    pub round_trip_ns: Option<u64>,
}

/// Number of small echoes; the fastest counts.
const SMALL_ECHOES: u16 = 10;
/// Small echoes lost in a row before the host counts as silent.
const MAX_INITIAL_LOSSES: u16 = 3;
/// Attempts at one size, so that a random loss is not mistaken for a size limit.
const ATTEMPTS: u16 = 3;
/// Maximum number of routers, each of which may lower the MTU once.
const MAX_ROUTERS: u16 = 16;
/// Largest IP packet, independent of the device's MTU.
const LARGEST_PACKET_BYTES: u32 = 65535;
/// Packet size that every path carries: RFC 791 requires 68 bytes; nothing below 576 occurs in
/// practice.
const MINIMUM_BYTES: u32 = 576;

/// Sends echoes to `remote`, small ones first; `patience` is the timeout of one echo.
///
/// # Errors
/// When no ICMP socket is permitted, or nothing can be sent; the reason.
pub fn measure(remote: SocketAddr, patience: Duration) -> io::Result<PathMtu> {
    let pinger = Pinger::open(remote)?;
    pinger.never_fragment()?;
    let mut echoes = EchoProbe { pinger, timeout: patience, sequence: 0, round_trip_ns: None };
    if !echoes.probe_small()? {
        let believed_bytes = echoes.pinger.kernel_mtu_bytes()?;
        return Ok(PathMtu {
            kernel_bytes: believed_bytes,
            carried_bytes: None,
            round_trip_ns: None,
        });
    }
    let round_trip_ns = echoes.round_trip_ns;
    let (believed_bytes, is_carried) = echoes.probe_kernel_mtu()?;
    let carried_bytes =
        if is_carried { believed_bytes } else { echoes.search_below(believed_bytes)? };
    Ok(PathMtu {
        kernel_bytes: believed_bytes,
        carried_bytes: Some(carried_bytes),
        round_trip_ns,
    })
}

struct EchoProbe {
    pinger: Pinger,
    timeout: Duration,
    sequence: u16,
    round_trip_ns: Option<u64>,
}

/// Outcome of one echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbeOutcome {
    Returned,
    Lost,
    TooLarge,
}

impl EchoProbe {
    /// Whether the host replies at all.
    fn probe_small(&mut self) -> io::Result<bool> {
        for number in 1..=SMALL_ECHOES {
            self.probe(0)?;
            if number == MAX_INITIAL_LOSSES && self.round_trip_ns.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Probes the kernel's path MTU until it stays the same and no router reports a lower one.
    fn probe_kernel_mtu(&mut self) -> io::Result<(u32, bool)> {
        for _ in 0..MAX_ROUTERS {
            let believed_bytes = self.pinger.kernel_mtu_bytes()?.min(LARGEST_PACKET_BYTES);
            match self.probe_packet(believed_bytes)? {
                ProbeOutcome::Returned => return Ok((believed_bytes, true)),
                ProbeOutcome::TooLarge => {}
                // The message of a router arrives as an error of the next send or receive, or not
                // at all.
                ProbeOutcome::Lost if self.pinger.kernel_mtu_bytes()? < believed_bytes => {}
                ProbeOutcome::Lost => return Ok((believed_bytes, false)),
            }
        }
        Ok((self.pinger.kernel_mtu_bytes()?, false))
    }

    /// Searches the largest size that passes, by bisection.
    fn search_below(&mut self, too_large_bytes: u32) -> io::Result<u32> {
        let small_bytes = u32::try_from(self.pinger.header_bytes()).unwrap_or(u32::MAX);
        let passes = |echoes: &mut Self, bytes| {
            Ok::<_, io::Error>(echoes.probe_packet(bytes)? == ProbeOutcome::Returned)
        };
        if too_large_bytes <= MINIMUM_BYTES || !passes(self, MINIMUM_BYTES)? {
            return Ok(small_bytes);
        }
        let (mut passed, mut failed) = (MINIMUM_BYTES, too_large_bytes);
        while failed - passed > 1 {
            let middle = passed.midpoint(failed);
            if passes(self, middle)? {
                passed = middle;
            } else {
                failed = middle;
            }
        }
        Ok(passed)
    }

    /// Probes one packet size, with further attempts after a loss.
    fn probe_packet(&mut self, bytes: u32) -> io::Result<ProbeOutcome> {
        let payload = (bytes as usize).saturating_sub(self.pinger.header_bytes());
        for _ in 0..ATTEMPTS {
            let fate = self.probe(payload)?;
            if fate != ProbeOutcome::Lost {
                return Ok(fate);
            }
        }
        Ok(ProbeOutcome::Lost)
    }

    fn probe(&mut self, payload_bytes: usize) -> io::Result<ProbeOutcome> {
        self.sequence = self.sequence.wrapping_add(1);
        match self.pinger.ping(self.sequence, payload_bytes, self.timeout) {
            Ok(Some(reply)) => {
                let minimum_ns = self.round_trip_ns.unwrap_or(u64::MAX);
                self.round_trip_ns = Some(minimum_ns.min(reply.round_trip_ns));
                Ok(ProbeOutcome::Returned)
            }
            Ok(None) => Ok(ProbeOutcome::Lost),
            Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                Ok(ProbeOutcome::TooLarge)
            }
            // An absent host does not reply; the kernel reports it after a while.
            Err(error) if error.raw_os_error() == Some(libc::EHOSTUNREACH) => {
                Ok(ProbeOutcome::Lost)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_carries_the_kernel_mtu() {
        for remote in ["127.0.0.1:9", "[::1]:9"] {
            match measure(remote.parse().unwrap(), Duration::from_secs(5)) {
                Ok(found) => {
                    // The device would carry one byte more than an IP packet can have.
                    assert_eq!(found.kernel_bytes, LARGEST_PACKET_BYTES, "{found:?}");
                    assert_eq!(found.carried_bytes, Some(LARGEST_PACKET_BYTES), "{found:?}");
                    assert!(found.round_trip_ns > Some(0), "{found:?}");
                }
                Err(error) => assert!(error.to_string().contains("CAP_NET_RAW"), "{error}"),
            }
        }
    }
}
