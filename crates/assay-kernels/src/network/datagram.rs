//! Numbered datagrams with a time stamp, and the loss, reordering and jitter that a receiver
//! computes from them.
//!
//! The header is that of iperf3, so that its receivers understand it too: seconds and microseconds
//! of the sender's clock and a number from 1, of 64 or 32 bits, all big-endian.

/// Bytes of the header with a 64-bit number; a datagram is never shorter.
pub(super) const HEADER_BYTES: usize = 16;

/// Header of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DatagramHeader {
    /// Time of sending by the sender's clock, in nanoseconds; the wire format has microseconds.
    pub(super) sent_ns: u64,
    /// Number of the datagram, from 1.
    pub(super) number: u64,
}

impl DatagramHeader {
    /// Writes the header into the start of a datagram of at least [`HEADER_BYTES`].
    pub(super) fn write(self, wide: bool, datagram: &mut [u8]) {
        let seconds = (self.sent_ns / 1_000_000_000) as u32;
        let micros = (self.sent_ns % 1_000_000_000 / 1000) as u32;
        datagram[..4].copy_from_slice(&seconds.to_be_bytes());
        datagram[4..8].copy_from_slice(&micros.to_be_bytes());
        if wide {
            datagram[8..16].copy_from_slice(&self.number.to_be_bytes());
        } else {
            datagram[8..12].copy_from_slice(&(self.number as u32).to_be_bytes());
        }
    }

    /// Reads the header; `None` when the datagram is too short for one.
    pub(super) fn read(wide: bool, datagram: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            datagram.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes).map(u64::from)
        };
        let sent_ns = word(0)? * 1_000_000_000 + word(4)? * 1000;
        let number = if wide { word(8)? << 32 | word(12)? } else { word(8)? };
        Some(Self { sent_ns, number })
    }
}

/// Loss, reordering and jitter of the datagrams received so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DatagramArrivals {
    /// Highest number seen.
    pub(super) highest: u64,
    /// Numbers below it that have not arrived; negative when datagrams were duplicated.
    pub(super) lost: i64,
    /// Datagrams that arrived after one with a higher number.
    pub(super) out_of_order: u64,
    /// Jitter in nanoseconds: J ← J + (|D| − J)/16 over the differences D of transit times (RFC
    /// 1889 §6.3.1).
    pub(super) jitter_ns: f64,
    transit_ns: Option<i64>,
}

impl DatagramArrivals {
    /// Records one datagram that arrived at `now_ns`. The two clocks need no common origin.
    pub(super) fn record(&mut self, head: DatagramHeader, now_ns: u64) {
        if head.number > self.highest {
            let missing = head.number - self.highest - 1;
            // A peer may send any number; a loss beyond 2⁶² is meaningless either way.
            self.lost = self.lost.saturating_add(i64::try_from(missing).unwrap_or(i64::MAX));
            self.highest = head.number;
        } else {
            self.out_of_order += 1;
            self.lost -= 1;
        }
        let transit_ns = now_ns.cast_signed().wrapping_sub(head.sent_ns.cast_signed());
        if let Some(before_ns) = self.transit_ns {
            let difference_ns = transit_ns.wrapping_sub(before_ns).unsigned_abs() as f64;
            self.jitter_ns += (difference_ns - self.jitter_ns) / 16.0;
        }
        self.transit_ns = Some(transit_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip() {
        for (wide, number) in [(true, 1), (true, 1 << 40), (false, 77)] {
            let head = DatagramHeader { sent_ns: 5_000_007_000, number };
            let mut datagram = [9; HEADER_BYTES];
            head.write(wide, &mut datagram);
            assert_eq!(DatagramHeader::read(wide, &datagram), Some(head));
            assert_eq!(DatagramHeader::read(wide, &datagram[..11]), None);
        }
    }

    /// Records datagrams, given as (number, transit time in ns), and checks the resulting figures.
    fn check(datagrams: &[(u64, u64)], highest: u64, lost: i64, late: u64, jitter_ns: f64) {
        let mut arrivals = DatagramArrivals::default();
        for (at, (number, transit_ns)) in datagrams.iter().enumerate() {
            let sent_ns = 1_000_000 * at as u64;
            let head = DatagramHeader { sent_ns, number: *number };
            arrivals.record(head, sent_ns + transit_ns);
        }
        let seen = (arrivals.highest, arrivals.lost, arrivals.out_of_order);
        assert_eq!(seen, (highest, lost, late), "{datagrams:?}");
        assert!((arrivals.jitter_ns - jitter_ns).abs() < 1e-9, "{}", arrivals.jitter_ns);
    }

    #[test]
    fn distinguishes_loss_from_reordering() {
        check(&[(1, 5), (2, 5), (3, 5)], 3, 0, 0, 0.0);
        check(&[(1, 5), (4, 5)], 4, 2, 0, 0.0);
        check(&[(1, 5), (3, 5), (2, 5)], 3, 0, 1, 0.0);
        check(&[(1, 5), (1, 5)], 1, -1, 1, 0.0);
        check(&[(u64::MAX, 5)], u64::MAX, i64::MAX, 0, 0.0);
    }

    #[test]
    fn jitter_follows_rfc_1889() {
        check(&[(1, 0), (2, 160)], 2, 0, 0, 10.0);
        check(&[(1, 0), (2, 160), (3, 0)], 3, 0, 0, 10.0 + (160.0 - 10.0) / 16.0);
    }
}
