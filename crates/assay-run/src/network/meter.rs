//! Measurement of a running transfer at one end: intervals while it runs, and totals without the
//! omitted time.
//!
//! Both ends use it, each with its own clock.

use std::time::Duration;

use assay_dialects::iperf3::{Iperf3Interval, StreamInterval, TcpNumbers, UdpNumbers};
use assay_dialects::wire::iperf3::{CpuPercent, SenderTcp, StreamResult, stream_id};
use assay_fleet::root::Root;
use assay_fleet::state;
use assay_kernels::clock;
use assay_kernels::network::cpu::{self, ProcessTime};
use assay_kernels::network::tcp_info::TcpInfo;
use assay_kernels::network::transfer::{Flow, Snapshot, Transfer};
use assay_model::cpu_account::CpuAccount;
use assay_model::cpu_times::CpuTimes;

use super::error::NetworkError;

/// Maximum time that senders take to stop, twice that of [`Transfer::stop`].
const STOP_S: f64 = 0.1;
const STOP_POLL: Duration = Duration::from_millis(1);

/// Identity of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeteredStream {
    /// Socket number in reports.
    pub socket: u32,
    pub sends: bool,
}

/// Division of a transfer into intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalPlan {
    pub udp: bool,
    /// Seconds at the start that are omitted.
    pub omit_s: f64,
    /// Seconds between two reports; `None` for a final report only.
    pub interval_s: Option<f64>,
    /// Bytes after which the senders stop.
    pub limit_bytes: Option<u64>,
}

/// Counters of all streams at one moment.
#[derive(Debug, Clone)]
struct MeterReading {
    at_ns: u64,
    counters: Vec<Snapshot>,
    tcp: Vec<Option<TcpInfo>>,
}

/// CPU time at one moment.
#[derive(Debug)]
struct CpuReading {
    at_ns: u64,
    machine: CpuTimes,
    threads_ns: u64,
}

/// Meter of a running transfer.
#[derive(Debug)]
pub struct Meter {
    transfer: Transfer,
    streams: Vec<MeteredStream>,
    plan: IntervalPlan,
    omitting: bool,
    /// Start of the counted time, or of the omitted time before it.
    origin_ns: u64,
    next_ns: u64,
    last: MeterReading,
    base: MeterReading,
    cpu_base: CpuReading,
    process_base: (u64, ProcessTime),
    extremes: Vec<TcpExtremes>,
}

/// Extremes of round trips and windows at the ends of intervals.
#[derive(Debug, Clone, Copy, Default)]
struct TcpExtremes {
    rtts: (u32, u32),
    rtt_sum: u64,
    readings: u32,
    windows_bytes: (u64, u64),
}

/// Totals of one stream at this end.
#[derive(Debug, Clone, Copy)]
pub struct MeteredStreamTotals {
    pub stream: MeteredStream,
    pub whole: StreamInterval,
    /// Result as sent to the other end.
    pub result: StreamResult,
    /// Minimum, mean and maximum round trip at the ends of intervals, in microseconds.
    pub rtt_us: Option<(u32, u32, u32)>,
    pub windows_bytes: (u64, u64),
}

