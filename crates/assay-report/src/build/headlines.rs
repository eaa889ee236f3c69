//! The few values of a run that a reader wants to see first, for the list of runs.

use std::cmp::Ordering;

use assay_model::benchmark::Better;
use assay_model::event::Parameter;
use assay_model::quantity::Quantity;
use assay_model::summary::{Estimate, Summary};

use crate::parameter;

/// Benchmark, metric and name of each headline.
const HEADLINES: [(&str, &str, &str); 10] = [
    ("memory.stream", "triad", "Triad"),
    ("memory.latency", "latency", "latency"),
    ("compute.peak_flops", "fp64", "FP64"),
    ("compute.linpack", "rmax", "Rmax"),
    ("network.tcp", "goodput", "TCP"),
    ("network.tcp", "round_trip", "round trip"),
    ("mpi.latency", "latency", "MPI latency"),
    ("mpi.bw", "bandwidth", "MPI bandwidth"),
    ("storage", "rate", "storage rate"),
    ("storage", "bandwidth", "storage"),
];

/// At most one value per benchmark: the whole node's, or the largest working set's.
#[must_use]
pub fn headlines(summary: &Summary) -> Vec<(String, Quantity)> {
    let headline = |(benchmark, metric, name): &(&str, &str, &str)| {
        let candidates = summary.results.iter().filter(|e| {
            e.benchmark == *benchmark && e.metric == *metric && e.median.is_finite()
        });
        let best = candidates.max_by(|a, b| compare(a, b))?;
        Some((label(name, best), Quantity::new(best.median, best.unit)))
    };
    HEADLINES.iter().filter_map(headline).collect()
}

/// What stands for the machine as a whole: the whole node, then most threads, the largest working
/// set or system, but the shortest message where its latency is told; among equals our own
/// measurement, then the better one.
fn compare(a: &Estimate, b: &Estimate) -> Ordering {
    let size = |estimate: &Estimate| {
        let number = |name| estimate.parameters.get(name).and_then(parameter::number);
        let sign = if estimate.benchmark == "mpi.latency" { -1.0 } else { 1.0 };
        ["threads", "bytes", "n", "streams"].map(|name| sign * number(name).unwrap_or(0.0))
    };
    let sizes = || size(a).into_iter().zip(size(b)).map(|(a, b)| a.total_cmp(&b));
    let is_node = |estimate: &Estimate| placement(estimate) == Some("node");
    let is_own = |estimate: &Estimate| estimate.tool.name == "assay";
    let quality = match a.better {
        Better::Higher => a.median.total_cmp(&b.median),
        Better::Lower => b.median.total_cmp(&a.median),
    };
    is_node(a)
        .cmp(&is_node(b))
        .then(sizes().fold(Ordering::Equal, Ordering::then))
        .then(is_own(a).cmp(&is_own(b)))
        .then(quality)
}

fn placement(estimate: &Estimate) -> Option<&str> {
    match estimate.parameters.get("placement") {
        Some(Parameter::Text(placement)) => Some(placement),
        _ => None,
    }
}

/// The name, and where it was measured unless that is the whole node.
fn label(name: &str, estimate: &Estimate) -> String {
    match placement(estimate) {
        None | Some("node") => name.to_owned(),
        Some(placement) => format!("{name} ({placement})"),
    }
}
