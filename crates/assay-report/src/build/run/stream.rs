//! Memory bandwidth: every placement, a condensed table of many similar domains, and the curve over
//! cores.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::ReportSection;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{is_concurrent, metric_name, number, text};
use super::{cells, words};
use crate::document::{Block, Details, Document, ReportTable, TableCell, Tone, left, right};
use crate::first_seen::{distinct, group_by, group_pairs};
use crate::locale::{comma, join_details, join_sentences, localise_list, semicolon, word};
use crate::precision::ColumnPrefixes;
use crate::{units, words as catalogue};

mod scaling;

/// Maximum number of domains of one class with rows each; more are condensed into their extremes.
const MAX_LISTED_DOMAINS: usize = 4;
const SCALING_CLASS: &str = "cores";

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::Bandwidth);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-bandwidth"));
    let is_scaling = |estimate: &&&MetricEstimate| domain_class(estimate) == SCALING_CLASS;
    let many = classes_with_many(&all);
    let is_one_of_many = |estimate: &&&MetricEstimate| many.contains(&domain_class(estimate));
    let scaling: Vec<_> = all.iter().filter(is_scaling).copied().collect();
    let condensed: Vec<_> =
        all.iter().filter(|e| is_one_of_many(e) && !is_scaling(e)).copied().collect();
    let single: Vec<_> =
        all.iter().filter(|e| !is_one_of_many(e) && !is_scaling(e)).copied().collect();
    add_table(document, context, &single);
    if !condensed.is_empty() {
        document.blocks.push(Block::Table(extremes_table(context, &condensed)));
    }
    let listed = [single.as_slice(), condensed.as_slice()].concat();
    document.paragraph(Tone::Quiet, describe_conditions(context, &listed));
    if let Some(text) = describe_choice(&all) {
        document.paragraph(Tone::Quiet, text);
    }
    document.paragraph(Tone::Quiet, words::byte_counting());
    add_limits(document, context, &all);
    document.blocks.extend(scaling::plot(&scaling).map(Block::Plot));
    let rest = [condensed.as_slice(), scaling.as_slice()].concat();
    if !rest.is_empty() {
        let blocks = vec![Block::Table(table(context, &rest, metric_name))];
        let title = word("details-bandwidth").to_owned();
        document.blocks.push(Block::Details(Details { title, blocks }));
    }
}

fn add_table(
    document: &mut Document,
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
) {
    if !estimates.is_empty() {
        document.blocks.push(Block::Table(table(context, estimates, metric_name)));
    }
}

