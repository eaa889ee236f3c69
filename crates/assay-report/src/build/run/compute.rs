//! Compute section: multiply-add peak, LINPACK, and Rpeak with its factors.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Section;
use assay_model::limit::Rpeak;
use assay_model::summary::Estimate;

use super::context::{Context, metric_name, number, text};
use super::{rows, words};
use crate::document::{Align, Block, Cell, Document, Facts, Table, Tone};
use crate::locale::{detailed, details, word};
use crate::precision::Prefixes;
use crate::{units, words as catalogue};

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let all = context.section(Section::Compute);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-compute"));
    document.blocks.push(Block::Table(table(context, &all)));
    for estimate in all.iter().filter(|it| is_solve(it)) {
        document.paragraph(Tone::Quiet, solve(estimate));
    }
    let facts = rpeaks(context, &all);
    if !facts.is_empty() {
        let title = Some("Rpeak".to_owned());
        document.blocks.push(Block::Facts(Facts { title, tone: Tone::Plain, facts }));
    }
}

fn table(context: &Context<'_>, estimates: &[&Estimate]) -> Table {
    let interval = rows::interval_title(estimates);
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-where"), Align::Left),
        (word("column-value"), Align::Right),
        (interval.as_str(), Align::Right),
        (word("column-of-peak"), Align::Right),
        (word("column-of-rpeak"), Align::Right),
        ("n", Align::Right),
        (word("column-by"), Align::Left),
        (word("column-note"), Align::Left),
    ];
    let mut table = Table::new(word("table-compute"), &columns);
    let prefixes = Prefixes::of_medians(estimates.iter().copied());
    for estimate in estimates {
        let mut row: Vec<Cell> =
            vec![metric_name(estimate).into(), case(context, estimate).into()];
        row.extend(rows::estimate(estimate, &prefixes));
        row.extend([
            rows::percent(share_of_peak(estimate, estimates)),
            rows::percent(share_of_rpeak(estimate)),
            rows::samples(estimate),
            rows::measurer(context, estimate),
            rows::notes(context, estimate),
        ]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Returns Rmax as a percentage of the highest multiply-add peak of the same run on as many
/// threads.
fn share_of_peak(estimate: &Estimate, all: &[&Estimate]) -> Option<f64> {
    if !is_solve(estimate) {
        return None;
    }
    let threads = number(estimate, Attribute::Threads);
    let comparable = |peak: &&&Estimate| {
        let same = threads.is_none() || number(peak, Attribute::Threads) == threads;
        peak.metric == "fp64" && peak.host == estimate.host && same
    };
    let peak = all.iter().filter(comparable).map(|peak| peak.median).reduce(f64::max)?;
    Some(100.0 * estimate.median / peak)
}

fn share_of_rpeak(estimate: &Estimate) -> Option<f64> {
    let given = number(estimate, Attribute::PercentOfRpeak);
    let computed = || Some(100.0 * estimate.median / number(estimate, Attribute::Rpeak)?);
    // The limit of these metrics is Rpeak.
    given.or_else(computed).or(estimate.percent_of_limit)
}

/// Returns a label such as `node, avx512` or `N = 8000`.
fn case(context: &Context<'_>, estimate: &Estimate) -> String {
    let parts = [
        equations(estimate),
        context.place(estimate),
        text(estimate, Attribute::InstructionSet).unwrap_or_default(),
    ];
    details(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>())
}

/// Whether the result comes from solving a linear system.
fn is_solve(estimate: &Estimate) -> bool {
    estimate.metric == "rmax"
}

/// Returns the size of the linear system, `N = 8000`; empty for other results.
fn equations(estimate: &Estimate) -> String {
    let n = text(estimate, Attribute::N).filter(|_| is_solve(estimate));
    n.map(|n| units::joined(&format!("N = {n}"))).unwrap_or_default()
}

fn solve(estimate: &Estimate) -> String {
    let threads =
        number(estimate, Attribute::Threads).map(|threads| words::threads(threads as usize));
    let blas = text(estimate, Attribute::Blas).unwrap_or_default();
    let residual = text(estimate, Attribute::Residual).unwrap_or_default();
    let subject = match equations(estimate) {
        n if n.is_empty() => metric_name(estimate),
        n => n,
    };
    words::linpack(&subject, &threads.unwrap_or_default(), &blas, &residual)
}

/// Returns each distinct Rpeak with its factors.
fn rpeaks(context: &Context<'_>, estimates: &[&Estimate]) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    for estimate in estimates {
        let Some((value, factors)) = rpeak(estimate) else { continue };
        let precision = if estimate.metric == "fp32" { "FP32" } else { "FP64" };
        let name = match case(context, estimate) {
            case if case.is_empty() => precision.to_owned(),
            case => detailed(precision, &case),
        };
        let fact = (name, format!("{value} = {factors}"));
        if !facts.iter().any(|(_, known)| *known == fact.1) {
            facts.push(fact);
        }
    }
    facts
}

/// Returns value and factors, as found while measuring, otherwise from the limit.
fn rpeak(estimate: &Estimate) -> Option<(String, String)> {
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
