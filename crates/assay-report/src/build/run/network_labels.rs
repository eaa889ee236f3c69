//! Labels of network results: protocol, metric, pair of hosts and case.

use assay_model::attribute::{Attribute, AttributeValue, LOOPBACK};
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::estimate_parts::{metric_name, number, section_of, text};
use super::network::pairs;
use super::words;
use crate::locale::{join_details, word};
use crate::units;

pub(in crate::build) fn protocol(benchmark: &str) -> String {
    benchmark.rsplit('.').next().unwrap_or_default().to_uppercase()
}

/// Returns `TCP goodput`, `UDP loss`.
pub(in crate::build) fn metric_label(estimate: &MetricEstimate) -> String {
    protocol_metric(&estimate.benchmark, &metric_name(estimate))
}

/// Returns the name of a metric after the protocol of its benchmark, `network.tcp`.
pub(in crate::build) fn protocol_metric(benchmark: &str, metric: &str) -> String {
    message!("protocol-metric", protocol = protocol(benchmark), metric = metric)
}

/// Whether a result belongs to the network section.
pub(in crate::build) fn is_network(estimate: &MetricEstimate) -> bool {
    section_of(estimate) == Some(ReportSection::Network)
}

/// Returns the pair of hosts and the case, with the end for metrics of one end.
pub(in crate::build) fn case_and_end(estimate: &MetricEstimate) -> String {
    let end = text(estimate, Attribute::End).map(|end| words::end(&end));
    let case = Some(case_label(estimate)).filter(|case| !case.is_empty());
    let parts = [pairs::name(estimate), case, end];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

/// Returns the parameters that distinguish the cases of one metric: streams, direction, sizes,
/// rates, load.
pub(in crate::build) fn case_label(estimate: &MetricEstimate) -> String {
    let has_flag = |name: Attribute, flag: bool| {
        estimate.parameters.get(&name) == Some(&AttributeValue::Flag(flag))
    };
    let streams = number(estimate, Attribute::Streams)
        .map(|streams| message!("streams", n = streams as u64));
    let load = number(estimate, Attribute::LoadStreams).filter(|streams| *streams > 0.0);
    let parts = [
        streams,
        text(estimate, Attribute::Direction).map(|it| words::direction(&it)),
        has_flag(Attribute::Copy, false).then(|| word("no-copy").to_owned()),
        has_flag(Attribute::Segmentation, true).then(|| word("segmentation").to_owned()),
        text(estimate, Attribute::RateBitPerS)
            .and(number(estimate, Attribute::RateBitPerS))
            .map(|rate| units::quantity(rate, Unit::BitPerSecond, 3)),
        number(estimate, Attribute::Bytes)
            .map(|bytes| units::with_symbol(&bytes.to_string(), "B")),
        text(estimate, Attribute::Waiting).filter(|waiting| waiting == "spin"),
        text(estimate, Attribute::MessagesPerS).map(|rate| message!("per-second", rate = rate)),
        load.map(|streams| message!("under-load", n = streams as u64)),
    ];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>())
}

/// Names the remote end of a route: a host, or the loopback path of this one.
pub(in crate::build) fn far_end(to: &str) -> String {
    if to == LOOPBACK { word("path-loopback").to_owned() } else { to.to_owned() }
}
