//! Parser of Markdown, reStructuredText and HTML pages into table cells and lines of prose, each with its position in
//! the text.
//!
//! Code, front matter and comments are skipped: they are not prose and never translated. Markdown
//! is parsed line by line, because tables that a strict reader drops must be found.

use crate::figure::{PrintedFigure, find_figures, heading_unit};
use crate::steps;

mod entities;
mod html;
mod literal_block;

use entities::with_entities;
use html::parse_html;
use literal_block::LiteralBlocks;

/// Checked content of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LintPage {
    /// Language of the page from its front matter or its root element: `fr-fr`.
    pub language: Option<String>,
    /// Whether it is HTML, not Markdown.
    pub is_html: bool,
    /// Tables, in order.
    pub tables: Vec<PageTable>,
    /// Prose: headings, paragraphs, list items.
    pub prose: Vec<PageText>,
    /// Titles and descriptions in the front matter.
    pub titles: Vec<PageText>,
    /// End of the front matter, in bytes.
    pub front_matter_end: usize,
}

/// Table; the first row is its heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageTable {
    /// Rows of cells.
    pub rows: Vec<Vec<PageText>>,
    /// Start of the line below the heading of a Markdown table, and its number of cells.
    pub rule: Option<(usize, usize)>,
    /// Second row of the heading, if it contains units only.
    pub units: Vec<PageText>,
}

impl PageTable {
    /// Moves a second row that contains units only from the rows to the heading.
    fn split_units(&mut self) {
        let [heading, units, _, ..] = &self.rows[..] else { return };
        let is_unit = |cell: &PageText| {
            let text =
                cell.text.trim_matches(|c: char| c.is_whitespace() || "()[]*_".contains(c));
            heading_unit(text).is_some_and(|unit| unit.text == text)
        };
        let is_empty = |cell: &PageText| cell.text.trim().is_empty();
        let has_units = heading.len() == units.len()
            && units.iter().any(is_unit)
            && units.iter().all(|cell| is_unit(cell) || is_empty(cell));
        if has_units {
            self.units = self.rows.remove(1);
        }
    }

    /// Returns all cells with the numbers of their rows and columns, from 0; row 0 is the heading.
    pub fn numbered_cells(&self) -> impl Iterator<Item = (usize, usize, &PageText)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(row, cells)| {
            cells.iter().enumerate().map(move |(column, cell)| (row, column, cell))
        })
    }
}

/// Text with its position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageText {
    /// First byte in the page.
    pub start: usize,
    /// Text, with as many bytes as in the page.
    pub text: String,
    /// Figures of the text, in order.
    pub figures: Vec<PrintedFigure>,
}

impl PageText {
    /// Creates a text whose figures are still to be found.
    const fn new(start: usize, text: String) -> Self {
        Self { start, text, figures: Vec::new() }
    }
}

impl LintPage {
    /// Parses a page; any text is valid.
    pub fn read(text: &str) -> Self {
        let head: String = text.chars().take(4096).collect::<String>().to_ascii_lowercase();
        let start = without_bom(&head).trim_start();
        let is_html = begins_html(start)
            || ["<table", "<p>", "<div"].iter().any(|it| start.starts_with(it))
                && !head.contains("\n\n");
        let mut page = if is_html && !start.starts_with("---") {
            parse_html(text)
        } else {
            parse_markdown(text)
        };
        page.tables.iter_mut().for_each(PageTable::split_units);
        page.find_figures();
        page
    }

    /// Finds the figures of every text, once for all rules.
    fn find_figures(&mut self) {
        let rows =
            self.tables.iter_mut().flat_map(|it| it.rows.iter_mut().chain([&mut it.units]));
        let texts = rows.flatten().chain(&mut self.prose).chain(&mut self.titles);
        texts.for_each(|it| it.figures = find_figures(&it.text));
    }

    /// Returns all texts, cells first.
    pub fn texts(&self) -> impl Iterator<Item = &PageText> {
        let cells = self.tables.iter().flat_map(|table| table.rows.iter().flatten());
        cells.chain(&self.prose).chain(&self.titles)
    }
}

