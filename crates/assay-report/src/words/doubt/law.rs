//! Doubts about impossible figures: not finite, in the wrong order, above a limit.

use assay_model::doubt::{Doubt, Order};
use assay_model::quantity::{Bytes, Quantity};

use crate::words::{Said, basis};

const LOOK: &str =
    "the measurement did nothing, or its output was misread; look at the raw output";

pub(super) fn said(doubt: &Doubt) -> Option<Said> {
    Some(match doubt {
        Doubt::SamplesNotFinite { refused, all } => Said::new(
            format!("{refused} of {all} samples are not finite and do not count"),
            "the measurer divided by a time of zero or printed no number; look at its raw output",
        ),
        Doubt::NotFinite { metric, figure, unit } => Said::new(
            format!(
                "{} cannot be a measured value of {metric}",
                with_unit(figure, unit.symbol())
            ),
            LOOK,
        ),
        Doubt::NotPositive { metric, figure, unit } => Said::new(
            format!("{} cannot be a measured value of {metric}", Quantity::new(*figure, *unit)),
            LOOK,
        ),
        Doubt::OutOfOrder { law, less, more, unit } => Said::new(
            format!(
                "{} is broken: {} > {}",
                order(*law),
                Quantity::new(*less, *unit),
                Quantity::new(*more, *unit)
            ),
            "these figures cannot come from one sample; do not use them",
        ),
        Doubt::AboveLimit { median, limit, unit } => Said::new(
            format!(
                "the median is {:.1} % of its limit, {} ({})",
                100.0 * (median / limit.value),
                Quantity::new(limit.value, *unit),
                basis(&limit.basis)
            ),
            "you measured the cache, or the unit or the limit is wrong: look at the size, at the \
             unit and at what the limit is made of",
        ),
        Doubt::NoRpeak { flop_per_cycle } => Said::new(
            format!(
                "there is no Rpeak: the best rate is {flop_per_cycle:.1} FLOP per cycle of the \
                 measured clock, which no core has"
            ),
            "something else used these CPUs: look for steal and CPU pressure, and measure again",
        ),
        Doubt::UnknownMetric { case, metric } => Said::new(
            format!("{case} has samples of `{metric}`, which is unknown here"),
            "read the run with the version of assay that made it",
        ),
        Doubt::CacheAssisted { bytes_per_array, multiple, needed } => Said::new(
            format!(
                "arrays of {} are only {multiple} times the last-level caches, so part of the \
                 traffic never reached memory",
                Bytes(*bytes_per_array)
            ),
            format!("use arrays of at least {needed} times the caches, or free memory"),
        ),
        _ => return None,
    })
}

fn with_unit(figure: &str, unit: &str) -> String {
    format!("{figure} {unit}").trim_end().to_owned()
}

const fn order(law: Order) -> &'static str {
    match law {
        Order::MinMedian => "min ≤ median",
        Order::MedianP99 => "median ≤ p99",
        Order::P99Max => "p99 ≤ max",
        Order::MinMean => "min ≤ mean",
        Order::MeanMax => "mean ≤ max",
        Order::LowMedian => "lower end of the interval ≤ median",
        Order::MedianHigh => "median ≤ upper end of the interval",
    }
}
