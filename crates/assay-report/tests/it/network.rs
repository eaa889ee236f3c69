//! The network of one host, made by hand: streams with what they cost both ends, datagrams, round trips.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{NetworkTcp, NetworkUdp};
use assay_model::event::{RunEvent, Sample, SeriesOpened, Status};
use assay_model::facts::HostFacts;
use assay_model::summary::{Estimate, Summary};

use assay_report::build;
use assay_report::render::{html, markdown};

use crate::maker::{self, With, estimate};
use crate::{events, small};

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

/// What only the samples show: the goodput of every two seconds, and which share of the round trips took how long.
#[test]
fn samples_become_courses_and_distributions() {
    let case = small::plan().cases[0].id.clone();
    let mut measured = Vec::new();
    let series = [
        (0, "goodput", (1..=5).map(|i| f64::from(i) * 1e9).collect::<Vec<f64>>()),
        (1, "round_trip", (1..=200).rev().map(|i| f64::from(i) * 1e-6).collect()),
    ];
    for (series, metric, values) in series {
        let (metric, case, dimensions) = (metric.to_owned(), case.clone(), [].into());
        measured.push(RunEvent::SeriesOpened(SeriesOpened {
            series,
            case,
            metric,
            dimensions,
        }));
        for value in values {
            let sample = Sample { series, value, weight: 2.0, preparation: 0, at_ns: 0 };
            measured.push(RunEvent::Sample(sample));
        }
    }
    let run = events::with(measured);
    let mut summary = network();
    summary.results.retain(|it| matches!(it.metric.as_str(), "goodput" | "round_trip"));
    summary.results.iter_mut().for_each(|it| it.case.clone_from(&case));
    let document = build::run(&summary, Some(&run));
    let text = markdown::document(&document);
    for row in ["| 2 s | 1.000 Gbit/s", "| 10 s | 5.000 Gbit/s", "| 101 µs | 0.5000"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    let page = html::document(&document);
    assert!(page.contains("Goodput over time") && page.contains("Distribution of round trips"));
    // Without the samples there is nothing to draw.
    assert!(!markdown::document(&build::run(&summary, None)).contains("101 µs"));
}