/// Returns a table with one row per result, its name and its interval.
pub(super) fn table(
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
    name: impl Fn(&MetricEstimate) -> String,
) -> ReportTable {
    let interval = cells::interval_title(estimates);
    let titles = (word("column-value"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-bandwidth"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for estimate in estimates {
        let [value, interval] = cells::value_columns(titles, estimate, &prefixes);
        let kernel = text(estimate, Attribute::Kernel).unwrap_or_default();
        table.push([
            left(word("column-what"), name(estimate)),
            left(word("column-where"), context.place_label(estimate)),
            value,
            interval,
            cells::limit_column(estimate.percent_of_limit),
            cells::sample_column(estimate),
            cells::measurer_column(context, estimate),
            left(word("column-kernel"), localise_list(&kernel)),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}

/// Names the operations whose kernel was chosen within the noise; `None` if all choices were clear.
fn describe_choice(estimates: &[&MetricEstimate]) -> Option<String> {
    let is_unclear = |it: &&&MetricEstimate| {
        let fact = it.parameters.get(&Attribute::KernelWithinNoise);
        fact == Some(&AttributeValue::Flag(true))
    };
    let names: Vec<String> =
        distinct(estimates.iter().filter(is_unclear).map(|it| metric_name(it)));
    (!names.is_empty()).then(|| words::kernels_within_noise(&names.join(comma())))
}

/// Returns the class of the domain: `l3` for `l3:4`.
fn domain_class(estimate: &MetricEstimate) -> String {
    let placement = text(estimate, Attribute::Placement).unwrap_or_default();
    placement.split(':').next().unwrap_or_default().to_owned()
}

/// Returns the classes with many domains.
fn classes_with_many(estimates: &[&MetricEstimate]) -> BTreeSet<String> {
    let count = |wanted: &String| {
        let members = estimates.iter().filter(|estimate| domain_class(estimate) == *wanted);
        let places: BTreeSet<_> = members.map(|e| text(e, Attribute::Placement)).collect();
        places.len()
    };
    let classes: BTreeSet<String> =
        estimates.iter().map(|estimate| domain_class(estimate)).collect();
    classes.into_iter().filter(|class| count(class) > MAX_LISTED_DOMAINS).collect()
}

/// Returns the lowest, the middle and the highest median for each metric, measurer and class of
/// domain.
fn extremes_table(context: &ReportContext<'_>, estimates: &[&MetricEstimate]) -> ReportTable {
    let mut table = ReportTable::with_caption(word("table-extremes"));
    let prefixes = ColumnPrefixes::for_medians(estimates.iter().copied());
    for group in group_by_class(estimates) {
        let mut sorted = group.clone();
        sorted.sort_by(|a, b| a.median.total_cmp(&b.median));
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        let middle = sorted[sorted.len() / 2];
        let mode = if is_concurrent(low) { word("all-at-once") } else { word("each-alone") };
        let marks: BTreeSet<usize> =
            group.iter().flat_map(|estimate| context.notes.marks(estimate)).collect();
        let place = |estimate| text(estimate, Attribute::Placement).unwrap_or_default();
        let domains = words::domains(group.len(), &domain_class(low), mode);
        let marks = TableCell::with_marks(marks.into_iter().collect());
        table.push([
            left(word("column-what"), metric_name(low)),
            left(word("column-where"), domains),
            right(word("column-lowest"), prefixes.value(low)),
            left(word("column-in"), place(low)),
            right(word("column-middle"), prefixes.value(middle)),
            right(word("column-highest"), prefixes.value(high)),
            left(word("column-in"), place(high)),
            cells::limit_column(high.percent_of_limit),
            cells::measurer_column(context, low),
            left(word("column-note"), marks),
        ]);
    }
    table.without_empty_columns()
}

/// Groups results that differ only in their domain, in order of appearance, single domains before
/// concurrent ones.
fn group_by_class<'a>(estimates: &[&'a MetricEstimate]) -> Vec<Vec<&'a MetricEstimate>> {
    let key = |estimate: &MetricEstimate| {
        (
            is_concurrent(estimate),
            domain_class(estimate),
            estimate.host.clone(),
            estimate.metric.clone(),
            estimate.tool.name.clone(),
        )
    };
    let mut groups = group_by(estimates.iter().copied(), |it| key(it));
    groups.sort_by_key(|group| (domain_class(group[0]), is_concurrent(group[0])));
    groups
}

/// Describes threads and sizes, once for all placements that share them.
fn describe_conditions(context: &ReportContext<'_>, estimates: &[&MetricEstimate]) -> String {
    let conditions = estimates.iter().map(|estimate| {
        let threads = number(estimate, Attribute::Threads)
            .map(|threads| words::threads(threads as usize));
        let arrays = text(estimate, Attribute::BytesPerArray).map(|size| words::arrays(&size));
        let parameters =
            join_details(&[threads, arrays].into_iter().flatten().collect::<Vec<_>>());
        (parameters, context.place_label(estimate))
    });
    let groups = group_pairs(distinct(conditions));
    let line = |(how, places): (String, Vec<String>)| match places.as_slice() {
        [first, .., last] if places.len() > MAX_LISTED_DOMAINS => {
            message!("conditions", how = how, places = format!("{first} … {last}"))
        }
        [only] if only.is_empty() => how + word("full-stop"),
        places => message!("conditions", how = how, places = places.join(semicolon())),
    };
    let reported = groups.into_iter().filter(|(how, _)| !how.is_empty());
    join_sentences(&reported.map(line).collect::<Vec<_>>())
}

fn add_limits(
    document: &mut Document,
    context: &ReportContext<'_>,
    estimates: &[&MetricEstimate],
) {
    let mut reported: BTreeSet<String> = BTreeSet::new();
    for estimate in estimates {
        if let Some(limit) = &estimate.limit {
            let value = units::quantity(limit.value, estimate.unit, 4);
            reported.insert(words::limit(&value, &catalogue::basis(&limit.basis)));
        }
    }
    if reported.is_empty()
        && let Some(host) = estimates.first().and_then(|estimate| context.host_facts(estimate))
        // Imported runs lack the facts of the machine.
        && !host.topology.cpus.is_empty()
    {
        let guest = host.system.virtualization.as_deref().map(localise_list);
        reported
            .insert(words::no_memory_limit(host.memory.modules.is_some(), guest.as_deref()));
    }
    for line in reported {
        document.paragraph(Tone::Quiet, line);
    }
}