/// Returns whether a page begins as HTML does. A page of Markdown may have HTML in its code.
fn begins_html(head: &str) -> bool {
    let lines = || head.lines().map(|line| line.trim_start());
    let is_root = |line: &str| {
        let line = without_declaration(line);
        ["<!doctype html", "<html", "<body"].iter().any(|it| line.starts_with(it))
    };
    let is_markdown =
        |line: &str| ["```", "~~~", "# ", "|"].iter().any(|it| line.starts_with(it));
    lines().take_while(|line| !is_markdown(line)).any(is_root)
}

/// Returns the rest of a line after a declaration of XML or a comment at its start.
fn without_declaration(line: &str) -> &str {
    let ends = [("<?xml", "?>"), ("<!--", "-->")];
    let end = ends.iter().find(|(start, _)| line.starts_with(start)).map(|(_, end)| *end);
    let rest = end.and_then(|end| Some(line.split_once(end)?.1.trim_start()));
    rest.unwrap_or(line)
}

fn parse_markdown(text: &str) -> LintPage {
    let mut page = LintPage::default();
    let mut start = text.len() - without_bom(text).len();
    let (mut fence, mut within) = (None::<Fence<'_>>, None);
    let mut in_front = without_bom(text).starts_with("---");
    let (mut is_open, mut paragraph_end) = (false, usize::MAX);
    let (mut html, mut literal) = (HtmlBlocks::new(text), LiteralBlocks::default());
    let mut lines = without_bom(text).split_inclusive('\n').enumerate().peekable();
    while let Some((number, whole)) = lines.next() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let here = start;
        start += whole.len();
        if in_front {
            read_front_matter(&mut page, line, here);
            in_front = number == 0 || !line.starts_with("---");
            page.front_matter_end = start;
            continue;
        }
        if html.contains(here) {
            continue;
        }
        if let Some(open) = fence.filter(|open| !open.leaves_quotation(line)) {
            fence = (!open.is_closed_by(line)).then_some(open);
            continue;
        }
        fence = Fence::parse_opening(line).filter(|_| within.is_none());
        if fence.is_some() || literal.contains(line) {
            is_open = false;
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let line = &without_hidden(line, &mut within);
        if let Some(table) = html.parse_table(line, here) {
            page.tables.extend(table.tables);
            page.prose.extend(table.prose);
            is_open = false;
            continue;
        }
        let trimmed = line.trim_start_matches(LINE_PREFIX);
        let mut is_head = || lines.peek().is_some_and(|(_, next)| is_ruler(next));
        if trimmed.starts_with('|') || trimmed.contains('|') && (is_open || is_head()) {
            let cells = parse_cells(trimmed, here + line.len() - trimmed.len());
            let is_rule = cells.iter().all(|it| is_rule(&it.text)) && !cells.is_empty();
            match page.tables.last_mut().filter(|_| is_open) {
                Some(table) if is_rule && table.rows.len() == 1 => {
                    table.rule = Some((here, cells.len()));
                }
                Some(table) => table.rows.push(cells),
                None => {
                    page.tables.push(PageTable {
                        rows: vec![cells],
                        rule: None,
                        units: vec![],
                    });
                }
            }
            is_open = true;
            continue;
        }
        is_open = false;
        // Indentation by four blanks is code, except for a nested list item.
        let is_code = (indent.len() >= 4 || indent.contains('\t'))
            && !trimmed.starts_with(['*', '-', '+']);
        if !is_code && !trimmed.is_empty() {
            add_prose(&mut page.prose, (here, here == paragraph_end), line);
            paragraph_end = start;
        }
    }
    page
}

/// Adds a line to the paragraph directly before, or as a paragraph of its own.
fn add_prose(prose: &mut Vec<PageText>, (here, is_next): (usize, bool), line: &str) {
    /// Maximum number of bytes of a paragraph to which lines are added.
    const LONGEST: usize = 1 << 12;
    let text = without_list_number(&without_links(line));
    let trimmed = line.trim_start();
    let is_first = |it: &str| {
        let rest = it.trim_start_matches(|c: char| c.is_ascii_digit());
        it.starts_with(['#', '*', '-', '+', '>', '|', '<', '!', ':', '~', '=', '_', '['])
            || rest.len() < it.len() && rest.starts_with(['.', ')'])
    };
    let before = prose.last_mut().filter(|it| {
        is_next
            && it.text.len() <= LONGEST
            && !it.text.trim_start().starts_with(['#', '|', '='])
            && !it.text.ends_with("  ")
            && !is_first(trimmed)
    });
    match before {
        Some(before) => {
            let gap = here - (before.start + before.text.len());
            before.text.push_str(&" ".repeat(gap));
            before.text.push_str(&text);
        }
        None => prose.push(PageText::new(here, text)),
    }
}

/// Blanks out the number of a list item or of a section: `2. `, `（2）`, `### 1.1 `.
fn without_list_number(line: &str) -> String {
    let is_mark = |c: char| c.is_ascii_digit() || "#.)（）( ".contains(c);
    let head = &line[..line.len() - line.trim_start_matches(is_mark).len()];
    let label = head.trim();
    let digits = label.trim_matches(|c: char| !c.is_ascii_digit());
    let has_unit = || find_figures(line).first().is_some_and(|it| it.unit.is_some());
    let is_section =
        label.starts_with('#') && head.ends_with(' ') && digits.contains('.') && !has_unit();
    let is_item = label.ends_with(['.', ')', '）']) && digits.parse::<u8>().is_ok();
    let is_number = !digits.is_empty() && !digits.contains(' ') && (is_item || is_section);
    let blank = if is_number { head.len() } else { 0 };
    " ".repeat(blank) + &line[blank..]
}

/// HTML tables within a page of Markdown.
struct HtmlBlocks<'t> {
    text: &'t str,
    /// Byte after the last table.
    end: usize,
    /// Whether no table is closed after this position.
    is_exhausted: bool,
}

