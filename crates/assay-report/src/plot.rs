//! Draws the plots of a document: as SVG for pages, as bars for a terminal.

mod bars;
mod forest;
mod heat;
mod labels;
mod scale;
mod sheet;
mod svg;

pub(crate) use bars::bars;
pub(crate) use forest::{forest, height};
pub(crate) use heat::{shades, size as heat_size, svg as heat_svg, table as heat_table};
pub(crate) use scale::label;
pub(crate) use sheet::escaped;
pub(crate) use svg::{SIZE, svg};