/// Totals of the test at this end.
#[derive(Debug)]
pub struct MeterTotals {
    pub streams: Vec<MeteredStreamTotals>,
    pub account: CpuAccount,
    pub process: CpuPercent,
    transfer: Transfer,
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl Meter {
    /// Starts the streams.
    pub fn start(
        flows: Vec<Flow>,
        lanes: Vec<MeteredStream>,
        cut: IntervalPlan,
    ) -> Result<Self, NetworkError> {
        let process_base = (clock::now_ns(), cpu::process_time());
        let transfer = Transfer::start(flows, cut.limit_bytes)
            .map_err(|source| NetworkError::Start { source })?;
        let reading = MeterReading::read(&transfer);
        let extremes = vec![TcpExtremes::default(); lanes.len()];
        let mut meter = Self {
            cpu_base: CpuReading::read(&transfer),
            transfer,
            streams: lanes,
            plan: cut,
            omitting: cut.omit_s > 0.0,
            origin_ns: process_base.0,
            next_ns: 0,
            // All bytes transferred until now count: the test began before the reading.
            base: MeterReading { at_ns: process_base.0, ..reading.clone().without_counts() },
            last: MeterReading { at_ns: process_base.0, ..reading.without_counts() },
            process_base,
            extremes,
        };
        meter.schedule();
        Ok(meter)
    }

    /// Time at which [`Meter::tick`] is due next.
    pub const fn due_ns(&self) -> u64 {
        self.next_ns
    }

    /// Reports completed intervals; to be called soon after [`Meter::due_ns`].
    pub fn tick(&mut self, observe: &mut dyn FnMut(&Iperf3Interval)) {
        if clock::now_ns() < self.next_ns {
            return;
        }
        let now = MeterReading::read(&self.transfer);
        let omit_ends = self.omitting && now.at_ns >= self.origin_ns + nanos(self.plan.omit_s);
        if self.plan.interval_s.is_some() {
            observe(&self.interval(&now));
        }
        self.update_extremes(&now);
        self.last = now;
        if omit_ends {
            self.omitting = false;
            self.origin_ns = self.last.at_ns;
            self.base = self.last.clone();
            self.cpu_base = CpuReading::read(&self.transfer);
            self.extremes.fill(TcpExtremes::default());
        }
        self.schedule();
    }

    /// Counted seconds so far; 0 during the omitted time.
    pub fn counted_s(&self) -> f64 {
        if self.omitting {
            0.0
        } else {
            clock::seconds_between(self.origin_ns, clock::now_ns())
        }
    }

    /// Clock time at which the senders reached their limit.
    pub fn senders_ended_ns(&self) -> Option<u64> {
        self.transfer.senders_ended_ns()
    }

    /// Whether all streams have ended.
    pub fn is_over(&self) -> bool {
        self.transfer.is_over()
    }

    /// Bytes received; counted only with a limit.
    pub fn received_bytes(&self) -> u64 {
        self.transfer.received_bytes()
    }

    /// Bytes sent by this program that the peer's kernel has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        self.transfer.unacknowledged_bytes()
    }

    /// Bytes transferred by all streams, to detect progress.
    pub fn moved_bytes(&self) -> u64 {
        self.transfer.snapshots().iter().map(|counters| counters.bytes).sum()
    }

    /// Takes the final reading, stops the streams, and reports the last interval. `at_ns` is the
    /// end of the test, if it lies before its detection.
    pub fn end(
        mut self,
        at_ns: Option<u64>,
        observe: &mut dyn FnMut(&Iperf3Interval),
    ) -> MeterTotals {
        let mut now = MeterReading::read(&self.transfer);
        let after = CpuReading::read(&self.transfer);
        self.transfer.stop();
        if self.plan.udp {
            self.count_last_datagrams(&mut now);
        }
        now.at_ns = at_ns.filter(|at_ns| *at_ns > self.last.at_ns).unwrap_or(now.at_ns);
        if self.plan.interval_s.is_some_and(|length_s| self.is_reportable(&now, length_s)) {
            observe(&self.interval(&now));
        }
        self.update_extremes(&now);
        let process = self.process_percent();
        let lanes =
            (0..self.streams.len()).map(|index| self.stream_totals(index, &now)).collect();
        let wall_s = clock::seconds_between(self.cpu_base.at_ns, after.at_ns);
        let threads_ns = after.threads_ns.saturating_sub(self.cpu_base.threads_ns);
        let account =
            self.cpu_base.machine.account(&after.machine, wall_s, threads_ns as f64 * 1e-9);
        MeterTotals { streams: lanes, account, process, transfer: self.transfer }
    }

    /// Counts the datagrams that left between the reading and the end of the senders: the receiver
    /// counts them, too.
    fn count_last_datagrams(&self, now: &mut MeterReading) {
        let start = clock::now_ns();
        while self.streams.iter().any(|stream| stream.sends)
            && self.senders_ended_ns().is_none()
            && clock::seconds_between(start, clock::now_ns()) < STOP_S
        {
            std::thread::sleep(STOP_POLL);
        }
        let last = self.transfer.snapshots();
        for ((stream, last), now) in self.streams.iter().zip(last).zip(&mut now.counters) {
            if stream.sends {
                *now = last;
            }
        }
    }

