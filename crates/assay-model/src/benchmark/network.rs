//! Benchmark rows of the network.

use super::{
    Better, DEFAULT_PREPARATIONS, Definition, LimitKind, Metric, ReportSection, SuiteSettings,
    VarianceSource,
};
use crate::quantity::Unit;

const GOODPUT: Metric = Metric::new(
    "goodput",
    Unit::BitPerSecond,
    Better::Higher,
    "payload received over the receiver's time, all streams together",
)
.with_limit(LimitKind::Link);

const SEND_RATE: Metric = Metric::new(
    "send_rate",
    Unit::BitPerSecond,
    Better::Higher,
    "payload that the sender handed to its kernel over the sender's time",
);

const CPU_PER_BYTE: Metric = Metric::new(
    "cpu_per_byte",
    Unit::SecondPerByte,
    Better::Lower,
    "CPU time of the streams' threads, interrupts and softirqs over the payload; of the process alone if the far end is iperf3",
);

const CPU_LOAD: Metric = Metric::new(
    "cpu_load",
    Unit::Ratio,
    Better::Lower,
    "busy time of all CPUs (all but idle, iowait and steal time) over their number and the time",
);

const ROUND_TRIP: Metric = Metric::new(
    "round_trip",
    Unit::Second,
    Better::Lower,
    "one message there and back: from before its send to after the receive of its reply",
);

const HALF_ROUND_TRIP: Metric = Metric::new(
    "half_round_trip",
    Unit::Second,
    Better::Lower,
    "half of a round trip; by the tool qperf half the mean, which it prints as latency",
);

const LOSS: Metric =
    Metric::new("loss", Unit::Ratio, Better::Lower, "datagrams or echoes lost over those sent")
        .with_ratio_pooling();

const CONNECTION_RATE: Metric = Metric::new(
    "connection_rate",
    Unit::Hertz,
    Better::Higher,
    "connections that carried a request and its response over the time, all streams together",
);

const CONNECT_TIME: Metric = Metric::new(
    "connect_time",
    Unit::Second,
    Better::Lower,
    "one connection: from before its socket is made to after the connect",
);

const TRANSACTION_TIME: Metric = Metric::new(
    "transaction_time",
    Unit::Second,
    Better::Lower,
    "one connection: from before its socket is made to after the receive of the response",
);

pub(super) const TCP: Definition = Definition {
    title: "goodput, round trip and CPU cost over TCP",
    method: "\
Goodput: parallel streams, one thread each, for the time of one repetition. Counted is the payload \
that the receiver read from its kernel, over the receiver's own time. The receiver copies every byte \
into its memory unless `copy` is off. The far end may be `iperf3 -s` or `assay iperf3 -s`. CPU is \
reported for both ends: load of the whole machine, and CPU time of the transfer per byte. If the far \
end is iperf3, it reports the time of its process alone, without the softirqs that receive. \
Round trip: one message at a time goes to a far end that echoes it (`qperf` or `assay iperf3 -s`); \
each round trip is timed by one clock on this end. Round trips and half round trips are separate \
metrics. With `load`, TCP streams load the link meanwhile. All round trips of a repetition are stored \
as a distribution; 300 of them, evenly spaced, are samples. \
Connections: each stream connects, sends one request, receives the response of the same size, waits \
until the far end (`assay iperf3 -s`) has closed, closes, and connects again. The far end closes first, \
so that ports in TIME-WAIT are its own. Both ends have to count the same connections.",
    metrics: &[
        GOODPUT.with_headline("TCP"),
        SEND_RATE,
        Metric::new(
            "retransmits",
            Unit::Count,
            Better::Lower,
            "segments that the sender's TCP retransmitted, per repetition",
        ),
        Metric::new(
            "smoothed_round_trip",
            Unit::Second,
            Better::Lower,
            "of one stream: the smoothed round trip (srtt) of the sender's TCP at the end of an interval",
        ),
        Metric::new(
            "congestion_window",
            Unit::Byte,
            Better::Higher,
            "of one stream: the sender's congestion window at the end of an interval",
        ),
        Metric::new(
            "send_window",
            Unit::Byte,
            Better::Higher,
            "of one stream: the window that its receiver announced, at the end of an interval",
        ),
        Metric::new(
            "round_trip_deviation",
            Unit::Second,
            Better::Lower,
            "of one stream: the deviation of its round trips as the sender's TCP smooths it",
        ),
        Metric::new(
            "path_mtu",
            Unit::Byte,
            Better::Higher,
            "of one stream: the largest packet of its path as the sender's TCP has found it",
        ),
        Metric::new(
            "reorderings",
            Unit::Count,
            Better::Lower,
            "of one stream: times that segments arrived out of order since it was connected",
        ),
        Metric::new(
            "delivery_rate",
            Unit::BitPerSecond,
            Better::Higher,
            "of one stream: what the path last delivered by the sender's TCP",
        ),
        CPU_PER_BYTE,
        CPU_LOAD,
        ROUND_TRIP.with_headline("round trip"),
        HALF_ROUND_TRIP,
        CONNECTION_RATE.with_headline("connection rate"),
        CONNECT_TIME,
        TRANSACTION_TIME.with_headline("transaction time"),
    ],
    section: ReportSection::Network,
    variance_source: VarianceSource::Connections,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Tcp,
    target: 0.01,
};

pub(super) const UDP: Definition = Definition {
    title: "goodput, loss, jitter and round trip over UDP",
    method: "\
Datagrams with sequence numbers and time stamps are sent at a fixed rate per stream. The receiver \
counts datagrams received, lost (gaps in the sequence) and reordered. Jitter is that of RFC 1889: \
J ← J + (|D| − J)/16 over the differences of transit times, which needs no common clock. \
Round trips are measured as over TCP, with one datagram at a time.",
    metrics: &[
        GOODPUT,
        SEND_RATE,
        LOSS,
        Metric::new(
            "jitter",
            Unit::Second,
            Better::Lower,
            "RFC 1889's smoothed difference of transit times at the end of a repetition",
        ),
        Metric::new(
            "reordered",
            Unit::Ratio,
            Better::Lower,
            "datagrams that arrived after one with a higher number, over those sent",
        )
        .with_ratio_pooling(),
        Metric::new(
            "pacing_error",
            Unit::Ratio,
            Better::Lower,
            "difference between the rate sent and the rate requested, over the latter",
        ),
        Metric::new(
            "datagrams",
            Unit::Count,
            Better::Higher,
            "of one stream: datagrams sent, or that should have arrived",
        ),
        Metric::new(
            "lost_datagrams",
            Unit::Count,
            Better::Lower,
            "of one stream: those missing; below 0 where some of an earlier interval came late",
        ),
        Metric::new(
            "late_datagrams",
            Unit::Count,
            Better::Lower,
            "of one stream: those that arrived after one with a higher number",
        ),
        CPU_PER_BYTE,
        CPU_LOAD,
        ROUND_TRIP,
        HALF_ROUND_TRIP,
    ],
    section: ReportSection::Network,
    variance_source: VarianceSource::Connections,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Udp,
    target: 0.01,
};

pub(super) const ICMP: Definition = Definition {
    title: "round trip of ICMP echoes (ping)",
    method: "\
Echo requests are sent one at a time; each is timed by one clock on this end, from before the send to \
after the receive of the reply. The far end's kernel replies, so no program there adds to the time. \
An unprivileged socket is used if the kernel allows it, otherwise a raw one.",
    metrics: &[ROUND_TRIP.with_headline("ping"), LOSS],
    section: ReportSection::Network,
    variance_source: VarianceSource::Connections,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Icmp,
    target: 0.01,
};
