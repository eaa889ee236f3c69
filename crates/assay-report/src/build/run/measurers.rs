//! Comparison of measurers within a run: results of the same case side by side, with the ratio of
//! their medians.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, Role};
use assay_model::benchmark::ReportSection;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{is_concurrent, metric_name, section_of, text};
use super::{cells, network_labels, words};
use crate::document::{Block, ColumnCell, Document, ReportTable, Tone, left, right};
use crate::first_seen::distinct;
use crate::locale::{with_detail, word};
use crate::{precision, units};

/// Storage attributes that assay sets for every measurer: their absence distinguishes cases, too.
const STORAGE_IDENTITY: [Attribute; 3] =
    [Attribute::Test, Attribute::Point, Attribute::PercentOfMax];

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    if !context.has_several_measurers {
        return;
    }
    let groups = groups(context);
    let tools = tools(&groups);
    let [first, others @ ..] = tools.as_slice() else { return };
    if others.is_empty() {
        return;
    }
    let mut table = ReportTable::with_caption(word("table-measurers"));
    groups.iter().for_each(|group| table.push(row(context, group, first, others)));
    document.heading(word("heading-measurers"));
    document.blocks.push(Block::Table(table.without_empty_columns()));
    document.paragraph(Tone::Quiet, word("measurers-ratios"));
}

/// Returns results of the same case by more than one measurer.
fn groups<'a>(context: &ReportContext<'a>) -> Vec<Vec<&'a MetricEstimate>> {
    let mut groups: Vec<Vec<&MetricEstimate>> = Vec::new();
    // The tables of MPI already have a column for each measurer.
    let here = |it: &&MetricEstimate| {
        section_of(it).is_some_and(|section| section != ReportSection::Mpi)
    };
    let results: Vec<_> = context.known_results().into_iter().filter(here).collect();
    // Tens of thousands of pairs of cores have one measurer, and are not searched.
    let measured = |it: &&'a MetricEstimate| (&*it.benchmark, &*it.metric, &*it.host);
    let mut measurers: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for estimate in &results {
        measurers.entry(measured(estimate)).or_default().insert(&estimate.tool.name);
    }
    let has_several = |it: &&'a MetricEstimate| measurers[&measured(it)].len() > 1;
    for estimate in results.iter().copied().filter(has_several) {
        match groups.iter_mut().find(|group| is_same_case(group[0], estimate)) {
            Some(group) => group.push(estimate),
            None => groups.push(vec![estimate]),
        }
    }
    groups.retain(|group| group.iter().any(|e| e.tool.name != group[0].tool.name));
    groups
}

fn is_same_case(a: &MetricEstimate, b: &MetricEstimate) -> bool {
    a.benchmark == b.benchmark
        && a.metric == b.metric
        && a.host == b.host
        && a.unit == b.unit
        && is_concurrent(a) == is_concurrent(b)
        && STORAGE_IDENTITY.iter().all(|name| a.parameters.get(name) == b.parameters.get(name))
        && Attribute::ALL.iter().filter(|it| is_identity(**it)).all(|name| {
            match (a.parameters.get(name), b.parameters.get(name)) {
                (Some(a), Some(b)) => a == b,
                // A tool need not report all attributes; those that it reports must agree.
                _ => true,
            }
        })
}

/// Whether results must agree in this attribute to be compared.
fn is_identity(name: Attribute) -> bool {
    name.row().role == Role::Identity || name == Attribute::Cpu
}

/// Returns the measurers, assay first.
fn tools(groups: &[Vec<&MetricEstimate>]) -> Vec<String> {
    let mut tools = distinct(groups.iter().flatten().map(|it| it.tool.name.clone()));
    tools.sort_by_key(|name| name != "assay");
    tools
}

fn row(
    context: &ReportContext<'_>,
    group: &[&MetricEstimate],
    first: &str,
    others: &[String],
) -> Vec<ColumnCell> {
    let by = |tool: &str| group.iter().find(|estimate| estimate.tool.name == tool);
    let value = |tool: &str| by(tool).map(|e| precision::value(e)).unwrap_or_default();
    let ratio = |tool: &String| {
        let (own, its) = (by(first)?, by(tool)?);
        let ratio = own.median / its.median;
        let digits = [own, its].map(|it| precision::estimate_digits(it));
        ratio.is_finite().then(|| precision::ratio(ratio, None, digits))
    };
    let is_network = network_labels::is_network(group[0]);
    let place = match text(group[0], Attribute::N) {
        _ if is_network => network_labels::case_and_end(group[0]),
        Some(n) if group[0].metric == "rmax" => {
            units::with_no_break_spaces(&format!("N = {n}"))
        }
        _ => test_label(group[0]).unwrap_or_else(|| context.place_label(group[0])),
    };
    let what =
        if is_network { network_labels::metric_label(group[0]) } else { metric_name(group[0]) };
    let mut row = vec![
        left(word("column-what"), what),
        left(word("column-where"), place),
        right(first, value(first)),
    ];
    row.extend(others.iter().map(|tool| right(tool, value(tool))));
    let over =
        |tool: &String| right(&words::ratio(first, tool), ratio(tool).unwrap_or_default());
    row.extend(others.iter().map(over));
    row.push(cells::limit_column(by(first).and_then(|it| it.percent_of_limit)));
    row
}

/// Returns the storage test, with the point of its response curve.
fn test_label(estimate: &MetricEstimate) -> Option<String> {
    let test = text(estimate, Attribute::Test).or_else(|| text(estimate, Attribute::Phase))?;
    let point =
        text(estimate, Attribute::PercentOfMax).or_else(|| text(estimate, Attribute::Point));
    Some(point.map_or_else(|| test.clone(), |point| with_detail(&test, &point)))
}