    /// Whether to report the last interval: iperf3 drops an empty one of less than a tenth of its
    /// length.
    fn is_reportable(&self, now: &MeterReading, length_s: f64) -> bool {
        let moved = now
            .counters
            .iter()
            .zip(&self.last.counters)
            .any(|(now, last)| now.bytes > last.bytes);
        moved || clock::seconds_between(self.last.at_ns, now.at_ns) > length_s / 10.0
    }

    /// Schedules the next reading: the end of an interval or of the omitted time.
    fn schedule(&mut self) {
        let interval_ns = self.plan.interval_s.map(nanos).filter(|length_ns| *length_ns > 0);
        let passed_ns = self.last.at_ns.saturating_sub(self.origin_ns);
        let interval_end_ns = interval_ns.map_or(u64::MAX, |length_ns| {
            // A slightly late end of an interval does not shorten the next one to nothing.
            let done = (passed_ns + length_ns / 2) / length_ns;
            self.origin_ns + (done + 1) * length_ns
        });
        let omit_end_ns = match self.omitting {
            true => self.origin_ns + nanos(self.plan.omit_s),
            false => u64::MAX,
        };
        self.next_ns = interval_end_ns.min(omit_end_ns);
    }

    fn interval(&self, now: &MeterReading) -> Iperf3Interval {
        let stretch = |index| self.stretch(index, &self.last, now, self.omitting);
        Iperf3Interval { streams: (0..self.streams.len()).map(stretch).collect() }
    }

    fn stretch(
        &self,
        index: usize,
        from: &MeterReading,
        to: &MeterReading,
        omitted: bool,
    ) -> StreamInterval {
        let lane = self.streams[index];
        let (before, after) = (from.counters[index], to.counters[index]);
        let since = |at_ns: u64| clock::seconds_between(self.origin_ns, at_ns);
        let udp = self.plan.udp.then(|| UdpNumbers {
            packets: after
                .packets
                .saturating_sub(before.packets)
                .try_into()
                .unwrap_or(i64::MAX),
            lost: after.lost.saturating_sub(before.lost),
            out_of_order: (!lane.sends).then(|| after.out_of_order - before.out_of_order),
            jitter_s: after.jitter_ns as f64 * 1e-9,
        });
        let tcp = (lane.sends && !self.plan.udp).then(|| {
            let now = to.tcp[index].unwrap_or_default();
            let earlier = from.tcp[index].unwrap_or_default();
            TcpNumbers {
                retransmits: u64::from(now.retransmits.saturating_sub(earlier.retransmits)),
                congestion_window_bytes: now.congestion_window_bytes,
                send_window_bytes: u64::from(now.send_window_bytes.unwrap_or(0)),
                rtt_us: now.rtt_us,
                rtt_deviation_us: now.rtt_deviation_us,
                path_mtu_bytes: now.path_mtu_bytes,
                reordered: now.reordered.unwrap_or(0),
                delivery_bit_per_s: now.delivery_bytes_per_s.map(|rate| rate.saturating_mul(8)),
            }
        });
        StreamInterval {
            socket: Some(lane.socket),
            sends: lane.sends,
            start_s: since(from.at_ns),
            end_s: since(to.at_ns),
            bytes: after.bytes - before.bytes,
            omitted,
            tcp,
            udp,
        }
    }

    /// Updates the extremes of the senders' round trips and windows.
    fn update_extremes(&mut self, now: &MeterReading) {
        for (extremes, tcp) in self.extremes.iter_mut().zip(&now.tcp) {
            let Some(tcp) = tcp else { continue };
            let (minimum, maximum) = extremes.rtts;
            let first = extremes.readings == 0;
            extremes.rtts = (
                if first { tcp.rtt_us } else { minimum.min(tcp.rtt_us) },
                maximum.max(tcp.rtt_us),
            );
            extremes.rtt_sum += u64::from(tcp.rtt_us);
            extremes.readings += 1;
            let (congestion, peer) = &mut extremes.windows_bytes;
            *congestion = (*congestion).max(tcp.congestion_window_bytes);
            *peer = (*peer).max(u64::from(tcp.send_window_bytes.unwrap_or(0)));
        }
    }

