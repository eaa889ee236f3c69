//! Draws the plots of a document: as SVG for pages, as bars for a terminal.

mod bars;
mod forest;
mod heat;
mod labels;
mod scale;
mod svg;
mod svg_writer;

pub(crate) use bars::render_bars;
pub(crate) use forest::{forest, height};
pub(crate) use heat::{shades, size as heat_size, svg as heat_svg, table as heat_table};
pub(crate) use scale::tick_label;
pub(crate) use svg::svg;
pub(crate) use svg_writer::PLOT_SIZE;
