//! `assay lint`: pages held against the laws and against what they were made from.

use std::path::Path;

use assay_claims::figure::figures;
use assay_claims::lint::{self, Finding, MOST_BYTES, sarif};
use assay_model::path_text;
use assay_model::quantity::Bytes;
use assay_report::{build, render};
use assay_run::failure::Failure;
use assay_stats::summarize::summarize;
use serde::Serialize;

use crate::arguments::claims::{LintArguments, LintFormat};
use crate::failure::REGRESSION;
use crate::terminal::Terminal;
use crate::{job_file, output_file, page, stored};

#[derive(Serialize)]
struct Document<'a> {
    page: &'a str,
    findings: &'a [Finding],
}

/// The exit code says whether anything is wrong that was not mended.
pub(crate) fn lint(typed: &LintArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let source =
        typed.against.as_deref().map(|name| source(name, typed, terminal)).transpose()?;
    let mut pages = Vec::new();
    for path in &typed.pages {
        let text = read(path)?;
        let name = path.display().to_string();
        if figures(&text).is_empty() {
            terminal.note(&format!("{name}: there is no figure in it"));
        }
        let mut found = lint::lint(&text, source.as_deref());
        if typed.fix {
            let (mended, count) = lint::fixed(&text, &found);
            if count > 0 {
                output_file::write(path, &mended)?;
                terminal.note(&format!("{name}: {count} mended"));
                found = lint::lint(&mended, source.as_deref());
            }
        }
        pages.push((name, found));
    }
    let format = if typed.json { LintFormat::Json } else { typed.format };
    let text = match format {
        LintFormat::Text => pages.iter().map(|(name, found)| lines(name, found)).collect(),
        LintFormat::Sarif => sarif::document(&pages, env!("CARGO_PKG_VERSION")),
        LintFormat::Json => {
            let of = |(page, findings): &'_ (String, Vec<Finding>)| -> serde_json::Value {
                serde_json::json!(Document { page, findings })
            };
            page::json(&pages.iter().map(of).collect::<Vec<_>>())?
        }
    };
    match &typed.output {
        Some(file) => output_file::write(file, &text)?,
        None => terminal.print(&text),
    }
    Ok(if pages.iter().all(|(_, found)| found.is_empty()) { 0 } else { REGRESSION })
}

/// `page.md:7:24: wrong-unit: …`.
fn lines(name: &str, found: &[Finding]) -> String {
    let line = |it: &Finding| {
        let Finding { line, column, message, .. } = it;
        let fix = it.replacement.as_ref().map_or("", |_| " (--fix)");
        format!("{name}:{line}:{column}: {}: {message}{fix}\n", it.rule.name())
    };
    found.iter().map(line).collect()
}

fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let unread = |error: std::io::Error| job_file::unreadable(path, &error);
    let status = path.metadata().map_err(unread)?;
    if !status.is_file() || status.len() > MOST_BYTES {
        return Err(Failure::usage(format!("{shown} is no page"))
            .explain(format!("a page is a file of at most {}", Bytes(MOST_BYTES)))
            .advise("name a file of Markdown or HTML"));
    }
    job_file::read_text(path).map_err(unread)
}

/// The page that it was made from: a file, or what `assay report` writes of a run.
fn source(
    name: &str,
    typed: &LintArguments,
    terminal: &mut Terminal,
) -> Result<String, Failure> {
    let file = path_text::path(name);
    if file.is_file() {
        return read(&file);
    }
    let run = stored::run(&typed.store, name, terminal).map_err(|failure| {
        failure.advise(format!("or name a page: there is no file `{}`", file.display()))
    })?;
    Ok(render::markdown::document(&build::run(&summarize(&run), Some(&run))))
}
