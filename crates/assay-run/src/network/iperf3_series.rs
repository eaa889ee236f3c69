//! Conversion between the reports of an iperf3 test, as its text and JSON contain them, and the
//! entries of its record.
//!
//! Each stream has a series for every figure of its intervals, and one for each end's view of the
//! whole test. All of them are parts of the test, not results.

use std::collections::BTreeMap;

use assay_dialects::iperf3::{
    CpuPercentTuple, DataConnection, Iperf3End, Iperf3Interval, Iperf3Report, Iperf3Start,
    StreamInterval, StreamTotals,
};
use assay_kernels::clock;
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::entry::{EntryValue, MeasurementEntry, SeriesKey};
use assay_model::event::ToolFigures;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_model::workload::TransferDirection;

/// Values of [`Attribute::Stretch`].
const OMITTED: &str = "omitted";
const INTERVAL: &str = "interval";
const WHOLE: &str = "whole";
/// Values of [`Attribute::End`].
const ENDS: [&str; 2] = ["local", "remote"];
/// Metrics of the rates of senders and receivers.
const RATES: [&str; 2] = ["send_rate", "goodput"];
/// Names of the raw outputs with the server's own text or JSON.
const SERVER_TEXT: &str = "server_output.txt";
const SERVER_JSON: &str = "server_output.json";

/// Figure of a stretch in addition to its bytes.
struct Figure {
    metric: &'static str,
    of: fn(&StreamInterval) -> Option<f64>,
    put: fn(&mut StreamInterval, f64),
}

macro_rules! figure {
    ($metric:literal, $protocol:ident, $of:expr, $put:expr) => {
        Figure {
            metric: $metric,
            of: |it| it.$protocol.map($of),
            put: |it, value| $put(it.$protocol.get_or_insert_default(), value),
        }
    };
}

const MICROSECOND_S: f64 = 1e-6;

/// All figures; `f64` represents integers exactly up to 2⁵³.
const FIGURES: [Figure; 12] = [
    figure!("retransmits", tcp, |it| it.retransmits as f64, |it: &mut Tcp, value| {
        it.retransmits = value as u64;
    }),
    figure!(
        "congestion_window",
        tcp,
        |it| it.congestion_window_bytes as f64,
        |it: &mut Tcp, value| it.congestion_window_bytes = value as u64
    ),
    figure!("send_window", tcp, |it| it.send_window_bytes as f64, |it: &mut Tcp, value| {
        it.send_window_bytes = value as u64;
    }),
    figure!(
        "smoothed_round_trip",
        tcp,
        |it| f64::from(it.rtt_us) * MICROSECOND_S,
        |it: &mut Tcp, value| it.rtt_us = microseconds(value)
    ),
    figure!(
        "round_trip_deviation",
        tcp,
        |it| f64::from(it.rtt_deviation_us) * MICROSECOND_S,
        |it: &mut Tcp, value| it.rtt_deviation_us = microseconds(value)
    ),
    figure!("path_mtu", tcp, |it| it.path_mtu_bytes.into(), |it: &mut Tcp, value| {
        it.path_mtu_bytes = value as u32;
    }),
    figure!("reorderings", tcp, |it| it.reordered.into(), |it: &mut Tcp, value| {
        it.reordered = value as u32;
    }),
    Figure {
        metric: "delivery_rate",
        of: |it| Some(it.tcp?.delivery_bit_per_s? as f64),
        put: |it, value| {
            it.tcp.get_or_insert_default().delivery_bit_per_s = Some(value as u64);
        },
    },
    figure!("datagrams", udp, |it| it.packets as f64, |it: &mut Udp, value| {
        it.packets = value as i64;
    }),
    figure!("lost_datagrams", udp, |it| it.lost as f64, |it: &mut Udp, value| {
        it.lost = value as i64;
    }),
    Figure {
        metric: "late_datagrams",
        of: |it| Some(it.udp?.out_of_order? as f64),
        put: |it, value| it.udp.get_or_insert_default().out_of_order = Some(value as u64),
    },
    figure!("jitter", udp, |it| it.jitter_s, |it: &mut Udp, value| it.jitter_s = value),
];

type Tcp = assay_dialects::iperf3::TcpNumbers;
type Udp = assay_dialects::iperf3::UdpNumbers;

fn microseconds(seconds: f64) -> u32 {
    (seconds / MICROSECOND_S).round() as u32
}

/// Converts the reports into entries, without the server's own output.
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

