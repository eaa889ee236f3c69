//! Converts iperf3 tests into entries of the record: rates, losses, CPU costs of both ends, and the
//! path.

use std::net::IpAddr;

use assay_dialects::iperf3::{Iperf3End, Iperf3Report, StreamInterval};
use assay_dialects::wire::iperf3::parameters::{DataDirection, TestLimit};
use assay_dialects::wire::iperf3::{Iperf3Parameters, TransportProtocol};
use assay_kernels::network::stream::MAX_RECEIVE_BYTES;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::cpu_account::CpuAccount;
use assay_model::doubt::Doubt;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::EventCount;
use assay_model::workload::{
    NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection, Workload,
};

use super::error::NetworkError;
use super::iperf3_client::{Iperf3ClientTest, Iperf3Outcome};
use super::iperf3_series;
use super::path;
use super::setup::is_same_machine;

/// Name and workload of the phase that a client's test is.
pub fn phase(test: &Iperf3ClientTest) -> (String, Workload) {
    let name = match test.parameters.protocol {
        TransportProtocol::Tcp => "tcp",
        TransportProtocol::Udp => "udp",
    };
    (name.to_owned(), workload(test))
}

/// Returns the entries of a test, however it ended.
pub fn entries(
    test: &Iperf3ClientTest,
    reported: &Iperf3Report,
    outcome: &Result<Iperf3Outcome, NetworkError>,
) -> Vec<MeasurementEntry> {
    let mut entries = iperf3_series::report_entries(reported);
    match outcome {
        Ok(outcome) => {
            let tested =
                CompletedIperf3Test { parameters: &test.parameters, outcome, reported };
            entries.extend(tested.interval_entries().into_iter().chain(tested.facts()));
        }
        Err(_) => entries.extend(partial_entries(&test.parameters, reported)),
    }
    entries
}

/// Entries that this end measured by itself: a sender does not know how much arrived.
fn partial_entries(
    parameters: &Iperf3Parameters,
    reported: &Iperf3Report,
) -> Vec<MeasurementEntry> {
    let connected = reported.start.as_ref().and_then(|it| it.connected.first());
    let path = connected.map(|it| path::path_facts(it.local.ip(), it.remote.ip()));
    let mut entries = path.unwrap_or_default();
    for (metric, sends) in [("goodput", false), ("send_rate", true)] {
        let seen = local_intervals(parameters, reported, sends);
        entries.extend(seen.iter().map(|it| rate_entry(SeriesKey::only_series(metric), it)));
    }
    entries
}

/// Intervals of this end's senders or receivers that count.
fn local_intervals(
    parameters: &Iperf3Parameters,
    reported: &Iperf3Report,
    sends: bool,
) -> Vec<StreamInterval> {
    let one_way = match parameters.direction {
        DataDirection::Forward => Some(true),
        DataDirection::Reverse => Some(false),
        // With two directions, the ends do not see the same intervals.
        DataDirection::Both => None,
    };
    let intervals = reported.intervals.iter().filter(|_| one_way == Some(sends));
    let sums = intervals.filter_map(|it| it.sum(sends));
    sums.filter(|it| !it.omitted && it.seconds() > 0.0).collect()
}

/// Workload that corresponds most closely to the test.
fn workload(test: &Iperf3ClientTest) -> Workload {
    let Iperf3ClientTest { target, parameters, .. } = test;
    let test = NetworkTest::Throughput(NetworkThroughput {
        streams: parameters.streams,
        direction: match parameters.direction {
            DataDirection::Forward => TransferDirection::Send,
            DataDirection::Reverse => TransferDirection::Receive,
            DataDirection::Both => TransferDirection::Both,
        },
        seconds: match parameters.limit {
            TestLimit::Seconds(seconds) => seconds,
            TestLimit::Bytes(_) | TestLimit::Blocks(_) => 0,
        },
        copy: !parameters.skip_receive_copy && !parameters.zero_copy,
        segmentation: parameters.segmentation,
        rate_bit_per_s: parameters.rate_bit_per_s,
        congestion: parameters.congestion.clone(),
    });
    let (to, port) = (Some(target.host.clone()), Some(target.port));
    let work = NetworkWorkload { to, port, test };
    match parameters.protocol {
        TransportProtocol::Tcp => Workload::NetworkTcp(work),
        TransportProtocol::Udp => Workload::NetworkUdp(work),
    }
}

