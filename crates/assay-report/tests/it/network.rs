//! The network of one host, made by hand: streams with what they cost both ends, datagrams, round trips.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{NetworkTcp, NetworkUdp};
use assay_model::event::Status;
use assay_model::facts::HostFacts;
use assay_model::summary::{Estimate, Summary};

use crate::maker::{self, With, estimate};

fn tcp(streams: u64, metric: &str, median: f64) -> Estimate {
    estimate(NetworkTcp, metric, median, 0.01)
        .with(Attribute::To, "10.0.0.5")
        .with(Attribute::Path, "network")
        .with(Attribute::Streams, streams)
        .with(Attribute::Direction, "send")
        .with(Attribute::Copy, true)
}

fn udp(metric: &str, median: f64) -> Estimate {
    estimate(NetworkUdp, metric, median, 0.01)
        .with(Attribute::To, "loopback")
        .with(Attribute::Path, "loopback")
        .with(Attribute::Streams, 1_u64)
        .with(Attribute::Direction, "send")
}

/// Six streams whose far end reports its CPU, one whose far end does not, and datagrams over loopback.
pub(crate) fn network() -> Summary {
    let mut summary = maker::summary("network", Status::Complete, HostFacts::default());
    summary.results = vec![
        tcp(6, "goodput", 5.56e9),
        tcp(6, "retransmits", 12.0),
        tcp(6, "cpu_per_byte", 0.412e-9).with(Attribute::End, "local"),
        tcp(6, "cpu_per_byte", 1.3e-9).with(Attribute::End, "remote"),
        tcp(6, "cpu_load", 0.25).with(Attribute::End, "local"),
        tcp(6, "cpu_load", 0.392).with(Attribute::End, "remote"),
        tcp(1, "goodput", 3.1e9),
        tcp(1, "cpu_load", 0.11).with(Attribute::End, "local"),
        udp("goodput", 99.9e6),
        udp("loss", 0.001),
        udp("jitter", 12e-6),
        udp("pacing_error", 0.0002),
        estimate(NetworkTcp, "half_round_trip", 35e-6, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Bytes, 1_u64),
        estimate(NetworkTcp, "round_trip", 68e-6, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Bytes, 1_u64)
            .with(Attribute::LoadStreams, 6_u64),
    ];
    summary
}