/// Returns the server's own output, by names of raw outputs.
pub(super) fn server_outputs(reported: &Iperf3Report) -> Vec<(String, Vec<u8>)> {
    let Some(end) = &reported.end else { return Vec::new() };
    let text = end.server_output_text.as_ref().map(|text| text.clone().into_bytes());
    let json = end.server_output_json.as_ref().map(|json| json.to_string().into_bytes());
    let named = |name: &str, bytes: Option<Vec<u8>>| Some((name.to_owned(), bytes?));
    [named(SERVER_TEXT, text), named(SERVER_JSON, json)].into_iter().flatten().collect()
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
    let beside = FIGURES.iter().filter_map(|figure| Some((figure.metric, (figure.of)(it)?)));
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

/// Restores the reports of a stored test, as far as it went.
///
/// `asked` is the start report before the connection, `raw` reads a raw output of the case, and
/// `error` is the reason of a failure.
#[must_use]
pub fn restore_reports(
    record: &CaseRecord,
    asked: Iperf3Start,
    raw: &dyn Fn(&str) -> Option<Vec<u8>>,
    error: Option<String>,
) -> Iperf3Report {
    let mut streams: BTreeMap<u64, Vec<&SeriesRecord>> = BTreeMap::new();
    for series in &record.series {
        if let Some(AttributeValue::Integer(number)) = series.dimensions.get(&Attribute::Stream)
        {
            streams.entry(*number).or_default().push(series);
        }
    }
    let streams: Vec<StreamSeries<'_>> =
        streams.into_values().map(StreamSeries::from_series).collect();
    let of_test = record.series.iter().find(|it| is_test_series(it));
    let start = of_test.and_then(|test| restore_start(&test.facts, &streams, asked));
    let courses: Vec<Vec<StreamInterval>> =
        streams.iter().map(StreamSeries::intervals).collect();
    let longest = courses.iter().map(Vec::len).max().unwrap_or(0);
    let interval = |at: usize| Iperf3Interval {
        streams: courses.iter().filter_map(|course| course.get(at).copied()).collect(),
    };
    Iperf3Report {
        start,
        intervals: (0..longest).map(interval).collect(),
        end: restore_end(record, of_test, &streams, raw),
        error,
    }
}

fn has_dimension(series: &SeriesRecord, name: Attribute, word: &str) -> bool {
    series.dimensions.get(&name).and_then(AttributeValue::as_text) == Some(word)
}

fn is_test_series(series: &SeriesRecord) -> bool {
    let of_all = |name| !series.dimensions.contains_key(&name);
    has_dimension(series, Attribute::Stretch, WHOLE)
        && of_all(Attribute::Stream)
        && of_all(Attribute::End)
}

fn text_fact(facts: &Attributes, name: Attribute) -> Option<String> {
    Some(facts.get(&name)?.as_text()?.to_owned())
}

fn number_fact(facts: &Attributes, name: Attribute) -> Option<f64> {
    facts.get(&name)?.as_number()
}

/// Restores the start report; returns `None` for a test that was never connected.
fn restore_start(
    facts: &Attributes,
    streams: &[StreamSeries<'_>],
    asked: Iperf3Start,
) -> Option<Iperf3Start> {
    let whole = |name| number_fact(facts, name).map_or(0, |it| it as u32);
    Some(Iperf3Start {
        connected: streams.iter().filter_map(StreamSeries::connected).collect(),
        cookie: text_fact(facts, Attribute::Cookie)?,
        time_s: number_fact(facts, Attribute::BeganS)? as u64,
        version: text_fact(facts, Attribute::EmulatedVersion)?,
        system: text_fact(facts, Attribute::System)?,
        block_bytes: whole(Attribute::BlockBytes),
        segment_bytes: whole(Attribute::SegmentBytes),
        buffers_bytes: (
            whole(Attribute::FirstSendBufferBytes),
            whole(Attribute::FirstReceiveBufferBytes),
        ),
        ..asked
    })
}

/// Restores the end report; returns `None` for a test that did not finish.
fn restore_end(
    record: &CaseRecord,
    of_test: Option<&SeriesRecord>,
    streams: &[StreamSeries<'_>],
    raw: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Option<Iperf3End> {
    let cpu = |end: &str| -> Option<CpuPercentTuple> {
        let whole = |it: &&SeriesRecord| has_dimension(it, Attribute::Stretch, WHOLE);
        let of_end = |it: &&SeriesRecord| {
            has_dimension(it, Attribute::End, end) && it.metric == "cpu_load"
        };
        let facts = &record.series.iter().filter(whole).find(of_end)?.facts;
        Some((
            number_fact(facts, Attribute::ProcessCpu)?,
            number_fact(facts, Attribute::ProcessUserCpu)?,
            number_fact(facts, Attribute::ProcessSystemCpu)?,
        ))
    };
    let congestion = |name| text_fact(&of_test?.facts, name);
    Some(Iperf3End {
        streams: streams.iter().map(StreamSeries::stream_end).collect(),
        cpu_here: cpu(ENDS[0])?,
        cpu_there: cpu(ENDS[1])?,
        congestion: (
            congestion(Attribute::Congestion),
            congestion(Attribute::ReceiverCongestion),
        ),
        server_output_text: raw(SERVER_TEXT).and_then(|bytes| String::from_utf8(bytes).ok()),
        server_output_json: raw(SERVER_JSON)
            .and_then(|bytes| serde_json::from_slice(&bytes).ok()),
    })
}

/// All series of one stream.
struct StreamSeries<'r> {
    series: Vec<&'r SeriesRecord>,
    socket: u32,
    sends: bool,
}

impl<'r> StreamSeries<'r> {
    fn from_series(series: Vec<&'r SeriesRecord>) -> Self {
        let socket = series.iter().find_map(|it| number_fact(&it.facts, Attribute::Descriptor));
        let sends = TransferDirection::Send.name();
        Self {
            socket: socket.map_or(0, |socket| socket as u32),
            sends: series.iter().any(|it| has_dimension(it, Attribute::Direction, sends)),
            series,
        }
    }

    fn connected(&self) -> Option<DataConnection> {
        let address =
            |name| self.series.iter().find_map(|it| text_fact(&it.facts, name)?.parse().ok());
        Some(DataConnection {
            socket: self.socket,
            local: address(Attribute::LocalAddress)?,
            remote: address(Attribute::RemoteAddress)?,
            sends: self.sends,
        })
    }

    /// Stretches with this name and rate metric; each begins at 0.
    fn stretches(&self, rate: &str, name: &str) -> Vec<StreamInterval> {
        let of = |metric: &str, end: Option<&AttributeValue>| {
            let mut all =
                self.series.iter().filter(|it| has_dimension(it, Attribute::Stretch, name));
            all.find(|it| it.metric == metric && it.dimensions.get(&Attribute::End) == end)
        };
        let is_rate = |it: &&&SeriesRecord| {
            it.metric == rate
                && has_dimension(it, Attribute::Stretch, name)
                && !it.samples.is_empty()
        };
        let Some(rates) = self.series.iter().find(is_rate) else { return Vec::new() };
        let end = rates.dimensions.get(&Attribute::End);
        let stretch = |(at, sample): (usize, &assay_model::event::Sample)| {
            let mut it = StreamInterval {
                socket: Some(self.socket),
                sends: self.sends,
                end_s: sample.weight,
                bytes: (sample.value * sample.weight / 8.0).round() as u64,
                omitted: name == OMITTED,
                ..StreamInterval::default()
            };
            for figure in &FIGURES {
                let sample = of(figure.metric, end).and_then(|series| series.samples.get(at));
                sample.into_iter().for_each(|sample| (figure.put)(&mut it, sample.value));
            }
            it
        };
        rates.samples.iter().enumerate().map(stretch).collect()
    }

    /// Intervals, those of the omitted time first; each kind is consecutive from 0 on.
    fn intervals(&self) -> Vec<StreamInterval> {
        let follow = |name: &str| {
            let mut now_ns = 0;
            let mut stretches = self.stretches(RATES[usize::from(!self.sends)], name);
            for it in &mut stretches {
                let began_ns = now_ns;
                now_ns += (it.end_s * 1e9).round() as u64;
                it.start_s = clock::seconds_between(0, began_ns);
                it.end_s = clock::seconds_between(0, now_ns);
            }
            stretches
        };
        [follow(OMITTED), follow(INTERVAL)].concat()
    }

    fn stream_end(&self) -> StreamTotals {
        let figures = |metric: &str| {
            let mut all = self.series.iter().filter(|it| it.metric == metric);
            all.find_map(|it| it.figures.as_ref())
        };
        let rtt_us = figures("smoothed_round_trip").and_then(|it| {
            Some((microseconds(it.min?), microseconds(it.mean?), microseconds(it.max?)))
        });
        let window = |metric| figures(metric).and_then(|it| it.max).map_or(0, |it| it as u64);
        let [sent, received] = RATES.map(|rate| self.stretches(rate, WHOLE).first().copied());
        StreamTotals {
            socket: self.socket,
            sends: self.sends,
            sent,
            received,
            rtt_us,
            windows_bytes: (window("congestion_window"), window("send_window")),
        }
    }
}

#[cfg(test)]
mod tests;