/// Successful test.
#[derive(Debug, Clone, Copy)]
pub struct CompletedIperf3Test<'t> {
    /// Parameters of the test.
    pub parameters: &'t Iperf3Parameters,
    /// Results of both ends.
    pub outcome: &'t Iperf3Outcome,
    /// Reports of this end.
    pub reported: &'t Iperf3Report,
}

impl CompletedIperf3Test<'_> {
    /// Entries of the whole test: one sample of each rate, losses over `span`, and the costs of
    /// both ends.
    pub fn total_entries(&self, span: MeasuredSpan) -> Vec<MeasurementEntry> {
        let (sent, received) =
            (self.total(Iperf3End::sum_sent), self.total(Iperf3End::sum_received));
        let mut entries = vec![
            rate_entry(SeriesKey::only_series("goodput"), &received),
            rate_entry(SeriesKey::only_series("send_rate"), &sent),
        ];
        entries.extend(self.loss_and_cost_entries(span));
        entries
    }

    /// Entries with a sample for every interval that this end saw, weighted with its seconds: their
    /// weighted mean is the rate of the whole test.
    pub fn interval_entries(&self) -> Vec<MeasurementEntry> {
        let (sent, received) =
            (self.total(Iperf3End::sum_sent), self.total(Iperf3End::sum_received));
        let span = MeasuredSpan::from_seconds(0.0, received.seconds(), false);
        let mut entries = Vec::new();
        for (metric, sends, whole) in
            [("goodput", false, &received), ("send_rate", true, &sent)]
        {
            let seen = local_intervals(self.parameters, self.reported, sends);
            let stretches =
                if seen.is_empty() { std::slice::from_ref(whole) } else { &seen[..] };
            entries.extend(
                stretches.iter().map(|it| rate_entry(SeriesKey::only_series(metric), it)),
            );
        }
        entries.extend(self.loss_and_cost_entries(span));
        entries
    }

    /// Facts about the connections, and doubts.
    pub fn facts(&self) -> Vec<MeasurementEntry> {
        let mut facts = path::path_facts(self.local(), self.outcome.address.ip());
        let mut fact = |name: Attribute, value: AttributeValue| {
            facts.push(MeasurementEntry::Fact(name, value));
        };
        let is_assay = self.outcome.remote_account.is_some();
        fact(Attribute::FarEnd, if is_assay { "assay" } else { "iperf3" }.into());
        if let (Some(sender), _) = &self.outcome.end.congestion {
            fact(Attribute::Congestion, sender.as_str().into());
        }
        let mut streams = self.reported.intervals.iter().flat_map(|it| &it.streams);
        let tcp = streams.find_map(|stream| stream.tcp);
        if let Some(bytes) = tcp.map(|tcp| tcp.path_mtu_bytes).filter(|bytes| *bytes > 0) {
            fact(Attribute::PathMtuBytes, bytes.into());
        }
        if let Some(start) = &self.reported.start {
            fact(Attribute::BlockBytes, start.block_bytes.into());
            // Initial sizes; the system increases those that were not set.
            fact(Attribute::FirstSendBufferBytes, start.buffers_bytes.0.into());
            fact(Attribute::FirstReceiveBufferBytes, start.buffers_bytes.1.into());
            let receives_here = self.parameters.direction != DataDirection::Forward;
            if !start.udp && (is_assay || receives_here) {
                fact(Attribute::GatheredBytes, MAX_RECEIVE_BYTES.into());
            }
        }
        if !is_assay {
            facts.push(MeasurementEntry::Doubt(Doubt::ProcessCpuOnly { is_tool: false }));
        }
        if let Some(concurrent) = self.outcome.end.concurrent.filter(|it| it.count > 0) {
            let (tests, share) = (u64::from(concurrent.count), concurrent.share);
            facts.push(MeasurementEntry::Doubt(Doubt::SharedServer { tests, share }));
        }
        if self.parameters.skip_receive_copy && !is_assay {
            facts.push(MeasurementEntry::Doubt(Doubt::CopyUnknown));
        }
        facts
    }

    /// Local address of the first stream.
    pub fn local(&self) -> IpAddr {
        let start = self.reported.start.as_ref();
        let first = start.and_then(|start| start.connected.first());
        first.map_or(self.outcome.address.ip(), |stream| stream.local.ip())
    }

    /// Sum of both directions.
    fn total(&self, of: fn(&Iperf3End, bool) -> Option<StreamInterval>) -> StreamInterval {
        let end = &self.outcome.end;
        let ways: Vec<StreamInterval> =
            [true, false].iter().filter_map(|it| of(end, *it)).collect();
        StreamInterval::sum(ways.iter()).unwrap_or_default()
    }

    fn loss_and_cost_entries(&self, span: MeasuredSpan) -> Vec<MeasurementEntry> {
        let (sent, received) =
            (self.total(Iperf3End::sum_sent), self.total(Iperf3End::sum_received));
        let mut entries = match self.parameters.protocol {
            TransportProtocol::Tcp => {
                let again = sent.tcp.map(|tcp| tcp.retransmits as f64);
                again
                    .map(|it| MeasurementEntry::sample("retransmits", it))
                    .into_iter()
                    .collect()
            }
            TransportProtocol::Udp => {
                let mut entries = datagram_entries(&received, span);
                entries.extend(self.pacing(&sent));
                entries
            }
        };
        entries.extend(self.cpu_costs(&received));
        entries
    }

    /// Relative deviation of the senders from the requested rate.
    fn pacing(&self, sent: &StreamInterval) -> Option<MeasurementEntry> {
        let rate = self.parameters.rate_bit_per_s?;
        let ways = if self.parameters.direction == DataDirection::Both { 2 } else { 1 };
        let wanted = (rate * u64::from(self.parameters.streams) * ways) as f64;
        Some(MeasurementEntry::sample("pacing_error", (sent.bit_per_s() / wanted - 1.0).abs()))
    }

    /// CPU costs of both ends, as far as reported.
    fn cpu_costs(&self, received: &StreamInterval) -> Vec<MeasurementEntry> {
        let (bytes, seconds) = (received.bytes.max(1) as f64, received.seconds());
        let (here, there) = (&self.outcome.local_account, self.outcome.remote_account.as_ref());
        let mut entries = vec![
            end_sample("cpu_per_byte", "local", here.transfer_s() / bytes, bytes),
            end_sample("cpu_load", "local", here.load(), seconds),
        ];
        // On one machine both ends share the interrupts, which are charged once.
        let within = is_same_machine(self.local(), self.outcome.address.ip());
        let charged: fn(&CpuAccount) -> f64 =
            if within { |it| it.threads_s } else { CpuAccount::transfer_s };
        if let Some(there) = there {
            entries.push(end_sample("cpu_per_byte", "remote", charged(there) / bytes, bytes));
            entries.push(end_sample("cpu_load", "remote", there.load(), seconds));
        } else if self.outcome.end.cpu_there.0 > 0.0 {
            let process_s = self.outcome.end.cpu_there.0 / 100.0 * received.seconds();
            entries.push(end_sample("cpu_per_byte", "remote", process_s / bytes, bytes));
        }
        entries
    }
}

