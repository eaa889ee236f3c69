//! Check of a page for plausibility and against a source: another page, or a stored run.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use assay_claims::figure::find_figures;
use assay_claims::lint::{self, Confidence, LintFinding, MAX_PAGE_BYTES, PageFindings, Rule};
use assay_claims::page::LintPage;
use assay_model::quantity::Bytes;
use assay_model::run::Run;
use assay_report::locale::{Language, Locale};
use assay_report::{build, render};
use assay_run::failure::CommandFailure;
use assay_run::job_file;
use assay_stats::summarize::summarize;

/// Page as read from its file, or from standard input.
#[derive(Debug)]
pub struct PageFile {
    path: PathBuf,
    text: String,
    is_utf16: bool,
}

/// Findings of a page.
#[derive(Debug)]
pub struct PageCheck {
    /// Number of figures of the page.
    pub figures: usize,
    /// Findings that were not corrected.
    pub findings: Vec<LintFinding>,
    /// Parts of the check that were not possible.
    pub notes: Vec<String>,
    /// Source in the format and language of the page.
    source: Option<String>,
    are_possible_included: bool,
}

/// Corrected page.
#[derive(Debug)]
pub struct FixedPage {
    /// Text after all corrections.
    pub text: String,
    /// Number of corrections.
    pub count: usize,
}

impl PageFile {
    /// Reads a page to check.
    ///
    /// # Errors
    /// A file that cannot be read, or is no page.
    pub fn read(path: &Path) -> Result<Self, CommandFailure> {
        let page = read_page(path)?;
        if is_json(&page.text) { Err(json_error(&page.name())) } else { Ok(page) }
    }

    /// Returns the name of the page, as typed.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Checks the page; findings that may be right are included on request.
    pub fn check(&self, source: Option<&LintSource>, are_possible_included: bool) -> PageCheck {
        let mut notes = Vec::new();
        let figures = find_figures(&self.text).len();
        if figures == 0 {
            notes.push("no figures found".to_owned());
        }
        let source = source.map(|source| source.rendered_like(&self.text, &self.path));
        let PageFindings { findings, gap } = lint::check_page(&self.text, source.as_deref());
        notes.extend(gap);
        let findings = retain_errors(findings, are_possible_included);
        PageCheck { figures, findings, notes, source, are_possible_included }
    }
}

impl PageCheck {
    /// Applies unambiguous corrections; `None` if there are none. The findings are then those of the
    /// corrected page.
    ///
    /// # Errors
    /// If the page cannot be written back: standard input, and UTF-16.
    pub fn fix(&mut self, page: &PageFile) -> Result<Option<FixedPage>, CommandFailure> {
        let (text, count) = lint::apply_fixes(&page.text, &self.findings);
        if count > 0 && page.is_utf16 {
            return Err(utf16_error(&page.name()));
        }
        if page.path == Path::new(STANDARD_INPUT) {
            return Err(CommandFailure::usage("cannot correct standard input")
                .advise("write the page to a file, and name it"));
        }
        if count == 0 {
            return Ok(None);
        }
        let findings = lint::lint(&text, self.source.as_deref());
        self.findings = retain_errors(findings, self.are_possible_included);
        Ok(Some(FixedPage { text, count }))
    }
}

/// Returns the findings without the possible ones, unless they were requested.
fn retain_errors(
    mut findings: Vec<LintFinding>,
    are_possible_included: bool,
) -> Vec<LintFinding> {
    findings.retain(|it| are_possible_included || it.confidence > Confidence::Possible);
    findings
}

/// Formats findings, such as `page.md:7:24: wrong-unit: …`. A page with another language's decimal
/// marks has them everywhere, so only the first few are printed.
pub fn format_findings(name: &str, findings: &[LintFinding]) -> String {
    const MAX_MARKS: usize = 3;
    let mut marks = 0;
    let mut lines: Vec<String> = Vec::new();
    for it in findings {
        marks += usize::from(it.rule == Rule::DecimalMark);
        if it.rule == Rule::DecimalMark && marks > MAX_MARKS {
            continue;
        }
        let LintFinding { line, column, message, .. } = it;
        let fix = it.replacement.as_ref().map_or("", |_| " (--fix)");
        let confidence = it.confidence.name();
        let rule = it.rule.name();
        lines.push(format!("{name}:{line}:{column}: {rule}: {message} [{confidence}]{fix}\n"));
    }
    if marks > MAX_MARKS {
        let (rule, omitted) = (Rule::DecimalMark.name(), marks - MAX_MARKS);
        lines
            .push(format!("{name}: {rule}: {omitted} more (--fix; --format json lists all)\n"));
    }
    lines.concat()
}

/// Whether the text is one or several JSON documents.
fn is_json(text: &str) -> bool {
    let mut documents =
        serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    text.trim_start().starts_with(['{', '[']) && documents.all(|it| it.is_ok())
}

fn json_error(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("{name} is not a page"))
        .with_reason("it is JSON, and figures are checked in Markdown and HTML".to_owned())
        .advise("store the results of a tool with `assay import FILE`, and check their page")
}

/// Name of the page on standard input.
const STANDARD_INPUT: &str = "-";

