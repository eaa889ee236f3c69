//! Workloads and entries of sockperf's tests for their record.

use assay_model::attribute::Attribute;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::event::EventCount;
use assay_model::workload::{
    NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload, Workload,
};

use super::path;
use super::setup::local_address_for;
use super::sockperf_client::{SockperfMode, SockperfOutcome, SockperfTest};
use super::sockperf_statistics::SockperfReplies;
use crate::round_trips::time_entries;

/// Returns name and workload of a test.
pub fn phase(test: &SockperfTest) -> (String, Workload) {
    let measured = match test.mode {
        SockperfMode::PingPong | SockperfMode::UnderLoad => {
            NetworkTest::Latency(NetworkLatency {
                bytes: test.message_bytes.into(),
                seconds: test.seconds,
                spin: test.is_polling,
                rate_per_s: test.messages_per_s.map(f64::from),
                load_streams: 0,
                busy_poll_us: test.socket.busy_poll_us,
            })
        }
        SockperfMode::Throughput => NetworkTest::Throughput(NetworkThroughput {
            rate_bit_per_s: test
                .messages_per_s
                .map(|rate| u64::from(rate) * mean_message_bits(test)),
            ..NetworkThroughput::sending(test.seconds)
        }),
    };
    let work = NetworkWorkload {
        to: Some(test.target.host.clone()),
        port: Some(test.target.port),
        test: measured,
    };
    let workload = match test.is_tcp {
        true => Workload::NetworkTcp(work),
        false => Workload::NetworkUdp(work),
    };
    (case_name(test), workload)
}

/// Returns the mean size of messages in bits.
fn mean_message_bits(test: &SockperfTest) -> u64 {
    let sizes = test.message_sizes();
    (u64::from(*sizes.start()) + u64::from(*sizes.end())) * 4
}

/// Returns the name of a test, with all that makes its figures another quantity.
fn case_name(test: &SockperfTest) -> String {
    let name = match test.mode {
        SockperfMode::PingPong => format!("ping-pong/bytes={}", test.message_bytes),
        SockperfMode::UnderLoad => {
            format!("under-load/bytes={}/reply-every={}", test.message_bytes, test.reply_every)
        }
        SockperfMode::Throughput => format!("throughput/bytes={}", test.message_bytes),
    };
    let range = match test.size_range {
        0 => String::new(),
        range => format!("/range={range}"),
    };
    let burst = match test.burst {
        1 => String::new(),
        burst => format!("/burst={burst}"),
    };
    name + &range + &burst
}

/// Returns the entries of a test: round trips and their halves, or the rate of the sender.
pub fn entries(
    test: &SockperfTest,
    outcome: &SockperfOutcome,
    observed: Option<&SockperfReplies>,
) -> Vec<MeasurementEntry> {
    let mut entries = match test.mode {
        SockperfMode::Throughput => vec![rate_entry(test, outcome)],
        SockperfMode::PingPong | SockperfMode::UnderLoad => {
            observed.map_or_else(Vec::new, |it| latency_entries(test, outcome, it))
        }
    };
    if let Some(address) = test.target.addresses().ok().and_then(|all| all.first().copied()) {
        entries.extend(path::path_facts(local_address_for(address), address.ip()));
    }
    entries
}

fn latency_entries(
    test: &SockperfTest,
    outcome: &SockperfOutcome,
    observed: &SockperfReplies,
) -> Vec<MeasurementEntry> {
    let span = MeasuredSpan::from_seconds(0.0, observed.run_ns as f64 * 1e-9, false);
    let times_ns = &observed.round_trips_ns;
    let mut entries = time_entries(times_ns, span, "round_trip", 1);
    entries.extend(time_entries(times_ns, span, "half_round_trip", 2));
    if !test.is_tcp {
        let counted = observed.round_trips_ns.len() as u64;
        let part = observed.out_of_order;
        let reordered = EventCount { part, whole: counted + part + observed.dropped };
        let counts = [("loss", outcome.times.count_lost()), ("reordered", Some(reordered))];
        entries.extend(counts.into_iter().filter_map(|(metric, count)| {
            let value = EntryValue::Count(span, count?);
            Some(MeasurementEntry::measured(metric, value))
        }));
    }
    match test.mode {
        SockperfMode::UnderLoad => entries.into_iter().map(mark_under_load).collect(),
        SockperfMode::PingPong | SockperfMode::Throughput => entries,
    }
}

/// Marks a figure of messages that were sent without waiting, of which few are answered: it is another
/// quantity than that of a ping-pong, as in an import of sockperf's text.
fn mark_under_load(entry: MeasurementEntry) -> MeasurementEntry {
    match entry {
        MeasurementEntry::Measured(mut key, value) => {
            key.dimensions.insert(Attribute::Operation, "under-load".into());
            MeasurementEntry::Measured(key, value)
        }
        other => other,
    }
}

fn rate_entry(test: &SockperfTest, outcome: &SockperfOutcome) -> MeasurementEntry {
    let elapsed_s = outcome.run_ns.max(1) as f64 * 1e-9;
    let value = outcome.sent_bytes as f64 * 8.0 / elapsed_s;
    let bytes = u64::from(test.message_bytes).into();
    let key = SeriesKey::with_dimensions("send_rate", [(Attribute::Bytes, bytes)]);
    MeasurementEntry::Measured(key, EntryValue::weighted(value, elapsed_s))
}
