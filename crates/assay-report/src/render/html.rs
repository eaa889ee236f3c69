//! Self-contained HTML page: styles, plots and one script inside, nothing loaded.
//!
//! The script sorts tables and switches the language. The content security policy allows only this
//! script by its digest, so that no foreign text can run as a script.

use std::cell::RefCell;
use std::collections::BTreeSet;

use askama::Template;
use askama::filters::{Escaper as _, Html};
use assay_model::quantity::Unit;
use assay_model::sanitize;

use crate::document::{
    Block, ColumnAlignment, Document, ReportTable, TableCell, TableColumn, Tone,
};
use crate::locale::{Language, Locale, parse_quantity, word};
use crate::plot;

mod texts;

/// SHA-256 of the embedded script in base64; a test compares them.
const SCRIPT_DIGEST: &str = "dLYjsMJhVuKFDWX9b/hAozCDmIipcKoiiMYwKXQaOJI=";

/// Renders a document as a page in the current language.
///
/// # Panics
/// Never: the template writes to memory.
pub fn document(document: &Document) -> String {
    render_page(document, PageLinks::default(), String::new())
}

/// Renders a document as a page of a site. `home` is the link to the overview of the site.
pub(crate) fn site_page(document: &Document, home: &str) -> String {
    let links = PageLinks { raw: None, home: Some(home), site_texts: None };
    render_page(document, links, String::new())
}

/// Renders a document as a page in a folder of a site, with the site's script and its texts as
/// JSON.
pub(crate) fn site_page_with_script(document: &Document, texts: &str) -> String {
    let links = PageLinks { raw: None, home: Some("../index.html"), site_texts: Some(texts) };
    render_page(document, links, String::new())
}

/// Links of a page to other files.
#[derive(Debug, Clone, Copy, Default)]
struct PageLinks<'a> {
    /// The file with the data.
    raw: Option<&'a str>,
    /// The overview of the site that contains the page.
    home: Option<&'a str>,
    /// Texts of the site's script, if the page uses it.
    site_texts: Option<&'a str>,
}

/// Renders the document built by `make` as a page, with all other languages to choose from and a
/// link to the file with its data.
pub fn page(make: &dyn Fn() -> Document, raw: Option<&str>) -> String {
    let own = make();
    let links = PageLinks { raw, ..PageLinks::default() };
    let without_texts = |document: &Document| render_page(document, links, String::new());
    let texts = texts::pack_texts(&|| without_texts(&make()), &without_texts(&own));
    render_page(&own, links, texts)
}

fn render_page(document: &Document, links: PageLinks<'_>, texts: String) -> String {
    let language = Language::current();
    let headings =
        document.blocks.iter().enumerate().filter_map(|(number, block)| match block {
            Block::Heading(text) => Some((number, text.as_str())),
            _ => None,
        });
    let page = Page {
        lang: language.locale.tag(),
        is_invariant: language.has_invariant_units,
        script: SCRIPT_DIGEST,
        headings: headings.collect(),
        document,
        raw: links.raw,
        home: links.home,
        site_texts: links.site_texts,
        texts,
    };
    let page = page.render().expect("writing to memory cannot fail");
    sanitize::escape_hidden(&page).into_owned()
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    /// BCP 47 tag of the page's language.
    lang: &'static str,
    is_invariant: bool,
    script: &'static str,
    /// Indices and texts of the headings.
    headings: Vec<(usize, &'a str)>,
    document: &'a Document,
    /// Link to the file with the data.
    raw: Option<&'a str>,
    /// Link to the overview of the site that contains the page.
    home: Option<&'a str>,
    /// Texts of the site's script, if the page uses it.
    site_texts: Option<&'a str>,
    /// Texts of the page in all languages.
    texts: String,
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'a> {
    blocks: &'a [Block],
    /// Offset that distinguishes the plots of one page.
    prefix: usize,
    /// Notes that a row already refers to.
    marked: RefCell<BTreeSet<usize>>,
}

fn blocks(blocks: &[Block], prefix: usize) -> String {
    let marked = RefCell::default();
    Blocks { blocks, prefix, marked }.render().expect("writing to memory cannot fail")
}

impl Blocks<'_> {
    fn svg(&self, plot: &crate::document::Plot, index: &usize) -> String {
        plot::svg(plot, self.prefix + index)
    }

    fn forest(&self, forest: &crate::document::Forest, index: &usize) -> String {
        plot::forest(forest, self.prefix + index)
    }

    fn heat_map(&self, map: &crate::document::HeatMap, index: &usize) -> String {
        plot::heat_svg(map, self.prefix + index)
    }

    /// Plots in details have their own range of numbers, distinct from those outside.
    fn inside(&self, blocks: &[Block], index: &usize) -> String {
        self::blocks(blocks, (self.prefix + index + 1) * 1000)
    }

    /// Returns the anchor of the first row that refers to a note, for the link back.
    fn first(&self, mark: &usize) -> String {
        let is_first = self.prefix == 0 && self.marked.borrow_mut().insert(*mark);
        if is_first { format!(" id=\"row-{mark}\"") } else { String::new() }
    }

    /// Whether a row refers to the note; a note about the whole run has none.
    fn has_row(&self, mark: &usize) -> bool {
        self.marked.borrow().contains(mark)
    }
}

/// Label of a scrollable table for screen readers.
fn label(table: &ReportTable) -> &str {
    match table.caption.as_str() {
        "" => table.columns.first().map_or("", |column| column.title.as_str()),
        caption => caption,
    }
}