/// Rate sample, weighted with its seconds.
fn rate_entry(key: SeriesKey, stretch: &StreamInterval) -> MeasurementEntry {
    let (value, weight) = (stretch.bit_per_s(), stretch.seconds());
    MeasurementEntry::Measured(key, EntryValue::weighted(value, weight))
}

fn datagram_entries(received: &StreamInterval, span: MeasuredSpan) -> Vec<MeasurementEntry> {
    let udp = received.udp.unwrap_or_default();
    let mut entries = Vec::new();
    if let Some(whole) = u64::try_from(udp.packets).ok().filter(|packets| *packets > 0) {
        let lost = u64::try_from(udp.lost).unwrap_or(0);
        for (metric, part) in [("loss", Some(lost)), ("reordered", udp.out_of_order)] {
            // A count that the far end does not report is unknown, not zero.
            let Some(part) = part else { continue };
            entries.push(MeasurementEntry::measured(
                metric,
                EntryValue::Count(span, EventCount { part, whole }),
            ));
        }
    }
    entries.push(MeasurementEntry::sample("jitter", udp.jitter_s));
    entries
}

/// Sample of one end, weighted with the bytes or seconds of the mean.
fn end_sample(metric: &'static str, end: &str, value: f64, weight: f64) -> MeasurementEntry {
    let key = SeriesKey::with_dimensions(metric, [(Attribute::End, end.into())]);
    MeasurementEntry::Measured(key, EntryValue::weighted(value, weight))
}
