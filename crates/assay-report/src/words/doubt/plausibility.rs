//! Doubts about impossible figures: not finite, in the wrong order, above a limit.

use assay_model::doubt::{Doubt, FigureOrder};
use assay_model::limit::LimitBasis;

use crate::locale::{format_fixed, word};
use crate::locale::{quantity, size};
use crate::words::{Explanation, basis, explanation, in_percent};

pub(super) fn explain(doubt: &Doubt) -> Option<Explanation> {
    Some(match doubt {
        Doubt::SamplesNotFinite { refused, all } => {
            explanation!("doubt-samples-not-finite", refused = *refused, all = *all)
        }
        Doubt::NotFinite { metric, figure, unit } => {
            let figure = format!("{figure} {}", unit.symbol());
            explanation!("doubt-not-a-value", metric = metric, figure = figure.trim_end())
        }
        Doubt::NotPositive { metric, figure, unit } => {
            explanation!(
                "doubt-not-a-value",
                metric = metric,
                figure = quantity(*figure, *unit, 4)
            )
        }
        Doubt::OutOfOrder { law, less, more, unit } => explanation!(
            "doubt-out-of-order",
            law = order(*law),
            less = quantity(*less, *unit, 4),
            more = quantity(*more, *unit, 4),
        ),
        Doubt::AboveLimit { median, limit, unit } => {
            let explanation = explanation!(
                "doubt-above-limit",
                share = in_percent(median / limit.value, 1),
                limit = quantity(limit.value, *unit, 4),
                basis = basis(&limit.basis),
            );
            match limit.basis {
                // Peak and result were timed on the same CPUs, and no cache helps.
                LimitBasis::Rpeak(_) | LimitBasis::MeasuredPeak { .. } => {
                    explanation.with_advice(word("advice-limit-contended"))
                }
                _ => explanation,
            }
        }
        Doubt::NoRpeak { flop_per_cycle } => {
            explanation!("doubt-no-rpeak", rate = format_fixed(*flop_per_cycle, 1))
        }
        Doubt::UnknownMetric { case, metric } => {
            explanation!("doubt-unknown-metric", case = case, metric = metric)
        }
        Doubt::CacheAssisted { bytes_per_array, multiple, needed } => explanation!(
            "doubt-cache-assisted",
            size = size(*bytes_per_array),
            multiple = crate::locale::group_digits(&multiple.to_string()),
            needed = crate::locale::group_digits(&needed.to_string()),
        ),
        _ => return None,
    })
}

/// Returns the violated order. Names of statistics are the same in every language; ends of an
/// interval are translated.
fn order(law: FigureOrder) -> &'static str {
    match law {
        FigureOrder::MinMedian => "min ≤ median",
        FigureOrder::MedianP99 => "median ≤ p99",
        FigureOrder::MedianMax => "median ≤ max",
        FigureOrder::P99Max => "p99 ≤ max",
        FigureOrder::MinMean => "min ≤ mean",
        FigureOrder::MeanMax => "mean ≤ max",
        FigureOrder::LowMedian => word("order-low-median"),
        FigureOrder::MedianHigh => word("order-median-high"),
    }
}
