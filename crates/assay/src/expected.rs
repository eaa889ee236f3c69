//! Published figures by name, and results held against them: `compare RUN SYSTEM`, `run --expect`.

use std::fmt::Write as _;

use assay_claims::reference::{self, Claim, Held, ReferenceError, Verdict};
use assay_model::path_text;
use assay_model::summary::{Estimate, Summary};
use assay_report::document::{Align, Block, Document, Table, Tone};
use assay_report::units::{percent, quantity};
use assay_report::words::{message, sentence};
use assay_run::failure::{Failure, Kind};
use serde::Serialize;

use crate::failure::{REGRESSION, UNDECIDED};
use crate::job_file;
use crate::page::Page;

/// The claims that a name means, if it is one of a reference: a system, or a file of the user's.
pub(crate) fn named(name: &str) -> Option<Result<Vec<Claim>, Failure>> {
    if path_text::path(name).extension().is_some_and(|it| it.eq_ignore_ascii_case("toml")) {
        return Some(own(name));
    }
    name.contains('/').then(|| of_system(name))
}

pub(crate) fn of_system(name: &str) -> Result<Vec<Claim>, Failure> {
    reference::of_system(name).map_err(|error| {
        Failure::usage(error.to_string()).advise("`assay references` lists the systems")
    })
}

fn own(path: &str) -> Result<Vec<Claim>, Failure> {
    let file = &path_text::path(path);
    let text = job_file::read_text(file).map_err(|error| job_file::unreadable(file, &error))?;
    reference::read(&text).map_err(|error| {
        let advice = match error {
            ReferenceError::NoUnit { .. } | ReferenceError::Figure { .. } => {
                "a figure without its unit is none: write value = \"260 GB/s\""
            }
            _ => "docs/references.md shows a file of references",
        };
        let failure =
            Failure::new(Kind::Suite, format!("{} is no file of references", file.display()))
                .because(&error)
                .advise(advice);
        match error {
            ReferenceError::Toml { span, .. } => failure.at(path, &text, span),
            _ => failure,
        }
    })
}

/// `about 260 GB/s`.
pub(crate) fn said(claim: &Claim) -> String {
    format!("{} {}", claim.qualifier.word(), claim.printed).trim().to_owned()
}

/// Results beside what was published of them; `None` where nothing was.
pub(crate) fn held(summary: &Summary, claims: &[Claim], name: &str) -> Option<(Document, u8)> {
    let held = reference::hold(&summary.results, claims);
    if held.is_empty() {
        return None;
    }
    Some((document(&held, name), code_of(&held)))
}

/// Whether all that decides is reached: a conflict of the sources cannot tell.
fn code_of(held: &[Held<'_>]) -> u8 {
    let has = |verdict| held.iter().any(|it| it.verdict == verdict);
    if has(Verdict::Missed) {
        REGRESSION
    } else if has(Verdict::Conflict) {
        UNDECIDED
    } else {
        0
    }
}

fn document(held: &[Held<'_>], name: &str) -> Document {
    let mut document = Document::new(sentence("held-title", &[("name", name)]));
    let columns = [
        (message("column-what"), Align::Left),
        (message("column-you"), Align::Right),
        (message("column-published"), Align::Right),
        (message("column-conditions"), Align::Left),
        (message("column-you-share"), Align::Right),
        (message("column-when"), Align::Left),
        (message("column-follows"), Align::Left),
        (message("column-note"), Align::Left),
    ];
    let mut table = Table::new("", &columns);
    for it in held {
        for (number, claim) in it.claims.iter().enumerate() {
            let first = number == 0;
            let reported = |text: String| if first { text } else { String::new() };
            table.rows.push(vec![
                reported(what(it.estimate)).into(),
                reported(quantity(it.estimate.median, it.estimate.unit, 4)).into(),
                joined(&said(claim)).into(),
                claim.conditions.as_str().into(),
                percent(100.0 * it.estimate.median / claim.quantity.value).into(),
                claim.date.as_str().into(),
                reported(shown(it.verdict).to_owned()).into(),
                claim.note.as_str().into(),
            ]);
        }
    }
    document.blocks.push(Block::Table(table.without_empty_columns()));
    let tolerance = percent(100.0 * reference::TOLERANCE);
    document.paragraph(Tone::Quiet, sentence("held-explanation", &[("tolerance", &tolerance)]));
    document
}

/// A figure and its unit stay on one line.
fn joined(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

fn what(estimate: &Estimate) -> String {
    format!("{} {}", estimate.metric.replace('_', " "), estimate.case)
}

fn shown(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reached => message("held-reached"),
        Verdict::Missed => message("held-missed"),
        Verdict::Conflict => message("held-conflict"),
        Verdict::Shown => "",
    }
}

/// The same for programs.
const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reached => "reached",
        Verdict::Missed => "missed",
        Verdict::Conflict => "sources differ",
        Verdict::Shown => "",
    }
}

/// The machine-readable answer.
#[derive(Serialize)]
struct Row<'a> {
    benchmark: &'a str,
    metric: &'a str,
    case: &'a str,
    median: f64,
    verdict: Verdict,
    claims: &'a [&'a Claim],
}

/// One result beside its references, for `compare RUN SYSTEM`.
pub(crate) fn page<T>(
    summary: &Summary,
    (claims, name): (&[Claim], &str),
    publish: impl FnOnce(Page<'_>) -> T,
) -> Result<(T, u8), Failure> {
    let held = reference::hold(&summary.results, claims);
    if held.is_empty() {
        return Err(Failure::usage(format!(
            "nothing that was published of {name} was measured here"
        ))
        .advise(format!(
            "`assay references {name}` shows what it is about; an imported run may lack \
                             dimensions: `assay import --set placement=node`"
        )));
    }
    let rows: Vec<Row<'_>> = held
        .iter()
        .map(|it| Row {
            benchmark: &it.estimate.benchmark,
            metric: &it.estimate.metric,
            case: &it.estimate.case,
            median: it.estimate.median,
            verdict: it.verdict,
            claims: &it.claims,
        })
        .collect();
    let json = serde_json::to_string_pretty(&rows).map_err(|error| {
        Failure::new(Kind::Internal, "the result cannot be written as JSON").because(&error)
    })? + "\n";
    let published = publish(Page {
        document: document(&held, name),
        json: &|| json.clone(),
        csv: &|| csv(&held),
        again: None,
    });
    Ok((published, code_of(&held)))
}

fn csv(held: &[Held<'_>]) -> String {
    let mut text =
        "case,metric,median,unit,published,qualifier,date,source,verdict\n".to_owned();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for it in held {
        for claim in &it.claims {
            let Estimate { case, metric, median, unit, .. } = it.estimate;
            let _ = writeln!(
                text,
                "{},{metric},{median},{},{},{},{},{},{}",
                quoted(case),
                unit.symbol(),
                claim.quantity.value,
                quoted(claim.qualifier.word()),
                claim.date,
                quoted(&claim.source),
                word(it.verdict)
            );
        }
    }
    text
}
