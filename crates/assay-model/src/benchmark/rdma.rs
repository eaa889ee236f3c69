//! Benchmark rows of RDMA: one per test, named after its perftest program.

use serde::{Deserialize, Serialize};

use super::table::benchmark_table;
use super::{
    Better, DEFAULT_PREPARATIONS, Definition, LimitKind, Metric, ReportSection, SuiteSettings,
    VarianceSource,
};
use crate::quantity::Unit;

benchmark_table! {
    /// RDMA test. The name after `rdma.` is that of perftest's program after `ib_`.
    RdmaTest;
    /// Ping-pong of messages.
    SendLatency, "rdma.send_lat", SEND_LATENCY;
    /// Many messages in flight.
    SendBandwidth, "rdma.send_bw", SEND_BANDWIDTH;
    /// Ping-pong of writes.
    WriteLatency, "rdma.write_lat", WRITE_LATENCY;
    /// Many writes in flight.
    WriteBandwidth, "rdma.write_bw", WRITE_BANDWIDTH;
    /// Reads one after another.
    ReadLatency, "rdma.read_lat", READ_LATENCY;
    /// Many reads in flight.
    ReadBandwidth, "rdma.read_bw", READ_BANDWIDTH;
    /// Atomic additions one after another.
    AtomicLatency, "rdma.atomic_lat", ATOMIC_LATENCY;
    /// Many atomic additions in flight.
    AtomicBandwidth, "rdma.atomic_bw", ATOMIC_BANDWIDTH;
}

impl RdmaTest {
    /// Returns the name after `rdma.`: `send_lat`, `read_bw` …
    pub fn name(self) -> &'static str {
        self.id().strip_prefix("rdma.").expect("every identifier here begins with it")
    }

    /// Whether the test keeps many operations in flight and measures their rate.
    pub const fn is_bandwidth(self) -> bool {
        match self {
            Self::SendBandwidth
            | Self::WriteBandwidth
            | Self::ReadBandwidth
            | Self::AtomicBandwidth => true,
            Self::SendLatency
            | Self::WriteLatency
            | Self::ReadLatency
            | Self::AtomicLatency => false,
        }
    }

    /// Whether a value is half of a round trip.
    pub const fn is_half_round_trip(self) -> bool {
        match self {
            Self::SendLatency | Self::WriteLatency => true,
            Self::SendBandwidth
            | Self::WriteBandwidth
            | Self::ReadLatency
            | Self::ReadBandwidth
            | Self::AtomicLatency
            | Self::AtomicBandwidth => false,
        }
    }

    /// Whether the test consists of atomic operations, whose operands have 8 bytes.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicLatency | Self::AtomicBandwidth)
    }

    /// Returns the name of a latency test's metric.
    pub const fn latency_metric(self) -> &'static str {
        if self.is_half_round_trip() { "half_round_trip" } else { "latency" }
    }
}

const fn row(
    title: &'static str,
    method: &'static str,
    metrics: &'static [Metric],
) -> Definition {
    Definition {
        title,
        method,
        metrics,
        section: ReportSection::General,
        variance_source: VarianceSource::Connections,
        preparations: DEFAULT_PREPARATIONS,
        settings: SuiteSettings::Rdma,
        target: 0.01,
    }
}

const fn half_round_trip(meaning: &'static str) -> Metric {
    Metric::new("half_round_trip", Unit::Second, Better::Lower, meaning)
}

const fn full_latency(meaning: &'static str) -> Metric {
    Metric::new("latency", Unit::Second, Better::Lower, meaning)
}

const BANDWIDTH: Metric = Metric::new(
    "bandwidth",
    Unit::BytePerSecond,
    Better::Higher,
    "payload over the time from the first request to the last completion",
)
.with_limit(LimitKind::Link)
.with_headline("RDMA bandwidth");
const MESSAGE_RATE: Metric =
    Metric::new("message_rate", Unit::Hertz, Better::Higher, "messages over the same time");
const LOSS: Metric =
    Metric::new("loss", Unit::Ratio, Better::Lower, "datagrams lost over those sent")
        .with_ratio_pooling();
const RATES: &[Metric] = &[BANDWIDTH, MESSAGE_RATE];
const RATES_AND_LOSS: &[Metric] = &[BANDWIDTH, MESSAGE_RATE, LOSS];

const SEND_LATENCY: Definition = row(
    "latency of RDMA messages (send and receive)",
    "\
Ping-pong over one queue pair: one end posts a send and polls its completion queue for the other's. \
Both ends spin. Every round trip is timed by one clock from before its send to before the next, as \
perftest's ib_send_lat does; a value is half of it. Messages up to 236 B (of UD 188 B) are copied into the \
request where the device can, as there. There is no warm-up, and none is left out. \
Contents are compared after the pass. The facts of a result include the figures that ib_send_lat would \
print, by its rules: without the last message, and with the two slowest cut off.",
    &[half_round_trip("half of a round trip of one message").with_headline("RDMA latency")],
);
const SEND_BANDWIDTH: Definition = row(
    "bandwidth of RDMA messages (send and receive)",
    "\
One end keeps a number of sends in flight (128 by default), every 64th with a completion, and \
the other receives them. Bytes over the time from before the first send to the last completion, as \
perftest's average; its peak, the fastest of all windows, appears in perftest's table only. Where both ends send, \
the rates of both are added. Of datagrams (UD) those count that arrived, over the receiver's time from the \
first to the last; the others are lost.",
    RATES_AND_LOSS,
);
const WRITE_LATENCY: Definition = row(
    "latency of RDMA writes",
    "\
Ping-pong over one queue pair: one end writes into the other's memory, which spins on the last byte and \
writes back. The last byte counts messages; the device writes it last, as perftest assumes, too. \
Up to 220 B are copied into the request where the device can, as perftest does. \
Contents are compared after the pass. A value is half of a round trip.",
    &[half_round_trip("half of a round trip of one write")],
);
const WRITE_BANDWIDTH: Definition = row(
    "bandwidth of RDMA writes",
    "As rdma.send_bw, with writes into the far end's memory; its processor does nothing.",
    RATES,
);
const READ_LATENCY: Definition = row(
    "latency of RDMA reads",
    "\
One read of the far end's memory after another, each from before it is posted to its completion: the \
full time, not half of it. The far end's processor does nothing.",
    &[full_latency("time of one read")],
);
const READ_BANDWIDTH: Definition = row(
    "bandwidth of RDMA reads",
    "As rdma.send_bw, with reads of the far end's memory; the device decides how many it executes at once.",
    RATES,
);
const ATOMIC_LATENCY: Definition = Definition {
    // Atomic operands always have 8 bytes.
    settings: SuiteSettings::Nothing,
    ..row(
        "latency of RDMA atomic operations",
        "\
One fetch-and-add on 8 bytes of the far end's memory after another, each from before it is posted to \
its completion. The far end's number is compared with how many there were.",
        &[full_latency("time of one fetch-and-add")],
    )
};
const ATOMIC_BANDWIDTH: Definition = Definition {
    settings: SuiteSettings::Nothing,
    ..row(
        "bandwidth of RDMA atomic operations",
        "\
As rdma.send_bw, with fetch-and-adds on the far end's memory, 8 bytes each: those of a queue pair take turns on \
64 numbers that are 64 bytes apart, as in perftest's ib_atomic_bw, so that the device need not wait for the \
previous one. Each number is compared with how many additions it received.",
        RATES,
    )
};
