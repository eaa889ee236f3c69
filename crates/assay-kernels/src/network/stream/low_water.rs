//! Low-water mark of a TCP receiver: bytes that must arrive before it is woken.
//!
//! Waking a thread on another CPU costs the sender's softirq several microseconds. With a wake-up
//! per segment, they took a fifth of the time of a sender over loopback. As a network card
//! coalesces packets into one interrupt, a fast stream is coalesced into fewer wake-ups; a slow one
//! never waits. Marks above 256 KiB were not faster (up to 1 MiB, one and six streams, Zen 4), and
//! at 100 Gbit/s 256 KiB arrive in 20 µs.

use std::io;
use std::net::TcpStream;

use super::super::socket;
use super::MAX_RECEIVE_BYTES;
use crate::clock;

/// Longest time to reach the mark at the stream's present rate: far below the resolution of an
/// interval.
const LONGEST_NS: u64 = 200_000;

/// Minimum mark: a single segment may bring as much anyway.
const MINIMUM_BYTES: u32 = 16 << 10;

/// Interval between two updates of the mark.
const UPDATE_INTERVAL_NS: u64 = 10_000_000;

/// Low-water mark of one stream, adapted to its rate.
pub(super) struct LowWaterMark<'a> {
    stream: &'a TcpStream,
    low_water_bytes: u32,
    since_ns: u64,
    arrived_bytes: u64,
}

impl<'a> LowWaterMark<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Self {
        Self { stream, low_water_bytes: 1, since_ns: clock::now_ns(), arrived_bytes: 0 }
    }

    /// Records arrived bytes, and updates the mark when it is due.
    pub(super) fn record(&mut self, bytes: u64) -> io::Result<()> {
        self.arrived_bytes += bytes;
        let now_ns = clock::now_ns();
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        if elapsed_ns < UPDATE_INTERVAL_NS {
            return Ok(());
        }
        let (_, buffer_bytes) = socket::buffers_bytes(self.stream)?;
        let mark = low_water_bytes(self.arrived_bytes, elapsed_ns, buffer_bytes);
        if mark != self.low_water_bytes {
            socket::set_low_water(self.stream, mark)?;
            self.low_water_bytes = mark;
        }
        (self.since_ns, self.arrived_bytes) = (now_ns, 0);
        Ok(())
    }
}

/// Returns the mark for a stream that received this many bytes in this time: the bytes that arrive
/// within [`LONGEST_NS`], rounded down to a power of two so that it seldom changes. At most an
/// eighth of the buffer, which is a quarter of the window, so that no sender ever waits for a
/// receiver below its mark.
fn low_water_bytes(arrived_bytes: u64, elapsed_ns: u64, buffer_bytes: u32) -> u32 {
    let per_span =
        u128::from(arrived_bytes) * u128::from(LONGEST_NS) / u128::from(elapsed_ns.max(1));
    let most = MAX_RECEIVE_BYTES.min(buffer_bytes / 8);
    let mark = u32::try_from(per_span).unwrap_or(u32::MAX).min(most);
    match mark.checked_ilog2() {
        Some(exponent) if mark >= MINIMUM_BYTES => 1 << exponent,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_follows_the_rate_within_the_window() {
        const SECOND_NS: u64 = 1_000_000_000;
        for (bit_per_s, buffer_bytes, expected) in [
            (0, 6 << 20, 1),
            (100_000_000, 6 << 20, 1),
            (1_000_000_000, 6 << 20, 16 << 10),
            (10_000_000_000, 6 << 20, 128 << 10),
            (100_000_000_000, 6 << 20, MAX_RECEIVE_BYTES),
            (u64::MAX, u32::MAX, MAX_RECEIVE_BYTES),
            (100_000_000_000, 131_072, 16 << 10),
            (100_000_000_000, 65_536, 1),
        ] {
            let mark = low_water_bytes(bit_per_s / 8, SECOND_NS, buffer_bytes);
            assert_eq!(mark, expected, "{bit_per_s} bit/s into {buffer_bytes} B");
        }
        assert_eq!(low_water_bytes(0, 0, 0), 1);
    }
}
