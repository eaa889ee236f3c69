//! Entries of the reports of an iperf3 test, as its text and JSON contain them.
//!
//! Each stream has a series for every figure of its intervals, and one for each end's view of the
//! whole test. All of them are parts of the test, not results.

use assay_dialects::iperf3::{Iperf3End, Iperf3Report, Iperf3Start, StreamInterval};
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::entry::{EntryValue, MeasurementEntry, SeriesKey};
use assay_model::event::ToolFigures;
use assay_model::workload::TransferDirection;

/// Values of [`Attribute::Stretch`].
const OMITTED: &str = "omitted";
const INTERVAL: &str = "interval";
const WHOLE: &str = "whole";
/// Values of [`Attribute::End`].
const ENDS: [&str; 2] = ["local", "remote"];
/// Metrics of the rates of senders and receivers.
const RATES: [&str; 2] = ["send_rate", "goodput"];
const MICROSECOND_S: f64 = 1e-6;

/// Figure of a stretch in addition to its bytes: metric and value.
type Figure = (&'static str, fn(&StreamInterval) -> Option<f64>);

const FIGURES: [Figure; 12] = [
    ("retransmits", |it| Some(it.tcp?.retransmits as f64)),
    ("congestion_window", |it| Some(it.tcp?.congestion_window_bytes as f64)),
    ("send_window", |it| Some(it.tcp?.send_window_bytes as f64)),
    ("smoothed_round_trip", |it| Some(f64::from(it.tcp?.rtt_us) * MICROSECOND_S)),
    ("round_trip_deviation", |it| Some(f64::from(it.tcp?.rtt_deviation_us) * MICROSECOND_S)),
    ("path_mtu", |it| Some(it.tcp?.path_mtu_bytes.into())),
    ("reorderings", |it| Some(it.tcp?.reordered.into())),
    ("delivery_rate", |it| Some(it.tcp?.delivery_bit_per_s? as f64)),
    ("datagrams", |it| Some(it.udp?.packets as f64)),
    ("lost_datagrams", |it| Some(it.udp?.lost as f64)),
    ("late_datagrams", |it| Some(it.udp?.out_of_order? as f64)),
    ("jitter", |it| Some(it.udp?.jitter_s)),
];

/// Converts the reports into entries.
pub(super) fn report_entries(reported: &Iperf3Report) -> Vec<MeasurementEntry> {
    let mut entries = reported.start.as_ref().map_or_else(Vec::new, start_entries);
    for interval in &reported.intervals {
        for (number, it) in (0..).zip(&interval.streams) {
            let stretch = if it.omitted { OMITTED } else { INTERVAL };
            let dimensions = stream_dimensions(number, it.sends, stretch);
            entries.extend(stretch_entries(it, RATES[usize::from(!it.sends)], &dimensions));
        }
    }
    entries.extend(reported.end.iter().flat_map(end_entries));
    entries
}

fn stream_dimensions(number: u32, sends: bool, stretch: &str) -> Attributes {
    let direction = if sends { TransferDirection::Send } else { TransferDirection::Receive };
    Attributes::from([
        (Attribute::Stream, number.into()),
        (Attribute::Direction, direction.name().into()),
        (Attribute::Stretch, stretch.into()),
    ])
}

/// Key of the series with the facts of the whole test.
fn test_key() -> SeriesKey {
    SeriesKey::with_dimensions("goodput", [(Attribute::Stretch, WHOLE.into())])
}

/// Key of the series with the facts of one end.
fn end_key(end: &str) -> SeriesKey {
    let of = [(Attribute::End, end.into()), (Attribute::Stretch, WHOLE.into())];
    SeriesKey::with_dimensions("cpu_load", of)
}

/// Converts a stretch of one stream: its rate, weighted with the seconds of the mean, and the
/// counts of TCP or UDP.
fn stretch_entries(
    it: &StreamInterval,
    rate: &'static str,
    dimensions: &Attributes,
) -> Vec<MeasurementEntry> {
    let weight = it.seconds();
    let measured = |metric, value| {
        let key = SeriesKey { metric, dimensions: dimensions.clone() };
        MeasurementEntry::Measured(key, EntryValue::weighted(value, weight))
    };
    let beside = FIGURES.iter().filter_map(|(metric, value)| Some((*metric, value(it)?)));
    let all = std::iter::once((rate, it.bit_per_s())).chain(beside);
    all.map(|(metric, value)| measured(metric, value)).collect()
}

fn start_entries(start: &Iperf3Start) -> Vec<MeasurementEntry> {
    let mut entries = Vec::new();
    let mut fact = |key: SeriesKey, name: Attribute, value: AttributeValue| {
        entries.push(MeasurementEntry::SeriesFact(key, name, value));
    };
    for (number, it) in (0..).zip(&start.connected) {
        let key = SeriesKey {
            metric: "goodput",
            dimensions: stream_dimensions(number, it.sends, WHOLE),
        };
        fact(key.clone(), Attribute::Descriptor, it.socket.into());
        fact(key.clone(), Attribute::LocalAddress, it.local.to_string().into());
        fact(key, Attribute::RemoteAddress, it.remote.to_string().into());
    }
    fact(test_key(), Attribute::Cookie, start.cookie.as_str().into());
    fact(test_key(), Attribute::BeganS, start.time_s.into());
    fact(test_key(), Attribute::EmulatedVersion, start.version.as_str().into());
    fact(test_key(), Attribute::System, start.system.as_str().into());
    fact(test_key(), Attribute::SegmentBytes, start.segment_bytes.into());
    fact(test_key(), Attribute::BlockBytes, start.block_bytes.into());
    let (send_bytes, receive_bytes) = start.buffers_bytes;
    fact(test_key(), Attribute::FirstSendBufferBytes, send_bytes.into());
    fact(test_key(), Attribute::FirstReceiveBufferBytes, receive_bytes.into());
    entries
}

fn end_entries(end: &Iperf3End) -> Vec<MeasurementEntry> {
    let mut entries = Vec::new();
    for (number, stream) in (0..).zip(&end.streams) {
        let dimensions = stream_dimensions(number, stream.sends, WHOLE);
        let views = [&stream.sent, &stream.received];
        for ((view, rate), is_sent) in views.into_iter().zip(RATES).zip([true, false]) {
            let Some(view) = view else { continue };
            let end = ENDS[usize::from(is_sent != stream.sends)];
            let mut dimensions = dimensions.clone();
            dimensions.insert(Attribute::End, end.into());
            entries.extend(stretch_entries(view, rate, &dimensions));
        }
        let mut extremes = |metric, figures: ToolFigures| {
            let key = SeriesKey { metric, dimensions: dimensions.clone() };
            entries.push(MeasurementEntry::Measured(key, EntryValue::Figures(figures)));
        };
        if let Some((min, mean, max)) = stream.rtt_us {
            let [min, mean, max] =
                [min, mean, max].map(|us| Some(f64::from(us) * MICROSECOND_S));
            extremes(
                "smoothed_round_trip",
                ToolFigures { min, mean, max, ..ToolFigures::default() },
            );
            let (congestion, peer) = stream.windows_bytes;
            for (metric, bytes) in [("congestion_window", congestion), ("send_window", peer)] {
                let max = Some(bytes as f64);
                extremes(metric, ToolFigures { max, ..ToolFigures::default() });
            }
        }
    }
    let mut fact = |key: SeriesKey, name: Attribute, value: AttributeValue| {
        entries.push(MeasurementEntry::SeriesFact(key, name, value));
    };
    for (name, (total, user, system)) in ENDS.into_iter().zip([end.cpu_here, end.cpu_there]) {
        fact(end_key(name), Attribute::ProcessCpu, total.into());
        fact(end_key(name), Attribute::ProcessUserCpu, user.into());
        fact(end_key(name), Attribute::ProcessSystemCpu, system.into());
    }
    let (sender, receiver) = &end.congestion;
    for (name, congestion) in
        [(Attribute::Congestion, sender), (Attribute::ReceiverCongestion, receiver)]
    {
        if let Some(congestion) = congestion {
            fact(test_key(), name, congestion.as_str().into());
        }
    }
    entries
}

#[cfg(test)]
mod tests;
