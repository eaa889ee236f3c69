//! One self-contained HTML page: styles, plots and data inside, no script, nothing loaded.

use askama::Template;
use assay_model::plain;
use assay_model::summary::Summary;

use super::json;
use crate::document::{Align, Block, Cell, Document, Tone};
use crate::locale::Language;
use crate::plot;

/// The page of a document. With a summary, the machine-readable result is embedded as
/// `<script type="application/json" id="assay-result">`, which no browser executes.
///
/// # Panics
/// Never: the template writes to memory.
#[must_use]
pub fn document(document: &Document, data: Option<&Summary>) -> String {
    let lang = Language::current().locale.tag();
    let page =
        Page { lang, document, data: data.map(|summary| embedded(&json::summary(summary))) };
    let page = page.render().expect("writing to memory cannot fail");
    plain::visible(&page).into_owned()
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    /// The tag of the language that it is in.
    lang: &'static str,
    document: &'a Document,
    data: Option<String>,
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'a> {
    blocks: &'a [Block],
    /// Distinguishes the plots of one page.
    prefix: usize,
}

/// JSON whose text cannot end the element that holds it. `<` occurs inside strings only.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn blocks(blocks: &[Block], prefix: usize) -> String {
    Blocks { blocks, prefix }.render().expect("writing to memory cannot fail")
}

impl Blocks<'_> {
    fn svg(&self, plot: &crate::document::Plot, index: &usize) -> String {
        plot::svg(plot, self.prefix + index)
    }

    /// Details have their own numbers for plots, out of the way of those around them.
    fn inside(&self, blocks: &[Block], index: &usize) -> String {
        self::blocks(blocks, (self.prefix + index + 1) * 1000)
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
