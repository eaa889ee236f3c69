//! All plots of a document as one picture, below each other with their titles.

use std::fmt::Write as _;

use crate::document::{Block, Document, Plot};
use crate::plot;

/// The picture, or `None` where the document has no plot.
#[must_use]
pub fn document(document: &Document) -> Option<String> {
    let mut plots = Vec::new();
    collect(&document.blocks, &mut plots);
    if plots.is_empty() {
        return None;
    }
    let (width, height) = (plot::SIZE.0, plot::SIZE.1 + TITLE);
    let whole = height * plots.len() as u32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{whole}\" \
         viewBox=\"0 0 {width} {whole}\" font-family=\"sans-serif\">\n\
         <rect width=\"{width}\" height=\"{whole}\" fill=\"#ffffff\"/>\n"
    );
    for (nth, plot) in plots.into_iter().enumerate() {
        let top = height * nth as u32;
        let (line, below) = (top + TITLE - 8, top + TITLE);
        let title = plot::escaped(&plot.title);
        let _ = writeln!(svg, "<text x=\"12\" y=\"{line}\" font-size=\"16\">{title}</text>");
        let _ =
            writeln!(svg, "<svg y=\"{below}\" width=\"{width}\" height=\"{}\">", plot::SIZE.1);
        svg.push_str(&plot::svg(plot, nth));
        svg.push_str("\n</svg>\n");
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Room for a title, in the picture's units.
const TITLE: u32 = 32;

fn collect<'d>(blocks: &'d [Block], plots: &mut Vec<&'d Plot>) {
    for block in blocks {
        match block {
            Block::Plot(plot) => plots.push(plot),
            Block::Details(details) => collect(&details.blocks, plots),
            _ => {}
        }
    }
}