/// Returns the sort key of a cell: its value in base units if its text is a number.
fn key(cell: &TableCell) -> String {
    let first = cell.text.split(' ').next().unwrap_or_default();
    let language = Language::current();
    let number = first.trim_end_matches(['%', '\u{a0}', '\u{202f}']);
    let value = Unit::ALL.iter().find_map(|unit| parse_quantity(number, *unit, language));
    match value {
        Some(it) if it.value.is_finite() => format!(" data-k=\"{}\"", it.value),
        _ => String::new(),
    }
}

const fn tone(tone: &Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Quiet => "quiet",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
    }
}

const fn align(align: &ColumnAlignment) -> &'static str {
    match align {
        ColumnAlignment::Left => "left",
        ColumnAlignment::Right => "right",
    }
}

/// Returns the class of a cell: alignment, tone, and whether it is unbreakable or long.
fn class(cell: &TableCell, column: &TableColumn) -> String {
    let extent = if is_date_or_run(&cell.text) {
        " whole"
    } else if column.align == ColumnAlignment::Left
        && cell.text.chars().count() > LONG_TEXT_LETTERS
    {
        " long"
    } else {
        ""
    };
    format!("{} {}{extent}{}", align(&column.align), tone(&cell.tone), pinned(column))
}

/// Returns the class of a column that stays in view.
const fn pinned(column: &TableColumn) -> &'static str {
    if column.is_pinned { " pinned" } else { "" }
}

/// Letters above which a narrow screen would break a text into more than two lines.
const LONG_TEXT_LETTERS: usize = 20;

/// Letters of a date with its time, and of a run identifier.
const MAX_UNBROKEN_LETTERS: usize = 26;

/// Whether a text is mainly a date or a run identifier, which browsers break at hyphens.
fn is_date_or_run(text: &str) -> bool {
    let digit = |letter: Option<&u8>| letter.is_some_and(u8::is_ascii_digit);
    let is_hyphen_in_digits = |letters: &[u8]| {
        letters.get(1) == Some(&b'-') && digit(letters.first()) && digit(letters.get(2))
    };
    text.len() <= MAX_UNBROKEN_LETTERS && text.as_bytes().windows(3).any(is_hyphen_in_digits)
}

/// Returns text as HTML: words between two backticks as code, and dates and run identifiers
/// without breaks.
pub(crate) fn rich_text(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    // A backtick without a partner is a letter.
    let (pairs, rest) = match pieces.len() % 2 {
        1 => (pieces.as_slice(), None),
        _ => (&pieces[..pieces.len() - 1], pieces.last()),
    };
    let write_piece = |(number, piece): (usize, &&str)| match number % 2 {
        0 => unbroken(piece),
        _ => format!("<code>{}</code>", escape_html(piece)),
    };
    let rest = rest.map(|rest| format!("`{}", unbroken(rest)));
    pairs.iter().enumerate().map(write_piece).chain(rest).collect()
}

/// Returns the text of a cell as HTML. A text with code changes as a whole with the language.
fn cell_text(cell: &TableCell) -> String {
    match cell.text.contains('`') {
        true => format!("<span data-m>{}</span>", rich_text(&cell.text)),
        false => escape_html(&cell.text),
    }
}

/// Escapes text and prevents breaks inside dates and run identifiers.
fn unbroken(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |letter: char| is_part(letter) == is_part(first);
        let end = rest.find(|letter| !same(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        pieces.push(match is_date_or_run(word) {
            true => format!("<span class=\"whole\">{}</span>", escape_html(word)),
            false => escape_html(word),
        });
        rest = after;
    }
    pieces.concat()
}

fn escape_html(text: &str) -> String {
    let mut html = String::new();
    Html.write_escaped_str(&mut html, text).expect("writing to memory cannot fail");
    html
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn dates_and_runs_are_unbreakable() {
        for (text, expected) in [
            ("a < b", "a &#60; b"),
            (
                "from 2026-11-22 03:27 on",
                "from <span class=\"whole\">2026-11-22</span> 03:27 on",
            ),
            (
                "20261122-032839-b200，2026-11-22",
                "<span class=\"whole\">20261122-032839-b200</span>，\
                 <span class=\"whole\">2026-11-22</span>",
            ),
            ("random-read-4KiB", "random-read-4KiB"),
        ] {
            assert_eq!(unbroken(text), expected);
        }
    }

    #[test]
    fn text_between_backticks_is_code() {
        for (text, expected) in [
            (
                "run `assay list` or `a < b`",
                "run <code>assay list</code> or <code>a &#60; b</code>",
            ),
            ("one ` alone", "one ` alone"),
            ("`a` and ` one", "<code>a</code> and ` one"),
        ] {
            assert_eq!(rich_text(text), expected);
        }
    }

    /// A browser refuses a script with another digest.
    #[test]
    fn policy_contains_the_script_digest() {
        let page = document(&Document::new("x"));
        let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
        let mut child = Command::new("sha256sum")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let hex = String::from_utf8(output.stdout).unwrap();
        let letters: Vec<u8> = [('A', 26), ('a', 26), ('0', 10)]
            .iter()
            .flat_map(|(c, n)| (*c as u8..).take(*n))
            .chain(*b"+/")
            .collect();
        let bits: String = (0..64)
            .map(|i| format!("{:04b}", u8::from_str_radix(&hex[i..=i], 16).unwrap()))
            .collect::<String>()
            + "00";
        let sextets = bits.as_bytes().chunks(6).map(|six| {
            let value = six.iter().fold(0, |sum, bit| sum * 2 + usize::from(bit - b'0'));
            char::from(letters[value])
        });
        assert_eq!(sextets.collect::<String>() + "=", SCRIPT_DIGEST);
    }
}
