//! One self-contained HTML page: styles, plots and one script inside, nothing loaded.
//!
//! The script sorts tables and changes the language. It is the only one that the page's own policy lets run: its
//! digest stands in it, so that nothing that others wrote could be one.

use std::cell::RefCell;
use std::collections::BTreeSet;

use askama::Template;
use assay_model::plain;
use assay_model::quantity::Unit;

use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale::{Language, Locale, read, word};
use crate::plot;

mod texts;

/// SHA-256 of the script as it stands in a page, in base64; a test compares them.
const SCRIPT: &str = "rW3gTfmkfZHt2QSbzdurD9qUwdjOr5fSeQtgq6BUFkA=";

/// The page of a document, in the language that is being written.
///
/// # Panics
/// Never: the template writes to memory.
#[must_use]
pub fn document(document: &Document) -> String {
    written(document, None, String::new())
}

/// The page of what `make` builds, with the same in every other language to choose from, and a link to the file
/// with the data it was made from.
#[must_use]
pub fn page(make: &dyn Fn() -> Document, raw: Option<&str>) -> String {
    let own = make();
    let plainly = |document: &Document| written(document, raw, String::new());
    let texts = texts::of_all(&|| plainly(&make()), &plainly(&own));
    written(&own, raw, texts)
}

fn written(document: &Document, raw: Option<&str>, texts: String) -> String {
    let language = Language::current();
    let headings =
        document.blocks.iter().enumerate().filter_map(|(number, block)| match block {
            Block::Heading(text) => Some((number, text.as_str())),
            _ => None,
        });
    let page = Page {
        lang: language.locale.tag(),
        is_invariant: language.has_invariant_units,
        script: SCRIPT,
        headings: headings.collect(),
        document,
        raw,
        texts,
    };
    let page = page.render().expect("writing to memory cannot fail");
    plain::visible(&page).into_owned()
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    /// The tag of the language that it is in.
    lang: &'static str,
    is_invariant: bool,
    script: &'static str,
    /// Places and texts of the headings.
    headings: Vec<(usize, &'a str)>,
    document: &'a Document,
    /// Where the data are.
    raw: Option<&'a str>,
    /// The page in all languages.
    texts: String,
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'a> {
    blocks: &'a [Block],
    /// Distinguishes the plots of one page.
    prefix: usize,
    /// Notes that a row refers to already.
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

    /// Details have their own numbers for plots, out of the way of those around them.
    fn inside(&self, blocks: &[Block], index: &usize) -> String {
        self::blocks(blocks, (self.prefix + index + 1) * 1000)
    }

    /// The first row that refers to a note is the place to go back to.
    fn first(&self, mark: &usize) -> String {
        let is_first = self.prefix == 0 && self.marked.borrow_mut().insert(*mark);
        if is_first { format!(" id=\"row-{mark}\"") } else { String::new() }
    }

    /// A note about the whole run has no row to go back to.
    fn has_row(&self, mark: &usize) -> bool {
        self.marked.borrow().contains(mark)
    }
}

/// What a screen reader says of a table that can be scrolled.
fn label(table: &Table) -> &str {
    match table.caption.as_str() {
        "" => table.columns.first().map_or("", |column| column.title.as_str()),
        caption => caption,
    }
}

/// By what its column sorts: the value in base units, where its text is a number.
fn key(cell: &Cell) -> String {
    let first = cell.text.split(' ').next().unwrap_or_default();
    let language = Language::current();
    let shown = first.trim_end_matches(['%', '\u{a0}', '\u{202f}']);
    let value = Unit::ALL.iter().find_map(|unit| read(shown, *unit, language));
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

const fn align(align: &Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Right => "right",
    }
}

/// The class of a cell: the side of its column and its tone.
fn class(cell: &Cell, column: &Align) -> String {
    format!("{} {}", align(column), tone(&cell.tone))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// A browser refuses a script whose digest is another.
    #[test]
    fn the_policy_names_the_script() {
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
        assert_eq!(sextets.collect::<String>() + "=", SCRIPT);
    }
}