    fn stream_totals(&self, index: usize, now: &MeterReading) -> MeteredStreamTotals {
        let lane = self.streams[index];
        let whole = self.stretch(index, &self.base, now, false);
        let whole = StreamInterval { start_s: 0.0, end_s: whole.seconds(), ..whole };
        let (before, after) = (self.base.counters[index], now.counters[index]);
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let extremes = self.extremes[index];
        let rtt_us = (lane.sends && extremes.readings > 0).then(|| {
            let mean = (extremes.rtt_sum / u64::from(extremes.readings)) as u32;
            (extremes.rtts.0, mean, extremes.rtts.1)
        });
        let result = StreamResult {
            id: stream_id(index) as u64,
            bytes: whole.bytes,
            retransmits: whole.tcp.map(|tcp| tcp.retransmits),
            jitter_s: after.jitter_ns as f64 * 1e-9,
            errors: after.lost,
            omitted_errors: before.lost,
            packets: signed(after.packets),
            omitted_packets: signed(before.packets),
            out_of_order: whole.udp.and_then(|udp| udp.out_of_order),
            tcp: whole.tcp.zip(rtt_us).map(|(tcp, rtt_us)| SenderTcp {
                rtt_us,
                windows_bytes: extremes.windows_bytes,
                reordered: tcp.reordered,
            }),
            start_s: 0.0,
            end_s: whole.end_s,
        };
        MeteredStreamTotals {
            stream: lane,
            whole,
            result,
            rtt_us,
            windows_bytes: extremes.windows_bytes,
        }
    }

    fn process_percent(&self) -> CpuPercent {
        let (since_ns, before) = self.process_base;
        let wall_ns = clock::now_ns().saturating_sub(since_ns).max(1) as f64;
        let now = cpu::process_time();
        let percent = |after: u64, before: u64| (after - before) as f64 * 100.0 / wall_ns;
        let user = percent(now.user_ns, before.user_ns);
        let system = percent(now.system_ns, before.system_ns);
        CpuPercent { total: user + system, user, system }
    }
}

impl MeterTotals {
    /// Counters of all streams by now, with the omitted time and the blocks after the end.
    pub fn counters(&self) -> Vec<Snapshot> {
        self.transfer.snapshots()
    }

    /// See [`Transfer::close_sending`].
    pub fn close_sending(&self) {
        self.transfer.close_sending();
    }

    /// Waits for the streams to stop; returns the first error.
    pub fn join(self) -> Result<(), NetworkError> {
        for (number, end) in self.transfer.finish().into_iter().enumerate() {
            if let Some(source) = end.error {
                return Err(NetworkError::Stream { number: stream_id(number), source });
            }
        }
        Ok(())
    }
}

impl MeterReading {
    fn read(transfer: &Transfer) -> Self {
        // The clock is read next to the counters, because reading the connections takes longer.
        let (counters, at_ns) = (transfer.snapshots(), clock::now_ns());
        Self { at_ns, counters, tcp: transfer.tcp_infos() }
    }

    fn without_counts(mut self) -> Self {
        self.counters.fill(Snapshot::default());
        self
    }
}

impl CpuReading {
    fn read(transfer: &Transfer) -> Self {
        Self {
            at_ns: clock::now_ns(),
            machine: state::cpu_times(&Root::machine()),
            threads_ns: transfer.cpu_ns().iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use assay_kernels::network::stream::CopyMode;
    use assay_kernels::network::transfer::{DatagramFormat, Socket};

    use super::*;

    /// A sender at full speed never stops between two datagrams just when its counters are read.
    #[test]
    fn totals_have_every_datagram_that_was_sent() {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(sink.local_addr().unwrap()).unwrap();
        let flow = Flow {
            socket: Socket::Udp {
                socket,
                format: DatagramFormat { wide: true, batched: false },
            },
            sends: true,
            block_bytes: 1000,
            copying: CopyMode::Copy,
            pace: None,
            cpu: None,
            file: None,
        };
        let plan = IntervalPlan { udp: true, omit_s: 0.0, interval_s: None, limit_bytes: None };
        let meter =
            Meter::start(vec![flow], vec![MeteredStream { socket: 5, sends: true }], plan)
                .unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let totals = meter.end(None, &mut |_| {});
        let counted = totals.streams[0].whole.bytes;
        let sent = totals.transfer.finish()[0].last.bytes;
        assert!(counted > 0);
        assert_eq!(counted, sent);
    }
}
