//! Pages of published figures with their sources.

use assay_claims::reference::Claim;
use assay_report::document::{Block, ColumnAlignment, Document, ReportTable, Tone};
use assay_report::words::{message, sentence};

use crate::published_figures::format_claim;

/// Lists the systems of all claims.
pub fn systems_document(claims: &[Claim]) -> Document {
    let mut document = Document::new(message("references-title"));
    let columns = [
        (message("column-system"), ColumnAlignment::Left),
        (message("column-figures"), ColumnAlignment::Right),
        (message("column-published"), ColumnAlignment::Left),
        (message("column-which-is"), ColumnAlignment::Left),
    ];
    let mut table = ReportTable::new("", &columns);
    for group in claims.chunk_by(|a, b| a.system == b.system) {
        let dates = || group.iter().map(|it| it.date.as_str()).filter(|date| !date.is_empty());
        let (first, last) = (dates().min().unwrap_or(""), dates().max().unwrap_or(""));
        let published = if first == last {
            first.to_owned()
        } else {
            sentence("from-to", &[("first", first), ("last", last)])
        };
        let (system, name) = (group[0].system.as_str(), group[0].name.as_str());
        let count = group.len().to_string();
        table.rows.push(vec![system.into(), count.into(), published.into(), name.into()]);
    }
    document.blocks.push(Block::Table(table));
    document.paragraph(Tone::Quiet, message("references-hint"));
    document
}

/// Lists the claims about one system, by their sources.
pub fn claims_document(claims: &[Claim]) -> Document {
    let system = claims.first().map(|it| it.system.as_str()).unwrap_or_default();
    let mut document = Document::new(sentence("references-title-of", &[("system", system)]));
    let columns = [
        (message("column-what"), ColumnAlignment::Left),
        (message("column-conditions"), ColumnAlignment::Left),
        (message("column-figure"), ColumnAlignment::Right),
        (message("column-note"), ColumnAlignment::Left),
    ];
    let source = |it: &Claim| (it.system.clone(), it.date.clone(), it.source.clone());
    for group in claims.chunk_by(|a, b| source(a) == source(b)) {
        document.heading(format!("{} {}", group[0].name, group[0].date));
        let from = sentence("references-source", &[("source", &group[0].source)]);
        document.paragraph(Tone::Quiet, from);
        let mut table = ReportTable::new("", &columns);
        for it in group {
            let what = it.what.as_str();
            let conditions = it.conditions.as_str();
            table.rows.push(vec![
                what.into(),
                conditions.into(),
                format_claim(it).into(),
                it.note.as_str().into(),
            ]);
        }
        document.blocks.push(Block::Table(table.without_empty_columns()));
    }
    document
}