fn read_page(path: &Path) -> Result<PageFile, CommandFailure> {
    let name = path.display();
    let bytes = read_bytes(path)?;
    if let Some(text) = decode_utf16(&bytes) {
        return Ok(PageFile { path: path.to_owned(), text, is_utf16: true });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        CommandFailure::usage(format!("{name} is not UTF-8"))
            .with_reason(format!("byte {offset} is not valid UTF-8"))
            .advise("convert it, for example with `iconv -f WINDOWS-1252 -t UTF-8 FILE`")
    })?;
    Ok(PageFile { path: path.to_owned(), text, is_utf16: false })
}

/// Reads a file, or standard input, up to the maximum size of a page.
fn read_bytes(path: &Path) -> Result<Vec<u8>, CommandFailure> {
    let read_error = |error: std::io::Error| job_file::unreadable_error(path, &error);
    let no_page = || {
        CommandFailure::usage(format!("{} is not a page", path.display()))
            .with_reason(format!("a page is a file of at most {}", Bytes(MAX_PAGE_BYTES)))
            .advise("name a Markdown or HTML file")
    };
    if path == Path::new(STANDARD_INPUT) {
        let mut bytes = Vec::new();
        let input = std::io::stdin().lock();
        input.take(MAX_PAGE_BYTES + 1).read_to_end(&mut bytes).map_err(read_error)?;
        return if bytes.len() as u64 > MAX_PAGE_BYTES { Err(no_page()) } else { Ok(bytes) };
    }
    if let Some(address) = path.to_str().filter(|it| it.contains("://") && !path.exists()) {
        return Err(CommandFailure::usage(format!("cannot read {address}"))
            .with_reason("pages are read from files, never from a network")
            .advise(format!("`curl -fsL {address} | assay lint -`")));
    }
    let status = path.metadata().map_err(read_error)?;
    if !status.is_file() || status.len() > MAX_PAGE_BYTES {
        return Err(no_page());
    }
    job_file::read(path).map_err(read_error)
}

/// Decodes UTF-16 with a byte order mark; `None` for any other text.
fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let to_unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (units, rest) = bytes.as_chunks::<2>();
    let units = units.iter().skip(1).map(|it| to_unit(*it));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.ok().filter(|_| rest.is_empty())
}

fn utf16_error(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("cannot correct {name}"))
        .with_reason("it is UTF-16, and corrected pages are written in UTF-8".to_owned())
        .advise("convert it, for example with `iconv -f UTF-16 -t UTF-8 FILE`")
}

/// Source to compare pages with.
#[derive(Debug)]
pub enum LintSource {
    /// Page.
    Page(String),
    /// Run, which can be rendered in the format of any page.
    Run(Box<Run>),
}

impl LintSource {
    /// Reads a page.
    ///
    /// # Errors
    /// A file that cannot be read, or is no page.
    pub fn read_page(path: &Path) -> Result<Self, CommandFailure> {
        read_page(path).map(|page| Self::Page(page.text))
    }

    /// Returns the source in the format and language of the page.
    fn rendered_like(&self, text: &str, path: &Path) -> String {
        match self {
            Self::Page(source) => source.clone(),
            Self::Run(run) => render_run_like(run, text, path),
        }
    }
}

/// Renders a run as `assay report` would for this page. A page need not state its language and
/// format; of all candidates, the one with the fewest findings is returned.
fn render_run_like(run: &Run, text: &str, path: &Path) -> String {
    let page = LintPage::read(text);
    let stem = path.file_stem().and_then(OsStr::to_str);
    let summary = summarize(run);
    let alone = lint::lint(text, None).len();
    let page_locale = page.language.as_deref().and_then(Locale::from_tag);
    let locales = Locale::ALL
        .into_iter()
        .filter(|it| page_locale.is_none_or(|page_locale| page_locale == *it));
    let units = [false, true];
    let of_locale =
        |locale| units.map(|has_invariant_units| Language { locale, has_invariant_units });
    let languages = [Language::INVARIANT].into_iter().chain(locales.flat_map(of_locale));
    let learn = |stem| {
        let subject = build::default_subject(std::slice::from_ref(&summary));
        let runs = std::slice::from_ref(run);
        render::learn::document(&build::learn(&subject, &[&summary], runs), stem).0
    };
    let markdown = || render::markdown::document(&build::run(&summary, Some(run)));
    let html = || render::html::document(&build::run_page(&summary, Some(run)));
    let mut nearest: Option<(usize, String)> = None;
    for language in languages {
        let candidates: [Option<String>; 3] = language.scope(|| {
            if page.is_html {
                [Some(html()), None, None]
            } else {
                [Some(markdown()), Some(learn(None)), stem.map(|it| learn(Some(it)))]
            }
        });
        for source in candidates.into_iter().flatten() {
            let PageFindings { findings, gap } = lint::check_page(text, Some(&source));
            // A candidate that cannot be compared counts as one more finding.
            let distance = findings.len().saturating_sub(alone) + usize::from(gap.is_some());
            if nearest.as_ref().is_none_or(|(known, _)| distance < *known) {
                nearest = Some((distance, source));
            }
        }
        if nearest.as_ref().is_some_and(|(distance, _)| *distance == 0) {
            break;
        }
    }
    nearest.map(|(_, source)| source).unwrap_or_default()
}
