//! Heat maps: a cell for each pair, as SVG for pages and as a grid for a terminal. Every cell has its number; shades
//! only lead the eye, from the best to what is farthest from it.

use std::fmt::Write as _;

use assay_model::benchmark::Better;

use super::escaped;
use crate::document::{Align, Cell, HeatMap, Table};
use crate::locale::word;
use crate::units::quantity;

/// Width and height of a cell, and the room of a letter, in the picture's units.
const CELL: (usize, usize) = (96, 32);
const LETTER: usize = 8;
/// Digits of a cell.
const DIGITS: usize = 3;
/// Shares of the best from which on a shade counts, and how a terminal shows each.
const SHADES: [(f64, char); 5] = [(0.9, '·'), (0.75, '░'), (0.5, '▒'), (0.25, '▓'), (0.0, '█')];

impl HeatMap {
    fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().flatten().copied().filter(|value| *value > 0.0)
    }

    /// How near it is to the best of all, 0 … 1.
    fn share(&self, value: f64) -> f64 {
        let best = match self.better {
            Better::Higher => self.values().fold(0.0, f64::max),
            Better::Lower => self.values().fold(f64::INFINITY, f64::min),
        };
        let share = match self.better {
            Better::Higher => value / best,
            Better::Lower => best / value,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn text(&self, row: usize, column: usize) -> String {
        let shown = |value| quantity(value, self.unit, DIGITS);
        self.cells[row][column].map_or_else(|| "–".to_owned(), shown)
    }

    fn is_marked(&self, row: usize, column: usize) -> bool {
        self.marked.contains(&(row, column))
    }
}

/// The map as one `<svg>` element. `id` distinguishes it from other pictures of the same page.
pub(crate) fn svg(map: &HeatMap, id: usize) -> String {
    let longest = map.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let left = longest * LETTER + 16;
    let count = map.names.len();
    let (width, height) = (left + count * CELL.0 + 8, (count + 1) * CELL.1 + 8);
    let mut svg = format!(
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"plot{id}-title plot{id}-text\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"13\">\n"
    );
    let _ = writeln!(svg, "<title id=\"plot{id}-title\">{}</title>", escaped(&map.title));
    let _ = writeln!(svg, "<desc id=\"plot{id}-text\">{}</desc>", escaped(&map.description));
    let text = |x: usize, y: usize, anchor: &str, text: &str| {
        format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#24292F\">{}</text>\n",
            escaped(text)
        )
    };
    for (at, name) in map.names.iter().enumerate() {
        svg += &text(left + at * CELL.0 + CELL.0 / 2, 20, "middle", name);
        svg += &text(left - 8, (at + 1) * CELL.1 + 20, "end", name);
    }
    for row in 0..count {
        for column in 0..count {
            let (x, y) = (left + column * CELL.0, (row + 1) * CELL.1);
            let away = map.cells[row][column].map_or(0.0, |value| 1.0 - map.share(value));
            let line = if map.is_marked(row, column) { "#B52B0C" } else { "#D0D7DE" };
            let wide = if map.is_marked(row, column) { 3 } else { 1 };
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#D55E00\" fill-opacity=\"{:.2}\" stroke=\"{line}\" stroke-width=\"{wide}\"/>",
                x + 2,
                y + 2,
                CELL.0 - 4,
                CELL.1 - 4,
                0.5 * away,
            );
            svg += &text(x + CELL.0 / 2, y + 20, "middle", &map.text(row, column));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The map as a table, where nothing can be drawn.
pub(crate) fn table(map: &HeatMap) -> Table {
    let names = map.names.iter().map(|name| (name.as_str(), Align::Right));
    let columns: Vec<(&str, Align)> = std::iter::once(("", Align::Left)).chain(names).collect();
    let mut table = Table::new(&map.title, &columns);
    for (row, name) in map.names.iter().enumerate() {
        let cells = (0..map.names.len()).map(|column| {
            let marked = if map.is_marked(row, column) { "*" } else { "" };
            Cell::from(map.text(row, column) + marked)
        });
        table.rows.push(std::iter::once(name.as_str().into()).chain(cells).collect());
    }
    table
}

/// One letter for each cell, for a terminal too narrow for the table; `None` where even that does not fit.
pub(crate) fn shades(map: &HeatMap, width: usize) -> Option<Vec<String>> {
    let longest = map.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    if longest + 2 * map.names.len() + 1 > width {
        return None;
    }
    let shade = |value: f64| {
        let share = map.share(value);
        SHADES.iter().find(|(from, _)| share >= *from).map_or('█', |(_, shade)| *shade)
    };
    let mut lines: Vec<String> = Vec::new();
    for (row, name) in map.names.iter().enumerate() {
        let mut line = format!("{name:<longest$} ");
        for column in 0..map.names.len() {
            line.push(if map.is_marked(row, column) { '*' } else { ' ' });
            line.push(map.cells[row][column].map_or(' ', shade));
        }
        lines.push(line);
    }
    lines.push(word("heat-legend").to_owned());
    Some(lines)
}
