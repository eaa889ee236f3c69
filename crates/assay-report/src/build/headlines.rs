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
    (STORAGE, "rate", "storage rate"),
    (STORAGE, "bandwidth", "storage"),
];
const STORAGE: &str = "storage";

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
/// measurement, then the better one. Storage has no whole: of its tests the best one stands for it.
fn compare(a: &Estimate, b: &Estimate) -> Ordering {
    let size = |estimate: &Estimate| {
        let number = |name| estimate.parameters.get(name).and_then(parameter::number);
        let sign = match estimate.benchmark.as_str() {
            "mpi.latency" => -1.0,
            STORAGE => 0.0,
            _ => 1.0,
        };
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
    words(estimate, "placement")
}

fn words<'e>(estimate: &'e Estimate, name: &str) -> Option<&'e str> {
    match estimate.parameters.get(name) {
        Some(Parameter::Text(text)) => Some(text),
        _ => None,
    }
}

/// The name, and where it was measured unless that is the whole node; the test's own name if it has one.
fn label(name: &str, estimate: &Estimate) -> String {
    let name = words(estimate, "test").unwrap_or(name);
    match placement(estimate) {
        None | Some("node") => name.to_owned(),
        Some(placement) => format!("{name} ({placement})"),
    }
}
