//! Draws the plots of a document: as SVG for pages, as bars for a terminal.

mod bars;
mod heat;
mod scale;
mod svg;

pub(crate) use bars::bars;
pub(crate) use heat::{shades, svg as heat_svg, table as heat_table};
pub(crate) use scale::label;
pub(crate) use svg::{SIZE, escaped, svg};