impl<'t> HtmlBlocks<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, end: 0, is_exhausted: false }
    }

    /// Returns whether a line begins within the last table.
    const fn contains(&self, at: usize) -> bool {
        at < self.end
    }

    /// Parses the table that begins in this line, up to its end tag.
    fn parse_table(&mut self, line: &str, here: usize) -> Option<LintPage> {
        const END: &str = "</table>";
        if self.is_exhausted || !line.trim_start().starts_with("<table") {
            return None;
        }
        let Some(length) = self.text[here..].find(END) else {
            self.is_exhausted = true;
            return None;
        };
        steps::count(length);
        self.end = here + length + END.len();
        let mut page = parse_html(&self.text[here..self.end]);
        let cells = page
            .tables
            .iter_mut()
            .flat_map(|table| table.rows.iter_mut().flatten().chain(&mut table.units));
        for text in cells.chain(&mut page.prose) {
            text.start += here;
        }
        Some(page)
    }
}

/// Reads the language and the titles from a line of the front matter.
fn read_front_matter(page: &mut LintPage, line: &str, here: usize) {
    let value = |key: &str| Some(line.strip_prefix(key)?.trim().to_owned());
    let reported = value("ms.contentlocale:").or_else(|| value("lang:"));
    page.language = reported.or(page.language.take());
    page.titles.extend(parse_title(line, here));
}

/// Returns the text of a title or a description in the front matter.
fn parse_title(line: &str, here: usize) -> Option<PageText> {
    let rest = ["title:", "description:"].iter().find_map(|key| line.strip_prefix(key))?;
    let start = here + line.len() - rest.len();
    Some(PageText::new(start, without_links(rest)))
}

/// Characters before the first word of a line, also in a quotation.
const LINE_PREFIX: [char; 3] = [' ', '\t', '>'];

/// Strips the byte order mark.
fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Open code block: its fence, and whether it is within a quotation.
#[derive(Debug, Clone, Copy)]
struct Fence<'t> {
    mark: &'t str,
    is_quoted: bool,
}

