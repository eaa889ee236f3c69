//! Workloads and entries of ntttcp's tests for their record.

use std::net::{IpAddr, SocketAddr};

use assay_model::attribute::Attribute;
use assay_model::entry::{EntryValue, MeasurementEntry, SeriesKey};
use assay_model::workload::{
    NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection, Workload,
};

use super::{NtttcpOutcome, NtttcpSending, NtttcpTest};
use crate::network::path;
use crate::network::setup::local_address_for;

/// Returns name and workload of a sender's test with these measured seconds.
pub fn sender_phase(
    test: &NtttcpTest,
    sending: &NtttcpSending,
    seconds: u32,
) -> (String, Workload) {
    let streams = sending.connections(test);
    let rate_bit_per_s = sending.rate_bit_per_s.map(|rate| rate / u64::from(streams.max(1)));
    let to = Some(sending.target.host.clone());
    phase(test, to, throughput(TransferDirection::Send, (streams, seconds), rate_bit_per_s))
}

/// Returns name and workload of a receiver's test with these connections and measured seconds.
pub fn receiver_phase(test: &NtttcpTest, connections: u32, seconds: u32) -> (String, Workload) {
    phase(test, None, throughput(TransferDirection::Receive, (connections, seconds), None))
}

fn throughput(
    direction: TransferDirection,
    (streams, seconds): (u32, u32),
    rate_bit_per_s: Option<u64>,
) -> NetworkThroughput {
    NetworkThroughput {
        streams,
        direction,
        seconds,
        copy: true,
        segmentation: false,
        rate_bit_per_s,
        congestion: None,
    }
}

fn phase(
    test: &NtttcpTest,
    to: Option<String>,
    throughput: NetworkThroughput,
) -> (String, Workload) {
    let work = NetworkWorkload {
        to,
        port: Some(test.base_port),
        test: NetworkTest::Throughput(throughput),
    };
    match test.is_udp {
        false => ("tcp".to_owned(), Workload::NetworkTcp(work)),
        true => ("udp".to_owned(), Workload::NetworkUdp(work)),
    }
}

/// Returns the entries of a sender: the rate at which it wrote to its sockets, and retransmits.
pub fn sender_entries(
    test: &NtttcpTest,
    sending: &NtttcpSending,
    outcome: &NtttcpOutcome,
) -> Vec<MeasurementEntry> {
    let mut entries = entries(test, outcome, "send_rate");
    if !test.is_udp && !outcome.intervals.is_empty() {
        let segments = outcome.usage.retransmits.segments as f64;
        entries.push(MeasurementEntry::sample("retransmits", segments));
    }
    if let Some(address) = sending.target.addresses().ok().and_then(|all| all.first().copied())
    {
        let local: IpAddr =
            sending.target.local.map_or_else(|| local_address_for(address), |it| it.ip());
        entries.extend(path::path_facts(local, address.ip()));
    }
    entries
}

/// Returns the entries of a receiver: its goodput, and the path from its sender.
pub fn receiver_entries(
    test: &NtttcpTest,
    peer: Option<IpAddr>,
    outcome: &NtttcpOutcome,
) -> Vec<MeasurementEntry> {
    let mut entries = entries(test, outcome, "goodput");
    if let Some(peer) = peer {
        let local = local_address_for(SocketAddr::new(peer, test.base_port));
        entries.extend(path::path_facts(local, peer));
    }
    entries
}

/// Returns a sample for each interval, weighted with its seconds: the weighted mean is the rate of the
/// whole test.
fn entries(
    test: &NtttcpTest,
    outcome: &NtttcpOutcome,
    metric: &'static str,
) -> Vec<MeasurementEntry> {
    let mut entries: Vec<MeasurementEntry> = outcome
        .intervals
        .iter()
        .map(|it| {
            let bit_per_s = it.bytes as f64 * 8.0 / it.seconds;
            let value = EntryValue::weighted(bit_per_s, it.seconds);
            MeasurementEntry::Measured(SeriesKey::only_series(metric), value)
        })
        .collect();
    entries.push(MeasurementEntry::Fact(Attribute::BlockBytes, test.block_bytes.into()));
    entries
}
