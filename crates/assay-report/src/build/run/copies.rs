//! Copies between domains: a matrix of medians for each host and measurer, as Intel MLC prints it.

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
    let pairs = Block::Table(stream::table(context, &all, |_| String::new()));
    if matrices.is_empty() {
        document.blocks.push(pairs);
    } else {
        document.paragraph(Tone::Quiet, word("copies-explanation"));
        let details = Details { title: word("details-copies").to_owned(), blocks: vec![pairs] };
        document.blocks.push(Block::Details(details));
    }
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
        let mut caption = vec![message!("table-copies", unit = localise_symbol("GB/s"))];
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
                let value = precision::round_to_digits(estimate.median / 1e9, digits);
                units::quantity(value, Unit::Ratio, digits)
            }
            false => precision::value(estimate),
        };
        TableCell { text: shown, ..cells::notes(context, estimate) }
    }
}
