//! Verdicts between two labels: the page of `assay compare`, and the data that the comparison of
//! ticked runs shows.

use std::collections::BTreeMap;

use assay_model::comparison::Comparison;
use serde_json::{Value, json};

use super::data::tone_class;
use super::script::assign;
use super::short_text;
use crate::build;
use crate::document::Document;
use crate::locale::with_detail;
use crate::render::html;
use crate::words::without_no_break_spaces;

/// Comparison of two labels on one host, as the site shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteVerdict<'v> {
    /// Name of the host.
    pub host: &'v str,
    /// Name of its files, without their endings.
    pub file: &'v str,
    /// The comparison of all runs of both labels.
    pub comparison: &'v Comparison,
    /// Key of each pair, by which results of runs are matched.
    pub keys: &'v [(String, usize)],
}

/// Pair of labels of the list of verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteLabels<'v> {
    /// Name of the host.
    pub host: &'v str,
    /// The older label, and the newer one.
    pub labels: [&'v str; 2],
    /// Name of the files of the verdict, without their endings.
    pub file: &'v str,
    /// Conclusion in one sentence.
    pub conclusion: &'v str,
}

/// Returns the conclusion of a comparison in one sentence of the current language.
pub fn verdict_conclusion(comparison: &Comparison) -> String {
    without_no_break_spaces(&build::verdict_texts(comparison).0)
}

/// Renders the page of a verdict, as `assay compare --format html` writes it.
pub fn verdict_page(verdict: &SiteVerdict<'_>) -> String {
    let document = build::comparison(verdict.comparison);
    let title = with_detail(&document.title, &short_text(verdict.host));
    html::site_page(&Document { title, ..document }, "../index.html")
}

/// Renders the verdicts for the comparison of ticked runs, by the keys of their results.
pub fn verdict_script(verdict: &SiteVerdict<'_>) -> String {
    let comparison = verdict.comparison;
    let (conclusion, texts) = build::verdict_texts(comparison);
    let decided = verdict.keys.iter().zip(&texts).filter(|(_, it)| !it.verdict.is_empty());
    let rows = decided.map(|((key, index), texts)| {
        let tone = tone_class(texts.verdict.tone);
        let cells = json!([texts.verdict.text, tone, texts.ratio, texts.range]);
        (format!("{key}#{index}"), cells)
    });
    let words = ["compare", &comparison.a.name, &comparison.b.name, "--host", verdict.host];
    let data = json!({
        "conclusion": without_no_break_spaces(&conclusion),
        "command": build::command_line(&["assay"], &words.map(str::to_owned)),
        "verdicts": rows.collect::<BTreeMap<_, _>>(),
    });
    let place = format!("(self.assayVerdicts ??= {{}})[{}]", Value::from(verdict.file));
    assign(&place, &data)
}

/// Renders the list of all pairs of labels with a verdict.
pub fn labels_script(pairs: &[SiteLabels<'_>]) -> String {
    let row = |pair: &SiteLabels<'_>| {
        let [one, two] = pair.labels.map(short_text);
        json!([short_text(pair.host), one, two, pair.file, pair.conclusion])
    };
    assign("self.assayLabels", &pairs.iter().map(row).collect())
}
