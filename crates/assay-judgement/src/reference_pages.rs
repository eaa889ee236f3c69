//! Pages of published figures with their sources.

use assay_claims::reference::Claim;
use assay_report::document::{Block, Document, ReportTable, Tone, left, right};
use assay_report::words::{message, sentence};

use crate::published_figures::format_claim;

/// Lists the systems of all claims.
pub fn systems_document(claims: &[Claim]) -> Document {
    let mut document = Document::new(message("references-title"));
    let mut table = ReportTable::with_caption("");
    for group in claims.chunk_by(|a, b| a.system == b.system) {
        let dates = || group.iter().map(|it| it.date.as_str()).filter(|date| !date.is_empty());
        let (first, last) = (dates().min().unwrap_or(""), dates().max().unwrap_or(""));
        let published = if first == last {
            first.to_owned()
        } else {
            sentence("from-to", &[("first", first), ("last", last)])
        };
        table.push([
            left(message("column-system"), &*group[0].system),
            right(message("column-figures"), group.len().to_string()),
            left(message("column-published"), published),
            left(message("column-which-is"), &*group[0].name),
        ]);
    }
    document.blocks.push(Block::Table(table));
    document.paragraph(Tone::Quiet, message("references-hint"));
    document
}

/// Lists the claims about one system, by their sources.
pub fn claims_document(claims: &[Claim]) -> Document {
    let system = claims.first().map(|it| it.system.as_str()).unwrap_or_default();
    let mut document = Document::new(sentence("references-title-of", &[("system", system)]));
    let source = |it: &Claim| (it.system.clone(), it.date.clone(), it.source.clone());
    for group in claims.chunk_by(|a, b| source(a) == source(b)) {
        document.heading(format!("{} {}", group[0].name, group[0].date));
        let from = sentence("references-source", &[("source", &group[0].source)]);
        document.paragraph(Tone::Quiet, from);
        let mut table = ReportTable::with_caption("");
        for it in group {
            table.push([
                left(message("column-what"), &*it.what),
                left(message("column-conditions"), &*it.conditions),
                right(message("column-figure"), format_claim(it)),
                left(message("column-note"), &*it.note),
            ]);
        }
        document.blocks.push(Block::Table(table.without_empty_columns()));
    }
    document
}
