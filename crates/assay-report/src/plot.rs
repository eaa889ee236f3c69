//! Draws the plots of a document: as SVG for pages, as bars for a terminal.

mod bars;
mod scale;
mod svg;

pub(crate) use bars::bars;
pub(crate) use scale::label;
pub(crate) use svg::{SIZE, escaped, svg};
