//! `assay lint`: checks pages for plausibility and against their sources.

use assay_claims::lint::{LintFinding, sarif};
use assay_console::json_document::to_json;
use assay_judgement::page_lint::{LintSource, PageFile, format_findings};
use assay_model::path_text;
use assay_run::failure::CommandFailure;
use serde::Serialize;
use serde_json::json;

use crate::arguments::claims::{LintArguments, LintFormat};
use crate::failure::ExitStatus;
use crate::terminal::Terminal;
use crate::{output_file, store_access};

#[derive(Serialize)]
struct LintDocument<'a> {
    page: &'a str,
    findings: &'a [LintFinding],
}

/// Checks the pages. The exit code shows whether any finding was left unfixed.
pub(crate) fn lint(
    typed: &LintArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let source =
        typed.against.as_deref().map(|name| read_source(name, typed, terminal)).transpose()?;
    let mut pages = Vec::new();
    for path in &typed.pages {
        let page = PageFile::read(path)?;
        let name = page.name();
        let mut check = page.check(source.as_ref(), typed.all);
        check.notes.iter().for_each(|note| terminal.note(&format!("{name}: {note}")));
        if typed.fix
            && let Some(fixed) = check.fix(&page)?
        {
            output_file::write(path, &fixed.text)?;
            terminal.note(&format!("{name}: {} fixed", fixed.count));
        }
        match (check.figures, check.findings.len()) {
            (0, _) | (_, 1..) => {}
            (1, 0) => terminal.note(&format!("{name}: one figure found, not doubted")),
            (n, 0) => terminal.note(&format!("{name}: {n} figures found, none doubted")),
        }
        pages.push((name, check.findings));
    }
    let text = match typed.format() {
        LintFormat::Text => {
            pages.iter().map(|(name, findings)| format_findings(name, findings)).collect()
        }
        LintFormat::Sarif => sarif::document(&pages, env!("CARGO_PKG_VERSION")),
        LintFormat::Json => {
            let documents =
                pages.iter().map(|(page, findings)| LintDocument { page, findings });
            to_json(&json!({ "pages": documents.collect::<Vec<_>>() }))?
        }
    };
    match &typed.output {
        Some(file) => output_file::write(file, &text)?,
        None => terminal.print(&text),
    }
    let is_clean = pages.iter().all(|(_, findings)| findings.is_empty());
    Ok(if is_clean { ExitStatus::Success } else { ExitStatus::Regression }.code())
}

/// Reads the source of the page: a file, or a run.
fn read_source(
    name: &str,
    typed: &LintArguments,
    terminal: &mut Terminal,
) -> Result<LintSource, CommandFailure> {
    let file = path_text::decode_path(name);
    if file.is_file() {
        return LintSource::read_page(&file);
    }
    let run = store_access::read_and_warn(&typed.store, name, terminal).map_err(|failure| {
        failure.advise(format!(
            "name a run or a page; the file `{}` does not exist",
            file.display()
        ))
    })?;
    Ok(LintSource::Run(Box::new(run)))
}