impl<'t> Fence<'t> {
    fn parse_opening(line: &'t str) -> Option<Self> {
        let trimmed = line.trim_start_matches(LINE_PREFIX);
        let mark = trimmed.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let rest = trimmed.trim_start_matches(mark);
        let (mark, rest) = trimmed.split_at(trimmed.len() - rest.len());
        // Three backticks around words in a line are inline code.
        let is_one = mark.len() >= 3 && !(mark.starts_with('`') && rest.contains('`'));
        is_one.then_some(Self { mark, is_quoted: is_quoted(line) })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let mut rest = line.trim_start_matches(LINE_PREFIX).strip_prefix(self.mark);
        while let Some(longer) = rest.and_then(|it| it.strip_prefix(&self.mark[..1])) {
            rest = Some(longer);
        }
        rest.is_some_and(|it| it.trim().is_empty())
    }

    /// Returns whether the quotation ends, which also ends its code block.
    fn leaves_quotation(self, line: &str) -> bool {
        self.is_quoted && !is_quoted(line)
    }
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// Returns whether a line separates the heading of a table without leading bars: `--- | ---:`.
fn is_ruler(line: &str) -> bool {
    let line = line.trim_matches(|c: char| LINE_PREFIX.contains(&c) || c == '\n' || c == '\r');
    line.contains('|') && line.split('|').filter(|it| !it.is_empty()).all(is_rule)
}

/// Blanks out comments and code elements, byte for byte. `within` is the end tag that an earlier
/// line is waiting for.
fn without_hidden(line: &str, within: &mut Option<&'static str>) -> String {
    const HIDDEN: [(&str, &str); 3] =
        [("<!--", "-->"), ("<pre", "</pre>"), ("<code", "</code>")];
    // Inline code ends with its paragraph.
    if line.trim().is_empty() {
        *within = within.filter(|end| *end != "</code>");
    }
    let small = line.to_ascii_lowercase();
    let mut out = line.to_owned();
    let mut at = 0;
    while at < line.len() {
        let Some(end) = *within else {
            let Some(next) = small[at..].find(['`', '<']).map(|it| it + at) else { break };
            steps::count(next - at);
            let hidden = HIDDEN.iter().find(|(open, _)| small[next..].starts_with(open));
            *within = hidden.map(|(_, end)| *end);
            let is_hidden = within.is_some();
            at = if is_hidden { next } else { code_end(line, next).unwrap_or(next + 1) };
            continue;
        };
        let found = small[at..].find(end).map(|it| it + at + end.len());
        let stop = found.unwrap_or(line.len());
        steps::count(stop - at);
        out.replace_range(at..stop, &" ".repeat(stop - at));
        *within = within.filter(|_| found.is_none());
        at = stop;
    }
    out
}

/// Returns the end of inline code that begins at this backtick: after as many backticks as opened
/// it, or after the opening ones if there is no match.
fn code_end(line: &str, at: usize) -> Option<usize> {
    /// Maximum number of backticks; a hostile page with ever longer runs would be searched again
    /// for each.
    const MOST: usize = 32;
    let rest = &line[at..];
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let mut from = at + ticks;
    if !(1..=MOST).contains(&ticks) {
        return (ticks > 0).then_some(from);
    }
    while let Some(next) = line[from..].find('`').map(|it| it + from) {
        steps::count(next - from);
        let run = line[next..].len() - line[next..].trim_start_matches('`').len();
        from = next + run;
        if run == ticks {
            return Some(from);
        }
    }
    steps::count(line.len() - from);
    Some(at + ticks)
}

fn is_rule(cell: &str) -> bool {
    let cell = cell.trim();
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

fn parse_cells(line: &str, start: usize) -> Vec<PageText> {
    let mut cells = Vec::new();
    let first = usize::from(line.starts_with('|'));
    let mut from = first;
    let bars = line.match_indices('|').map(|(at, _)| at).filter(|at| *at >= first);
    for at in bars {
        if !line[..at].ends_with('\\') {
            cells.push(PageText::new(start + from, without_links(&line[from..at])));
            from = at + 1;
        }
    }
    if !line[from..].trim().is_empty() {
        cells.push(PageText::new(start + from, without_links(&line[from..])));
    }
    cells
}

/// Blanks out tags within a line, and raised text with its tags, which is a footnote. Powers of ten
/// and two stay as they are.
fn without_tags(line: &str) -> String {
    const INLINE: [&str; 12] =
        ["b", "strong", "i", "em", "u", "s", "br", "span", "font", "small", "sup", "sub"];
    /// Bytes of the longest tag with its attributes, and of the longest footnote.
    const LONGEST: usize = 400;
    const LONGEST_NOTE: usize = 16;
    let small = line.to_ascii_lowercase();
    let mut out = line.to_owned();
    let mut at = 0;
    while let Some(open) = small[at..].find('<').map(|it| it + at) {
        steps::count(open - at);
        at = open + 1;
        let Some(close) = near_text(&small, at, LONGEST).find('>').map(|it| it + at + 1) else {
            continue;
        };
        let name = small[at..close - 1].trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        // `a <b and c> d` is no tag, but one with an attribute is.
        let has_attribute = is_tag_name(name) && small[at..close].contains('=');
        if !INLINE.contains(&name) && !has_attribute {
            continue;
        }
        let is_raised = matches!(name, "sup" | "sub") && !small[at..].starts_with('/');
        let end = match is_raised {
            false => close,
            true if is_power(&small[..open]) => continue,
            true => {
                near_text(&small, close, LONGEST_NOTE).find("</").map_or(close, |it| it + close)
            }
        };
        out.replace_range(open..end, &" ".repeat(end - open));
        at = end;
    }
    out
}

fn is_tag_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Returns about the next `length` bytes of a text.
fn near_text(text: &str, from: usize, length: usize) -> &str {
    let end = (from + length).min(text.len());
    let end = (end..=text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
    &text[from..end]
}

/// Whether a text ends with the base of a power.
fn is_power(before: &str) -> bool {
    ["10", "2"].iter().any(|base| {
        let rest = before.strip_suffix(base);
        rest.is_some_and(|it| {
            !it.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','))
        })
    })
}

/// Blanks out link targets, tags and code, byte for byte.
fn without_links(line: &str) -> String {
    let mut out = with_entities(&without_tags(&without_code(line)));
    for (open, close) in [("](", ")"), ("<a ", ">"), ("http", " "), (":::", ":::")] {
        let mut from = 0;
        while let Some(at) =
            out.get(from..).and_then(|rest| rest.find(open)).map(|at| at + from)
        {
            let inner = at + open.len();
            let end = out[inner..].find(close).map_or(out.len(), |end| inner + end);
            steps::count(end - from);
            let blank = " ".repeat(end - inner);
            out.replace_range(inner..end, &blank);
            from = (end + close.len()).min(out.len());
            if !out.is_char_boundary(from) {
                break;
            }
        }
    }
    out
}

/// Blanks out inline code.
fn without_code(line: &str) -> String {
    let mut out = line.to_owned();
    let mut at = 0;
    while let Some(next) = line[at..].find('`').map(|it| it + at) {
        at = code_end(line, next).unwrap_or(next + 1);
        out.replace_range(next..at, &" ".repeat(at - next));
    }
    out
}

/// Distance between two entries of [`LineIndex::chars_before`]: few bytes to count for a column,
/// and few entries for a page.
const BYTES_PER_ENTRY: usize = 1024;

/// Index of the lines of a page.
#[derive(Debug)]
pub struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// Number of characters before every multiple of [`BYTES_PER_ENTRY`].
    chars_before: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    /// Creates the index of a page.
    pub fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        let chars_before = text.as_bytes().chunks(BYTES_PER_ENTRY).scan(0, |before, block| {
            let here = *before;
            *before += count_chars(block);
            Some(here)
        });
        Self { text, starts, chars_before: chars_before.collect() }
    }

    /// Returns line and column of a byte, both from 1; columns count characters.
    pub fn line_column(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts[line - 1];
        (line, self.chars_until(at).saturating_sub(self.chars_until(start)) + 1)
    }

    /// Returns the number of characters before a byte.
    fn chars_until(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        let entry = (at / BYTES_PER_ENTRY).min(self.chars_before.len().saturating_sub(1));
        let known = self.chars_before.get(entry).copied().unwrap_or(0);
        let rest = &self.text.as_bytes()[entry * BYTES_PER_ENTRY..at];
        steps::count(rest.len());
        known + count_chars(rest)
    }
}

/// Counts the bytes that start a UTF-8 character.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
