//! Pages of a static site of stored runs, and the data that its script reads: overview, comparison,
//! histories, and a page for each run.
//!
//! Pages open from `file://`: data are small scripts that assign JSON, and nothing is loaded from
//! elsewhere. Texts of users are data everywhere: the script inserts them as text. Never writes a
//! file.

mod data;
mod pages;
mod pictures;
mod script;
mod verdicts;

use std::borrow::Cow;

use assay_model::history::History;
use assay_model::sanitize;

use crate::build::{self, ListedRun};
use crate::document::Document;
use crate::render::html;
use crate::words::without_no_break_spaces;

pub use data::{results_script, running_text, runs_script, unreadable_text};
pub use pages::{
    SiteContents, comparison_page, comparison_page_with_labels, histories_page, overview_page,
};
pub use pictures::curves_script;
pub use verdicts::{
    SiteLabels, SiteVerdict, labels_script, verdict_conclusion, verdict_page, verdict_script,
};

/// Text that every file of a site has within its first [`MARK_REACH`] bytes.
pub const MARK: &str = "assay site";
/// Number of bytes at the start of a file that contain [`MARK`].
pub const MARK_REACH: usize = 256;
/// Script of the overview and the comparison.
pub const SCRIPT: &str = include_str!("../templates/site/site.js");
/// Script that a server appends to [`SCRIPT`]: it follows the server's events.
pub const LIVE_SCRIPT: &str = include_str!("../templates/site/live.js");
/// Script of the pictures of the comparison.
pub const PICTURES_SCRIPT: &str = include_str!("../templates/site/pictures.js");
/// Maximum number of letters of a user's text in a table; its page has all of them.
const MAX_TEXT_LETTERS: usize = 200;

/// Run as the overview shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteRun<'r> {
    /// Its entry in the list of runs.
    pub listed: ListedRun<'r>,
    /// RFC 3339 time in UTC.
    pub started: &'r str,
    /// Type of the machine; empty if it is unknown.
    pub machine: &'r str,
}

/// History of one result on one host, as the list of histories shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteHistory<'h> {
    /// Name of the host.
    pub host: &'h str,
    /// Name of the page in the folder of histories.
    pub file: &'h str,
    /// Texts of the history.
    pub texts: &'h HistoryTexts,
}

/// Texts that summarize a history in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryTexts {
    /// Name of the result.
    pub title: String,
    /// Value of the newest run.
    pub newest: String,
    /// Number of runs.
    pub runs: usize,
    /// Number of level shifts.
    pub changes: usize,
}

impl HistoryTexts {
    /// Summarizes a history in the current language.
    pub fn new(history: &History) -> Self {
        Self {
            title: build::history_title(history),
            newest: without_no_break_spaces(&build::newest_value(history)),
            runs: history.points.len(),
            changes: history.changes.len(),
        }
    }
}

/// Returns the style of the site: that of all pages, and of the site's own parts.
pub fn style() -> String {
    let own = include_str!("../templates/site/site.css");
    [own, include_str!("../templates/style.css")].concat()
}

/// Returns the script of the pages of runs and histories.
pub fn page_script() -> String {
    format!("// Written by {MARK}.\n{}", include_str!("../templates/script.js"))
}

/// Renders the page of a run.
pub fn run_page(document: &Document) -> String {
    html::site_page(document, "../index.html")
}

/// Renders the page of a history; its runs are links to their pages.
pub fn history_page(history: &History) -> String {
    let page = html::site_page_with_script(&build::history(history), &pages::script_texts());
    let is_run = |text: &str| history.points.iter().any(|point| point.run == text);
    let mut linked = String::with_capacity(page.len());
    for piece in page.split_inclusive("</th>") {
        let cell = piece.strip_suffix("</th>").and_then(|before| before.rsplit_once('>'));
        match cell {
            Some((before, run)) if is_run(run) => {
                linked.extend([
                    before,
                    "><a data-run href=\"../runs/",
                    run,
                    ".html\">",
                    run,
                    "</a></th>",
                ]);
            }
            _ => linked.push_str(piece),
        }
    }
    linked
}

/// Makes a user's text fit for a table: hidden characters are visible, and long texts end early.
fn short_text(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TEXT_LETTERS) {
        Some((end, _)) => Cow::Owned(sanitize::escape_hidden(&text[..end]).into_owned() + "…"),
        None => sanitize::escape_hidden(text),
    }
}
