//! Parser of HTML into table cells and prose. End tags of cells and paragraphs may be left out.

use super::{LintPage, PageTable, PageText, heading_unit, with_entities};
use crate::steps;

/// Parses a page or a table of HTML; any text is valid.
pub(super) fn parse_html(text: &str) -> LintPage {
    let mut page = LintPage { is_html: true, ..LintPage::default() };
    let (mut at, mut table_depth) = (0, 0_usize);
    let mut current: Option<HtmlText> = None;
    let mut heads: Vec<HeadingCell> = Vec::new();
    let small = text.to_ascii_lowercase();
    while at < text.len() {
        let Some(open) = text[at..].find('<').map(|it| it + at) else {
            append_text(&mut current, at, &text[at..]);
            break;
        };
        append_text(&mut current, at, &text[at..open]);
        let end = if text[open..].starts_with("<!--") { "-->" } else { ">" };
        let Some(close) = text[open..].find(end).map(|it| it + open + end.len()) else { break };
        steps::count(close - at);
        let tag = &small[open + 1..close - 1];
        let name: String =
            tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
        at = close;
        match name.as_str() {
            // The content may look like a tag.
            "script" | "style" | "pre" | "code" => {
                let end = small[close..].find(&format!("</{name}"));
                at = end.map_or(text.len(), |it| it + close);
                steps::count(at - close);
            }
            "html" => page.language = attribute(tag, "lang"),
            "table" => {
                close_text(&mut page, &mut current, table_depth);
                table_depth += 1;
                heads.clear();
                page.tables.push(PageTable::default());
            }
            "/table" => {
                close_text(&mut page, &mut current, table_depth);
                table_depth = table_depth.saturating_sub(1);
                join_headings(&mut page, &std::mem::take(&mut heads));
            }
            "tr" if table_depth > 0 => {
                close_text(&mut page, &mut current, table_depth);
                if let Some(table) = page.tables.last_mut() {
                    table.rows.push(Vec::new());
                }
            }
            "td" | "th" => {
                close_text(&mut page, &mut current, table_depth);
                current = Some(HtmlText::new(close, true));
                heads.extend(HeadingCell::of_last_row(&page, tag, heads.len()));
            }
            "p" | "li" | "h1" | "h2" | "h3" | "h4" => {
                // A paragraph within a cell is a part of it.
                if current.as_ref().is_none_or(|it| !it.is_cell) {
                    close_text(&mut page, &mut current, table_depth);
                    current = Some(HtmlText::new(close, false));
                }
            }
            "/td" | "/th" | "/tr" => close_text(&mut page, &mut current, table_depth),
            "/p" | "/li" | "/h1" | "/h2" | "/h3" | "/h4" => {
                if current.as_ref().is_some_and(|it| !it.is_cell) {
                    close_text(&mut page, &mut current, table_depth);
                }
            }
            // Tags within a text are blanked out, so that positions stay.
            _ => append_text(&mut current, open, &" ".repeat(close - open)),
        }
    }
    close_text(&mut page, &mut current, table_depth);
    page
}

/// Cell in one of the first two rows of a table.
struct HeadingCell {
    /// Number of its row, from 1.
    row: usize,
    is_heading: bool,
    /// Columns and rows that it spans.
    columns: usize,
    rows: usize,
}

/// Maximum number of columns that a heading spans; real tables have fewer.
const MAX_SPAN: usize = 64;

impl HeadingCell {
    /// Returns the cell of a tag, if it is in the first or second row; `known` are before it.
    fn of_last_row(page: &LintPage, tag: &str, known: usize) -> Option<Self> {
        let row = page.tables.last().map_or(0, |it| it.rows.len());
        if !(1..=2).contains(&row) || known >= 2 * MAX_SPAN {
            return None;
        }
        let span = |name: &str| {
            let number = attribute(tag, name).and_then(|it| it.parse().ok());
            number.filter(|it| (1..=MAX_SPAN).contains(it)).unwrap_or(1)
        };
        let is_heading = tag.starts_with("th");
        Some(Self { row, is_heading, columns: span("colspan"), rows: span("rowspan") })
    }
}

/// Maximum length of a heading that is copied to its columns.
const MAX_HEADING_BYTES: usize = 1024;

/// Joins a heading of two rows in the last table: the lower cells are the heading, and the upper
/// ones may have their units, as `latency (ms)` over `min` and `max`.
fn join_headings(page: &mut LintPage, heads: &[HeadingCell]) {
    let Some(table) = page.tables.last_mut() else { return };
    let (upper, lower): (Vec<&HeadingCell>, Vec<&HeadingCell>) =
        heads.iter().partition(|it| it.row == 1);
    let width: usize = upper.iter().map(|it| it.columns).sum();
    let below: usize = upper.iter().filter(|it| it.rows == 1).map(|it| it.columns).sum();
    let is_joined = matches!(&table.rows[..], [first, second, body, ..]
            if first.len() == upper.len() && second.len() == below && body.len() == width)
        && lower.len() == below
        && lower.iter().all(|it| it.is_heading)
        && table.rows[0].iter().all(|cell| cell.text.len() <= MAX_HEADING_BYTES)
        && upper.iter().any(|it| it.rows == 1 && it.columns > 1);
    if !is_joined {
        return;
    }
    let mut lower = table.rows.remove(1).into_iter();
    let first = std::mem::take(&mut table.rows[0]);
    table.units.clear();
    for (cell, span) in first.into_iter().zip(upper) {
        for _ in 0..span.columns {
            let heading = if span.rows == 1 { lower.next() } else { None };
            let unit = heading.as_ref().filter(|it| heading_unit(&it.text).is_none());
            table.units.push(unit.map(|_| cell.clone()).unwrap_or_default());
            table.rows[0].push(heading.unwrap_or_else(|| cell.clone()));
        }
    }
}

/// Text whose end tag has not been read. HTML may leave out the end tags of cells and paragraphs.
struct HtmlText {
    text: PageText,
    is_cell: bool,
}

impl HtmlText {
    const fn new(start: usize, is_cell: bool) -> Self {
        Self { text: PageText::new(start, String::new()), is_cell }
    }
}

/// Adds the open text to the page: a cell to the last row, or prose.
fn close_text(page: &mut LintPage, current: &mut Option<HtmlText>, table_depth: usize) {
    let Some(HtmlText { text, is_cell }) = current.take() else { return };
    let row = page.tables.last_mut().and_then(|table| table.rows.last_mut());
    match row.filter(|_| is_cell && table_depth > 0) {
        Some(row) => row.push(text),
        None => page.prose.push(text),
    }
}

/// Appends to the open text; entities of blanks become as many blanks as bytes.
fn append_text(current: &mut Option<HtmlText>, start: usize, part: &str) {
    if let Some(HtmlText { text, .. }) = current {
        // Fills a gap that was left out, so that every byte keeps its position.
        let gap = start.saturating_sub(text.start + text.text.len());
        steps::count(gap + part.len());
        text.text.push_str(&" ".repeat(gap));
        text.text.push_str(&with_entities(part).replace(['\n', '\r'], " "));
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let rest = tag.split_once(&format!("{name}="))?.1;
    let value = rest.trim_start_matches(['"', '\'']);
    Some(value.split(['"', '\'', ' ', '>']).next()?.to_owned())
}
