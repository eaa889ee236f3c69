//! Compute section: multiply-add peak, LINPACK, and Rpeak with its factors.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::limit::Rpeak;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{metric_name, number, text};
use super::{cells, hardware, words};
use crate::document::{Block, Document, FactTable, ReportTable, Tone, left, right};
use crate::locale::{format_fact, join_details, with_detail, word};
use crate::precision::ColumnPrefixes;
use crate::{units, words as catalogue};

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::Compute);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-compute"));
    document.blocks.push(Block::Table(table(context, &all)));
    for estimate in all.iter().filter(|it| is_solve(it)) {
        document.paragraph(Tone::Quiet, solve_line(estimate));
    }
    for estimate in &all {
        if let Some(words) = hardware::flop_per_cycle(estimate, context.summary) {
            let name = with_detail(&metric_name(estimate), &case_label(context, estimate));
            document.paragraph(Tone::Quiet, format_fact(&name, &words));
        }
    }
    let facts = rpeak_facts(context, &all);
    if !facts.is_empty() {
        let title = Some("Rpeak".to_owned());
        document.blocks.push(Block::Facts(FactTable { title, tone: Tone::Plain, facts }));
    }
}

fn table(context: &ReportContext<'_>, estimates: &[&MetricEstimate]) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let titles = (word("column-value"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-compute"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let [value, interval] = cells::value_columns(titles, estimate, &prefixes);
        let share = cells::percent(share_of_peak(estimate, estimates));
        table.push([
            left(word("column-what"), metric_name(estimate)),
            left(word("column-where"), case_label(context, estimate)),
            value,
            interval,
            right(word("column-of-peak"), share),
            right(word("column-of-rpeak"), cells::percent(share_of_rpeak(estimate))),
            cells::sample_column(estimate),
            cells::measurer_column(context, estimate),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}

/// Returns Rmax as a percentage of the highest multiply-add peak of the same run on as many
/// threads.
fn share_of_peak(estimate: &MetricEstimate, all: &[&MetricEstimate]) -> Option<f64> {
    if !is_solve(estimate) {
        return None;
    }
    let threads = number(estimate, Attribute::Threads);
    let comparable = |peak: &&&MetricEstimate| {
        let same = threads.is_none() || number(peak, Attribute::Threads) == threads;
        peak.metric == "fp64" && peak.host == estimate.host && same
    };
    let peak = all.iter().filter(comparable).map(|peak| peak.median).reduce(f64::max)?;
    Some(100.0 * estimate.median / peak)
}

fn share_of_rpeak(estimate: &MetricEstimate) -> Option<f64> {
    let given = number(estimate, Attribute::PercentOfRpeak);
    let computed = || Some(100.0 * estimate.median / number(estimate, Attribute::Rpeak)?);
    // The limit of these metrics is Rpeak.
    given.or_else(computed).or(estimate.percent_of_limit)
}

/// Returns a label such as `node, avx512` or `N = 8000`.
fn case_label(context: &ReportContext<'_>, estimate: &MetricEstimate) -> String {
    let parts = [
        system_size(estimate),
        context.place_label(estimate),
        text(estimate, Attribute::InstructionSet).unwrap_or_default(),
    ];
    join_details(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>())
}

/// Whether the result comes from solving a linear system.
fn is_solve(estimate: &MetricEstimate) -> bool {
    estimate.metric == "rmax"
}

/// Returns the size of the linear system, `N = 8000`; empty for other results.
fn system_size(estimate: &MetricEstimate) -> String {
    let n = text(estimate, Attribute::N).filter(|_| is_solve(estimate));
    n.map(|n| units::with_no_break_spaces(&format!("N = {n}"))).unwrap_or_default()
}

fn solve_line(estimate: &MetricEstimate) -> String {
    let threads =
        number(estimate, Attribute::Threads).map(|threads| words::threads(threads as usize));
    let blas = text(estimate, Attribute::Blas).unwrap_or_default();
    let residual = text(estimate, Attribute::Residual).unwrap_or_default();
    let subject = match system_size(estimate) {
        n if n.is_empty() => metric_name(estimate),
        n => n,
    };
    words::linpack(&subject, &threads.unwrap_or_default(), &blas, &residual)
}

/// Returns each distinct Rpeak with its factors.
fn rpeak_facts(
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    for estimate in estimates {
        let Some((value, factors)) = rpeak_with_factors(estimate) else { continue };
        let precision = if estimate.metric == "fp32" { "FP32" } else { "FP64" };
        let name = match case_label(context, estimate) {
            case if case.is_empty() => precision.to_owned(),
            case => with_detail(precision, &case),
        };
        let fact = (name, format!("{value} = {factors}"));
        if !facts.iter().any(|(_, known)| *known == fact.1) {
            facts.push(fact);
        }
    }
    facts
}

/// Returns value and factors, as found while measuring, otherwise from the limit.
fn rpeak_with_factors(estimate: &MetricEstimate) -> Option<(String, String)> {
    let factors = || {
        Some(Rpeak {
            cores: number(estimate, Attribute::RpeakCores)? as usize,
            flop_per_cycle: number(estimate, Attribute::FlopPerCycle)? as u32,
            clock_hz: number(estimate, Attribute::RpeakClock)?,
        })
    };
    let measured = text(estimate, Attribute::Rpeak).zip(factors().map(catalogue::factors));
    measured.or_else(|| {
        let limit = estimate.limit.as_ref()?;
        Some((units::quantity(limit.value, estimate.unit, 4), catalogue::basis(&limit.basis)))
    })
}
