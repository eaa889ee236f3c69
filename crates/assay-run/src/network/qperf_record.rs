//! Entries of qperf's tests for their record, and the figures of qperf's output.

use assay_dialects::wire::qperf::{
    MachineTicks, MessageCounts, QperfRequest, QperfStatistics, QperfTestKind,
};
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::EventCount;
use assay_model::workload::{
    NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload, Workload,
};
use serde::{Deserialize, Serialize};

use super::path;
use super::qperf_client::{QperfBandwidth, QperfCpuUse, QperfLatency, QperfOutcome, QperfTest};
use super::qperf_server;
use super::setup::local_address_for;
use crate::round_trips::{RoundTripStatistics, time_entries};

/// Keys of the description of one end.
const CONFIGURATION_KEYS: [&str; 4] = ["node", "cpu", "os", "qperf"];

/// Figures of one test, as its output contains them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QperfFigures {
    /// Descriptions of both ends, without a measurement: node, CPU, system and version.
    Configuration {
        /// Description of this end.
        here: [String; 4],
        /// Description of the far end.
        there: [String; 4],
    },
    /// A ping-pong.
    Latency {
        /// Mean half round trip in seconds.
        half_s: f64,
        /// Figures of all round trips.
        round_trips: RoundTripStatistics,
        /// Messages without a reply.
        lost: u64,
        /// Total time in seconds.
        total_s: f64,
        /// Counts and CPU times of both ends, if the far end sent its own.
        #[serde(default)]
        ends: Option<Box<QperfEnds>>,
    },
    /// A TCP or UDP transfer from this host to the far end.
    Bandwidth {
        /// Bytes passed to this kernel.
        sent_bytes: u64,
        /// Bytes read from the far end's kernel; `None` if it sent no statistics.
        received_bytes: Option<u64>,
        /// Messages read from the far end's kernel.
        received_messages: Option<u64>,
        /// Duration in seconds.
        elapsed_s: f64,
        /// CPU time of this host.
        here: QperfCpuTime,
        /// CPU time of the far end.
        there: Option<QperfCpuTime>,
        /// Counts and CPU times of both ends, if the far end sent its own.
        #[serde(default)]
        ends: Option<Box<QperfEnds>>,
    },
}

/// CPU time of a host during a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QperfCpuTime {
    /// Busy CPU time in seconds.
    pub work_s: f64,
    /// Elapsed time in seconds.
    pub wall_s: f64,
}

/// Counts and CPU times of both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QperfEnds {
    /// This end.
    pub here: QperfEnd,
    /// The far end.
    pub there: QperfEnd,
}

/// Counts and CPU times of one end, as qperf counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QperfEnd {
    /// Elapsed time in seconds.
    pub elapsed_s: f64,
    /// Elapsed time in ticks.
    real_ticks: u64,
    ticks_per_s: u32,
    /// user, nice, kernel, idle, iowait, irq, softirq, steal.
    cpu_ticks: [u64; 8],
    /// Sent messages.
    pub sent: QperfCounts,
    /// Received messages.
    pub received: QperfCounts,
}

/// Counts of messages in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QperfCounts {
    /// Bytes.
    pub bytes: u64,
    pub messages: u64,
    pub errors: u64,
}

impl QperfEnd {
    /// Column of idle time.
    const IDLE: usize = 3;

    fn from_local(
        span: &QperfCpuUse,
        elapsed_s: f64,
        [sent, received]: [MessageCounts; 2],
    ) -> Self {
        let end = Self::from_ticks((span.start, span.end), span.ticks_per_s);
        Self { elapsed_s, sent: sent.into(), received: received.into(), ..end }
    }

    fn from_remote(statistics: &QperfStatistics) -> Self {
        let end = Self::from_ticks((statistics.start, statistics.end), statistics.ticks_per_s);
        Self { sent: statistics.sent.into(), received: statistics.received.into(), ..end }
    }

    fn from_ticks((start, end): (MachineTicks, MachineTicks), ticks_per_s: u32) -> Self {
        let real_ticks = end.real.saturating_sub(start.real);
        let cpu_ticks =
            std::array::from_fn(|column| end.cpu[column].saturating_sub(start.cpu[column]));
        Self {
            elapsed_s: real_ticks as f64 / f64::from(ticks_per_s.max(1)),
            real_ticks,
            ticks_per_s,
            cpu_ticks,
            sent: QperfCounts::default(),
            received: QperfCounts::default(),
        }
    }

    /// Returns the elapsed seconds in whole ticks, as qperf prints them.
    pub fn real_s(&self) -> f64 {
        self.real_ticks as f64 / f64::from(self.ticks_per_s.max(1))
    }

    /// Returns the CPU seconds of the host; qperf includes I/O wait and stolen time.
    pub fn cpu_s(&self) -> f64 {
        let columns = self.cpu_ticks.iter().enumerate();
        let ticks: u64 = columns
            .filter(|(at, _)| *at != Self::IDLE)
            .map(|(_, ticks)| *ticks)
            .fold(0, u64::saturating_add);
        ticks as f64 / f64::from(self.ticks_per_s.max(1))
    }

