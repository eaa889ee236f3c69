//! Series of ICMP echoes as ping sends them, and their entries in the record.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_kernels::network::icmp::{EchoReply, IcmpAccess, Pinger};
use assay_model::attribute::Attribute;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry};
use assay_model::event::EventCount;
use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload, Workload};

use crate::cancellable_wait;
use crate::round_trips::distribution_entries;

/// Parameters of a series of echoes.
#[derive(Debug, Clone)]
pub struct EchoTest {
    /// Host as the user named it.
    pub host: String,
    /// Number of requests.
    pub count: u32,
    /// Bytes of data per request.
    pub bytes: u32,
    /// Time between two requests.
    pub interval: Duration,
    /// Timeout of a reply.
    pub timeout: Duration,
    /// Time after which no more requests are sent.
    pub deadline: Option<Duration>,
}

/// Event during the series.
#[derive(Debug)]
pub enum EchoEvent<'a> {
    /// Reply to the request with this number.
    Reply(u16, &'a EchoReply),
    /// The request may not be fragmented and exceeds the path MTU.
    TooLong,
}

/// Results of all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoTally {
    pub sent: u64,
    pub times_ns: Vec<u64>,
    pub elapsed: Duration,
}

/// Sends all requests, or as many as fit before the deadline. Stops early, with the error, if the
/// system rejects one.
pub fn send_echoes(
    asked: &EchoTest,
    pinger: &Pinger,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(EchoEvent<'_>),
) -> (EchoTally, Option<std::io::Error>) {
    let start = Instant::now();
    let mut tally = EchoTally { sent: 0, times_ns: Vec::new(), elapsed: Duration::ZERO };
    let mut refused = None;
    let end = asked.deadline.map(|deadline| start + deadline);
    while tally.sent < u64::from(asked.count) && !cancel.load(Ordering::Relaxed) {
        let due = start + asked.interval.mul_f64(tally.sent as f64);
        let due = end.map_or(due, |end| due.min(end));
        cancellable_wait::wait(due.saturating_duration_since(Instant::now()), cancel);
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        tally.sent += 1;
        // The number has 16 bits in the packet.
        let sequence = tally.sent as u16;
        match pinger.ping(sequence, asked.bytes as usize, asked.timeout) {
            Err(error) if is_too_long(&error) => observe(EchoEvent::TooLong),
            Err(error) => {
                tally.sent -= 1;
                refused = Some(error);
                break;
            }
            Ok(None) => {}
            Ok(Some(reply)) => {
                tally.times_ns.push(reply.round_trip_ns);
                observe(EchoEvent::Reply(sequence, &reply));
            }
        }
    }
    tally.elapsed = start.elapsed();
    (tally, refused)
}

/// Whether the system reports that the request may not be fragmented and exceeds the path MTU.
fn is_too_long(error: &std::io::Error) -> bool {
    const EMSGSIZE: i32 = 90;
    error.raw_os_error() == Some(EMSGSIZE)
}

impl EchoTest {
    /// Name and workload of the phase.
    pub fn phase(&self) -> (String, Workload) {
        let interval_s = self.interval.as_secs_f64();
        let test = NetworkTest::Latency(NetworkLatency {
            rate_per_s: (interval_s > 0.0).then(|| 1.0 / interval_s),
            ..NetworkLatency::new(
                self.bytes.into(),
                (f64::from(self.count) * interval_s).ceil() as u32,
            )
        });
        let work = NetworkWorkload { to: Some(self.host.clone()), port: None, test };
        ("ping".to_owned(), Workload::NetworkIcmp(work))
    }
}

impl EchoTally {
    /// Entries with all round trips as samples and distributions, and the number of lost requests.
    pub fn entries(&self, access: IcmpAccess) -> Vec<MeasurementEntry> {
        let socket = match access {
            IcmpAccess::Datagram => "datagram",
            IcmpAccess::Raw => "raw",
        };
        let span = MeasuredSpan::from_seconds(0.0, self.elapsed.as_secs_f64(), false);
        let received = self.times_ns.len() as u64;
        let lost = EventCount { part: self.sent - received, whole: self.sent };
        let samples = self
            .times_ns
            .iter()
            .map(|ns| MeasurementEntry::sample("round_trip", *ns as f64 * 1e-9));
        let mut entries: Vec<MeasurementEntry> = samples.collect();
        entries.push(MeasurementEntry::fact(Attribute::Socket, socket));
        entries.push(MeasurementEntry::measured("loss", EntryValue::Count(span, lost)));
        entries.extend(distribution_entries(&self.times_ns, span, "round_trip"));
        entries
    }
}
