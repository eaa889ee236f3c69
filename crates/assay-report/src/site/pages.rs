//! Pages of the site that its script fills: the overview and the comparison; and the list of
//! histories, which needs no script.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use assay_model::sanitize;
use serde_json::json;

use super::{SiteHistory, SiteRun, short_text};
use crate::locale::{Language, format_fact, word};
use crate::precision;
use crate::render::html;

/// Confidence level of the intervals of medians, in percent.
const INTERVAL_PERCENT: f64 = 95.0;

/// Contents of the site, as the overview presents them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteContents<'s> {
    /// All runs.
    pub runs: &'s [SiteRun<'s>],
    /// Number of scripts with the list of runs.
    pub pieces: usize,
    /// Folders without a readable run, with the reason.
    pub unreadable: &'s [(String, String)],
}

#[derive(Template)]
#[template(path = "site/index.html")]
struct OverviewPage<'a> {
    frame: Frame<'a>,
    runs: usize,
    pieces: usize,
    filters: Vec<Filter>,
    /// Folder, reason, and the advice as HTML.
    unreadable: Vec<(String, String, String)>,
    no_script: String,
}

#[derive(Template)]
#[template(path = "site/compare.html")]
struct ComparisonPage<'a> {
    frame: Frame<'a>,
    explanation: String,
    /// Limits of the list of verdicts as HTML; empty if the site has none.
    labels_limit: String,
}

#[derive(Template)]
#[template(path = "site/history.html")]
struct HistoriesPage<'a> {
    frame: Frame<'a>,
    hosts: BTreeMap<&'a str, Vec<&'a SiteHistory<'a>>>,
    /// Limits of the histories as HTML.
    limit: String,
}

/// Parts that the pages share.
struct Frame<'a> {
    /// BCP 47 tag of the page's language.
    lang: &'static str,
    title: &'static str,
    /// File of this page, for the menu.
    file: &'a str,
    /// Texts of the script as JSON.
    texts: String,
}

/// Filter by one column of the list of runs.
struct Filter {
    label: &'static str,
    /// Position of the column in the data.
    column: usize,
    values: BTreeSet<String>,
}

/// Renders the overview of all runs.
///
/// # Panics
/// Never: the template writes to memory.
pub fn overview_page(contents: &SiteContents<'_>) -> String {
    let values =
        |column: fn(&SiteRun<'_>) -> String| contents.runs.iter().map(column).collect();
    let filter = |label, column, values| Filter { label, column, values };
    let unreadable = contents.unreadable.iter().map(|(id, reason)| {
        (
            short_text(id).into_owned(),
            short_text(reason).into_owned(),
            html::rich_text(&message!(
                "list-unreadable-advice",
                id = short_text(id).into_owned()
            )),
        )
    });
    let page = OverviewPage {
        frame: Frame::new(word("list-title"), "index.html"),
        runs: contents.runs.len(),
        pieces: contents.pieces,
        filters: vec![
            filter(
                word("column-host"),
                2,
                values(|it| short_text(it.listed.host).into_owned()),
            ),
            filter(word("site-machine"), 4, values(|it| short_text(it.machine).into_owned())),
            filter(
                word("column-suite"),
                5,
                values(|it| short_text(it.listed.suite).into_owned()),
            ),
            filter(
                word("column-label"),
                6,
                values(|it| short_text(it.listed.label).into_owned()),
            ),
        ],
        unreadable: unreadable.collect(),
        no_script: message!("site-needs-script", folder = "runs"),
    };
    finish(&page)
}

/// Renders the page that shows runs side by side; its script reads their identifiers from the
/// address.
///
/// # Panics
/// Never: the template writes to memory.
pub fn comparison_page() -> String {
    render_comparison("")
}

/// Renders the page that shows runs side by side, with the verdicts between labels. `most` are the
/// maximum numbers of labels and of pairs.
///
/// # Panics
/// Never: the template writes to memory.
pub fn comparison_page_with_labels(most: [usize; 2]) -> String {
    let [labels, pairs] = most.map(|it| it.to_string());
    render_comparison(&message!("site-labels-limit", labels = labels, pairs = pairs))
}

fn render_comparison(labels_limit: &str) -> String {
    let level = precision::format_percent_setting(INTERVAL_PERCENT);
    finish(&ComparisonPage {
        frame: Frame::new(word("site-comparison"), "compare.html"),
        explanation: message!("site-ratios", level = level),
        labels_limit: html::rich_text(labels_limit),
    })
}

/// Renders the list of histories by host. `most_runs` is the maximum number of runs of a history.
///
/// # Panics
/// Never: the template writes to memory.
pub fn histories_page(histories: &[SiteHistory<'_>], most_runs: usize) -> String {
    let mut hosts: BTreeMap<&str, Vec<&SiteHistory<'_>>> = BTreeMap::new();
    for history in histories {
        hosts.entry(history.host).or_default().push(history);
    }
    finish(&HistoriesPage {
        frame: Frame::new(word("site-histories"), "history.html"),
        hosts,
        limit: html::rich_text(&message!("site-history-limit", n = most_runs.to_string())),
    })
}

fn finish(page: &impl Template) -> String {
    let page = page.render().expect("writing to memory cannot fail");
    sanitize::escape_hidden(&page).into_owned()
}

/// Returns the texts of the script as JSON; it replaces their variables.
pub(super) fn script_texts() -> String {
    let language = Language::current();
    let numbers = if language.has_invariant_units { "en" } else { language.locale.tag() };
    let texts = json!({
        "numbers": numbers,
        "tick": message!("site-tick-run", run = "{run}"),
        "tickColumn": word("site-tick"),
        "compare": message!("site-compare-ticked", n = "{n}"),
        "shown": message!("site-shown", first = "{first}", last = "{last}", all = "{all}"),
        "noMatch": word("site-no-match"),
        "noChoice": word("site-no-choice"),
        "notHere": message!("site-not-here", run = "{run}"),
        "metric": word("column-what"),
        "case": word("column-case"),
        "ofLimit": word("column-of-limit"),
        "values": word("column-values"),
        "host": word("column-host"),
        "run": word("column-run"),
        "percentile": word("site-percentile"),
        "lost": word("site-live-lost"),
        "verdict": message!("site-verdict", one = "{one}", two = "{two}"),
        "pick": word("site-pick"),
        "noInterval": format_fact(word("interval"), word("no-interval")),
    });
    texts.to_string().replace('<', "\\u003c")
}

impl<'a> Frame<'a> {
    fn new(title: &'static str, file: &'a str) -> Self {
        let lang = Language::current().locale.tag();
        Self { lang, title, file, texts: script_texts() }
    }

    /// Returns file and title of each page of the menu, and whether it is this page.
    fn pages(&self) -> [(&'static str, &'static str, bool); 3] {
        [
            ("index.html", word("list-title")),
            ("history.html", word("site-histories")),
            ("compare.html", word("site-comparison")),
        ]
        .map(|(file, title)| (file, title, file == self.file))
    }
}

/// Returns the text of a choice; data without a value have a dash.
fn choice(value: &str) -> &str {
    if value.is_empty() { "–" } else { value }
}