    /// Returns the busy CPUs in total, in user mode, in interrupts, in the kernel and in I/O wait.
    pub fn cpus(&self) -> [f64; 5] {
        let [user, nice, kernel, _, io_wait, irq, softirq, steal] =
            self.cpu_ticks.map(|ticks| ticks as f64 / self.real_ticks.max(1) as f64);
        let (user, interrupts, kernel) = (user + nice, irq + softirq, kernel + steal);
        [user + interrupts + kernel + io_wait, user, interrupts, kernel, io_wait]
    }
}

impl From<MessageCounts> for QperfCounts {
    fn from(MessageCounts { bytes, messages, errors }: MessageCounts) -> Self {
        Self { bytes, messages, errors }
    }
}

/// Name and workload of the phase that a test is; `None` for requests without a measurement.
pub fn phase(test: &QperfTest) -> Option<(String, Workload)> {
    let request = &test.request;
    let measured = match request.test {
        QperfTestKind::Configuration
        | QperfTestKind::Quit
        // `assay qperf` does not have this test.
        | QperfTestKind::TcpConnections => return None,
        QperfTestKind::TcpLatency | QperfTestKind::UdpLatency => {
            let bytes = request.message_bytes.into();
            NetworkTest::Latency(NetworkLatency::new(bytes, request.time_s))
        }
        QperfTestKind::TcpBandwidth | QperfTestKind::UdpBandwidth => {
            NetworkTest::Throughput(NetworkThroughput::sending(request.time_s))
        }
    };
    let (to, port) = (Some(test.target.host.clone()), Some(test.target.port));
    let work = NetworkWorkload { to, port, test: measured };
    let workload = match request.test.is_udp() {
        true => Workload::NetworkUdp(work),
        false => Workload::NetworkTcp(work),
    };
    Some((format!("{}/bytes={}", request.test.name(), request.message_bytes), workload))
}

/// Entries of a test for its record.
pub fn entries(test: &QperfTest, outcome: &QperfOutcome) -> Vec<MeasurementEntry> {
    let mut entries = match outcome {
        QperfOutcome::Configuration(_) => return Vec::new(),
        QperfOutcome::Latency(it) => latency_entries(&test.request, it),
        QperfOutcome::Bandwidth(it) => bandwidth_entries(&test.request, it),
    };
    if let Some(address) = test.target.addresses().ok().and_then(|all| all.first().copied()) {
        entries.extend(path::path_facts(local_address_for(address), address.ip()));
    }
    entries
}

impl QperfFigures {
    /// Figures of an outcome.
    pub fn from_outcome(outcome: &QperfOutcome) -> Self {
        match outcome {
            QperfOutcome::Configuration(there) => {
                let here = qperf_server::configuration();
                let four = [&here, there]
                    .map(|it| [&it.node, &it.cpu, &it.os, &it.qperf].map(Clone::clone));
                let [here, there] = four;
                Self::Configuration { here, there }
            }
            QperfOutcome::Latency(it) => Self::Latency {
                half_s: it.mean_half_s,
                round_trips: RoundTripStatistics::from_times(&it.round_trips.times_ns),
                lost: it.round_trips.lost,
                total_s: it.round_trips.total_ns as f64 * 1e-9,
                ends: it.remote.as_ref().map(|there| {
                    let elapsed_s = it.round_trips.total_ns as f64 * 1e-9;
                    let here = QperfEnd::from_local(&it.local, elapsed_s, it.counts());
                    Box::new(QperfEnds { here, there: QperfEnd::from_remote(there) })
                }),
            },
            QperfOutcome::Bandwidth(it) => Self::Bandwidth {
                sent_bytes: it.sent.bytes,
                received_bytes: it.remote.as_ref().map(|there| there.received.bytes),
                received_messages: it.remote.as_ref().map(|there| there.received.messages),
                elapsed_s: it.elapsed_s,
                here: QperfCpuTime::from_cpu_use(&it.local),
                there: it
                    .remote
                    .as_ref()
                    .map(|there| QperfCpuTime::from_cpu_use(&remote_cpu_use(there))),
                ends: it.remote.as_ref().map(|there| {
                    let counts = [it.sent_counts(), MessageCounts::default()];
                    let here = QperfEnd::from_local(&it.local, it.elapsed_s, counts);
                    Box::new(QperfEnds { here, there: QperfEnd::from_remote(there) })
                }),
            },
        }
    }

    /// Descriptions of both ends, as facts of this host.
    pub fn configuration_facts(&self) -> Vec<(Attribute, AttributeValue)> {
        let Self::Configuration { here, there } = self else { return Vec::new() };
        let pairs = |four: &[String; 4]| {
            let named = CONFIGURATION_KEYS.iter().zip(four);
            AttributeValue::Pairs(
                named.map(|(name, it)| ((*name).to_owned(), it.clone())).collect(),
            )
        };
        vec![
            (Attribute::Configuration, pairs(here)),
            (Attribute::FarConfiguration, pairs(there)),
        ]
    }
}

