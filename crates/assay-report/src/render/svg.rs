//! All plots of a document in one picture, below each other with their titles.

use std::fmt::Write as _;

use assay_model::sanitize::escape_xml;

use crate::document::{Block, Document};
use crate::plot;

/// Renders the picture, or returns `None` if the document has no plot.
pub fn document(document: &Document) -> Option<String> {
    let mut pictures = Vec::new();
    collect(&document.blocks, &mut pictures);
    if pictures.is_empty() {
        return None;
    }
    let width = pictures.iter().map(|picture| picture.size.0).fold(0.0, f64::max);
    let whole: f64 = pictures.iter().map(|picture| picture.size.1 + TITLE_HEIGHT).sum();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{whole}\" \
         viewBox=\"0 0 {width} {whole}\" font-family=\"sans-serif\">\n\
         <rect width=\"{width}\" height=\"{whole}\" fill=\"#ffffff\"/>\n"
    );
    let mut top = 0.0;
    for (picture, nth) in pictures.into_iter().zip(0..) {
        let (line, below) = (top + TITLE_HEIGHT - 8.0, top + TITLE_HEIGHT);
        let title = escape_xml(picture.title);
        let _ = writeln!(svg, "<text x=\"12\" y=\"{line}\" font-size=\"16\">{title}</text>");
        let (width, height) = picture.size;
        let _ = writeln!(svg, "<svg y=\"{below}\" width=\"{width}\" height=\"{height}\">");
        svg.push_str(&(picture.draw)(nth));
        svg.push_str("\n</svg>\n");
        top = below + height;
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Width and height of a plot.
const PLOT_AREA: (f64, f64) = (plot::PLOT_SIZE.0 as f64, plot::PLOT_SIZE.1 as f64);
/// Height of a title, in the picture's units.
const TITLE_HEIGHT: f64 = 32.0;

/// Plot of the picture.
struct PlacedPlot<'d> {
    title: &'d str,
    size: (f64, f64),
    /// Draws the plot with a number that is unique in the picture.
    draw: Box<dyn Fn(usize) -> String + 'd>,
}

fn collect<'d>(blocks: &'d [Block], pictures: &mut Vec<PlacedPlot<'d>>) {
    for block in blocks {
        match block {
            Block::Plot(plot) => pictures.push(PlacedPlot {
                title: &plot.title,
                size: PLOT_AREA,
                draw: Box::new(|number| plot::svg(plot, number)),
            }),
            Block::Forest(forest) => pictures.push(PlacedPlot {
                title: &forest.title,
                size: (PLOT_AREA.0, plot::height(forest)),
                draw: Box::new(|number| plot::forest(forest, number)),
            }),
            Block::HeatMap(map) => pictures.push(PlacedPlot {
                title: &map.title,
                size: plot::heat_size(map),
                draw: Box::new(|number| plot::heat_svg(map, number)),
            }),
            Block::Details(details) => collect(&details.blocks, pictures),
            _ => {}
        }
    }
}
