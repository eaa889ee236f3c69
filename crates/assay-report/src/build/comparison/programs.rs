//! Comparison of programs that took turns: each with the first one, in one table.

use assay_model::attribute::Attribute;
use assay_model::comparison::{Comparison, MetricComparison};

use super::super::run::estimate_parts::figure_name;
use super::super::run::words;
use super::{explanation, ratio_cells, sort_key, verdict_cell};
use crate::document::{Block, Document, ReportTable, Tone, left, right};
use crate::locale::word;
use crate::precision;
use crate::words::dimension;

/// Inserts the table of programs compared with the first one before the sections of their run.
pub fn add_programs(document: &mut Document, comparisons: &[Comparison]) {
    let Some(first) = comparisons.first() else { return };
    let mut section = Document::new("");
    section.heading(message!("programs-compared", first = &first.a.name));
    section.blocks.push(Block::Table(table(comparisons, first)));
    section.paragraph(Tone::Quiet, explanation(first));
    document.insert_before_sections(section.blocks);
}

fn table(comparisons: &[Comparison], first: &Comparison) -> ReportTable {
    let ratio = format!("÷ {}", first.a.name);
    let interval = words::interval(Some(first.level));
    let mut table = ReportTable::with_caption(word("table-programs"));
    let mut metrics: Vec<&MetricComparison> =
        comparisons.iter().flat_map(|it| &it.pairs).collect();
    metrics.sort_by_key(|pair| sort_key(&pair.a));
    let mut names: Vec<String> = metrics.iter().map(|pair| figure_name(&pair.a)).collect();
    names.dedup();
    for name in names {
        for comparison in comparisons {
            let pairs = comparison.pairs.iter().filter(|pair| figure_name(&pair.a) == name);
            for pair in pairs {
                let [over_first, over_interval] = ratio_cells(pair);
                table.push([
                    left(word("column-what"), &*name),
                    left(dimension(Attribute::Program), &*comparison.b.name),
                    right(word("column-median"), precision::value(&pair.b)),
                    right(&ratio, over_first),
                    right(&interval, over_interval),
                    left(word("column-verdict"), verdict_cell(pair)),
                ]);
            }
        }
    }
    table.with_pinned(word("column-verdict"))
}