/// Entries of a bandwidth test: transferred bytes and CPU loads of both ends.
fn bandwidth_entries(
    request: &QperfRequest,
    measured: &QperfBandwidth,
) -> Vec<MeasurementEntry> {
    let bytes = (Attribute::Bytes, u64::from(request.message_bytes).into());
    let elapsed_s = measured.elapsed_s;
    let received = measured.remote.as_ref().map(|there| there.received);
    let mut entries = Vec::new();
    let arrived = received.map(|it| ("goodput", it.bytes));
    for (metric, moved) in arrived.into_iter().chain([("send_rate", measured.sent.bytes)]) {
        let value = moved as f64 * 8.0 / elapsed_s;
        let seen = EntryValue::weighted(value, elapsed_s);
        entries.push(MeasurementEntry::Measured(
            SeriesKey::with_dimensions(metric, [bytes.clone()]),
            seen,
        ));
    }
    entries.extend(received.map(|it| {
        let arrived = SeriesKey::with_dimensions("goodput", [bytes.clone()]);
        MeasurementEntry::SeriesFact(arrived, Attribute::Messages, it.messages.into())
    }));
    let there = measured.remote.as_ref().map(|there| ("remote", remote_cpu_use(there)));
    for (end, machine) in [("local", measured.local)].into_iter().chain(there) {
        let spent = QperfCpuTime::from_cpu_use(&machine);
        let end = (Attribute::End, end.into());
        let key = SeriesKey::with_dimensions("cpu_load", [bytes.clone(), end]);
        let capacity_s = spent.wall_s * f64::from(machine.cpus);
        if capacity_s > 0.0 {
            let value = (spent.work_s / capacity_s).clamp(0.0, 1.0);
            let seen = EntryValue::weighted(value, elapsed_s);
            entries.push(MeasurementEntry::Measured(key.clone(), seen));
        }
        entries.push(MeasurementEntry::SeriesFact(
            key.clone(),
            Attribute::WorkS,
            spent.work_s.into(),
        ));
        entries.push(MeasurementEntry::SeriesFact(
            key,
            Attribute::ElapsedS,
            spent.wall_s.into(),
        ));
    }
    entries
}

/// CPU use of the far end.
const fn remote_cpu_use(there: &QperfStatistics) -> QperfCpuUse {
    QperfCpuUse {
        cpus: there.cpus,
        ticks_per_s: there.ticks_per_s,
        start: there.start,
        end: there.end,
    }
}

impl QperfCpuTime {
    /// Sums busy time, without idle, I/O wait and stolen time, which qperf itself includes.
    fn from_cpu_use(span: &QperfCpuUse) -> Self {
        const NO_WORK: [usize; 3] = [3, 4, 7];
        let ticks = |times: &MachineTicks| -> u64 {
            (0..8)
                .filter(|column| !NO_WORK.contains(column))
                .map(|column| times.cpu[column])
                .fold(0, u64::wrapping_add)
        };
        let per_s = f64::from(span.ticks_per_s.max(1));
        let worked = ticks(&span.end).saturating_sub(ticks(&span.start));
        let passed = span.end.real.saturating_sub(span.start.real).max(1);
        Self { work_s: worked as f64 / per_s, wall_s: passed as f64 / per_s }
    }
}

/// Entries of one exchange: some round trips as samples and all as a distribution, and the same for
/// half round trips. All figures of half round trips are thus half of those of the round trips.
pub fn round_trip_entries(
    measured: &QperfLatency,
    rate_per_s: Option<f64>,
    span: MeasuredSpan,
) -> Vec<MeasurementEntry> {
    let times_ns = &measured.round_trips.times_ns;
    let mut entries = time_entries(times_ns, span, "round_trip", 1);
    entries.extend(time_entries(times_ns, span, "half_round_trip", 2));
    let left = measured.round_trips.overdue;
    let counts = (times_ns.len() as u64 - left, left);
    let seconds = measured.round_trips.total_ns as f64 * 1e-9;
    let missed = rate_per_s.and_then(|rate| Doubt::message_rate_missed(rate, counts, seconds));
    entries.extend(missed.map(MeasurementEntry::Doubt));
    entries
}

/// Entries of all round trips, divided by `divisor`.
fn latency_entries(request: &QperfRequest, measured: &QperfLatency) -> Vec<MeasurementEntry> {
    let span =
        MeasuredSpan::from_seconds(0.0, measured.round_trips.total_ns as f64 * 1e-9, false);
    let mut entries = time_entries(&measured.round_trips.times_ns, span, "round_trip", 1);
    // qperf's output contains the half round trip.
    let half = SeriesKey::only_series("half_round_trip");
    entries.push(MeasurementEntry::SeriesFact(half, Attribute::Statistic, "mean".into()));
    entries.push(MeasurementEntry::sample("half_round_trip", measured.mean_half_s));
    if request.test.is_udp() {
        let part = measured.round_trips.lost;
        let whole = part + measured.round_trips.times_ns.len() as u64;
        let lost = EntryValue::Count(span, EventCount { part, whole });
        entries.push(MeasurementEntry::measured("loss", lost));
    }
    entries
}
