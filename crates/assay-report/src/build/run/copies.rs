//! Copies between domains, and loads between NUMA nodes: a matrix of medians for each host, measurer and
//! metric, as Intel MLC prints it.

use assay_model::attribute::Attribute;
use assay_model::benchmark::ReportSection;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::text;
use super::{cells, stream};
use crate::document::{Block, Details, Document, ReportTable, TableCell, Tone, left, right};
use crate::first_seen::{distinct, group_by};
use crate::locale::{join_details, localise_symbol, word};
use crate::{precision, units};

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::Copies);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-copies"));
    let groups = group_by_measurer(&all);
    let matrices: Vec<CopyMatrix<'_>> =
        groups.iter().filter_map(|group| CopyMatrix::from_estimates(group)).collect();
    for matrix in &matrices {
        document.blocks.push(Block::Table(matrix.table(context)));
    }
    let pairs = pair_tables(context, &all);
    if matrices.is_empty() {
        document.blocks.extend(pairs);
    } else {
        document.paragraph(Tone::Quiet, word("copies-explanation"));
        let details = Details { title: word("details-copies").to_owned(), blocks: pairs };
        document.blocks.push(Block::Details(details));
    }
    if all.iter().any(|it| has_one_node(context, it)) {
        document.paragraph(Tone::Quiet, word("copies-one-node"));
    }
}

/// Whether the facts of the host have a single NUMA node.
fn has_one_node(context: &ReportContext<'_>, estimate: &MetricEstimate) -> bool {
    let topology = context.host_facts(estimate).map(|host| &host.topology);
    topology.is_some_and(|it| it.node_count() == 1)
}

/// Returns a table of all pairs for each metric.
fn pair_tables(context: &ReportContext<'_>, all: &[&MetricEstimate]) -> Vec<Block> {
    let by_metric = group_by(all.iter().copied(), |it| it.metric.clone());
    let table = |group: Vec<&MetricEstimate>| {
        let table = stream::table(context, &group, |_| String::new());
        let caption = is_latency(group[0]).then(|| word("column-latency").to_owned());
        Block::Table(ReportTable { caption: caption.unwrap_or(table.caption), ..table })
    };
    by_metric.into_iter().map(table).collect()
}

fn is_latency(estimate: &MetricEstimate) -> bool {
    estimate.unit == Unit::Second
}

/// Groups the results by host and measurer, in order of appearance.
fn group_by_measurer<'a>(all: &[&'a MetricEstimate]) -> Vec<Vec<&'a MetricEstimate>> {
    let key = |it: &MetricEstimate| (it.host.clone(), it.tool.clone(), it.metric.clone());
    group_by(all.iter().copied(), |it| key(it))
}

/// Results of all pairs of some domains.
struct CopyMatrix<'a> {
    estimates: &'a [&'a MetricEstimate],
    /// Source domains, in order of appearance.
    sources: Vec<String>,
    /// Destination domains, in order of appearance.
    domains: Vec<String>,
}

impl<'a> CopyMatrix<'a> {
    /// Returns `None` for fewer than two domains.
    fn from_estimates(estimates: &'a [&'a MetricEstimate]) -> Option<Self> {
        let [sources, domains] = [Attribute::Source, Attribute::Placement]
            .map(|name| distinct(estimates.iter().filter_map(|it| text(it, name))));
        (sources.len() > 1 || domains.len() > 1).then_some(Self { estimates, sources, domains })
    }

    fn table(&self, context: &ReportContext<'_>) -> ReportTable {
        let title = match is_latency(self.estimates[0]) {
            true => message!("table-node-latency", unit = localise_symbol("ns")),
            false => message!("table-copies", unit = localise_symbol("GB/s")),
        };
        let mut caption = vec![title];
        caption.extend(context.has_several_hosts.then(|| self.estimates[0].host.clone()));
        let by = || self.estimates[0].tool.name.clone();
        caption.extend(context.has_several_measurers.then(by));
        let mut table = ReportTable::with_caption(join_details(&caption));
        for domain in &self.domains {
            let cell = |source: &String| right(source, self.cell(context, source, domain));
            let cells = self.sources.iter().map(cell);
            table.push(std::iter::once(left("", &**domain)).chain(cells));
        }
        table
    }

    /// Returns the median of a pair; empty if the pair has no result.
    fn cell(&self, context: &ReportContext<'_>, source: &str, domain: &str) -> TableCell {
        let is = |it: &MetricEstimate, name, value| text(it, name).as_deref() == Some(value);
        let found = self.estimates.iter().find(|it| {
            is(it, Attribute::Source, source) && is(it, Attribute::Placement, domain)
        });
        let Some(estimate) = found else { return TableCell::default() };
        let shown = match estimate.median.is_finite() {
            true => {
                let digits = precision::estimate_digits(estimate);
                let scale = if is_latency(estimate) { 1e-9 } else { 1e9 };
                let value = precision::round_to_digits(estimate.median / scale, digits);
                units::quantity(value, Unit::Ratio, digits)
            }
            false => precision::value(estimate),
        };
        TableCell { text: shown, ..cells::notes(context, estimate) }
    }
}
